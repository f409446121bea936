//! The loop over messages: the life of a connection, documents, and who answers what.

mod capabilities;
mod requests;
mod why_worker;

use crate::background::{Background, Found, Job, PlayTask, Task, What};
use crate::document::{Document, Replaced};
use crate::facts::{Extents, Name, Played};
use crate::features::diagnostics;
use crate::features::hover::Known;
use crate::index::Target;
use crate::position::Encoding;
use crate::settings::Settings;
use capabilities::Client;
use crossbeam_channel::{Receiver, unbounded};
use game::StopFlag;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    MessageType, PublishDiagnosticsParams, ShowMessageParams, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use why_worker::WhyWorker;

/// How to serve.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// Flag that ends the server.
    pub stop: StopFlag,
    /// Whether settings of the client are ignored and nothing is done in the background, for tests of typing.
    pub foreground_only: bool,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Whether the client said `shutdown` and then `exit`, as it should.
    pub orderly: bool,
}

/// Documents that may be open.
const MAX_DOCUMENTS: usize = 1_000;
/// Bytes of all open documents.
const MAX_TEXT: usize = 64 << 20;
/// Messages that are taken from the connection before they are handled.
const MAX_PENDING: usize = 1_000;
/// How often the stop flag is looked at.
const TICK: Duration = Duration::from_millis(200);

/// Serves a client until it says `exit`, closes the connection, or the flag is raised.
///
/// # Errors
/// If threads cannot be started.
pub fn serve(connection: Connection, options: &ServeOptions) -> io::Result<Exit> {
    let (results, found) = unbounded();
    let mut server = Server {
        why: WhyWorker::start(connection.sender.clone())?,
        background: Background::start(results)?,
        connection,
        phase: Phase::Before,
        client: Client::default(),
        settings: Settings::default(),
        foreground_only: options.foreground_only,
        documents: BTreeMap::new(),
        facts: BTreeMap::new(),
        pending: VecDeque::new(),
        next_request: 0,
    };
    Ok(server.run(&found, &options.stop))
}

/// The phases of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    Running,
    ShutDown,
}

/// An open document, and whether its findings have been sent.
struct Open {
    document: Document,
    published: bool,
    /// Findings of the checks of what can hold, at their places in the present text.
    lints: Vec<gdl::Diagnostic>,
    /// Whether background work on the present text was begun.
    begun: bool,
}

/// What the background work found about a document.
#[derive(Default)]
struct Facts {
    extents: Option<(i32, Extents)>,
    played: Option<(i32, Played)>,
}

impl Facts {
    /// What is known about this version. What can hold is kept from older versions, until it is known anew.
    fn about(&self, version: i32) -> Known<'_> {
        Known {
            extents: self.extents.as_ref().map(|(_, e)| e),
            stale: self.extents.as_ref().is_some_and(|(v, _)| *v != version),
            played: self.played.as_ref().filter(|(v, _)| *v == version).map(|(_, p)| p),
        }
    }
}

struct Server {
    connection: Connection,
    phase: Phase,
    client: Client,
    settings: Settings,
    foreground_only: bool,
    documents: BTreeMap<String, Open>,
    facts: BTreeMap<String, Facts>,
    background: Background,
    why: WhyWorker,
    /// Messages that were taken from the connection, so that they can be cancelled.
    pending: VecDeque<Message>,
    next_request: i32,
}

/// Why a request is not answered.
struct Refusal(ErrorCode, String);

impl Refusal {
    fn params(why: impl Into<String>) -> Refusal {
        Refusal(ErrorCode::InvalidParams, why.into())
    }

    fn failed(why: impl Into<String>) -> Refusal {
        Refusal(ErrorCode::RequestFailed, why.into())
    }
}

