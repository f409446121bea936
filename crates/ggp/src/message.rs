//! The messages of the protocol: reading them, and writing those of a manager.

use crate::error::Error;
use crate::kif;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A variant of the protocol: what PLAY and STOP tell a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The joint move: `(PLAY id (m1 … mk))`.
    Gdl1,
    /// The percepts of the role: `(PLAY id (p1 …))` (Dresden, 2010).
    Gdl2a,
    /// The turn, the move of the role and its percepts: `(PLAY id turn move (p1 …))` (Dresden, 2013).
    Gdl2b,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variant::Gdl1 => "gdl1",
            Variant::Gdl2a => "gdl2a",
            Variant::Gdl2b => "gdl2b",
        })
    }
}

impl FromStr for Variant {
    type Err = Error;

    fn from_str(text: &str) -> Result<Variant, Error> {
        match text {
            "gdl1" => Ok(Variant::Gdl1),
            "gdl2a" => Ok(Variant::Gdl2a),
            "gdl2b" => Ok(Variant::Gdl2b),
            other => Err(Error::UnknownVariant(other.to_owned())),
        }
    }
}

/// A message, as slices of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Asks for the name of the player and whether it is free.
    Info,
    /// Asks for any answer.
    Ping,
    /// Rules that may be played later.
    Preview {
        /// The list of rules.
        rules: &'a str,
    },
    /// A match begins.
    Start {
        /// Name of the match.
        id: &'a str,
        /// The role to play.
        role: &'a str,
        /// The list of rules.
        rules: &'a str,
        /// Seconds until the first move.
        start_clock: u64,
        /// Seconds for each move.
        play_clock: u64,
    },
    /// Asks for a move.
    Play {
        /// Name of the match.
        id: &'a str,
        /// News of the last round.
        news: News<'a>,
    },
    /// The match is over.
    Stop {
        /// Name of the match.
        id: &'a str,
        /// News of the last round.
        news: News<'a>,
    },
    /// The match is aborted.
    Abort {
        /// Name of the match.
        id: &'a str,
    },
}

/// News of the last round, as PLAY and STOP tell them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News<'a> {
    /// Moves or percepts; empty for `NIL`.
    List(Vec<&'a str>),
    /// Turn, own move and percepts.
    Turn {
        /// The turn, from 0.
        turn: u64,
        /// The own move as executed; none for `NIL`.
        last: Option<&'a str>,
        /// The percepts of the role.
        percepts: Vec<&'a str>,
    },
}

impl Message<'_> {
    /// Reads a message; none if the text is not a message.
    pub fn parse(text: &str) -> Option<Message<'_>> {
        if is_infix(text) {
            return None;
        }
        let expression = kif::first(text).ok()?;
        let items = kif::items(expression).unwrap_or_else(|| vec![expression]);
        let (&word, rest) = items.split_first()?;
        let message = match (word.to_ascii_lowercase().as_str(), rest) {
            ("info", _) => Message::Info,
            ("ping", _) => Message::Ping,
            ("preview", [rules, ..]) => Message::Preview { rules },
            ("start", [id, role, rules, start, play, ..]) => Message::Start {
                id: name(id)?,
                role: name(role)?,
                rules,
                start_clock: clock(start)?,
                play_clock: clock(play)?,
            },
            ("play", [id, rest @ ..]) => Message::Play {
                id: name(id)?,
                news: News::parse(rest)?,
            },
            ("stop", [id]) => Message::Stop {
                id: name(id)?,
                news: News::List(Vec::new()),
            },
            ("stop", [id, rest @ ..]) => Message::Stop {
                id: name(id)?,
                news: News::parse(rest)?,
            },
            ("abort", [id, ..]) => Message::Abort { id: name(id)? },
            _ => return None,
        };
        Some(message)
    }

    /// The keyword, for logs.
    pub fn word(&self) -> &'static str {
        match self {
            Message::Info => "INFO",
            Message::Ping => "PING",
            Message::Preview { .. } => "PREVIEW",
            Message::Start { .. } => "START",
            Message::Play { .. } => "PLAY",
            Message::Stop { .. } => "STOP",
            Message::Abort { .. } => "ABORT",
        }
    }
}

