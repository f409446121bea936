//! What a client is answered, feature by feature, through the protocol.

mod support;

use serde_json::{Value, json};
use support::{Client, URI, apply, outline};
use surmise_lsp::ServeOptions;

const GAME: &str = "\
; A small game. 𝄞
(role red)
(role blue)
(init (cell 1 b))
(init (cell 2 b))
(init (control red))

; Marking.
; Only blank cells.
(<= (legal ?w (mark ?x))
    (true (control ?w))
    (true (cell ?x b)))
(<= (legal red noop) (true (control blue)))
(<= (legal blue noop) (true (control red)))
(<= (next (cell ?x ?w)) (does ?w (mark ?x)))
(<= (next (cell ?x ?v)) (true (cell ?x ?v)) (distinct ?v b))
(<= (next (cell ?x b)) (true (cell ?x b)) (not (marked ?x)))
(<= (marked ?x) (does ?w (mark ?x)))
(<= (next (control red)) (true (control blue)))
(<= (next (control blue)) (true (control red)))
(<= terminal (not open))
(<= open (true (cell ?x b)))
(goal red 50)
(goal blue 50)
";

#[test]
fn findings_follow_typing() {
    let mut client = Client::new();
    client.open(GAME);
    assert_eq!(client.findings(), Vec::<Value>::new());
    // One closing parenthesis of `(role red)` goes.
    client.change(json!({ "range": range((1, 9), (1, 10)), "text": "" }));
    let found = client.findings();
    assert_eq!(found[0]["code"], "E-PAREN");
    assert_eq!(found[0]["range"], range((1, 0), (1, 1)));
    client.change(json!({ "range": range((1, 9), (1, 9)), "text": ")" }));
    assert_eq!(client.findings(), Vec::<Value>::new());
    // Behind characters outside the basic plane, columns count UTF-16 code units.
    client.change(json!({ "range": range((0, 16), (0, 18)), "text": "x\n(<= open" }));
    let found = client.findings();
    assert_eq!(found[0]["code"], "E-PAREN");
    assert_eq!(found[0]["range"]["start"], json!({ "line": 1, "character": 0 }));
    assert!(client.close().orderly);
}

#[test]
fn findings_carry_fixes() {
    let mut client = Client::with(ServeOptions::default(), json!({ "delayMs": 600_000 }));
    let broken = GAME.replace("(true (cell ?x b)) (not (marked", "(true (cel ?x b)) (not (marked");
    client.open(&broken);
    // Checks of what can hold come after what the text alone shows.
    let (found, actions) = loop {
        let found = client
            .findings()
            .into_iter()
            .find(|d| d["range"]["start"]["line"] == 16);
        if let Some(found) = found {
            let mut params = client.document();
            params["range"] = found["range"].clone();
            params["context"] = json!({ "diagnostics": [found] });
            break (found, client.ask("textDocument/codeAction", params));
        }
    };
    let fixed: Vec<String> = (actions.as_array().unwrap().iter())
        .map(|a| apply(&broken, &a["edit"]["changes"][URI]))
        .collect();
    assert!(fixed.contains(&GAME.to_owned()), "{found} {actions}");
    assert_eq!(actions[0]["kind"], "quickfix");
    // Typing before a finding moves it; it does not vanish while it is checked anew.
    client.change(json!({ "range": range((0, 0), (0, 0)), "text": ";\n" }));
    let moved = client.findings();
    let line = |d: &Value| d["range"]["start"]["line"].as_u64().unwrap();
    assert!(
        moved
            .iter()
            .any(|d| d["code"] == found["code"] && line(d) == line(&found) + 1),
        "{moved:?}"
    );
}

#[test]
fn hover_tells_meanings() {
    let mut client = Client::new();
    client.open(GAME);
    let text = |hover: Value| hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    let legal = text(client.at("textDocument/hover", (9, 6)));
    assert!(
        legal.contains("(legal ROLE MOVE)") && legal.contains("may make this move"),
        "{legal}"
    );
    let cell = text(client.at("textDocument/hover", (3, 8)));
    assert!(cell.contains("(cell ?1 ?2)") && cell.contains("fluent"), "{cell}");
    let marked = text(client.at("textDocument/hover", (16, 50)));
    assert!(marked.contains("relation, 0 facts, 1 rule, used once"), "{marked}");
    let variable = text(client.at("textDocument/hover", (9, 12)));
    assert!(variable.contains("variable of this rule, 2 places"), "{variable}");
    assert_eq!(client.at("textDocument/hover", (0, 3)), Value::Null);
}

