//! HTTP as far as the protocol needs it: one request and one reply on each connection.
//!
//! Heads are parsed by `httparse`. Bodies are framed here, because peers break HTTP: some send no length, some count
//! characters instead of bytes, some announce more than they send. A body therefore also ends with its expression, if
//! nothing follows for a moment. Every wait has a deadline, and every buffer has a limit.

use crate::kif::{self, KifError};
use game::StopFlag;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Limits of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// Most bytes of the head.
    pub head: usize,
    /// Most bytes of the body.
    pub body: usize,
    /// Time in which the whole request must arrive.
    pub time: Duration,
    /// Longest time without a byte.
    pub idle: Duration,
}

impl Default for RequestLimits {
    fn default() -> Self {
        RequestLimits {
            head: 16 << 10,
            body: 16 << 20,
            time: Duration::from_secs(60),
            idle: Duration::from_secs(10),
        }
    }
}

/// Most bytes of a reply.
pub const MAX_REPLY: usize = 64 << 10;

/// Time without a byte after which a body with a complete expression counts as complete.
const LULL: Duration = Duration::from_millis(250);

/// Most header lines.
const MAX_HEADERS: usize = 96;

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Time at which the first byte arrived.
    pub arrived: Instant,
    /// The method, as sent.
    pub method: String,
    /// The path, as sent.
    pub target: String,
    /// The Host header, if there is one.
    pub host: Option<String>,
    /// The Origin header, which browsers send, if there is one.
    pub origin: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// Why a request is not served.
#[derive(Debug)]
pub enum Refusal {
    /// The peer is gone, so there is nobody to answer.
    Gone,
    /// Status and reason of the answer.
    Status(u16, &'static str),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        match is_timeout(&error) {
            true => Refusal::Status(408, "Request Timeout"),
            false => Refusal::Gone,
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    ToTheEnd,
}

/// What was read from a socket, with a deadline for reading.
struct Inbox<'a> {
    stream: &'a TcpStream,
    deadline: Instant,
    buffer: Vec<u8>,
    ended: bool,
}

impl Inbox<'_> {
    /// Waits for more bytes, at most for a time. False if the stream has ended.
    fn more(&mut self, patience: Duration) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        let patience = patience.min(left);
        if patience.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(patience))?;
        let mut chunk = [0; 16 << 10];
        loop {
            match (&mut &*self.stream).read(&mut chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(n) => {
                    self.buffer.extend_from_slice(&chunk[..n]);
                    return Ok(true);
                }
            }
        }
    }
}

/// Reads one request.
///
/// # Errors
/// If the request cannot be served.
pub fn read_request(stream: &TcpStream, limits: &RequestLimits) -> Result<Request, Refusal> {
    let mut inbox = Inbox {
        stream,
        deadline: Instant::now() + limits.time,
        buffer: Vec::new(),
        ended: false,
    };
    let mut arrived = None;
    let (mut request, length, framing, expects) = loop {
        if !inbox.more(limits.idle)? {
            return Err(match inbox.buffer.is_empty() {
                true => Refusal::Gone,
                false => Refusal::Status(400, "Bad Request"),
            });
        }
        let arrived = *arrived.get_or_insert_with(Instant::now);
        if let Some(head) = parse_head(&inbox.buffer, arrived)? {
            break head;
        }
        if inbox.buffer.len() > limits.head {
            return Err(Refusal::Status(431, "Request Header Fields Too Large"));
        }
    };
    if matches!(framing, Framing::Length(n) if n > limits.body) {
        return Err(Refusal::Status(413, "Content Too Large"));
    }
    inbox.buffer.drain(..length);
    if expects && inbox.buffer.is_empty() {
        (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    request.body = match read_body(&mut inbox, framing, limits.body, limits.idle)? {
        Some(body) => body,
        None => return Err(Refusal::Status(413, "Content Too Large")),
    };
    Ok(request)
}

type Head = (Request, usize, Framing, bool);

fn parse_head(buffer: &[u8], arrived: Instant) -> Result<Option<Head>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(buffer) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Refusal::Status(431, "Request Header Fields Too Large"));
        }
        Err(_) => return Err(Refusal::Status(400, "Bad Request")),
    };
    let request = Request {
        arrived,
        method: head.method.unwrap_or_default().to_owned(),
        target: head.path.unwrap_or_default().to_owned(),
        host: header(head.headers, "host").map(str::to_owned),
        origin: header(head.headers, "origin").map(str::to_owned),
        body: Vec::new(),
    };
    let has_body = !matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS");
    let framing = match framing(head.headers) {
        Framing::ToTheEnd if !has_body => Framing::Length(0),
        framing => framing,
    };
    let expects = header(head.headers, "expect").is_some_and(|v| v.eq_ignore_ascii_case("100-continue"));
    Ok(Some((request, length, framing, expects)))
}

