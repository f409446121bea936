//! "Why is this legal?" through the protocol, and what the background work adds to hover and hints.

mod support;

use lsp_server::Message;
use serde_json::{Value, json};
use support::{Client, URI};
use surmise_lsp::ServeOptions;

fn krieg() -> String {
    catalogue::open("krieg-tictactoe").unwrap().1
}

fn ask(client: &mut Client, question: Value) -> Result<Value, String> {
    let mut question = question;
    question["uri"] = json!(URI);
    let params = json!({ "command": "surmise.why", "arguments": [question] });
    client
        .try_ask("workspace/executeCommand", params)
        .map_err(|error| error.message)
}

#[test]
fn legal_moves_are_explained_after_moves() {
    let mut client = Client::new();
    client.open(&krieg());
    let initial = ask(&mut client, json!({ "role": "xplayer", "move": "(mark 1 1)" })).unwrap();
    assert_eq!((&initial["holds"], &initial["round"]), (&json!(true), &json!(1)));
    let text = initial["text"].as_str().unwrap();
    assert!(text.starts_with("(legal xplayer (mark 1 1)) holds\n"), "{text}");
    assert_eq!(initial["tree"]["because"], "rule");
    let conditions = initial["tree"]["rule"]["conditions"].as_array().unwrap();
    assert!(
        conditions.iter().all(|c| c["holds"] == true) && !conditions.is_empty(),
        "{initial}"
    );
    // After a move the same cell is not free for the same role.
    let moves = json!([["(mark 1 1)", "(mark 2 2)"]]);
    let after = ask(
        &mut client,
        json!({ "term": "legal(xplayer,mark(1,1))", "moves": moves }),
    )
    .unwrap();
    assert_eq!((&after["holds"], &after["round"]), (&json!(false), &json!(2)));
    let attempts = after["tree"]["attempts"].as_array().unwrap();
    assert!(!attempts.is_empty());
    for attempt in attempts {
        let conditions = attempt["conditions"].as_array().unwrap();
        assert_eq!(conditions.last().unwrap()["holds"], false, "{attempt}");
        assert!(conditions[..conditions.len() - 1].iter().all(|c| c["holds"] == true));
    }
    // The joint move of the round explains what is next.
    let term = "(next (cell 1 1 xplayer))";
    let next = ask(
        &mut client,
        json!({ "term": term, "moves": [["(mark 1 1)", "(mark 2 2)"]], "round": 1 }),
    )
    .unwrap();
    assert_eq!((&next["holds"], &next["round"]), (&json!(true), &json!(1)), "{next}");
    let next = ask(
        &mut client,
        json!({ "term": term, "moves": [["(mark 1 1)", "(mark 1 1)"]], "round": 1 }),
    )
    .unwrap();
    assert_eq!(next["holds"], false, "both reach for it");
    let text = next["text"].as_str().unwrap();
    assert!(text.contains("collision holds"), "{text}");
}

#[test]
fn wrong_questions_say_what_is_wrong() {
    let mut client = Client::new();
    client.open(&krieg());
    let mut refused = |question: Value| ask(&mut client, question).unwrap_err();
    assert!(refused(json!({})).contains("`term`"));
    assert!(refused(json!({ "term": "(legal ?x noop)" })).contains("ground"));
    assert!(refused(json!({ "term": "(legal nobody noop)" })).contains("name that the rules do not have"));
    assert!(refused(json!({ "term": "terminal", "moves": [["noop"]] })).contains("moves for"));
    assert!(refused(json!({ "term": "terminal", "moves": [["noop", "noop"]] })).contains("no move"));
    let twice = json!([["(mark 1 1)", "(mark 2 2)"], ["(mark 1 1)", "(mark 3 3)"]]);
    assert!(refused(json!({ "term": "terminal", "moves": twice })).contains("not legal"));
    assert!(refused(json!({ "term": "terminal", "round": 7 })).contains("0 rounds"));
    assert!(refused(json!({ "term": "terminal", "recordPath": "/does/not/exist.json" })).contains("cannot read"));
    assert!(refused(json!({ "term": "terminal", "record": [1] })).len() > 3);
    client.replace("(role a");
    assert!(
        ask(&mut client, json!({ "term": "terminal" }))
            .unwrap_err()
            .contains("errors")
    );
    assert!(client.close().orderly);
}

#[test]
fn hover_and_hints_know_what_was_found_in_the_background() {
    let mut client = Client::with(
        ServeOptions::default(),
        json!({ "delayMs": 0, "games": 5, "seconds": 60 }),
    );
    let text = krieg();
    client.open(&text);
    // The server asks for hints to be fetched anew when it knows what can hold, and once more after play.
    for _ in 0..2 {
        client.next_note(|m| matches!(m, Message::Request(r) if r.method == "workspace/inlayHint/refresh"));
    }
    let at = |what: &str| {
        let offset = text.find(what).unwrap();
        let line = text[..offset].matches('\n').count() as u32;
        (line, (offset - text[..offset].rfind('\n').map_or(0, |i| i + 1)) as u32)
    };
    let (line, column) = at("(next (cell ");
    let cell = client.at("textDocument/hover", (line, column + 7));
    let cell = cell["contents"]["value"].as_str().unwrap().to_owned();
    assert!(cell.contains("50 fluents can arise"), "{cell}");
    assert!(
        cell.contains("- argument 1: 5 values: `1`, `2`, `3`, `4`, `5`"),
        "{cell}"
    );
    let (line, column) = at("(<= (legal");
    let rule = client.at("textDocument/hover", (line, column + 1));
    let rule = rule["contents"]["value"].as_str().unwrap().to_owned();
    assert!(rule.contains("Grounding: ") && rule.contains("of this rule"), "{rule}");
    let end = text.lines().count();
    let mut params = client.document();
    params["range"] = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": end, "character": 0 } });
    let hints = client.ask("textDocument/inlayHint", params);
    let labels: Vec<&str> = hints
        .as_array()
        .unwrap()
        .iter()
        .map(|h| h["label"].as_str().unwrap())
        .collect();
    assert!(labels.iter().any(|l| l.starts_with("5 random games")), "{labels:?}");
    let rules = gdl::read(&text, &gdl::Options::default()).ast.forms.len();
    let counted = labels.iter().filter(|l| l.ends_with('×')).count();
    assert!(counted > 5 && counted < rules, "{labels:?}");
    assert!(client.close().orderly);
}
