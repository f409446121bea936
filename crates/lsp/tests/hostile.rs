//! Clients that do not keep to the protocol.

mod support;

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Write};
use support::{Client, INVALID_REQUEST, URI};
use surmise_lsp::{Exit, MAX_MESSAGE, ServeOptions};

#[test]
fn requests_out_of_order_are_refused() {
    let mut client = Client::connect(ServeOptions::default());
    assert_eq!(
        client.try_ask("textDocument/hover", Value::Null).unwrap_err().code,
        -32002
    );
    assert_eq!(client.try_ask("shutdown", Value::Null).unwrap_err().code, -32002);
    // Notifications before `initialize` are dropped.
    client.open("(role a");
    // Parameters that make no sense do not matter.
    client.ask("initialize", json!([{}]));
    assert_eq!(
        client.try_ask("initialize", json!({})).unwrap_err().code,
        INVALID_REQUEST
    );
    let params = client.place(0, 0);
    assert_eq!(
        client.try_ask("textDocument/hover", params).unwrap_err().code,
        -32602,
        "it is not open"
    );
    client.ask("shutdown", Value::Null);
    for method in ["textDocument/hover", "shutdown", "initialize", "nonsense"] {
        assert_eq!(
            client.try_ask(method, json!({})).unwrap_err().code,
            INVALID_REQUEST,
            "{method}"
        );
    }
    client.open("(role a)");
    client.notify("exit", Value::Null);
    assert_eq!(
        client.thread.take().unwrap().join().unwrap().unwrap(),
        Exit { orderly: true }
    );
}

#[test]
fn leaving_without_a_word_is_noticed() {
    let mut client = Client::new();
    client.notify("exit", Value::Null);
    assert_eq!(
        client.thread.take().unwrap().join().unwrap().unwrap(),
        Exit { orderly: false }
    );
    let mut client = Client::new();
    let thread = client.thread.take().unwrap();
    drop(client);
    assert_eq!(thread.join().unwrap().unwrap(), Exit { orderly: false });
    let options = ServeOptions::default();
    let stop = options.stop.clone();
    let mut client = Client::connect(options);
    stop.raise();
    assert_eq!(
        client.thread.take().unwrap().join().unwrap().unwrap(),
        Exit { orderly: false }
    );
}

#[test]
fn unknown_methods_and_wrong_parameters_are_answered() {
    let mut client = Client::new();
    client.open("(role a)");
    assert_eq!(
        client.try_ask("textDocument/teleport", json!({})).unwrap_err().code,
        -32601
    );
    assert_eq!(
        client.try_ask(&"x".repeat(100_000), json!({})).unwrap_err().code,
        -32601
    );
    for method in [
        "textDocument/hover",
        "textDocument/completion",
        "textDocument/definition",
        "textDocument/references",
        "textDocument/documentHighlight",
        "textDocument/documentSymbol",
        "textDocument/semanticTokens/full",
        "textDocument/semanticTokens/range",
        "textDocument/foldingRange",
        "textDocument/formatting",
        "textDocument/prepareRename",
        "textDocument/rename",
        "textDocument/codeAction",
        "textDocument/inlayHint",
        "workspace/executeCommand",
    ] {
        for params in [
            Value::Null,
            json!([1, 2]),
            json!({ "textDocument": { "uri": 7 } }),
            json!("x"),
        ] {
            let code = client.try_ask(method, params).unwrap_err().code;
            assert_eq!(code, -32602, "{method}");
        }
    }
    for command in [
        json!({ "command": "rm" }),
        json!({ "command": "surmise.why", "arguments": [3] }),
    ] {
        assert_eq!(
            client.try_ask("workspace/executeCommand", command).unwrap_err().code,
            -32602
        );
    }
    // Notifications with wrong parameters, or of unknown kinds, are dropped.
    for method in [
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didClose",
        "$/setTrace",
        "what",
    ] {
        client.notify(method, json!({ "textDocument": 1 }));
    }
    client.notify("$/cancelRequest", json!({ "id": {} }));
    client
        .connection
        .sender
        .send(lsp_server::Response::new_ok(99.into(), 1).into())
        .unwrap();
    assert!(client.close().orderly);
}

