//! What an editor sends.

use lsp_server::{Connection, ErrorCode, Message, Notification, Request};
use serde_json::{Value, json};
use surmise_lsp::{ServeOptions, serve};

const URI: &str = "file:///game.kif";

/// The questions about a document.
const QUESTIONS: &[&str] = &[
    "hover",
    "completion",
    "definition",
    "references",
    "documentHighlight",
    "documentSymbol",
    "semanticTokens/full",
    "foldingRange",
    "formatting",
    "prepareRename",
    "rename",
    "codeAction",
    "inlayHint",
];

/// Opens a text, types at its end, and asks everything about two places.
pub fn text(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let lines = text.lines().count() as u32;
    let seed: u32 = input
        .iter()
        .fold(7, |sum, &b| sum.wrapping_mul(31).wrapping_add(u32::from(b)));
    let (line, column) = (seed % (lines + 1), seed / 7 % 60);
    let start = json!({ "line": line, "character": column });
    let item = json!({ "uri": URI, "languageId": "gdl", "version": 1, "text": text });
    let typed = ["(", ")", "?x", " a ", ""][seed as usize % 5];
    let change = json!({ "range": { "start": start, "end": start }, "text": typed });
    let mut messages = vec![
        note("textDocument/didOpen", json!({ "textDocument": item })),
        note(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [change] }),
        ),
    ];
    for position in [start, json!({ "line": lines / 2, "character": 8 })] {
        for question in QUESTIONS {
            let params = json!({
                "textDocument": { "uri": URI },
                "position": position,
                "range": { "start": { "line": 0, "character": 0 }, "end": position },
                "context": { "includeDeclaration": true, "triggerKind": 1, "diagnostics": [] },
                "options": { "tabSize": 4, "insertSpaces": true },
                "newName": "fresh",
            });
            let method = format!("textDocument/{question}");
            messages.push(Request::new((messages.len() as i32 + 10).into(), method, params).into());
        }
    }
    exchange(messages);
}

/// Sends a list of messages in JSON, whatever they are.
pub fn messages(input: &[u8]) {
    let Ok(Value::Array(list)) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    let messages = list.into_iter().filter_map(|value| serde_json::from_value(value).ok());
    exchange(messages.collect());
}

/// A session with these messages. The server answers a mistake of its own with an error, which must not happen.
fn exchange(messages: Vec<Message>) {
    let (server, client) = Connection::memory();
    let send = |message: Message| client.sender.send(message).expect("nobody has hung up");
    send(Request::new(1.into(), "initialize".to_owned(), json!({ "capabilities": {} })).into());
    messages.into_iter().for_each(send);
    send(note("exit", Value::Null));
    let options = ServeOptions {
        foreground_only: true,
        ..ServeOptions::default()
    };
    serve(server, &options).expect("threads start");
    for message in client.receiver.try_iter() {
        if let Message::Response(response) = message
            && let Err(error) = response.response_result
        {
            assert!(error.code != ErrorCode::InternalError as i32, "{}", error.message);
        }
    }
}

fn note(method: &str, params: Value) -> Message {
    Notification::new(method.to_owned(), params).into()
}