fn header<'a>(headers: &[httparse::Header<'a>], name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|h| h.name.eq_ignore_ascii_case(name))?;
    std::str::from_utf8(found.value).ok().map(str::trim)
}

fn framing(headers: &[httparse::Header<'_>]) -> Framing {
    if header(headers, "transfer-encoding").is_some_and(|v| v.to_ascii_lowercase().contains("chunked")) {
        return Framing::Chunked;
    }
    match header(headers, "content-length").and_then(|v| v.parse().ok()) {
        Some(length) => Framing::Length(length),
        None => Framing::ToTheEnd,
    }
}

/// The state of a body that is being read.
enum Body {
    Complete(Vec<u8>),
    /// Complete if nothing follows.
    SoFar(Vec<u8>),
    Unfinished,
    /// The stream ended before the body did, and what has come does not end by itself.
    CutShort,
    TooLarge,
}

/// Reads a body; nothing if it is larger than allowed.
fn read_body(inbox: &mut Inbox<'_>, framing: Framing, most: usize, idle: Duration) -> io::Result<Option<Vec<u8>>> {
    let mut quiet_since = Instant::now();
    let mut chunks = Chunks::default();
    loop {
        let enough = match framing {
            Framing::Length(n) => n.min(most),
            Framing::ToTheEnd => most + 1,
            Framing::Chunked => 0,
        };
        if inbox.buffer.len() < enough && !inbox.ended && quiet_since.elapsed() < LULL {
            // The common case: more bytes are expected, and the body need not be parsed yet.
        } else {
            let body = match framing {
                Framing::Chunked => chunks.join(&inbox.buffer, most, inbox.ended),
                _ => frame(&inbox.buffer, framing, most, inbox.ended),
            };
            match body {
                Body::Complete(body) => return Ok(Some(body)),
                Body::TooLarge => return Ok(None),
                Body::SoFar(body) if inbox.ended || quiet_since.elapsed() >= LULL => return Ok(Some(body)),
                Body::CutShort => return Ok(Some(Vec::new())),
                Body::SoFar(_) | Body::Unfinished => {}
            }
        }
        match inbox.more(LULL) {
            Ok(true) => quiet_since = Instant::now(),
            Ok(false) => {}
            Err(error) if is_timeout(&error) && quiet_since.elapsed() < idle && Instant::now() < inbox.deadline => {}
            Err(error) if is_timeout(&error) => {
                // The body is incomplete and late. It may still hold a message.
                return Ok(Some(std::mem::take(&mut inbox.buffer)));
            }
            Err(error) => return Err(error),
        }
    }
}

fn frame(buffer: &[u8], framing: Framing, most: usize, ended: bool) -> Body {
    let expression = |bytes: &[u8]| kif::first(&String::from_utf8_lossy(bytes)).err();
    match framing {
        Framing::Chunked => Chunks::default().join(buffer, most, ended),
        Framing::Length(n) if n > most => Body::TooLarge,
        Framing::Length(0) => Body::Complete(Vec::new()),
        Framing::Length(n) if buffer.len() >= n => {
            let unfinished = expression(&buffer[..n]) == Some(KifError::Unfinished);
            match unfinished {
                // The length is in characters and the text is not ASCII: more bytes are expected.
                true if buffer.len() <= most => Body::SoFar(buffer.to_vec()),
                true => Body::TooLarge,
                false => Body::Complete(buffer[..n].to_vec()),
            }
        }
        // Fewer bytes than were announced. A closed list is complete; a name may be the beginning of a longer one.
        Framing::Length(_) if is_closed_list(buffer) => Body::SoFar(buffer.to_vec()),
        Framing::Length(_) if ended => Body::CutShort,
        Framing::Length(_) => Body::Unfinished,
        Framing::ToTheEnd if buffer.len() > most => Body::TooLarge,
        Framing::ToTheEnd if ended => Body::Complete(buffer.to_vec()),
        Framing::ToTheEnd => match expression(buffer) {
            None => Body::SoFar(buffer.to_vec()),
            Some(_) => Body::Unfinished,
        },
    }
}

/// Whether a body begins with a whole list, which ends by itself.
fn is_closed_list(bytes: &[u8]) -> bool {
    kif::first(&String::from_utf8_lossy(bytes)).is_ok_and(|first| first.starts_with('('))
}

/// Most bytes of a line with the size of a chunk.
const MAX_CHUNK_LINE: usize = 1 << 10;

/// Joins the chunks of a body as they come: every byte is looked at once.
#[derive(Default)]
struct Chunks {
    body: Vec<u8>,
    /// Bytes of the buffer that were taken in.
    at: usize,
    /// Bytes of the present chunk that are still to come.
    left: usize,
}

impl Chunks {
    /// The body, given everything that was read so far.
    fn join(&mut self, buffer: &[u8], most: usize, ended: bool) -> Body {
        loop {
            let taken = self.left.min(buffer.len() - self.at);
            self.body.extend_from_slice(&buffer[self.at..self.at + taken]);
            self.at += taken;
            self.left -= taken;
            if self.left > 0 {
                return self.unfinished(ended);
            }
            let rest = &buffer[self.at..];
            let rest = rest.strip_prefix(b"\r\n").or(rest.strip_prefix(b"\n")).unwrap_or(rest);
            match httparse::parse_chunk_size(rest) {
                Ok(httparse::Status::Complete((_, 0))) => return Body::Complete(std::mem::take(&mut self.body)),
                Ok(httparse::Status::Complete((start, size))) => {
                    let size = usize::try_from(size).unwrap_or(usize::MAX);
                    if size > most || self.body.len() + size > most {
                        return Body::TooLarge;
                    }
                    self.at = buffer.len() - rest.len() + start;
                    self.left = size;
                }
                Ok(httparse::Status::Partial) if rest.len() > MAX_CHUNK_LINE => return Body::TooLarge,
                Ok(httparse::Status::Partial) => return self.unfinished(ended),
                Err(_) if is_closed_list(&self.body) => return Body::Complete(std::mem::take(&mut self.body)),
                Err(_) => return Body::CutShort,
            }
        }
    }

    fn unfinished(&mut self, ended: bool) -> Body {
        match ended {
            false => Body::Unfinished,
            true if is_closed_list(&self.body) => Body::Complete(std::mem::take(&mut self.body)),
            true => Body::CutShort,
        }
    }
}

/// Decodes a message that was sent as a path: percent-encoded, with `+` for a blank.
pub fn decode_target(target: &str) -> Vec<u8> {
    let path = target.strip_prefix('/').unwrap_or(target);
    let mut out = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let mut ahead = bytes.clone();
                let digits = (ahead.next().and_then(hex), ahead.next().and_then(hex));
                match digits {
                    (Some(high), Some(low)) => {
                        out.push(high << 4 | low);
                        bytes = ahead;
                    }
                    _ => out.push(b'%'),
                }
            }
            byte => out.push(byte),
        }
    }
    out
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|d| d as u8)
}

