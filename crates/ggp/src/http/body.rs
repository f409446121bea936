//! Reading bodies: how their end is found, and what there is of them so far.

use super::is_timeout;
use crate::kif::{self, KifError};
use crate::net::Connection;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

/// Time without a byte after which a body with a complete expression counts as complete.
pub(super) const LULL: Duration = Duration::from_millis(250);

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(usize),
    Chunked,
    ToTheEnd,
}

/// What was read from a connection, with a deadline for reading.
pub(super) struct Inbox<'a> {
    pub connection: &'a dyn Connection,
    pub deadline: Instant,
    pub buffer: Vec<u8>,
    pub ended: bool,
}

impl<'a> Inbox<'a> {
    pub fn new(connection: &'a dyn Connection, deadline: Instant) -> Inbox<'a> {
        Inbox {
            connection,
            deadline,
            buffer: Vec::new(),
            ended: false,
        }
    }

    pub fn now(&self) -> Instant {
        self.connection.now()
    }

    pub fn since(&self, then: Instant) -> Duration {
        self.now().saturating_duration_since(then)
    }

    /// Waits for more bytes, at most for a time. False if the stream has ended.
    pub fn more(&mut self, patience: Duration) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let left = self.deadline.saturating_duration_since(self.now());
        let patience = patience.min(left);
        if patience.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        let mut chunk = [0; 16 << 10];
        loop {
            match self.connection.read(&mut chunk, patience) {
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

/// The state of a body that is being read.
pub(super) enum Body {
    Complete(Vec<u8>),
    /// Complete if nothing follows.
    SoFar(Vec<u8>),
    Unfinished,
    /// The stream ended before the body did, and what has come does not end by itself.
    CutShort,
    TooLarge,
}

/// Reads a body; nothing if it is larger than allowed.
pub(super) fn read_body(
    inbox: &mut Inbox<'_>,
    framing: Framing,
    most: usize,
    idle: Duration,
) -> io::Result<Option<Vec<u8>>> {
    let mut quiet_since = inbox.now();
    let mut chunks = Chunks::default();
    loop {
        let enough = match framing {
            Framing::Length(n) => n.min(most),
            Framing::ToTheEnd => most + 1,
            Framing::Chunked => 0,
        };
        if inbox.buffer.len() < enough && !inbox.ended && inbox.since(quiet_since) < LULL {
            // The common case: more bytes are expected, and the body need not be parsed yet.
        } else {
            let body = match framing {
                Framing::Chunked => chunks.join(&inbox.buffer, most, inbox.ended),
                _ => frame(&inbox.buffer, framing, most, inbox.ended),
            };
            match body {
                Body::Complete(body) => return Ok(Some(body)),
                Body::TooLarge => return Ok(None),
                Body::SoFar(body) if inbox.ended || inbox.since(quiet_since) >= LULL => return Ok(Some(body)),
                Body::CutShort => return Ok(Some(Vec::new())),
                Body::SoFar(_) | Body::Unfinished => {}
            }
        }
        match inbox.more(LULL) {
            Ok(true) => quiet_since = inbox.now(),
            Ok(false) => {}
            Err(error) if is_timeout(&error) && inbox.since(quiet_since) < idle && inbox.now() < inbox.deadline => {}
            Err(error) if is_timeout(&error) => {
                // The body is incomplete and late. It may still hold a message.
                return Ok(Some(std::mem::take(&mut inbox.buffer)));
            }
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn frame(buffer: &[u8], framing: Framing, most: usize, ended: bool) -> Body {
    let expression = |bytes: &[u8]| kif::first(&String::from_utf8_lossy(bytes)).err();
    match framing {
        Framing::Chunked => Chunks::default().join(buffer, most, ended),
        Framing::Length(n) if n > most => Body::TooLarge,
        Framing::Length(0) => Body::Complete(Vec::new()),
        Framing::Length(n) if buffer.len() >= n => match is_whole(&buffer[..n]) {
            true => Body::Complete(buffer[..n].to_vec()),
            // The length may be in characters: more bytes are expected.
            false if buffer.len() <= most => Body::SoFar(buffer.to_vec()),
            false => Body::TooLarge,
        },
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

/// Whether as many bytes as were announced are the whole body. Java's peers announce characters (ggp-base, Dresden): a
/// text outside ASCII then has more bytes than that. A closed list ends by itself; of a name nobody knows.
fn is_whole(bytes: &[u8]) -> bool {
    match bytes.is_ascii() {
        true => kif::first(&String::from_utf8_lossy(bytes)).err() != Some(KifError::Unfinished),
        false => is_closed_list(bytes),
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
                    self.at = buffer.len() - rest.len() + start;
                    // The sizes of chunks and their extensions count as much as the body may.
                    let framing = self.at - self.body.len();
                    if size > most || self.body.len() + size > most || framing > most {
                        return Body::TooLarge;
                    }
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

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn extensions_of_chunks_are_limited() {
        let piece = [b"1;".to_vec(), vec![b'x'; 900], b"\r\n(\r\n".to_vec()].concat();
        let all = piece.repeat(100);
        assert!(matches!(Chunks::default().join(&all, 10_000, false), Body::TooLarge));
        assert!(matches!(Chunks::default().join(&all, 1 << 20, false), Body::Unfinished));
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

    /// Lengths in bytes and in characters of the same text.
    #[test]
    fn lengths_in_characters() {
        let whole = |text: &str, n, ended| match frame(text.as_bytes(), Framing::Length(n), 100, ended) {
            Body::Complete(body) => Some(body == text.as_bytes()),
            Body::SoFar(body) => Some(ended && body == text.as_bytes()),
            _ => None,
        };
        for text in ["(z\u{fc}ge \u{3b1})", "n\u{e9}", "\u{e9}\u{e9}\u{e9}"] {
            for n in [text.len(), text.chars().count()] {
                assert_eq!(whole(text, n, true), Some(true), "{text} {n}");
            }
        }
        // A list that is whole needs no waiting.
        let list = "(z\u{fc}ge \u{3b1})";
        assert_eq!(whole(list, list.len(), false), Some(true));
        assert_eq!(whole("(noop)", 6, false), Some(true));
    }
}
