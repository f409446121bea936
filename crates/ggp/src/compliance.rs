//! Tests of other people's players: whether a player keeps the protocol with managers that keep it and managers that do
//! not.
//!
//! Every check has a number, which is the number of its topic in `docs/protocol.md`. Every check leaves the player free
//! again, as far as the player lets it.

mod checks;

use crate::http::{self, NoReply, Peer};
use crate::kif;
use game::StopFlag;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The verdict of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// The player keeps the protocol here.
    Passed,
    /// The player does not keep the protocol here: what happened.
    Failed(String),
    /// The player does not do what only some managers need, or what only we recommend: what happened.
    Noted(String),
    /// The check was not made: why.
    Skipped(String),
}

/// A check and its verdict.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Number of the topic in `docs/protocol.md`.
    pub number: u32,
    /// What is checked.
    pub title: &'static str,
    /// Advice for the author of a player that fails.
    pub advice: &'static str,
    /// The verdict.
    pub verdict: CheckVerdict,
}

/// What a player did wrong, in words.
struct Complaint(String);

/// The result of a step of a check.
type Checked<T = ()> = Result<T, Complaint>;

fn wrong<T>(what: impl Into<String>) -> Checked<T> {
    Err(Complaint(what.into()))
}

struct Check {
    number: u32,
    title: &'static str,
    advice: &'static str,
    kind: Kind,
    run: fn(&TestedPlayer) -> Checked,
}

/// What a check is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Every player.
    Any,
    /// Players of GDL-II.
    Gdl2,
    /// Every player; a failure is worth a note, and no fault.
    House,
}

/// Whether the checks of a topic ask (INFO) and look at the answer.
fn needs_info(topic: u32) -> bool {
    matches!(topic, 1..=5 | 7 | 8)
}

/// Makes all checks. `progress` is told the title of each.
pub fn run(peer: &Peer, gdl2: bool, stop: &StopFlag, progress: &mut dyn FnMut(&str)) -> Vec<Finding> {
    let mut findings = Vec::new();
    let player = TestedPlayer {
        peer,
        run: std::process::id(),
    };
    let is_reachable = || peer.connect(http::CONNECT, &StopFlag::default()).is_ok();
    let mut reachable = is_reachable();
    // Some players do not know (INFO), and play well.
    let mut silent = false;
    for check in CHECKS {
        progress(check.title);
        let verdict = match reachable {
            _ if stop.is_raised() => CheckVerdict::Skipped("stopped".to_owned()),
            _ if check.kind == Kind::Gdl2 && !gdl2 => CheckVerdict::Skipped("only for players of GDL-II".to_owned()),
            true if silent && needs_info(check.number) => CheckVerdict::Skipped("needs an answer to (INFO)".to_owned()),
            // A player that cannot be reached gets one finding.
            false if check.number > 0 && findings.len() == 1 => break,
            false if check.number > 0 => CheckVerdict::Skipped("the player is gone".to_owned()),
            _ => match (check.run)(&player) {
                Ok(()) => CheckVerdict::Passed,
                Err(Complaint(why)) => {
                    reachable = is_reachable();
                    silent |= check.number == 0;
                    match check.kind {
                        Kind::House if reachable => CheckVerdict::Noted(why),
                        _ => CheckVerdict::Failed(why),
                    }
                }
            },
        };
        findings.push(Finding {
            number: check.number,
            title: check.title,
            advice: check.advice,
            verdict,
        });
    }
    findings
}

const ANY: Kind = Kind::Any;
const GDL2: Kind = Kind::Gdl2;
const HOUSE: Kind = Kind::House;

macro_rules! checks {
    ($($number:literal $kind:ident $run:ident: $title:literal, $advice:literal;)*) => {
        &[$(Check { number: $number, title: $title, advice: $advice, kind: $kind, run: checks::$run }),*]
    };
}