/// A reply to a request.
#[derive(Clone, Copy, Debug)]
pub struct HttpReply<'a> {
    /// Status and reason.
    pub status: (u16, &'a str),
    /// Content type.
    pub kind: &'a str,
    /// The body.
    pub body: &'a str,
    /// The origin whose pages may read the reply, or `*`.
    pub origin: Option<&'a str>,
}

/// Sends a reply and closes the connection: some managers wait for the end of the stream.
///
/// # Errors
/// If the peer is gone.
pub fn reply(stream: &TcpStream, reply: HttpReply<'_>) -> io::Result<()> {
    let HttpReply {
        status,
        kind,
        body,
        origin,
    } = reply;
    let cross = origin.map_or(String::new(), |origin| {
        format!(
            "Access-Control-Allow-Origin: {origin}\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
             Access-Control-Allow-Headers: Content-Type\r\n"
        )
    });
    let head = format!(
        "HTTP/1.0 {} {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n{cross}\r\n",
        status.0,
        status.1,
        body.len()
    );
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    (&mut &*stream).write_all((head + body).as_bytes())?;
    linger(stream)
}

/// Ends the own half of the stream and waits for the peer to end the other half. Closing a socket with unread bytes
/// would discard the reply.
fn linger(stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + Duration::from_millis(500);
    let mut scrap = [0; 16 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        stream.set_read_timeout(Some(left))?;
        match (&mut &*stream).read(&mut scrap) {
            Ok(0) | Err(_) => return Ok(()),
            Ok(_) => {}
        }
    }
}

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
    let stream = peer.connect(CONNECT, stop)?;
    let deadline = Instant::now() + patience;
    let gone = |error: io::Error| NoReply::Unreachable(error.to_string());
    let request = format!(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: {peer}\r\nSender: GAMESERVER\r\nReceiver: {}\r\n\
         Content-Type: text/acl\r\nContent-Length: {}\r\n\r\n{message}",
        peer.host,
        message.len()
    );
    send(&stream, request.as_bytes(), deadline, stop)?;
    let mut inbox = Inbox {
        stream: &stream,
        deadline,
        buffer: Vec::new(),
        ended: false,
    };
    let mut quiet_since = Instant::now();
    loop {
        let body = reply_body(&inbox.buffer, inbox.ended)?;
        match body {
            Body::Complete(body) => return Ok(text(&body)),
            Body::CutShort => return Err(NoReply::Unreachable("the reply is cut short".to_owned())),
            Body::SoFar(body) if inbox.ended || quiet_since.elapsed() >= LULL => return Ok(text(&body)),
            Body::TooLarge => return Err(NoReply::TooLong(text(&inbox.buffer).chars().take(200).collect())),
            Body::SoFar(_) | Body::Unfinished => {}
        }
        if stop.is_raised() {
            return Err(NoReply::Stopped);
        }
        match inbox.more(GLANCE) {
            Ok(true) => quiet_since = Instant::now(),
            Ok(false) => {}
            Err(error) if is_timeout(&error) => {
                if Instant::now() >= deadline {
                    return Err(NoReply::Late(text(&inbox.buffer).chars().take(200).collect()));
                }
            }
            Err(error) => return Err(gone(error)),
        }
    }
}

