//! HTTP as far as the protocol needs it: one request and one reply on each connection.
//!
//! Heads are parsed by `httparse`. Bodies are framed here, because peers break HTTP: some send no length, some count
//! characters instead of bytes, some announce more than they send. A body therefore also ends with its expression, if
//! nothing follows for a moment. Every wait has a deadline, and every buffer has a limit.

mod body;
mod client;

pub use client::{CONNECT, Exchange, MAX_REPLY, Manners, NoReply, Peer, exchange};

use crate::net::Connection;
use body::{Framing, Inbox, read_body};
use std::io::{self, ErrorKind};
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
    /// Whether a page in a browser made the request. Pages can make some requests without Origin: pictures, links.
    pub from_page: bool,
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

/// Reads one request.
///
/// # Errors
/// If the request cannot be served.
pub fn read_request(connection: &dyn Connection, limits: &RequestLimits) -> Result<Request, Refusal> {
    let mut inbox = Inbox::new(connection, connection.now() + limits.time);
    let mut arrived = None;
    let (mut request, length, framing, expects) = loop {
        if !inbox.more(limits.idle)? {
            return Err(match inbox.buffer.is_empty() {
                true => Refusal::Gone,
                false => Refusal::Status(400, "Bad Request"),
            });
        }
        let arrived = *arrived.get_or_insert_with(|| inbox.connection.now());
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
        write_all(connection, b"HTTP/1.1 100 Continue\r\n\r\n")?;
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
        from_page: is_from_page(head.headers),
        body: Vec::new(),
    };
    let hosts = head.headers.iter().filter(|h| h.name.eq_ignore_ascii_case("host"));
    if hosts.count() > 1 {
        return Err(Refusal::Status(400, "Bad Request"));
    }
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

/// What an address that was typed in does not have.
fn is_from_page(headers: &[httparse::Header<'_>]) -> bool {
    let site = header(headers, "sec-fetch-site");
    site.is_some_and(|site| !site.eq_ignore_ascii_case("none")) || header(headers, "referer").is_some()
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
pub fn reply(connection: &dyn Connection, reply: HttpReply<'_>) -> io::Result<()> {
    write_all(connection, reply.text().as_bytes())?;
    linger(connection)
}

impl HttpReply<'_> {
    fn text(&self) -> String {
        let HttpReply {
            status: (code, reason),
            kind,
            body,
            origin,
        } = self;
        let cross = origin.map_or(String::new(), |origin| {
            format!(
                "Access-Control-Allow-Origin: {origin}\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
                 Access-Control-Allow-Headers: Content-Type\r\n"
            )
        });
        // Bytes for HTTP and characters for Java's managers. Where these differ, the body ends with the stream.
        let length = match body.is_ascii() {
            true => format!("Content-Length: {}\r\n", body.len()),
            false => String::new(),
        };
        format!("HTTP/1.0 {code} {reason}\r\nContent-Type: {kind}\r\n{length}Connection: close\r\n{cross}\r\n{body}")
    }
}

/// Time to send a reply in.
const SENDING: Duration = Duration::from_secs(5);

fn write_all(connection: &dyn Connection, mut bytes: &[u8]) -> io::Result<()> {
    let deadline = connection.now() + SENDING;
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(connection.now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        match connection.write(bytes, left) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Ends the own half of the stream and waits for the peer to end the other half. Closing a socket with unread bytes
/// would discard the reply.
fn linger(connection: &dyn Connection) -> io::Result<()> {
    connection.end()?;
    let deadline = connection.now() + Duration::from_millis(500);
    let mut scrap = [0; 16 << 10];
    loop {
        let left = deadline.saturating_duration_since(connection.now());
        if left.is_zero() {
            return Ok(());
        }
        match connection.read(&mut scrap, left) {
            Ok(0) | Err(_) => return Ok(()),
            Ok(_) => {}
        }
    }
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
    fn peers_cannot_forge_lines_of_a_log() {
        assert_eq!(
            printable("noop\r\nINFO all is well \u{1b}[0m é"),
            "noop\\r\\nINFO all is well \\u{1b}[0m é"
        );
    }

    #[test]
    fn lengths_are_sent_only_where_all_peers_count_alike() {
        let text = |body| {
            let reply = HttpReply {
                status: (200, "OK"),
                kind: "text/acl",
                body,
                origin: None,
            };
            reply.text()
        };
        assert!(text("noop").contains("Content-Length: 4\r\n"));
        assert!(!text("n\u{e9}").contains("Length"));
    }
}