impl<'a> News<'a> {
    fn parse(rest: &[&'a str]) -> Option<News<'a>> {
        match rest {
            [one] => Some(News::List(list(one)?)),
            [turn, last, percepts, ..] => Some(News::Turn {
                turn: turn.parse().ok()?,
                last: (!kif::is_nil(last)).then_some(*last),
                percepts: list(percepts)?,
            }),
            _ => None,
        }
    }
}

/// Whether the text is a message of ggp_python's infix protocol, `start(id, role, …)`, which this crate does not
/// speak.
pub fn is_infix(text: &str) -> bool {
    let text = text.trim_start();
    let word: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
    let words = ["info", "preview", "start", "play", "stop", "abort"];
    words.contains(&word.to_ascii_lowercase().as_str()) && text[word.len()..].trim_start().starts_with('(')
}

/// The message with every `;` in the name of its match replaced. Elsewhere a `;` begins a comment, but some managers
/// make names of matches with it. The names are only compared, so another character does as well.
pub fn mend_id(text: &str) -> Cow<'_, str> {
    let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '(' | ')');
    let skip = |at: usize, what: fn(char) -> bool| at + text[at..].find(|c| !what(c)).unwrap_or(text.len() - at);
    let word = skip(0, |c| c.is_ascii_whitespace() || c == '(');
    let after = skip(word, |c| c.is_ascii_alphabetic());
    let id = skip(after, |c| c.is_ascii_whitespace());
    let end = id + text[id..].find(ends).unwrap_or(text.len() - id);
    let words = ["start", "play", "stop", "abort"];
    let is_named = id > after && words.contains(&text[word..after].to_ascii_lowercase().as_str());
    match is_named && text[id..end].trim_start_matches(';').contains(';') {
        true => format!(
            "{}{}{}",
            &text[..id],
            text[id..end].replace(';', "\u{37e}"),
            &text[end..]
        )
        .into(),
        false => text.into(),
    }
}

fn name(text: &str) -> Option<&str> {
    (!text.starts_with('(')).then_some(text)
}

/// A list, or `NIL`.
fn list(text: &str) -> Option<Vec<&str>> {
    match text.eq_ignore_ascii_case("nil") {
        true => Some(Vec::new()),
        false => kif::items(text),
    }
}

/// Whole seconds. Some managers write a decimal point.
fn clock(text: &str) -> Option<u64> {
    let seconds: f64 = text.parse().ok()?;
    (0.0..=1e9).contains(&seconds).then_some(seconds as u64)
}

/// `(START id role (rules) startclock playclock)`
pub fn start(id: &str, role: &str, rules: &str, start_clock: u64, play_clock: u64) -> String {
    format!("(START {id} {role} ({rules}) {start_clock} {play_clock})")
}

/// PLAY or STOP with a joint move or with percepts; `(PLAY id NIL)` in the first round.
pub fn news_list(word: &str, id: &str, list: Option<&[String]>) -> String {
    match list {
        None => format!("({word} {id} NIL)"),
        Some(list) => format!("({word} {id} ({}))", list.join(" ")),
    }
}

/// PLAY or STOP with a turn; `(PLAY id 0 NIL NIL)` in the first round.
pub fn news_turn(word: &str, id: &str, turn: usize, news: Option<(&str, &[String])>) -> String {
    match news {
        None => format!("({word} {id} {turn} NIL NIL)"),
        Some((last, percepts)) => format!("({word} {id} {turn} {last} ({}))", percepts.join(" ")),
    }
}

