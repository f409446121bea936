//! Messages over a pair of byte streams: `Content-Length` frames with JSON, as the base protocol has them.
//!
//! The reader of `lsp-server` ends at the first message that is not as it should be, and believes any length. This one
//! answers bad messages, skips messages that are too long without keeping them, and goes on.

use crossbeam_channel::{Receiver, Sender, bounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use std::thread::{self, JoinHandle};

/// Bytes of a message: a document of 16 MiB, in which every character needs an escape of two bytes, and the rest.
pub const MAX_MESSAGE: usize = 36 << 20;

/// Values in a message. A document is one value, however long it is.
pub const MAX_VALUES: usize = 500_000;

/// Bytes of a header line.
const MAX_HEADER: u64 = 4096;

/// Header lines of a message.
const MAX_HEADERS: usize = 100;

/// Messages that wait to be handled.
const WAITING: usize = 64;

/// What was read.
#[derive(Debug)]
pub enum Frame {
    /// A message.
    Message(Message),
    /// Something else, and the answer to it.
    Bad(Value),
    /// The end of the stream.
    End,
}

/// The threads of a connection.
pub struct Threads {
    writer: JoinHandle<()>,
}

impl Threads {
    /// Waits until everything has been written. Drop the connection before.
    pub fn finish(self) {
        let _ = self.writer.join();
    }
}

/// A connection over two streams. The reading thread ends with its stream or after `exit`.
pub fn connect(
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> io::Result<(Connection, Threads)> {
    let (to_server, incoming) = bounded::<Message>(WAITING);
    let (outgoing, to_write) = bounded::<Message>(WAITING);
    let (bad, bad_answers) = bounded::<Value>(WAITING);
    thread::Builder::new()
        .name("lsp-reader".to_owned())
        .spawn(move || read_all(&mut input, &to_server, &bad))?;
    let writer = thread::Builder::new()
        .name("lsp-writer".to_owned())
        .spawn(move || write_all(&mut output, &to_write, &bad_answers))?;
    let connection = Connection {
        sender: outgoing,
        receiver: incoming,
    };
    Ok((connection, Threads { writer }))
}

fn read_all(input: &mut impl BufRead, server: &Sender<Message>, bad: &Sender<Value>) {
    loop {
        let sent = match read_frame(input) {
            Ok(Frame::Message(message)) => {
                let is_exit = matches!(&message, Message::Notification(n) if n.method == "exit");
                server.send(message).is_ok() && !is_exit
            }
            Ok(Frame::Bad(answer)) => bad.send(answer).is_ok(),
            Ok(Frame::End) | Err(_) => false,
        };
        if !sent {
            return;
        }
    }
}

fn write_all(output: &mut impl Write, messages: &Receiver<Message>, bad: &Receiver<Value>) {
    let mut bad_open = true;
    loop {
        let written = if bad_open {
            crossbeam_channel::select! {
                recv(messages) -> message => match message {
                    Ok(message) => message.write(output),
                    Err(_) => return,
                },
                recv(bad) -> answer => match answer {
                    Ok(answer) => write_json(output, &answer),
                    Err(_) => {
                        bad_open = false;
                        Ok(())
                    }
                },
            }
        } else {
            match messages.recv() {
                Ok(message) => message.write(output),
                Err(_) => return,
            }
        };
        if written.is_err() {
            // Nobody listens. Messages are taken until the server notices the end of its input.
            messages.iter().for_each(drop);
            return;
        }
    }
}

fn write_json(output: &mut impl Write, value: &Value) -> io::Result<()> {
    let text = value.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// Reads one frame. After a bad one the stream is at the next, if it can be found.
///
/// # Errors
/// If the stream fails.
pub fn read_frame(input: &mut impl BufRead) -> io::Result<Frame> {
    let length = match read_header(input)? {
        Header::End => return Ok(Frame::End),
        Header::Length(length) => length,
        Header::Bad(why) => return Ok(bad(ErrorCode::ParseError, why)),
    };
    if length > MAX_MESSAGE {
        let skipped = io::copy(&mut input.take(length as u64), &mut io::sink())?;
        if skipped < length as u64 {
            return Ok(Frame::End);
        }
        let why = format!(
            "a message may have {} MiB, this one has {length} bytes",
            MAX_MESSAGE >> 20
        );
        return Ok(bad(ErrorCode::InvalidRequest, &why));
    }
    let mut bytes = Vec::new();
    input.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Ok(Frame::End);
    }
    Ok(parse(&bytes))
}

enum Header {
    End,
    Length(usize),
    Bad(&'static str),
}

/// Reads header lines up to the empty one.
fn read_header(input: &mut impl BufRead) -> io::Result<Header> {
    let mut length = None;
    let mut mistake = None;
    for number in 0.. {
        let mut line = Vec::new();
        input.take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(Header::End);
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == MAX_HEADER || number == MAX_HEADERS {
            // No header looks like this: there is no telling where the next message begins.
            return Ok(Header::End);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            break;
        }
        match line.split_once(':') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                match value.trim().parse::<usize>() {
                    Ok(value) => length = Some(value),
                    Err(_) => mistake = Some("Content-Length is no number"),
                }
            }
            Some(_) => {}
            None => mistake = Some("a header has no colon"),
        }
    }
    Ok(match (length, mistake) {
        (Some(length), _) => Header::Length(length),
        (None, Some(mistake)) => Header::Bad(mistake),
        (None, None) => Header::Bad("a message needs a header Content-Length"),
    })
}

/// Turns the bytes of a message into the message.
pub fn parse(bytes: &[u8]) -> Frame {
    if values(bytes) > MAX_VALUES {
        return bad(
            ErrorCode::InvalidRequest,
            &format!("a message may have {MAX_VALUES} values"),
        );
    }
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return bad(ErrorCode::ParseError, &error.to_string()),
    };
    let Value::Object(mut fields) = value else {
        return bad(
            ErrorCode::InvalidRequest,
            "a message is an object; there are no batches",
        );
    };
    let id = match fields.remove("id") {
        None => None,
        Some(id) => match serde_json::from_value::<RequestId>(id) {
            Ok(id) => Some(id),
            Err(_) => return bad(ErrorCode::InvalidRequest, "an id is a 32-bit integer or a text"),
        },
    };
    let params = fields.remove("params").unwrap_or_default();
    match (id, fields.remove("method")) {
        (Some(id), Some(Value::String(method))) => Frame::Message(Request { id, method, params }.into()),
        (None, Some(Value::String(method))) => Frame::Message(Notification { method, params }.into()),
        (Some(id), None) => {
            // An answer to a question of ours. Only its id matters: we ask nothing whose answer we need.
            let result = fields.remove("result").unwrap_or_default();
            Frame::Message(
                Response {
                    id,
                    response_result: Ok(result),
                }
                .into(),
            )
        }
        _ => bad(ErrorCode::InvalidRequest, "a message needs a method"),
    }
}

