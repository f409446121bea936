//! The side of a manager: a message to a peer, and the answer.

use super::body::{Body, Framing, Inbox, LULL, frame};
use super::{MAX_HEADERS, framing, is_timeout};
use crate::net::{Connection, Network};
use game::StopFlag;
use referee::System;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Most bytes of a reply.
pub const MAX_REPLY: usize = 64 << 10;

/// Why there was no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoReply {
    /// The peer cannot be reached or hung up: why.
    Unreachable(String),
    /// The deadline passed: the reply up to then.
    Late(String),
    /// The reply was too long: its beginning.
    TooLong(String),
    /// The stop flag was raised.
    Stopped,
}

impl std::fmt::Display for NoReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoReply::Unreachable(why) => f.write_str(why),
            NoReply::Late(_) => f.write_str("too late"),
            NoReply::TooLong(_) => write!(f, "more than {MAX_REPLY} bytes"),
            NoReply::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for NoReply {}

/// The address of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Name or IP address.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Peer {
    /// Reads `host:port`.
    pub fn parse(text: &str) -> Option<Peer> {
        let (host, port) = text.rsplit_once(':')?;
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let fine = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c == '/' || c.is_control());
        let port = port.parse().ok().filter(|&p| p > 0)?;
        fine.then(|| Peer {
            host: host.to_owned(),
            port,
        })
    }

    /// Connects, trying every address of the name.
    ///
    /// # Errors
    /// If no address answers in time.
    pub fn connect(&self, patience: Duration, stop: &StopFlag) -> Result<TcpStream, NoReply> {
        let deadline = Instant::now() + patience;
        let mut last = NoReply::Unreachable("the name has no address".to_owned());
        for address in self.resolve(patience)? {
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(NoReply::Unreachable("nobody took the call".to_owned()));
                }
                if stop.is_raised() {
                    return Err(NoReply::Stopped);
                }
                // In pieces, to notice the stop flag.
                match TcpStream::connect_timeout(&address, left.min(Duration::from_secs(1))) {
                    Ok(stream) => {
                        // Messages are small and wait for their answers.
                        let _ = stream.set_nodelay(true);
                        return Ok(stream);
                    }
                    Err(error) if is_timeout(&error) => {}
                    Err(error) => {
                        last = NoReply::Unreachable(error.to_string());
                        break;
                    }
                }
            }
        }
        Err(last)
    }

    /// The addresses of the name. A lookup cannot be stopped, so its thread is abandoned after a while.
    fn resolve(&self, patience: Duration) -> Result<Vec<SocketAddr>, NoReply> {
        let pair = (self.host.clone(), self.port);
        if let Ok(ip) = self.host.parse() {
            return Ok(vec![SocketAddr::new(ip, self.port)]);
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        let look_up = move || {
            let found = pair.to_socket_addrs().map(|found| found.collect::<Vec<_>>());
            let _ = sender.send(found);
        };
        let spawned = std::thread::Builder::new().name("look-up".to_owned()).spawn(look_up);
        spawned.map_err(|error| NoReply::Unreachable(error.to_string()))?;
        match receiver.recv_timeout(patience) {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => Err(NoReply::Unreachable(error.to_string())),
            Err(_) => Err(NoReply::Unreachable("looking up the name took too long".to_owned())),
        }
    }
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// Time to connect; it does not count against any clock.
pub const CONNECT: Duration = Duration::from_secs(5);

/// Time between two looks at the stop flag.
const GLANCE: Duration = Duration::from_millis(50);

/// Sends a message to a peer and waits for the answer. The time begins when the connection is made.
///
/// # Errors
/// If there is no answer in time.
pub fn exchange(peer: &Peer, message: &str, patience: Duration, stop: &StopFlag) -> Result<String, NoReply> {
    Exchange {
        peer,
        message,
        patience,
        manners: Manners::GgpBase,
    }
    .over(&System, stop)
}

/// Whose requests ours look like. Names of headers have no case in HTTP, but some players read only the spelling of the
/// manager that they were tested with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manners {
    /// `Content-Type`, `Content-Length`.
    GgpBase,
    /// `Content-type`, `Content-length`.
    Dresden,
}

/// A message to a peer.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The peer.
    pub peer: &'a Peer,
    /// The message.
    pub message: &'a str,
    /// Time for the answer. It begins when the connection is made.
    pub patience: Duration,
    /// Spelling of headers.
    pub manners: Manners,
}

impl Exchange<'_> {
    fn request(&self) -> String {
        let Exchange { peer, message, .. } = self;
        let (kind, length) = match self.manners {
            Manners::GgpBase => ("Content-Type", "Content-Length"),
            Manners::Dresden => ("Content-type", "Content-length"),
        };
        format!(
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: {peer}\r\nSender: GAMESERVER\r\nReceiver: {}\r\n\
             {kind}: text/acl\r\n{length}: {}\r\n\r\n{message}",
            peer.host,
            message.len()
        )
    }

    /// Sends the message and waits for the answer.
    ///
    /// # Errors
    /// If there is no answer in time.
    pub fn over(&self, network: &dyn Network, stop: &StopFlag) -> Result<String, NoReply> {
        let connection = network.connect(self.peer, CONNECT, stop)?;
        let deadline = connection.now() + self.patience;
        send(connection.as_ref(), self.request().as_bytes(), deadline, stop)?;
        receive(&mut Inbox::new(connection.as_ref(), deadline), stop)
    }
}

