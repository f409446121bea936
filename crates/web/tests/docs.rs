//! The examples of docs/table.md are run, in their order, and their answers compared.

mod common;

use common::{TestServer, options, text};
use serde_json::Value;

struct Example {
    request: String,
    body: String,
    status: u16,
    answer: Value,
}

fn examples() -> Vec<Example> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/table.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page
        .split("```http\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap());
    let example = |block: &str| {
        let (sent, got) = block.split_once("\n\n").unwrap_or_else(|| panic!("{block}"));
        let (request, body) = sent.split_once('\n').unwrap_or((sent, ""));
        let (status, answer) = got.split_once('\n').unwrap();
        Example {
            request: request.to_owned(),
            body: body.to_owned(),
            status: status.trim().parse().unwrap(),
            answer: serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}")),
        }
    };
    blocks.map(example).collect()
}

/// Whether an answer has everything that the page shows; `…` stands for anything.
fn shows(shown: &Value, real: &Value, place: &str) {
    match (shown, real) {
        (Value::String(any), _) if any == "…" => {}
        (Value::Object(fields), _) => {
            for (key, value) in fields {
                assert!(real.get(key).is_some(), "{place}.{key} is missing in {real}");
                shows(value, &real[key], &format!("{place}.{key}"));
            }
        }
        (Value::Array(shown), Value::Array(real)) => {
            assert_eq!(shown.len(), real.len(), "{place}");
            for (number, (shown, real)) in shown.iter().zip(real).enumerate() {
                shows(shown, real, &format!("{place}[{number}]"));
            }
        }
        _ => assert_eq!(shown, real, "{place}"),
    }
}

#[test]
fn the_examples_of_the_page_hold() {
    let server = TestServer::start(options());
    let examples = examples();
    assert!(examples.len() >= 18);
    let (mut id, mut token, mut watch) = (String::new(), String::new(), String::new());
    for example in examples {
        let fill = |text: &str| {
            text.replace("TOKEN", &token)
                .replace("WATCH", &watch)
                .replace("/ID", &format!("/{id}"))
        };
        let answer = server.raw(&fill(&example.request), "", fill(&example.body).as_bytes());
        assert_eq!(answer.status, example.status, "{}: {answer:?}", example.request);
        let real = answer.json();
        shows(&example.answer, &real, &example.request);
        if example.request == "POST /api/tables" {
            id = text(&real["id"]);
            token = text(&real["seats"]["xplayer"]["token"]);
            watch = text(&real["watch"]).rsplit_once("token=").unwrap().1.to_owned();
        }
        if example.request.ends_with("/move") && example.status == 200 {
            // The other player answers in its own time.
            server.wait_for(&id, &token, |view| view["round"] == 1);
        }
    }
}