/// An upper bound of the number of values in a JSON text, without reading it: memory for values is many times the text.
fn values(bytes: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for &b in bytes {
        match b {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b':' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

/// The answer to something that is no message: its id cannot be known.
fn bad(code: ErrorCode, why: &str) -> Frame {
    Frame::Bad(json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": { "code": code as i32, "message": why },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(text: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
    }

    fn code(frame: Frame) -> i64 {
        match frame {
            Frame::Bad(answer) => {
                assert_eq!(answer["id"], Value::Null);
                answer["error"]["code"].as_i64().unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn messages_are_told_apart() {
        let is = |text: &str| match parse(text.as_bytes()) {
            Frame::Message(Message::Request(r)) => format!("request {} {}", r.id, r.method),
            Frame::Message(Message::Notification(n)) => format!("notification {}", n.method),
            Frame::Message(Message::Response(r)) => format!("response {}", r.id),
            Frame::Bad(answer) => answer["error"]["code"].to_string(),
            Frame::End => "end".to_owned(),
        };
        assert_eq!(
            is(r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#),
            "request 1 shutdown"
        );
        assert_eq!(
            is(r#"{"jsonrpc":"2.0","id":"a","method":"shutdown","params":null}"#),
            "request \"a\" shutdown"
        );
        assert_eq!(is(r#"{"jsonrpc":"2.0","method":"exit"}"#), "notification exit");
        assert_eq!(is(r#"{"jsonrpc":"2.0","id":7,"result":null}"#), "response 7");
        assert_eq!(
            is(r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}"#),
            "response 7"
        );
        assert_eq!(is("{"), "-32700");
        assert_eq!(is("\u{1}"), "-32700");
        assert_eq!(is("[]"), "-32600");
        assert_eq!(is("{}"), "-32600");
        assert_eq!(is(r#"{"id":1.5,"method":"shutdown"}"#), "-32600");
        assert_eq!(is(r#"{"id":[1],"method":"shutdown"}"#), "-32600");
        assert_eq!(is(&"[".repeat(100_000)), "-32700");
    }

    #[test]
    fn reading_goes_on_after_bad_frames() {
        let mut bytes = framed("nonsense");
        bytes.extend(b"Content-Length: ten\r\n\r\n");
        bytes.extend(b"X-Other: 1\r\n\r\n");
        bytes.extend(framed(r#"{"jsonrpc":"2.0","method":"exit"}"#));
        let mut input = &bytes[..];
        for _ in 0..3 {
            assert_eq!(code(read_frame(&mut input).unwrap()), -32700);
        }
        assert!(matches!(read_frame(&mut input).unwrap(), Frame::Message(_)));
        assert!(matches!(read_frame(&mut input).unwrap(), Frame::End));
    }

    #[test]
    fn long_messages_are_skipped_and_lengths_not_believed() {
        let head = format!("Content-Length: {}\r\n\r\n", MAX_MESSAGE + 1).into_bytes();
        let body = io::repeat(b' ').take(MAX_MESSAGE as u64 + 1);
        let rest = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        let mut input = io::BufReader::new(head.chain(body).chain(&rest[..]));
        assert_eq!(code(read_frame(&mut input).unwrap()), -32600);
        assert!(matches!(read_frame(&mut input).unwrap(), Frame::Message(_)));
        // A length that never comes ends the stream; nothing is allocated for it.
        let mut input = &b"Content-Length: 18446744073709551615\r\n\r\nabc"[..];
        assert!(matches!(read_frame(&mut input).unwrap(), Frame::End));
        let mut input = &b"Content-Length: 30000000\r\n\r\nabc"[..];
        assert!(matches!(read_frame(&mut input).unwrap(), Frame::End));
    }

    #[test]
    fn headers_are_bounded() {
        let mut input = io::BufReader::new(io::repeat(b'x'));
        assert!(matches!(read_frame(&mut input).unwrap(), Frame::End));
        let mut input = io::BufReader::new(io::repeat(b'\r').chain(io::empty()));
        assert!(matches!(read_frame(&mut input).unwrap(), Frame::End));
        let many = b"a: b\r\n".repeat(MAX_HEADERS + 1);
        assert!(matches!(read_frame(&mut &many[..]).unwrap(), Frame::End));
    }

    #[test]
    fn many_small_values_are_refused_before_they_are_made() {
        let text = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert_eq!(code(parse(text.as_bytes())), -32600);
        assert_eq!(values(br#"{"a":"[,:]\",","b":[1,2]}"#), 7);
    }
}