const CHECKS: &[Check] = checks! {
    0 ANY answers_info: "answers to (INFO)",
        "Listen on the port, take POST requests, and reply with HTTP.";
    1 ANY post_without_host: "POST in HTTP/1.0 without Host",
        "Dresden's manager sends no Host header; do not ask for one.";
    1 HOUSE post_chunked: "POST in HTTP/1.1 with a chunked body",
        "Decode Transfer-Encoding: chunked, or use a library for HTTP that does.";
    1 HOUSE post_expecting: "POST with Expect: 100-continue",
        "Send 100 Continue before reading the body.";
    2 HOUSE get_message: "GET with the message as its path",
        "Strip the leading /, decode %28 and the like, and read + as a blank.";
    2 HOUSE options: "OPTIONS is answered",
        "Answer OPTIONS with status 200 and no body: browsers ask before they POST.";
    3 ANY many_segments: "a request in many small pieces",
        "Read until the whole body is there; one read is not one message.";
    3 ANY no_length: "a body without Content-Length, ended by closing",
        "Without a length, read to the end of the stream.";
    3 HOUSE length_too_large: "a Content-Length larger than the body",
        "When the stream ends early, use what has come.";
    4 ANY garbage: "empty, binary, unbalanced and unknown messages",
        "Answer whatever cannot be read (our player says `what`), and stay usable.";
    5 ANY exact_reply: "exact Content-Length, and the connection is closed",
        "Send the length in bytes and close the connection after each reply: Dresden's manager waits for that.";
    7 ANY odd_spacing: "blanks, TAB, CR, LF and FF anywhere, and junk at the end",
        "Use a reader of expressions instead of string splitting, and stop after the first one.";
    8 ANY info_says_status: "INFO tells whether the player is free",
        "Reply ((name NAME) (status available)), or busy while a match is on.";
    8 HOUSE ping: "PING is answered",
        "Reply `ready` (or `available`) to (PING) while you are free: later Stanford managers ask it instead of INFO.";
    8 HOUSE preview: "PREVIEW is answered",
        "Reply `ready` to (PREVIEW (rules…) clock), and go on as before.";
    9 ANY start_in_time: "START is answered before the start clock runs out",
        "Reply `ready` early, and go on preparing in the background if you must.";
    9 ANY start_with_more: "START with more elements at its end",
        "Ignore what follows the clocks.";
    9 HOUSE start_unknown_role: "START with a role that the rules do not have",
        "Reply `busy`: a match without a role cannot be played.";
    10 ANY play_gdl1: "a GDL-I match to its end",
        "First (PLAY id NIL), then the joint move in the order of the roles; reply with one legal move.";
    10 ANY stop_at_once: "STOP before any PLAY",
        "A game may be over before it begins: reply `done`.";
    10 GDL2 play_gdl2b: "a GDL-II match with turns to its end",
        "(PLAY id turn lastmove percepts): NIL and () are the same, and (3 ) is one percept.";
    10 GDL2 play_gdl2a: "a GDL-II match without turns to its end",
        "(PLAY id percepts), as Dresden's first manager sends it.";
    12 GDL2 replaced_move: "another move than the sent one was made, percepts repeated",
        "Believe lastmove, not your own memory; percepts are a set.";
    13 ANY abort: "ABORT, also of matches that are not played",
        "Reply `aborted` (or `done`), and `busy` to a match you do not know. Be free afterwards.";
    6 ANY info_while_thinking: "INFO is answered while a move is being thought about",
        "Serve connections concurrently: managers ask with a timeout of one second.";
    14 ANY second_start: "a second START is refused",
        "Reply `busy` to another match.";
    14 HOUSE same_start: "the same START again is answered as before",
        "Reply `ready` if the very same START comes once more: managers may retry.";
    14 GDL2 repeated_play: "the same PLAY again gets the same answer",
        "Keep the answer of each turn; do not advance twice.";
    15 ANY exact_ids: "names of matches are compared exactly",
        "M1 and m1 are two matches. Everything else is read without regard to case.";
    15 ANY upper_case: "rules in upper case are answered in upper case",
        "Send names back in the spelling in which they came: managers may compare bytes.";
    16 ANY quick_clocks: "moves in time with a play clock of 1 second",
        "Stop thinking some hundred milliseconds before the clock runs out, counted from the request's first byte.";
    17 ANY lookalikes: "names that look like keywords",
        "`sees2` and `nextcell` are names like any other.";
    18 GDL2 impossible_percepts: "percepts that cannot be",
        "Keep playing: answer with a move that looks legal, and never with silence.";
    19 ANY many_matches: "30 matches, one after the other",
        "Free everything at STOP.";
};

