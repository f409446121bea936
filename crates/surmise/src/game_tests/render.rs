//! Results of tests as text.

use super::{GameTests, LineResult, TestReport, Verdict};
use std::fmt::Write as _;

/// Characters of a list that are shown.
const WIDEST: usize = 400;

impl TestReport {
    /// Every line that does not hold: its place, the line, the difference, and the play before it.
    pub fn render(&self, tests: &GameTests) -> String {
        let mut out = String::new();
        for line in &self.lines {
            match &line.verdict {
                Verdict::Holds | Verdict::Unreached => {}
                Verdict::Fails(_) => failure(&mut out, tests, line),
                Verdict::Undecided(why) => {
                    let _ = writeln!(out, "{}:{}:1: not decided: {}", tests.name, line.line, line.text);
                    let _ = writeln!(out, "  {why}");
                }
            }
        }
        out
    }

    /// How many lines hold, fail and so on, in one line.
    pub fn summary(&self, tests: &GameTests) -> String {
        let mut parts = vec![format!("{} hold", self.holding())];
        for (count, word) in [
            (self.failing(), "fail"),
            (self.unreached(), "not reached"),
            (self.undecided(), "not decided"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {word}"));
            }
        }
        let stopped = if self.stopped { " (stopped)" } else { "" };
        format!("{}: {}{stopped}\n", tests.name, parts.join(", "))
    }
}

fn failure(out: &mut String, tests: &GameTests, line: &LineResult) {
    let Verdict::Fails(difference) = &line.verdict else {
        return;
    };
    let _ = writeln!(
        out,
        "{}:{}:{}: fails: {}",
        tests.name, line.line, line.column, line.text
    );
    let missing = difference.missing.join(" ");
    let unexpected = difference.unexpected.join(" ");
    for (title, text) in [
        ("expected", &difference.expected),
        ("found", &difference.found),
        ("missing", &missing),
        ("unexpected", &unexpected),
        ("because", &difference.note),
    ] {
        if !text.is_empty() {
            let _ = writeln!(out, "  {title:<11}{}", shorten(text));
        }
    }
    let place = match line.case.is_empty() {
        true => line.game.clone(),
        false => format!("{}, {}", line.game, line.case),
    };
    let _ = writeln!(out, "  {:<11}{place}", "in");
    for (number, joint) in line.after.iter().enumerate() {
        let title = if number == 0 { "after" } else { "" };
        let _ = writeln!(out, "  {title:<11}{}. {joint}", number + 1);
    }
}

fn shorten(text: &str) -> String {
    let text = text.trim_end().replace('\n', "\n             ");
    match text.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