impl Server {
    fn run(&mut self, found: &Receiver<Found>, stop: &StopFlag) -> Exit {
        loop {
            while self.pending.len() < MAX_PENDING
                && let Ok(message) = self.connection.receiver.try_recv()
            {
                self.pending.push_back(message);
            }
            if let Some(message) = self.pending.pop_front() {
                if let Some(exit) = self.handle(message) {
                    return exit;
                }
                continue;
            }
            // Nobody waits for an answer: time for findings.
            self.publish_all();
            crossbeam_channel::select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(message) => self.pending.push_back(message),
                    Err(_) => return Exit { orderly: false },
                },
                recv(found) -> found => if let Ok(found) = found {
                    self.keep(found);
                },
                default(TICK) => {}
            }
            if stop.is_raised() {
                return Exit { orderly: false };
            }
        }
    }

    fn handle(&mut self, message: Message) -> Option<Exit> {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let answer = catch_unwind(AssertUnwindSafe(|| self.request(request)));
                let response = answer.unwrap_or_else(|_| {
                    self.documents.values_mut().for_each(|open| open.document.forget());
                    let why = "the server made a mistake; please report it".to_owned();
                    Some(Response::new_err(id, ErrorCode::InternalError as i32, why))
                });
                if let Some(response) = response {
                    self.send(response);
                }
                None
            }
            Message::Notification(notification) if notification.method == "exit" => Some(Exit {
                orderly: self.phase == Phase::ShutDown,
            }),
            Message::Notification(notification) => {
                if self.phase == Phase::Running {
                    let handled = catch_unwind(AssertUnwindSafe(|| self.notification(notification)));
                    if handled.is_err() {
                        self.documents.values_mut().for_each(|open| open.document.forget());
                    }
                }
                None
            }
            Message::Response(_) => None,
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // If nobody listens, the end of the input is noticed soon.
        let _ = self.connection.sender.send(message.into());
    }

    fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    fn ask(&mut self, method: &str) {
        self.next_request += 1;
        let id = RequestId::from(format!("surmise-{}", self.next_request));
        self.send(Request::new(id, method.to_owned(), Value::Null));
    }

    /// Answers a request; nothing if another thread will.
    fn request(&mut self, request: Request) -> Option<Response> {
        let id = request.id.clone();
        let refuse = |code: ErrorCode, why: &str| Some(Response::new_err(id.clone(), code as i32, why.to_owned()));
        match (self.phase, request.method.as_str()) {
            (Phase::Before, "initialize") => {
                self.phase = Phase::Running;
                self.client = Client::new(&request.params);
                self.settings =
                    Settings::from_value(request.params.get("initializationOptions").unwrap_or(&Value::Null));
                let answer = json!({
                    "capabilities": capabilities::capabilities(&self.client),
                    "serverInfo": { "name": "surmise", "version": env!("CARGO_PKG_VERSION") },
                });
                Some(Response::new_ok(id, answer))
            }
            (Phase::Before, _) => refuse(ErrorCode::ServerNotInitialized, "the first request is `initialize`"),
            (Phase::Running, "initialize") => refuse(ErrorCode::InvalidRequest, "`initialize` was sent before"),
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.documents.clear();
                self.facts.clear();
                Some(Response::new_ok(id, Value::Null))
            }
            (Phase::ShutDown, _) => refuse(ErrorCode::InvalidRequest, "the server was shut down; send `exit`"),
            (Phase::Running, _) => self.question(request),
        }
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => {
                if let Some(params) = parse::<DidOpenTextDocumentParams>(params) {
                    let item = params.text_document;
                    self.open(Document::new(item.uri, item.version, item.text));
                }
            }
            "textDocument/didChange" => {
                if let Some(params) = parse::<DidChangeTextDocumentParams>(params) {
                    self.change(params);
                }
            }
            "textDocument/didClose" => {
                if let Some(params) = parse::<DidCloseTextDocumentParams>(params) {
                    self.close(&params.text_document.uri);
                }
            }
            "workspace/didChangeConfiguration" => {
                if let Some(params) = parse::<DidChangeConfigurationParams>(params) {
                    self.configure(Settings::from_value(&params.settings));
                }
            }
            "$/cancelRequest" => {
                if let Some(id) = params.get("id").cloned().and_then(parse::<RequestId>) {
                    self.cancel(&id);
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, document: Document) {
        let key = document.uri.as_str().to_owned();
        if self.documents.len() >= MAX_DOCUMENTS && !self.documents.contains_key(&key) {
            self.show(format!(
                "more than {MAX_DOCUMENTS} documents are open: this one is not read"
            ));
            return;
        }
        self.facts.remove(&key);
        self.background.cancel(&key);
        let open = Open {
            document,
            published: false,
            lints: Vec::new(),
            begun: false,
        };
        self.documents.insert(key.clone(), open);
        self.limit_text(&key);
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let encoding = self.encoding();
        let key = params.text_document.uri.as_str().to_owned();
        let Some(open) = self.documents.get_mut(&key) else {
            return;
        };
        open.published = false;
        open.begun = false;
        let replaced = open
            .document
            .change(params.text_document.version, params.content_changes, encoding);
        open.lints = follow(std::mem::take(&mut open.lints), &replaced);
        self.background.cancel(&key);
        self.limit_text(&key);
    }

    /// Refuses a document if too much text is open.
    fn limit_text(&mut self, key: &str) {
        let total: usize = self.documents.values().map(|open| open.document.text().len()).sum();
        let Some(open) = self.documents.get_mut(key) else {
            return;
        };
        if total > MAX_TEXT {
            open.document.refuse();
        }
        if open.document.refused {
            let limit = gdl::source::MAX_BYTES >> 20;
            let name = open.document.uri.as_str().to_owned();
            self.show(format!(
                "{name} is not read: rules may have {limit} MiB, and all open files {} MiB",
                MAX_TEXT >> 20
            ));
        }
    }

    fn show(&self, message: String) {
        self.notify(
            "window/showMessage",
            ShowMessageParams {
                typ: MessageType::WARNING,
                message,
            },
        );
    }

    fn close(&mut self, uri: &Uri) {
        self.background.cancel(uri.as_str());
        self.facts.remove(uri.as_str());
        if self.documents.remove(uri.as_str()).is_some() {
            // A file that is not open has no findings.
            self.notify(
                "textDocument/publishDiagnostics",
                PublishDiagnosticsParams::new(uri.clone(), Vec::new(), None),
            );
        }
    }

    fn configure(&mut self, settings: Settings) {
        if self.settings == settings || self.foreground_only {
            return;
        }
        self.settings = settings;
        self.facts.clear();
        for (key, open) in &mut self.documents {
            self.background.cancel(key);
            open.document.forget();
            open.published = false;
            open.begun = false;
        }
    }

    fn cancel(&mut self, id: &RequestId) {
        self.why.cancel(id);
        let is_it = |message: &Message| matches!(message, Message::Request(request) if request.id == *id);
        if let Some(at) = self.pending.iter().position(is_it) {
            self.pending.remove(at);
            let code = ErrorCode::RequestCanceled as i32;
            self.send(Response::new_err(id.clone(), code, "cancelled".to_owned()));
        }
    }

    fn encoding(&self) -> Encoding {
        self.client.encoding
    }

    /// Sends the findings of documents that have changed, and starts the background work on them.
    fn publish_all(&mut self) {
        let waiting = self.documents.iter().filter(|(_, open)| !open.published);
        let keys: Vec<String> = waiting.map(|(key, _)| key.clone()).collect();
        for key in keys {
            let done = catch_unwind(AssertUnwindSafe(|| self.publish(&key)));
            if done.is_err()
                && let Some(open) = self.documents.get_mut(&key)
            {
                open.published = true;
                open.document.forget();
            }
        }
    }

    fn publish(&mut self, key: &str) {
        let (options, encoding) = (self.settings.options(), self.encoding());
        let Some(open) = self.documents.get_mut(key) else {
            return;
        };
        open.published = true;
        let (uri, version) = (open.document.uri.clone(), open.document.version);
        if open.document.refused {
            let params = PublishDiagnosticsParams::new(uri, vec![diagnostics::refusal()], Some(version));
            self.notify("textDocument/publishDiagnostics", params);
            return;
        }
        let view = open.document.view(&options, encoding);
        let known = self
            .facts
            .get(key)
            .map(|facts| facts.about(version))
            .unwrap_or_default();
        let found = diagnostics::diagnostics(view, &open.lints, known.played);
        let mut jobs = Vec::new();
        if let Some(delay) = self.settings.delay_ms
            && !open.begun
            && !self.foreground_only
            && view.analysis.reading.is_playable()
        {
            let options = gdl::Options {
                notation: Some(view.notation()),
                ..options
            };
            let text = view.text().to_owned();
            jobs.push((Task::Lint { text, options }, 0));
            let task = PlayTask {
                rules: view.analysis.reading.rules.clone(),
                relations: relations(view),
                options,
                games: self.settings.games.min(100_000),
            };
            jobs.push((Task::Play(task), delay.min(60_000)));
            open.begun = true;
        }
        self.notify(
            "textDocument/publishDiagnostics",
            PublishDiagnosticsParams::new(uri, found, Some(version)),
        );
        for (task, delay) in jobs {
            self.background.submit(Job {
                uri: key.to_owned(),
                version,
                task,
                limit: self.settings.limit(),
                delay: Duration::from_millis(delay),
            });
        }
    }

    /// Keeps a result of the background work, if it is about the present text.
    fn keep(&mut self, found: Found) {
        let Some(open) = self.documents.get_mut(&found.uri) else {
            return;
        };
        if open.document.version != found.version {
            return;
        }
        let facts = self.facts.entry(found.uri).or_default();
        match found.what {
            What::Lints(lints) => {
                open.published &= open.lints == lints;
                open.lints = lints;
                return;
            }
            What::Extents(extents) => facts.extents = Some((found.version, extents)),
            What::Played(played) => {
                facts.played = Some((found.version, played));
                open.published = false;
            }
        }
        if self.client.refreshes_hints && self.settings.inlay_hints {
            self.ask("workspace/inlayHint/refresh");
        }
    }
}

/// The findings that the replaced pieces of a text leave alone, at their new places.
fn follow(found: Vec<gdl::Diagnostic>, replaced: &[Replaced]) -> Vec<gdl::Diagnostic> {
    let moved = |mut d: gdl::Diagnostic| {
        for piece in replaced {
            d.span = piece.follow(d.span)?;
            for (span, _) in &mut d.related {
                *span = piece.follow(*span)?;
            }
            for edit in d.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
                edit.span = piece.follow(edit.span)?;
            }
        }
        Some(d)
    };
    found.into_iter().filter_map(moved).collect()
}

fn relations(view: crate::document::View) -> Vec<Name> {
    let targets = view.analysis.index.targets().into_iter();
    let relation = |target| match target {
        Target::Relation(name, arity) => Some((view.name(name).to_owned(), arity)),
        _ => None,
    };
    targets.filter_map(relation).collect()
}

fn parse<P: DeserializeOwned>(params: Value) -> Option<P> {
    serde_json::from_value(params).ok()
}
