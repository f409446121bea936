//! Pieces, facts and probabilities in words, and words in an SVG.

use crate::picture::{Fact, Piece};

pub fn said(piece: &Piece) -> String {
    match piece.p >= 1.0 {
        true => piece.text.clone(),
        false => format!("{} {}", piece.text, percent(piece.p)),
    }
}

pub fn said_fact(fact: &Fact) -> String {
    match fact.p >= 1.0 {
        true => fact.text.clone(),
        false => format!("{} {}", fact.text, percent(fact.p)),
    }
}

/// In per cent; what is possible is never 0, what is not certain never 100.
pub fn percent(p: f64) -> String {
    match (p * 100.0).round() {
        r if r < 1.0 => "<1 %".to_owned(),
        r if r > 99.0 => ">99 %".to_owned(),
        r => format!("{r:.0} %"),
    }
}

pub fn clip(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Text of the rules is never markup. Characters that XML does not allow are replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