#[test]
fn completion_knows_the_place() {
    let mut client = Client::new();
    let labels = |client: &mut Client, added: &str| -> Vec<String> {
        client.replace(&format!("{GAME}{added}"));
        let last = added.lines().last().unwrap_or_default();
        let line = (GAME.lines().count() + added.lines().count() - 1) as u32;
        let answer = client.at("textDocument/completion", (line, last.len() as u32));
        let items = answer["items"].as_array().unwrap();
        let mut labels: Vec<(String, String)> = items
            .iter()
            .map(|i| {
                (
                    i["sortText"].as_str().unwrap().to_owned(),
                    i["label"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        labels.sort();
        labels.into_iter().map(|(_, label)| label).collect()
    };
    client.open(GAME);
    assert_eq!(
        labels(&mut client, "(<= (next (control ?w)) (does "),
        ["?w", "blue", "red"]
    );
    assert_eq!(labels(&mut client, "(<= (next ?f) (does red "), ["?f", "mark", "noop"]);
    assert_eq!(labels(&mut client, "(<= (legal red noop) (true ("), ["cell", "control"]);
    assert_eq!(labels(&mut client, "(goal red "), ["50"]);
    let conditions = labels(&mut client, "(<= open (");
    assert!(
        conditions.starts_with(&["marked".to_owned(), "open".to_owned()]),
        "{conditions:?}"
    );
    for name in ["true", "does", "not", "distinct", "legal"] {
        assert!(conditions.iter().any(|l| l == name), "{name} {conditions:?}");
    }
    assert!(
        !conditions
            .iter()
            .any(|l| ["init", "next", "sees", "<="].contains(&l.as_str()))
    );
    let heads = labels(&mut client, "(<= (");
    assert!(
        heads.iter().any(|l| l == "next") && !heads.iter().any(|l| l == "true"),
        "{heads:?}"
    );
    // Constants that the text has at this argument come before others.
    let values = labels(&mut client, "(<= open (true (cell 1 ");
    assert_eq!(values[0], "b", "{values:?}");
    // Without the parenthesis, a whole shape is inserted.
    client.replace(&format!("{GAME}(<= open tru"));
    let line = GAME.lines().count() as u32;
    let answer = client.at("textDocument/completion", (line, 12));
    let items = answer["items"].as_array().unwrap();
    let item = items.iter().find(|i| i["label"] == "true").unwrap();
    assert_eq!(item["textEdit"]["newText"], "(true ${1:FLUENT})");
    assert_eq!(item["textEdit"]["range"], range((line, 9), (line, 12)));
}

#[test]
fn names_lead_to_their_definitions() {
    let mut client = Client::new();
    client.open(GAME);
    let lines = |answer: Value| -> Vec<u64> {
        let places = answer.as_array().unwrap().iter();
        places.map(|l| l["range"]["start"]["line"].as_u64().unwrap()).collect()
    };
    // `marked` in a condition.
    assert_eq!(lines(client.at("textDocument/definition", (16, 50))), [17]);
    assert_eq!(lines(client.at("textDocument/references", (16, 50))), [16, 17]);
    // `mark` in `does` leads to `legal`, `control` in `true` to `init` and `next`.
    assert_eq!(lines(client.at("textDocument/definition", (14, 35))), [9]);
    assert_eq!(lines(client.at("textDocument/definition", (10, 12))), [5, 18, 19]);
    // A role leads to its fact.
    assert_eq!(lines(client.at("textDocument/definition", (22, 7))), [1]);
    let marks = client.at("textDocument/documentHighlight", (9, 12));
    assert_eq!(marks.as_array().unwrap().len(), 2);
}

#[test]
fn renaming_changes_every_place_or_nothing() {
    let mut client = Client::new();
    client.open(GAME);
    let ask = |client: &mut Client, line: u32, character: u32, name: &str| {
        let mut params = client.place(line, character);
        params["newName"] = json!(name);
        client.try_ask("textDocument/rename", params)
    };
    let renamed = |answer: Value| apply(GAME, &answer["changes"][URI]);
    let text = renamed(ask(&mut client, 9, 16, "put").unwrap());
    assert_eq!(text, GAME.replace("(mark ", "(put "));
    let text = renamed(ask(&mut client, 17, 5, "was-marked").unwrap());
    assert_eq!(text, GAME.replace("(marked ", "(was-marked "));
    let text = renamed(ask(&mut client, 9, 11, "?who").unwrap());
    let expected = GAME
        .replace("(legal ?w", "(legal ?who")
        .replace("(true (control ?w))", "(true (control ?who))");
    assert_eq!(text, expected);
    let text = renamed(ask(&mut client, 1, 6, "crimson").unwrap());
    assert_eq!(text, GAME.replace("red", "crimson").replace("maCrimson", "mared"));

    let refused =
        |client: &mut Client, line, character, name: &str| ask(client, line, character, name).unwrap_err().message;
    assert!(refused(&mut client, 9, 5, "allowed").contains("keyword"));
    assert!(refused(&mut client, 17, 5, "open").contains("already"));
    assert!(refused(&mut client, 17, 5, "true").contains("keyword"));
    assert!(refused(&mut client, 17, 5, "not").contains("keyword"));
    assert!(refused(&mut client, 17, 5, "two words").contains("not one name"));
    assert!(refused(&mut client, 17, 5, "a(b").contains("not one name"));
    assert!(refused(&mut client, 17, 5, "").contains("not one name"));
    assert!(refused(&mut client, 17, 5, "?x").contains("variable"));
    assert!(
        refused(&mut client, 9, 11, "?x").contains("already"),
        "it would capture ?x"
    );
    assert!(refused(&mut client, 9, 11, "who").contains("question mark"));
    assert!(refused(&mut client, 22, 12, "60").contains("payoff"));
    assert!(refused(&mut client, 1, 6, "blue").contains("already"));
    assert!(refused(&mut client, 0, 2, "x").contains("no name"));
    // The client asks before it asks the user.
    let place = client.place(9, 5);
    assert!(client.try_ask("textDocument/prepareRename", place).is_err());
    let place = client.place(17, 5);
    assert_eq!(client.ask("textDocument/prepareRename", place)["placeholder"], "marked");
}

#[test]
fn a_rename_that_changes_the_meaning_is_refused() {
    // The percept `did` makes the game open: another name would hide the moves.
    let text = "(role a) (legal a b) (<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m)) terminal (goal a 1)";
    let mut client = Client::new();
    client.open(text);
    let mut params = client.place(0, text.find("did").unwrap() as u32);
    params["newName"] = json!("made");
    let refused = client.try_ask("textDocument/rename", params).unwrap_err();
    assert!(refused.message.contains("mean something else"), "{}", refused.message);
}

#[test]
fn the_outline_groups_what_belongs_together() {
    let mut client = Client::new();
    client.open(&GAME.replace("(init (cell 2 b))", "(init (cell 2 b))\n(init (cell 3 b))"));
    let params = client.document();
    let symbols = client.ask("textDocument/documentSymbol", params);
    let titles: Vec<&str> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert_eq!(&titles[..4], ["(role red)", "(role blue)", "init", "legal"]);
    assert_eq!(symbols[2]["detail"], "4 facts");
    assert_eq!(outline(&symbols)[2], "(init (cell 1 b))");
    // Every place lies within its parent, as the protocol demands.
    for group in symbols.as_array().unwrap() {
        for child in group["children"].as_array().into_iter().flatten() {
            let line = |v: &Value, end: &str| v["range"][end]["line"].as_u64().unwrap();
            assert!(line(group, "start") <= line(child, "start") && line(child, "end") <= line(group, "end"));
        }
    }
}

#[test]
fn tokens_say_what_names_are() {
    let mut client = Client::new();
    client.open(GAME);
    let params = client.document();
    let answer = client.ask("textDocument/semanticTokens/full", params);
    let data: Vec<u64> = answer["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap())
        .collect();
    let lines: Vec<&str> = GAME.lines().collect();
    let (mut line, mut column) = (0, 0);
    let mut found = Vec::new();
    for token in data.chunks(5) {
        if token[0] > 0 {
            (line, column) = (line + token[0] as usize, 0);
        }
        column += token[1] as usize;
        let units: Vec<u16> = lines[line]
            .encode_utf16()
            .skip(column)
            .take(token[2] as usize)
            .collect();
        found.push((String::from_utf16(&units).unwrap(), token[3], token[4]));
    }
    assert_eq!(found[0], ("; A small game. 𝄞".to_owned(), 9, 0));
    assert_eq!(found[1], ("role".to_owned(), 0, 1));
    assert_eq!(found[2], ("red".to_owned(), 5, 1));
    let has = |text: &str, kind: u64| found.iter().any(|(t, k, _)| t == text && *k == kind);
    assert!(has("cell", 2) && has("mark", 3) && has("marked", 1) && has("?w", 8) && has("<=", 10) && has("50", 6));
    let mut params = client.document();
    params["range"] = range((1, 0), (2, 0));
    let part = client.ask("textDocument/semanticTokens/range", params);
    assert_eq!(part["data"].as_array().unwrap().len(), 10);
}

#[test]
fn forms_and_comments_fold() {
    let mut client = Client::new();
    client.open(GAME);
    let params = client.document();
    let folds = client.ask("textDocument/foldingRange", params);
    let mut lines: Vec<(u64, u64)> = (folds.as_array().unwrap().iter())
        .map(|f| (f["startLine"].as_u64().unwrap(), f["endLine"].as_u64().unwrap()))
        .collect();
    lines.sort();
    assert_eq!(lines, [(7, 8), (9, 11)]);
}

#[test]
fn formatting_is_that_of_the_command_and_keeps_comments() {
    let mut client = Client::new();
    let untidy = GAME
        .replace("\n    (true", " (true")
        .replace("(role red)\n", "(role    red) ; first\n");
    client.open(&untidy);
    let params = client.document();
    let edits = client.ask("textDocument/formatting", params);
    let reading = gdl::read(&untidy, &gdl::Options::default());
    let expected = gdl::format::format(&reading.ast, &untidy, &reading.rules.symbols, gdl::Notation::Prefix).unwrap();
    assert_eq!(apply(&untidy, &edits), expected);
    assert!(expected.contains("(role red)  ; first\n") && expected.contains("𝄞"));
    // A formatted text needs no edits, one with mistakes is left alone.
    client.replace(&expected);
    let params = client.document();
    assert_eq!(client.ask("textDocument/formatting", params), json!([]));
    client.replace("(role red");
    let params = client.document();
    assert!(client.try_ask("textDocument/formatting", params).is_err());
}

#[test]
fn both_notations_are_served() {
    let reading = gdl::read(GAME, &gdl::Options::default());
    let infix = gdl::format::format(&reading.ast, GAME, &reading.rules.symbols, gdl::Notation::Infix).unwrap();
    let mut client = Client::new();
    client.open(&infix);
    assert_eq!(client.findings(), Vec::<Value>::new());
    let params = client.document();
    let symbols = client.ask("textDocument/documentSymbol", params);
    assert!(
        outline(&symbols).contains(&"legal(?w,mark(?x))".to_owned()),
        "{symbols}"
    );
    let line = infix.lines().position(|l| l.starts_with("legal(?w")).unwrap() as u32;
    let hover = client.at("textDocument/hover", (line, 2));
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("legal(ROLE, MOVE)")
    );
    let mut params = client.place(line, 11);
    params["newName"] = json!("put");
    let renamed = client.ask("textDocument/rename", params);
    assert_eq!(apply(&infix, &renamed["changes"][URI]), infix.replace("mark(", "put("));
    let params = client.document();
    assert_eq!(client.ask("textDocument/formatting", params), json!([]));
    // Completion inside an unfinished clause.
    let typed = "next(?f) <= does(red,";
    client.replace(&format!("{infix}{typed}"));
    let last = infix.lines().count() as u32;
    let answer = client.at("textDocument/completion", (last, typed.len() as u32));
    let labels: Vec<&str> = answer["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["label"].as_str().unwrap())
        .collect();
    assert!(
        labels.contains(&"mark") && labels.contains(&"noop") && labels.contains(&"?f"),
        "{labels:?}"
    );
}

#[test]
fn codes_have_pages() {
    let mut client = Client::new();
    let command = |code: &str| json!({ "command": "surmise.explain", "arguments": [code] });
    let answer = client.ask("workspace/executeCommand", command("E-UNSAFE"));
    assert_eq!(answer["page"], gdl::Code::Unsafe.page());
    assert!(
        client
            .try_ask("workspace/executeCommand", command("E-NOTHING"))
            .is_err()
    );
}

fn range(start: (u32, u32), end: (u32, u32)) -> Value {
    json!({
        "start": { "line": start.0, "character": start.1 },
        "end": { "line": end.0, "character": end.1 },
    })
}
