//! A client in memory.

#![allow(dead_code)] // Not every test uses everything.

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use serde_json::{Value, json};
use std::thread::JoinHandle;
use std::time::Duration;
use surmise_lsp::{Exit, ServeOptions, serve};

/// How long an answer may take before a test fails. Generous: machines are busy.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Client {
    pub connection: Connection,
    pub thread: Option<JoinHandle<std::io::Result<Exit>>>,
    next: i32,
    version: i32,
    /// Notifications and requests of the server that nobody has asked for yet.
    pub notes: Vec<Message>,
}

pub const URI: &str = "file:///game.kif";

impl Client {
    /// A client that has not said anything yet.
    pub fn connect(options: ServeOptions) -> Client {
        let (server, connection) = Connection::memory();
        let thread = std::thread::spawn(move || serve(server, &options));
        Client {
            connection,
            thread: Some(thread),
            next: 0,
            version: 0,
            notes: Vec::new(),
        }
    }

    /// A client whose server does nothing in the background.
    pub fn new() -> Client {
        Client::with(
            ServeOptions {
                foreground_only: true,
                ..ServeOptions::default()
            },
            json!({}),
        )
    }

    pub fn with(options: ServeOptions, settings: Value) -> Client {
        let mut client = Client::connect(options);
        let capabilities = json!({
            "textDocument": {
                "completion": { "completionItem": { "snippetSupport": true } },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            },
            "workspace": { "inlayHint": { "refreshSupport": true } },
        });
        let params = json!({ "processId": null, "capabilities": capabilities, "initializationOptions": settings });
        client.ask("initialize", params);
        client.notify("initialized", json!({}));
        client
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let message = Notification::new(method.to_owned(), params);
        self.connection.sender.send(message.into()).unwrap();
    }

    pub fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection.sender.send(request.into()).unwrap();
        id
    }

    pub fn receive(&mut self) -> Message {
        self.connection
            .receiver
            .recv_timeout(PATIENCE)
            .expect("the server answers")
    }

    pub fn answer(&mut self, id: &RequestId) -> Result<Value, ResponseError> {
        loop {
            match self.receive() {
                Message::Response(Response {
                    id: found,
                    response_result,
                }) if found == *id => return response_result,
                other => self.notes.push(other),
            }
        }
    }

    pub fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, ResponseError> {
        let id = self.send(method, params);
        self.answer(&id)
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params)
            .unwrap_or_else(|error| panic!("{method}: {}", error.message))
    }

    pub fn open(&mut self, text: &str) {
        self.open_as(URI, text);
    }

    pub fn open_as(&mut self, uri: &str, text: &str) {
        self.version += 1;
        let item = json!({ "uri": uri, "languageId": "gdl", "version": self.version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Replaces the whole text.
    pub fn replace(&mut self, text: &str) {
        self.change(json!({ "text": text }));
    }

    pub fn change(&mut self, change: Value) {
        self.version += 1;
        let document = json!({ "uri": URI, "version": self.version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [change] }),
        );
    }

    /// The next findings for the present version.
    pub fn findings(&mut self) -> Vec<Value> {
        let version = self.version;
        let found = self.next_note(|message| match message {
            Message::Notification(Notification { method, params }) => {
                method == "textDocument/publishDiagnostics" && params["version"] == version
            }
            _ => false,
        });
        match found {
            Message::Notification(note) => note.params["diagnostics"].as_array().unwrap().clone(),
            _ => unreachable!("looked for above"),
        }
    }

    /// The next message of the server that is wanted; others are kept.
    pub fn next_note(&mut self, wanted: impl Fn(&Message) -> bool) -> Message {
        loop {
            if let Some(at) = self.notes.iter().position(&wanted) {
                return self.notes.remove(at);
            }
            let message = self.receive();
            self.notes.push(message);
        }
    }

    /// A question about a place: `(line, character)`.
    pub fn at(&mut self, method: &str, (line, character): (u32, u32)) -> Value {
        self.ask(method, self.place(line, character))
    }

    pub fn place(&self, line: u32, character: u32) -> Value {
        json!({
            "textDocument": { "uri": URI },
            "position": { "line": line, "character": character },
            "context": { "includeDeclaration": true, "triggerKind": 1 },
        })
    }

    pub fn document(&self) -> Value {
        json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 4, "insertSpaces": true } })
    }

    /// Ends the connection as a client should.
    pub fn close(mut self) -> Exit {
        self.ask("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.thread.take().unwrap().join().expect("no panic").unwrap()
    }
}

pub fn code_of(error: ResponseError) -> i32 {
    error.code
}

pub const INVALID_REQUEST: i32 = ErrorCode::InvalidRequest as i32;

/// The names of an outline, with those inside groups.
pub fn outline(symbols: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for symbol in symbols.as_array().unwrap() {
        match symbol["children"].as_array() {
            Some(children) if !children.is_empty() => {
                names.extend(children.iter().map(|c| c["name"].as_str().unwrap().to_owned()));
            }
            _ => names.push(symbol["name"].as_str().unwrap().to_owned()),
        }
    }
    names
}

/// Applies edits of the protocol to a text; columns count UTF-16 code units.
pub fn apply(text: &str, edits: &Value) -> String {
    let lines: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(i, _)| i + 1))
        .collect();
    let offset = |position: &Value| {
        let start = lines[position["line"].as_u64().unwrap() as usize];
        let mut units = position["character"].as_u64().unwrap() as usize;
        let mut at = start;
        for c in text[start..].chars() {
            if units == 0 {
                break;
            }
            units -= c.len_utf16();
            at += c.len_utf8();
        }
        at
    };
    let mut list: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|e| {
            (
                offset(&e["range"]["start"]),
                offset(&e["range"]["end"]),
                e["newText"].as_str().unwrap(),
            )
        })
        .collect();
    list.sort();
    let mut out = text.to_owned();
    for (start, end, with) in list.into_iter().rev() {
        out.replace_range(start..end, with);
    }
    out
}