#[test]
fn positions_and_changes_may_be_anywhere() {
    let mut client = Client::new();
    client.open("(role a)\r\n; 𝄞\r(<= (legal a b)\n  (true ?x))");
    let far = u32::MAX;
    for (line, character) in [(0, far), (far, 0), (far, far), (1, 3), (2, 0), (3, 100)] {
        for method in [
            "textDocument/hover",
            "textDocument/completion",
            "textDocument/definition",
        ] {
            client.at(method, (line, character));
        }
        let at = json!({ "line": line, "character": character });
        let back = json!({ "line": 0, "character": 1 });
        client.change(json!({ "range": { "start": at, "end": at }, "text": "𝄞(\u{0}" }));
        client.change(json!({ "range": { "start": at, "end": back }, "text": "" }));
        let params = client.document();
        client.ask("textDocument/semanticTokens/full", params);
    }
    // A change of a document that is not open.
    let change = json!({ "textDocument": { "uri": "file:///none", "version": 2 }, "contentChanges": [{ "text": "" }] });
    client.notify("textDocument/didChange", change);
    assert!(client.close().orderly);
}

#[test]
fn large_documents_are_refused_politely() {
    let mut client = Client::new();
    client.open(&"(a) ".repeat(5 << 20));
    let found = client.findings();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["code"], "E-LIMIT");
    assert!(found[0]["message"].as_str().unwrap().contains("16 MiB"));
    client.next_note(|m| matches!(m, Message::Notification(n) if n.method == "window/showMessage"));
    // Questions about it have no answer, and are no errors.
    assert_eq!(client.at("textDocument/hover", (0, 1)), Value::Null);
    client.replace("(role a)");
    assert!(
        client.findings().iter().all(|d| d["code"] != "E-LIMIT"),
        "it is read once it is small"
    );
    // Many documents that are large together.
    for n in 0..6 {
        client.open_as(&format!("file:///{n}"), &";".repeat(15 << 20));
    }
    let params = json!({ "textDocument": { "uri": "file:///5" } });
    assert_eq!(client.ask("textDocument/foldingRange", params), Value::Null);
    assert!(client.close().orderly);
}

#[test]
fn deep_and_long_texts_are_survived() {
    let mut client = Client::new();
    client.open("");
    for text in [
        "(".repeat(100_000),
        ")".repeat(100_000),
        "a(".repeat(100_000),
        "a(\n".repeat(50_000),
        format!("a <= {}", "not ".repeat(50_000)),
        "(<= ".repeat(50_000),
        "(f\n".repeat(50_000),
        "?".repeat(10_000),
        "x".repeat(200_000),
        "\u{feff}\u{feff}(".to_owned(),
        "a.\n(b)\n".repeat(5_000),
        "a(b <= c\n".repeat(20_000),
    ] {
        client.replace(&text);
        client.findings();
        for method in [
            "textDocument/documentSymbol",
            "textDocument/semanticTokens/full",
            "textDocument/foldingRange",
        ] {
            let params = client.document();
            client.ask(method, params);
        }
        client.at("textDocument/completion", (0, 50_000));
    }
    assert!(client.close().orderly);
}

#[test]
fn requests_can_be_cancelled() {
    let mut client = Client::new();
    client.open("(role a)");
    // All of these wait behind each other; whatever was not answered yet is cancelled, each id is answered once.
    let ids: Vec<RequestId> = (0..50)
        .map(|_| {
            let params = client.document();
            client.send("textDocument/semanticTokens/full", params)
        })
        .collect();
    for id in &ids {
        client.notify("$/cancelRequest", json!({ "id": serde_json::to_value(id).unwrap() }));
    }
    for id in &ids {
        match client.answer(id) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.code, -32800),
        }
    }
    assert!(client.close().orderly);
}

/// A pipe within the process.
fn pipe() -> (impl Write + Send, impl BufRead + Send) {
    let (reader, writer) = io::pipe().unwrap();
    (writer, BufReader::new(reader))
}

