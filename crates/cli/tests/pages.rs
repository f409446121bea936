//! Every code has a page, and the examples on the pages are true.

use surmise::gdl::{Code, Mode, Options};

/// The rest of a game, around examples that are only about one rule.
const REST: &str = "
(role robot)
(init (step 1))
(succ 1 2)
(succ 2 3)
(<= (legal robot go) (true (step 1)))
(<= (legal robot wait) (true (step 2)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 3)))
(<= (goal robot 100) (true (step 3)))
(<= (goal robot 0) (true (step 1)))
(<= (goal robot 50) (true (step 2)))
";

struct Block {
    words: Vec<String>,
    text: String,
}

impl Block {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    fn bytes(&self) -> Vec<u8> {
        let repeat = self
            .words
            .iter()
            .find_map(|w| w.strip_prefix("repeat="))
            .map_or(1, |n| n.parse().unwrap());
        let mut bytes = if self.has("rest") {
            REST.as_bytes().to_vec()
        } else {
            Vec::new()
        };
        let text = if self.has("bytes") {
            unescape(&self.text)
        } else {
            self.text.clone().into_bytes()
        };
        bytes.extend(text.repeat(repeat));
        bytes
    }

    fn options(&self) -> Options {
        Options {
            mode: if self.has("strict") {
                Mode::Strict
            } else {
                Mode::Lenient
            },
            gdl3: self.has("gdl3"),
            notation: self.has("infix").then_some(surmise::gdl::Notation::Infix),
            ..Options::default()
        }
    }

    fn codes(&self) -> Vec<&'static str> {
        let reading = surmise::gdl::read_bytes(&self.bytes(), &self.options());
        let mut diagnostics = reading.diagnostics.clone();
        if self.has("lint") {
            diagnostics.extend(surmise::gdl::lint(&reading));
        }
        if self.has("simulate") {
            let report = surmise::ground::audit(&reading.rules, &surmise::ground::AuditOptions::default());
            // Rules that never apply are noted in many examples of other findings.
            let wanted = |d: &surmise::gdl::Diagnostic| self.has("counts") || d.code != Code::NeverFired;
            diagnostics.extend(report.diagnostics.into_iter().filter(wanted));
        }
        let mut codes: Vec<_> = diagnostics.iter().map(|d| d.code.text()).collect();
        codes.dedup();
        codes
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        bytes.extend(rest[..at].bytes());
        bytes.push(u8::from_str_radix(&rest[at + 2..at + 4], 16).unwrap());
        rest = &rest[at + 4..];
    }
    bytes.extend(rest.bytes());
    bytes
}

/// The code block under a heading.
fn block(page: &str, heading: &str) -> Option<Block> {
    let section = page.split("\n## ").find(|s| s.starts_with(heading))?;
    let (_, fenced) = section.split_once("```gdl")?;
    let (words, rest) = fenced.split_once('\n')?;
    let (text, _) = rest.split_once("\n```")?;
    Some(Block {
        words: words.split_whitespace().map(str::to_owned).collect(),
        text: text.to_owned(),
    })
}

#[test]
fn every_page_opens_with_its_code() {
    for code in Code::ALL {
        let first = code.page().lines().next().unwrap();
        assert_eq!(first, format!("# {}: {}", code.text(), code.title()));
    }
}

#[test]
fn examples_give_exactly_their_code() {
    let mut wrong = Vec::new();
    for code in Code::ALL {
        let example = block(code.page(), "Example").unwrap_or_else(|| panic!("{} has no example", code.text()));
        let codes = example.codes();
        if codes != [code.text()] {
            wrong.push(format!("{}: example gives {codes:?}", code.text()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_to_write_instead_is_clean() {
    let mut wrong = Vec::new();
    for code in Code::ALL {
        if let Some(instead) = block(code.page(), "Write instead") {
            let codes = instead.codes();
            if !codes.is_empty() {
                wrong.push(format!("{}: what to write instead gives {codes:?}", code.text()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