/// A game without `sees`: roles first and second, two rounds, moves (say a) and (say b).
const OPEN: &str = "(role first) (role second) (init (step 1)) (succ 1 2) (succ 2 3) \
    (<= (legal ?r (say a)) (role ?r)) (<= (legal ?r (say b)) (role ?r)) \
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n)) (<= terminal (true (step 3))) (goal first 50) (goal second 50)";

/// A game with `sees`: a guesser and nature. The guesser sees a number that depends on the place of the prize.
const HIDDEN: &str = "(role guesser) (role random) (init (step 1)) \
    (door 1) (door 2) (door 3) (other 1 3) (other 2 3) (other 3 1) \
    (<= (legal random (hide ?d)) (true (step 1)) (door ?d)) (<= (legal random noop) (true (step 2))) \
    (<= (legal guesser noop) (true (step 1))) (<= (legal guesser (open ?d)) (true (step 2)) (door ?d)) \
    (<= (next (prize ?d)) (does random (hide ?d))) (<= (next (prize ?d)) (true (prize ?d))) \
    (<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2))) \
    (<= (next (opened ?d)) (does guesser (open ?d))) \
    (<= (sees guesser ?n) (does random (hide ?d)) (other ?d ?n)) (<= (sees guesser ?d) (true (prize ?d))) \
    (<= terminal (true (step 3))) (<= (goal guesser 100) (true (opened ?d)) (true (prize ?d))) \
    (<= (goal guesser 0) (true (opened ?d)) (not (true (prize ?d)))) \
    (<= (goal guesser 0) (not (true (step 3)))) (goal random 0)";

const DOORS: &[&str] = &["(open 1)", "(open 2)", "(open 3)"];
const SAYS: &[&str] = &["(say a)", "(say b)"];

/// The player that is tested.
struct TestedPlayer<'a> {
    peer: &'a Peer,
    run: u32,
}

/// A reply with its HTTP details.
struct RawReply {
    status: u16,
    length: Option<usize>,
    body: String,
    /// Whether the player closed the connection.
    closed: bool,
}

