//! A server on a free port, and a small HTTP client.

#![allow(dead_code)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use surmise::game::StopFlag;
use surmise_web::{Limits, ServeOptions, Server};

/// A server that ends with the test.
pub struct TestServer {
    pub address: SocketAddr,
    stop: StopFlag,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }
}

pub fn options() -> ServeOptions {
    ServeOptions {
        bind: "127.0.0.1:0".parse().unwrap(),
        limits: Limits {
            think_time: Duration::from_secs(5),
            ..Limits::default()
        },
        ..ServeOptions::default()
    }
}

impl TestServer {
    pub fn start(options: ServeOptions) -> TestServer {
        let server = Server::bind(options).expect("a free port");
        let address = server.address().unwrap();
        let stop = StopFlag::default();
        let flag = stop.clone();
        let thread = std::thread::spawn(move || server.serve(&flag));
        TestServer {
            address,
            stop,
            thread: Some(thread),
        }
    }

    pub fn with_data(folder: &Path) -> TestServer {
        TestServer::start(ServeOptions {
            data: Some(folder.to_owned()),
            ..options()
        })
    }

    /// Ends the server and says how long that took.
    pub fn end(mut self) -> Duration {
        let started = Instant::now();
        self.stop.raise();
        self.thread.take().unwrap().join().unwrap();
        started.elapsed()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends a request as it stands, with a Host header.
    pub fn raw(&self, line: &str, headers: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let head = format!(
            "{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses a body may close before it has read all of it.
        let _ = stream.write_all(body);
        read_answer(&mut stream)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.raw(&format!("GET {path}"), "", b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.raw(
            &format!("POST {path}"),
            "Content-Type: application/json\r\n",
            body.to_string().as_bytes(),
        )
    }

    /// A table, as JSON.
    pub fn table(&self, request: &Value) -> Value {
        let made = self.post("/api/tables", request);
        assert_eq!(made.status, 200, "{made:?}");
        made.json()
    }

    pub fn view(&self, id: &str, token: &str) -> Value {
        let view = self.get(&format!("/api/tables/{id}?token={token}"));
        assert_eq!(view.status, 200, "{view:?}");
        view.json()
    }

    /// Waits until a view fits.
    pub fn wait_for(&self, id: &str, token: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let view = self.view(id, token);
            if fits(&view) {
                return view;
            }
            assert!(started.elapsed() < Duration::from_secs(60), "{view}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn play(&self, id: &str, token: &str, mv: &str) -> Answer {
        self.post(&format!("/api/tables/{id}/move"), &json!({"token": token, "move": mv}))
    }

    /// Opens the event stream of a seat.
    pub fn events(&self, id: &str, token: &str) -> Events {
        self.stream(&format!("/api/tables/{id}/events?token={token}"))
    }

    /// Opens the event stream of a run.
    pub fn job_events(&self, id: &str) -> Events {
        self.stream(&format!("/api/jobs/{id}/events"))
    }

    fn stream(&self, path: &str) -> Events {
        let mut stream = self.connect();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            head.push_str(&line);
        }
        Events { reader, head }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.raise();
    }
}

fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    Answer {
        status,
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// An event stream.
pub struct Events {
    reader: BufReader<TcpStream>,
    /// Status line and headers.
    pub head: String,
}

impl Events {
    /// The next event, as it stands.
    pub fn next(&mut self) -> String {
        let mut event = String::new();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).unwrap();
            // Sizes of chunks, signs of life, and the ends of chunks are no part of an event.
            let kept = line.starts_with("id: ") || line.starts_with("data: ");
            if kept {
                event.push_str(&line);
            }
            if line.starts_with("data: ") {
                return event;
            }
            assert!(!line.is_empty(), "the stream has ended");
        }
    }

    /// The view of the next event.
    pub fn view(&mut self) -> Value {
        let event = self.next();
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        serde_json::from_str(data).unwrap()
    }
}

pub fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
        .to_owned()
}