fn receive(inbox: &mut Inbox<'_>, stop: &StopFlag) -> Result<String, NoReply> {
    let mut quiet_since = inbox.now();
    loop {
        let body = reply_body(&inbox.buffer, inbox.ended)?;
        match body {
            Body::Complete(body) => return Ok(text(&body)),
            Body::CutShort => return Err(NoReply::Unreachable("the reply is cut short".to_owned())),
            Body::SoFar(body) if inbox.ended || inbox.since(quiet_since) >= LULL => return Ok(text(&body)),
            Body::TooLarge => return Err(NoReply::TooLong(text(&inbox.buffer).chars().take(200).collect())),
            Body::SoFar(_) | Body::Unfinished => {}
        }
        if stop.is_raised() {
            return Err(NoReply::Stopped);
        }
        match inbox.more(GLANCE) {
            Ok(true) => quiet_since = inbox.now(),
            Ok(false) => {}
            Err(error) if is_timeout(&error) => {
                if inbox.now() >= inbox.deadline {
                    return Err(NoReply::Late(text(&inbox.buffer).chars().take(200).collect()));
                }
            }
            Err(error) => return Err(NoReply::Unreachable(error.to_string())),
        }
    }
}

fn send(connection: &dyn Connection, mut bytes: &[u8], deadline: Instant, stop: &StopFlag) -> Result<(), NoReply> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(connection.now());
        if left.is_zero() {
            return Err(NoReply::Late(String::new()));
        }
        if stop.is_raised() {
            return Err(NoReply::Stopped);
        }
        match connection.write(bytes, left.min(Duration::from_millis(500))) {
            Ok(n) => bytes = &bytes[n..],
            Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(NoReply::Unreachable(error.to_string())),
        }
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// The body of a reply so far.
fn reply_body(buffer: &[u8], ended: bool) -> Result<Body, NoReply> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Response::new(&mut headers);
    Ok(match head.parse(buffer) {
        Ok(httparse::Status::Complete(length)) => match head.code {
            // An interim reply: the real one follows.
            Some(100..=199) => return reply_body(&buffer[length..], ended),
            Some(200..=299) => frame(&buffer[length..], framing(head.headers), MAX_REPLY, ended),
            code => return Err(NoReply::Unreachable(format!("HTTP status {}", code.unwrap_or(0)))),
        },
        Ok(httparse::Status::Partial) if ended => Body::Complete(Vec::new()),
        Ok(httparse::Status::Partial) if buffer.len() <= MAX_REPLY => Body::Unfinished,
        // The reply is not HTTP: the bytes are the answer itself.
        Err(_) => frame(buffer, Framing::ToTheEnd, MAX_REPLY, ended),
        Ok(_) => Body::TooLarge,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_read() {
        let peer = |host: &str, port| {
            Some(Peer {
                host: host.to_owned(),
                port,
            })
        };
        assert_eq!(Peer::parse("127.0.0.1:9147"), peer("127.0.0.1", 9147));
        assert_eq!(Peer::parse("[::1]:80"), peer("::1", 80));
        for wrong in [
            "",
            "localhost",
            "localhost:",
            ":80",
            "a b:80",
            "a:0",
            "a:70000",
            "a/b:80",
        ] {
            assert_eq!(Peer::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn bodies_that_are_cut_short() {
        let reply = |text: &str, ended| reply_body(text.as_bytes(), ended);
        let head = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n";
        assert!(matches!(reply(&format!("{head}1"), false), Ok(Body::Unfinished)));
        assert!(matches!(reply(&format!("{head}1"), true), Ok(Body::CutShort)));
        assert!(matches!(reply(&format!("{head}12"), false), Ok(Body::Complete(b)) if b == b"12"));
        let long = "HTTP/1.0 200 OK\r\nContent-Length: 60\r\n\r\n";
        assert!(
            matches!(reply(&format!("{long}(mark 1 1)"), true), Ok(Body::SoFar(_))),
            "{long}"
        );
        let error = "HTTP/1.0 500 Oh\r\nContent-Length: 4\r\n\r\nnoop";
        assert!(matches!(reply(error, true), Err(NoReply::Unreachable(why)) if why.contains("500")));
        assert!(matches!(
            reply(&format!("HTTP/1.1 100 Continue\r\n\r\n{head}12"), false),
            Ok(Body::Complete(_))
        ));
    }

    #[test]
    fn headers_are_spelled_as_the_dialects_manager_does() {
        let peer = Peer::parse("[::1]:80").expect("an address");
        let request = |manners| {
            let exchange = Exchange {
                peer: &peer,
                message: "(INFO)",
                patience: Duration::ZERO,
                manners,
            };
            exchange.request()
        };
        assert!(request(Manners::GgpBase).contains("\r\nContent-Length: 6\r\n"));
        assert!(request(Manners::Dresden).contains("\r\nContent-length: 6\r\n"));
        assert!(request(Manners::Dresden).contains("\r\nHost: [::1]:80\r\n"));
    }
}