fn frame(value: &Value) -> Vec<u8> {
    let text = value.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

fn read_answer(from: &mut impl BufRead) -> Value {
    let mut length = 0;
    loop {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            header => length = header.strip_prefix("Content-Length: ").unwrap().parse().unwrap(),
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn bad_bytes_are_answered_and_survived() {
    let (mut to_server, server_in) = pipe();
    let (server_out, mut from_server) = pipe();
    let thread = std::thread::spawn(move || {
        let options = ServeOptions {
            foreground_only: true,
            ..ServeOptions::default()
        };
        surmise_lsp::streams(server_in, server_out, &options)
    });
    let mut exchange = |bytes: &[u8]| {
        to_server.write_all(bytes).unwrap();
        read_answer(&mut from_server)
    };
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } });
    assert_eq!(
        exchange(&frame(&initialize))["result"]["capabilities"]["positionEncoding"],
        "utf-16"
    );
    for (bytes, code) in [
        (b"Content-Length: 5\r\n\r\n{\"a\":".to_vec(), -32700),
        (b"Content-Length: 2\r\n\r\n\xff\xfe".to_vec(), -32700),
        (b"Content-Length: -1\r\n\r\n".to_vec(), -32700),
        (b"nonsense\r\n\r\n".to_vec(), -32700),
        (frame(&json!([])), -32600),
        (frame(&json!({ "id": 1.5, "method": "x" })), -32600),
        (frame(&json!({ "jsonrpc": "2.0" })), -32600),
    ] {
        let answer = exchange(&bytes);
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&Value::Null, &json!(code)),
            "{answer}"
        );
    }
    // A message that is too long is skipped while it is read.
    let long = format!("Content-Length: {}\r\n\r\n", MAX_MESSAGE + 10);
    to_server.write_all(long.as_bytes()).unwrap();
    let block = vec![b' '; 1 << 16];
    let mut left = MAX_MESSAGE + 10;
    while left > 0 {
        let n = left.min(block.len());
        to_server.write_all(&block[..n]).unwrap();
        left -= n;
    }
    assert_eq!(read_answer(&mut from_server)["error"]["code"], -32600);
    let mut exchange = |value: Value| {
        to_server.write_all(&frame(&value)).unwrap();
        read_answer(&mut from_server)
    };
    let open = json!({ "uri": URI, "languageId": "gdl", "version": 1, "text": "(role a" });
    let published =
        exchange(json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": open } }));
    assert_eq!(published["params"]["diagnostics"][0]["code"], "E-PAREN");
    assert_eq!(
        exchange(json!({ "jsonrpc": "2.0", "id": "end", "method": "shutdown" }))["result"],
        Value::Null
    );
    to_server
        .write_all(&frame(&json!({ "jsonrpc": "2.0", "method": "exit" })))
        .unwrap();
    assert!(thread.join().unwrap().unwrap().orderly);
}

#[test]
fn a_client_that_offers_bytes_is_given_bytes() {
    let mut client = Client::connect(ServeOptions {
        foreground_only: true,
        ..ServeOptions::default()
    });
    let params = json!({ "capabilities": { "general": { "positionEncodings": ["utf-32", "utf-8"] } } });
    let request = Request::new(1.into(), "initialize".to_owned(), params);
    client.connection.sender.send(request.into()).unwrap();
    let answer = client.answer(&1.into()).unwrap();
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-8");
    let item = json!({ "uri": URI, "languageId": "gdl", "version": 1, "text": "(é (role" });
    let opened = Notification::new("textDocument/didOpen".to_owned(), json!({ "textDocument": item }));
    client.connection.sender.send(opened.into()).unwrap();
    let params = client.place(0, 5);
    let id = RequestId::from(2);
    let request = Request::new(id.clone(), "textDocument/hover".to_owned(), params);
    client.connection.sender.send(request.into()).unwrap();
    let hover = client.answer(&id).unwrap();
    assert_eq!(hover["range"]["start"]["character"], 5, "{hover}");
}