impl TestedPlayer<'_> {
    /// Sends a message and waits for the reply for at most 5 seconds.
    fn ask(&self, message: &str) -> Checked<String> {
        self.ask_within(message, Duration::from_secs(5))
    }

    fn ask_within(&self, message: &str, patience: Duration) -> Checked<String> {
        let reply = http::exchange(self.peer, message, patience, &StopFlag::default());
        let shown: String = message.chars().take(60).collect();
        reply.or_else(|none| {
            wrong(match none {
                NoReply::Late(_) => format!("no reply to {shown} within {} s", patience.as_secs_f64()),
                NoReply::TooLong(_) => format!("the reply to {shown} has more than {} bytes", http::MAX_REPLY),
                NoReply::Unreachable(why) => format!("no reply to {shown}: {why}"),
                NoReply::Stopped => "stopped".to_owned(),
            })
        })
    }

    /// Sends a message. The reply must be one of these, in upper or lower case.
    fn expect(&self, message: &str, expected: &[&str]) -> Checked {
        let reply = self.ask(message)?;
        match expected.iter().any(|e| reply.eq_ignore_ascii_case(e)) {
            true => Ok(()),
            false => wrong(format!(
                "replied `{}` to {}, not `{}`",
                short(&reply),
                short(message),
                expected.join("` or `")
            )),
        }
    }

    /// Asks for a move, which must be one of these.
    fn moves(&self, message: &str, legal: &[&str]) -> Checked<String> {
        self.moves_within(message, legal, Duration::from_secs(2))
    }

    fn moves_within(&self, message: &str, legal: &[&str], patience: Duration) -> Checked<String> {
        let reply = self.ask_within(message, patience)?;
        let first = kif::first(&reply).or_else(|_| {
            wrong(format!(
                "replied `{}` to {}: no expression",
                short(&reply),
                short(message)
            ))
        })?;
        let canonical = kif::canonical(first).unwrap_or_default();
        match legal.contains(&canonical.as_str()) {
            true => Ok(canonical),
            false => wrong(format!(
                "replied `{}` to {}, which is not a legal move",
                short(&reply),
                short(message)
            )),
        }
    }

    fn id(&self, name: &str) -> String {
        format!("c.{name}.{}", self.run)
    }

    /// Plays a match, which is ended whatever happens in between.
    fn in_match(&self, name: &str, role: &str, rules: &str, play: impl FnOnce(&str) -> Checked) -> Checked {
        self.in_match_of(1, name, role, rules, play)
    }

    /// As [`TestedPlayer::in_match`], with a play clock in seconds.
    fn in_match_of(
        &self,
        clock: u64,
        name: &str,
        role: &str,
        rules: &str,
        play: impl FnOnce(&str) -> Checked,
    ) -> Checked {
        let id = self.id(name);
        self.expect(&format!("(START {id} {role} ({rules}) 1 {clock})"), &["ready"])?;
        let played = play(&id);
        let _ = self.ask(&format!("(ABORT {id})"));
        let _ = self.ask(&format!("(STOP {id} NIL)"));
        played
    }

    fn start(&self, id: &str, role: &str, rules: &str) -> Checked {
        self.expect(&format!("(START {id} {role} ({rules}) 1 1)"), &["ready"])
    }

    /// Sends bytes in pieces, with pauses, and reads the reply to its end.
    fn raw(&self, pieces: &[&[u8]], pause: Duration, half_close: bool) -> Checked<RawReply> {
        let text = |error: std::io::Error| Complaint(error.to_string());
        let stream = self.peer.connect(http::CONNECT, &StopFlag::default());
        let mut stream = stream.or_else(|none| wrong(format!("cannot connect: {none:?}")))?;
        for piece in pieces {
            stream.write_all(piece).map_err(text)?;
            std::thread::sleep(pause);
        }
        if half_close {
            stream.shutdown(Shutdown::Write).map_err(text)?;
        }
        read_raw(stream)
    }

    fn post(&self, headers: &str, body: &str) -> Checked<RawReply> {
        let request = format!("POST / {headers}\r\n\r\n{body}");
        self.raw(&[request.as_bytes()], Duration::ZERO, false)
    }

    fn is_info(&self, raw: &RawReply) -> Checked {
        match raw.body.is_empty() {
            true => wrong(format!("status {} and an empty reply", raw.status)),
            false => Ok(()),
        }
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn read_raw(mut stream: TcpStream) -> Checked<RawReply> {
    let deadline = Instant::now() + Duration::from_secs(4);
    let mut bytes = Vec::new();
    let mut closed = false;
    let mut chunk = [0; 4096];
    while Instant::now() < deadline && bytes.len() < http::MAX_REPLY {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
        match stream.read(&mut chunk) {
            Ok(0) => {
                closed = true;
                break;
            }
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            Err(_) => break,
        }
    }
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    let bytes = bytes.strip_prefix(interim).unwrap_or(&bytes);
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    match head.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => {
            let length = head
                .headers
                .iter()
                .find(|h| h.name.eq_ignore_ascii_case("content-length"));
            let length = length.and_then(|h| std::str::from_utf8(h.value).ok()?.trim().parse().ok());
            Ok(RawReply {
                status: head.code.unwrap_or(0),
                length,
                body: String::from_utf8_lossy(&bytes[end..]).into_owned(),
                closed,
            })
        }
        _ if bytes.is_empty() => wrong("no reply"),
        _ => wrong(format!(
            "the reply is not HTTP: {}",
            short(&String::from_utf8_lossy(bytes))
        )),
    }
}
