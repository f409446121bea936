//! `surmise lsp` over its pipes.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_surmise"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Server { child, out }
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.child.stdin.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut header = String::new();
        self.out.read_line(&mut header).unwrap();
        let length = header
            .trim_end()
            .strip_prefix("Content-Length: ")
            .unwrap()
            .parse()
            .unwrap();
        self.out.read_line(&mut String::new()).unwrap();
        let mut body = vec![0; length];
        self.out.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn initialize(&mut self) -> Value {
        let params = json!({ "processId": null, "rootUri": null, "capabilities": {} });
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
        self.receive()
    }
}

#[test]
fn an_editor_is_served_and_leaves() {
    let mut server = Server::start();
    assert_eq!(server.initialize()["result"]["serverInfo"]["name"], "surmise");
    let item =
        json!({ "uri": "file:///a.kif", "languageId": "gdl", "version": 4, "text": "(role robot) (legal robot" });
    let opened = json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": item } });
    server.send(&opened);
    let published = server.receive();
    assert_eq!(published["params"]["version"], 4);
    assert_eq!(published["params"]["diagnostics"][0]["code"], "E-PAREN");
    server.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }));
    assert_eq!(server.receive()["id"], 2);
    server.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_editor_that_vanishes_ends_the_server() {
    let mut server = Server::start();
    server.initialize();
    drop(server.child.stdin.take());
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
}
