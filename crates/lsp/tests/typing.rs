//! Typing in the largest file at hand: a scripted exchange through the protocol. The figures of a release build are
//! measured by `benchmarks/editor.py`; here the time of an exchange is compared with the time of reading the text once.

mod support;

use serde_json::json;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use support::{Client, outline};

/// The largest rules file of the conformance data, or else the largest game of the catalogue.
fn largest(test: &str) -> String {
    let Some(folder) = surmise_testing::conformance(test) else {
        return catalogue_texts()
            .into_iter()
            .map(|(_, text)| text)
            .max_by_key(String::len)
            .unwrap();
    };
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.join("rules")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    let largest = files
        .into_iter()
        .max_by_key(|path| path.metadata().unwrap().len())
        .unwrap();
    String::from_utf8_lossy(&std::fs::read(largest).unwrap()).into_owned()
}

fn catalogue_texts() -> Vec<(String, String)> {
    let games = catalogue::games().iter();
    games
        .map(|game| (game.name.to_owned(), catalogue::open(game.name).unwrap().1))
        .collect()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[test]
fn an_exchange_takes_a_few_readings() {
    let text = largest("an_exchange_takes_a_few_readings");
    let readings = (0..9).map(|_| {
        let started = Instant::now();
        let reading = gdl::read(&text, &gdl::Options::default());
        assert!(!reading.ast.forms.is_empty());
        started.elapsed()
    });
    let reading = median(readings.collect());

    let mut client = Client::new();
    client.open(&text);
    client.findings();
    let last = text.lines().count() as u32;
    let mut edits = Vec::new();
    // A rule is typed at the end, letter by letter, with everything that an editor asks for after each.
    for (i, c) in "(<= (legal ?r noop) (role ?r))".chars().enumerate() {
        let at = json!({ "line": last, "character": i });
        let started = Instant::now();
        client.change(json!({ "range": { "start": at, "end": at }, "text": c.to_string() }));
        client.findings();
        edits.push(started.elapsed());
        let started = Instant::now();
        let params = client.document();
        let symbols = client.ask("textDocument/documentSymbol", params);
        assert!(outline(&symbols).len() > 20);
        let params = client.document();
        client.ask("textDocument/semanticTokens/full", params);
        client.at("textDocument/completion", (last, i as u32 + 1));
        client.at("textDocument/hover", (last, i as u32 / 2));
        edits.push(started.elapsed());
    }
    let edit = median(edits);
    eprintln!("{} bytes: reading {reading:?}, edit or questions {edit:?}", text.len());
    // Far above what is measured (see benchmarks/editor.py), far below what quadratic work would take.
    assert!(
        edit < reading * 20 + Duration::from_millis(200),
        "{edit:?} for a reading of {reading:?}"
    );
    assert!(client.close().orderly);
}

/// Names and definitions of the outline must survive what is typed elsewhere: cut the text, or insert something, at
/// many places, and look for the forms that are not touched.
#[test]
fn unfinished_text_keeps_the_symbols_of_the_rest() {
    let mut client = Client::new();
    client.open("");
    let mut looks = 0;
    for (name, prefix) in catalogue_texts() {
        let reading = gdl::read(&prefix, &gdl::Options::default());
        let infix = gdl::format::format(&reading.ast, &prefix, &reading.rules.symbols, gdl::Notation::Infix).unwrap();
        for text in [prefix, infix] {
            let forms = titles(&text);
            // The notation of the text is known from the time before the mistake.
            client.replace(&text);
            client.findings();
            let step = (text.len() / 12).max(1);
            for at in (0..text.len()).step_by(step).filter(|&at| text.is_char_boundary(at)) {
                for (cut, insert) in [(0, "("), (0, "(<= (true ("), (1, ""), (7, ""), (0, ")"), (0, " x ")] {
                    let end = (at + cut).min(text.len());
                    if !text.is_char_boundary(end) {
                        continue;
                    }
                    let edited = format!("{}{insert}{}", &text[..at], &text[end..]);
                    client.replace(&edited);
                    let params = client.document();
                    let found = outline(&client.ask("textDocument/documentSymbol", params));
                    let lost = lost(&forms, &text, at..end, &found);
                    assert!(lost.is_empty(), "{name}: {insert:?} at {at}, {cut} cut: lost {lost:?}");
                    looks += 1;
                }
            }
        }
    }
    assert!(looks > 1_000, "only {looks}");
}

/// The place of each form, and its title in the outline.
fn titles(text: &str) -> Vec<(gdl::Span, String)> {
    let reading = gdl::read(text, &gdl::Options::default());
    let title = |node: &gdl::ast::Node| {
        let head = match node.items() {
            [arrow, head, ..] if &text[arrow.span.range()] == "<=" => head,
            _ => node,
        };
        let line = text[head.span.range()].split_whitespace().collect::<Vec<_>>().join(" ");
        (node.span, gdl::source::short(&line))
    };
    reading.ast.forms.iter().map(title).collect()
}

/// The titles of forms that do not touch a changed place and are not in the outline. A form that begins later in the
/// same line belongs to the unfinished one.
fn lost(forms: &[(gdl::Span, String)], text: &str, changed: Range<usize>, found: &[String]) -> Vec<String> {
    let line_end = changed.end + text[changed.end..].find('\n').unwrap_or(0);
    // The full stop of infix notation is no part of a fact.
    let untouched = forms
        .iter()
        .filter(|(f, _)| (f.end as usize + 1) < changed.start || line_end < f.start as usize);
    let titles = untouched.map(|(_, title)| title.clone());
    titles.filter(|title| !found.contains(title)).collect()
}
