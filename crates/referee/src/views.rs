//! A record as the XML that Dresden's GameController writes for visualisation: for each role a folder with a file for
//! every step, in which stands what that role may see and nothing else. The role `random` sees everything, as there;
//! so does everybody where nothing is hidden.
//!
//! What a role sees is asked of the caller. There it is `sees_xml` of a view file, and without one every role is shown
//! every fluent; we show a role its percepts then, because a picture of a game with hidden information that hides
//! nothing is of no use to a player.

use crate::Record;
use std::fmt::Write as _;

/// Files as paths and texts, for all roles and steps.
///
/// `hidden` says whether the game hides something; `spelled` how the rules spell the roles; `shown` what a role sees in
/// a state (from 0). The sight of nature is called `RANDOM`, as both generations of Dresden's program call it.
///
/// # Errors
/// Those of `shown`.
pub fn views<E>(
    record: &Record,
    hidden: bool,
    spelled: &[String],
    mut shown: impl FnMut(usize, usize) -> Result<Vec<String>, E>,
) -> Result<Vec<(String, String)>, E> {
    let id = safe(&match_id(record));
    let sights: Vec<Option<usize>> = match hidden {
        false => vec![None],
        true => (0..record.roles.len()).map(Some).collect(),
    };
    let mut files = Vec::new();
    for sight in sights {
        let folder = match sight {
            None => id.clone(),
            Some(role) => format!("{id}-{}", safe(sight_name(record, spelled, role))),
        };
        let all = sight.is_none_or(|role| record.roles[role] == "random");
        for (at, state) in record.states.iter().enumerate() {
            let facts = match sight {
                Some(role) if !all => shown(role, at)?,
                _ => state.clone(),
            };
            let step = Step {
                record,
                at,
                sight: sight.map_or("RANDOM", |role| sight_name(record, spelled, role)),
                spelled,
                hidden,
                all,
            };
            files.push((format!("{folder}/step_{}.xml", at + 1), step.text(&facts, false)));
            if record.complete && at + 1 == record.states.len() {
                files.push((format!("{folder}/finalstate.xml"), step.text(&facts, true)));
            }
        }
    }
    Ok(files)
}

fn match_id(record: &Record) -> String {
    match &record.wire {
        Some(wire) => wire.match_id.clone(),
        None => format!("surmise.{}.{:016x}", record.game, record.seed),
    }
}

/// A name as part of a path: nothing in it leads anywhere else.
fn safe(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "_-".contains(c) {
            c
        } else {
            '.'
        }
    };
    let text: String = name.chars().map(plain).collect();
    format!("{}{}", if text.starts_with('.') { "_" } else { "" }, text)
}

/// The name of a role's sight.
fn sight_name<'a>(record: &'a Record, spelled: &'a [String], role: usize) -> &'a str {
    match record.roles[role].as_str() {
        "random" => "RANDOM",
        name => spelled.get(role).map_or(name, String::as_str),
    }
}

struct Step<'a> {
    record: &'a Record,
    at: usize,
    sight: &'a str,
    spelled: &'a [String],
    hidden: bool,
    all: bool,
}

impl Step<'_> {
    /// The file; `last` for the one that is called the final state.
    fn text(&self, facts: &[String], last: bool) -> String {
        let record = self.record;
        let mut out = String::from(
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n\
             <!DOCTYPE match SYSTEM \"http://games.stanford.edu/gamemaster/xml/viewmatch.dtd\">\n<match>\n",
        );
        leaf(&mut out, "match-id", &match_id(record));
        leaf(&mut out, "sight-of", self.sight);
        leaf(&mut out, "gdl-version", if self.hidden { "2" } else { "1" });
        for (at, role) in record.roles.iter().enumerate() {
            leaf(&mut out, "role", self.spelled.get(at).unwrap_or(role));
        }
        record
            .players
            .iter()
            .for_each(|player| leaf(&mut out, "player", &player.to_uppercase()));
        if let Some(wire) = &record.wire {
            leaf(
                &mut out,
                "timestamp",
                &wire.state_times.get(self.at).unwrap_or(&wire.start_time).to_string(),
            );
            leaf(&mut out, "startclock", &wire.start_clock.to_string());
            if !last {
                leaf(&mut out, "playclock", &wire.play_clock.to_string());
            }
        }
        out += "<history>\n";
        for (number, round) in record.rounds[..self.at.min(record.rounds.len())].iter().enumerate() {
            let _ = write!(out, "<step><step-number>{}</step-number>", number + 1);
            for mv in round.moves.iter().filter(|_| self.all) {
                let _ = write!(out, "<move>{}</move>", escape(&mv.to_uppercase()));
            }
            out += "</step>\n";
        }
        out += "</history>\n";
        if last {
            out += "<scores>";
            record.goals.iter().for_each(|goal| {
                let _ = write!(out, "<reward>{goal}</reward>");
            });
            out += "</scores>\n";
        }
        out += "<state>\n";
        for fact in facts {
            let _ = writeln!(out, "<fact>{}</fact>", term(&fact.to_uppercase()));
        }
        out + "</state>\n</match>\n"
    }
}

fn leaf(out: &mut String, name: &str, text: &str) {
    let _ = writeln!(out, "<{name}>{}</{name}>", escape(text));
}

/// A term in canonical text as `prop-f` and `arg`; arguments that are terms hold the same.
fn term(text: &str) -> String {
    let mut out = String::new();
    // Whether what comes next is the name that a list begins with, list by list.
    let mut first: Vec<bool> = Vec::new();
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    for token in spaced.split_whitespace() {
        match (token, first.last_mut()) {
            ("(", outer) => {
                if outer.is_some() {
                    out += "<arg>";
                }
                first.push(true);
            }
            (")", _) => {
                first.pop();
                if !first.is_empty() {
                    out += "</arg>";
                }
            }
            (name, Some(head)) if *head => {
                *head = false;
                let _ = write!(out, "<prop-f>{}</prop-f>", escape(name));
            }
            (name, Some(_)) => {
                let _ = write!(out, "<arg>{}</arg>", escape(name));
            }
            (name, None) => {
                let _ = write!(out, "<prop-f>{}</prop-f>", escape(name));
            }
        }
    }
    out
}

/// Text for XML, in ASCII whatever it holds.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c if c.is_ascii_control() && !c.is_ascii_whitespace() => out.push('?'),
            c if c.is_ascii() => out.push(c),
            c => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_become_elements() {
        assert_eq!(term("STEP"), "<prop-f>STEP</prop-f>");
        assert_eq!(
            term("(CELL 1 (AT A&B) X)"),
            "<prop-f>CELL</prop-f><arg>1</arg><arg><prop-f>AT</prop-f><arg>A&amp;B</arg></arg><arg>X</arg>"
        );
        assert_eq!(escape("é<\u{1}"), "&#233;&lt;?");
    }

    #[test]
    fn names_lead_nowhere() {
        assert_eq!(safe("../../etc/x"), "_......etc.x");
        assert_eq!(safe("m1_A-b"), "m1_A-b");
    }
}