/// `(ABORT id)`
pub fn abort(id: &str) -> String {
    format!("(ABORT {id})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_others_are_understood() {
        let start = "( START m1 xplayer (( role xplayer ) ( role oplayer ) ) 30 15)";
        let expected = Message::Start {
            id: "m1",
            role: "xplayer",
            rules: "(( role xplayer ) ( role oplayer ) )",
            start_clock: 30,
            play_clock: 15,
        };
        assert_eq!(Message::parse(start), Some(expected));
        let play = |news| Some(Message::Play { id: "MH.1", news });
        let list = |items: &[&'static str]| News::List(items.to_vec());
        assert_eq!(Message::parse("( PLAY MH.1 NIL )"), play(list(&[])));
        assert_eq!(
            Message::parse("( PLAY MH.1 (( mark 1 1 ) noop ) )"),
            play(list(&["( mark 1 1 )", "noop"]))
        );
        let turn = |turn, last, percepts: &[&'static str]| News::Turn {
            turn,
            last,
            percepts: percepts.to_vec(),
        };
        assert_eq!(Message::parse("(PLAY MH.1 0 NIL NIL)"), play(turn(0, None, &[])));
        assert_eq!(
            Message::parse("(PLAY MH.1 1 (CHOOSE 2) ())"),
            play(turn(1, Some("(CHOOSE 2)"), &[]))
        );
        assert_eq!(
            Message::parse("(play MH.1 2 NOOP (3 ))"),
            play(turn(2, Some("NOOP"), &["3"]))
        );
        assert_eq!(Message::parse("( ABORT m1 )"), Some(Message::Abort { id: "m1" }));
        assert_eq!(Message::parse(" info"), Some(Message::Info));
    }

    #[test]
    fn what_is_no_message_is_none() {
        for text in [
            "",
            "()",
            "(PLAY)",
            "(PLAY m1)",
            "(START m1 x (r) soon 1)",
            "(HELLO)",
            "((PLAY) m1 NIL)",
            "(PLAY (m) NIL)",
            "(PLAY m x y z)",
            "start(m1, x, [role(x)], 30, 10)",
            "info()",
            "play ( m1, 0, None, [])",
        ] {
            assert_eq!(Message::parse(text), None, "{text}");
        }
        assert!(
            is_infix(" stop(m1, 3, switch, [1])") && !is_infix("(stop m1 NIL)") && !is_infix("info") && !is_infix("")
        );
    }

    #[test]
    fn names_of_matches_may_have_semicolons() {
        let mended = mend_id("( PLAY a;b;1 ((x) ; y\n z))");
        let Some(Message::Play { id, news }) = Message::parse(&mended) else {
            panic!("{mended}")
        };
        assert_eq!((id, news), ("a\u{37e}b\u{37e}1", News::List(vec!["(x)", "z"])));
        for same in [
            "(INFO)",
            "(PLAY m1 (x;y\n))",
            "(PLAY ;comment\n m1 NIL)",
            "",
            "(",
            "(START",
            "info",
            "(PLAY é;",
        ] {
            let mended = mend_id(same);
            assert!(mended == same || same == "(PLAY é;", "{mended}");
        }
    }

    #[test]
    fn our_own_bytes() {
        let texts = |t: &[&str]| t.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        assert_eq!(news_list("PLAY", "m1", None), "(PLAY m1 NIL)");
        assert_eq!(
            news_list("STOP", "m1", Some(&texts(&["noop", "(mark 3 3)"]))),
            "(STOP m1 (noop (mark 3 3)))"
        );
        assert_eq!(news_turn("PLAY", "m1", 0, None), "(PLAY m1 0 NIL NIL)");
        assert_eq!(
            news_turn("PLAY", "m1", 1, Some(("(choose 2)", &[]))),
            "(PLAY m1 1 (choose 2) ())"
        );
        assert_eq!(
            news_turn("STOP", "m1", 3, Some(("switch", &texts(&["1"])))),
            "(STOP m1 3 switch (1))"
        );
    }
}