fn send(stream: &TcpStream, mut bytes: &[u8], deadline: Instant, stop: &StopFlag) -> Result<(), NoReply> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(NoReply::Late(String::new()));
        }
        if stop.is_raised() {
            return Err(NoReply::Stopped);
        }
        let waiting = stream.set_write_timeout(Some(left.min(Duration::from_millis(500))));
        let written = waiting.and_then(|()| (&mut &*stream).write(bytes));
        match written {
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

/// A peer's text for a log: control characters are escaped, so that it cannot look like lines of the log.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded() {
        assert_eq!(decode_target("/(INFO)"), b"(INFO)");
        assert_eq!(decode_target("/%28PLAY+m%201%29%zz%"), b"(PLAY m 1)%zz%");
        assert_eq!(decode_target("/"), b"");
    }

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
    fn chunks_are_put_together() {
        let whole = b"3\r\n(IN\r\n3;x=y\r\nFO)\r\n0\r\n\r\n";
        let joined = |bytes: &[u8], ended| Chunks::default().join(bytes, 100, ended);
        assert!(matches!(joined(whole, false), Body::Complete(b) if b == b"(INFO)"));
        assert!(matches!(joined(&whole[..6], false), Body::Unfinished));
        assert!(matches!(joined(&whole[..6], true), Body::CutShort));
        assert!(matches!(joined(b"ffffffffffffffff\r\n", false), Body::TooLarge));
        assert!(matches!(joined(b"zz", false), Body::CutShort));
        // Byte by byte gives the same.
        let mut chunks = Chunks::default();
        for end in 1..whole.len() - 4 {
            assert!(
                matches!(chunks.join(&whole[..end], 100, false), Body::Unfinished),
                "{end}"
            );
        }
        assert!(matches!(chunks.join(whole, 100, false), Body::Complete(b) if b == b"(INFO)"));
    }

    /// A megabyte in chunks of one byte, which come one by one.
    #[test]
    fn chunks_are_joined_in_linear_time() {
        let piece = b"1\r\nx\r\n";
        let all = piece.repeat(200_000);
        let (mut chunks, started) = (Chunks::default(), Instant::now());
        for end in (0..=all.len()).step_by(piece.len()) {
            assert!(matches!(chunks.join(&all[..end], 1 << 20, false), Body::Unfinished));
        }
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
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
    fn peers_cannot_forge_lines_of_a_log() {
        assert_eq!(
            printable("noop\r\nINFO all is well \u{1b}[0m é"),
            "noop\\r\\nINFO all is well \\u{1b}[0m é"
        );
    }
}
