//! Short texts: messages, names of players and games, traces.

use crate::limits;
use crate::seeds::{KRIEG, MONTY};
use surmise::game::{Budget, RoleId, Seed};
use surmise::game_tests::{GameTests, Statement, TestGames, TestOptions, render_mistakes, run};
use surmise::ggp::{http, kif, message, xmltrace};
use surmise::referee::Seat;
use surmise::{PlayerSpec, catalogue, gdl};

/// Takes a message apart, as a player's server does.
pub fn message(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mended = message::mend_id(&text);
    let _ = message::Message::parse(&mended);
    let _ = (kif::first(&text), kif::items(&text), kif::is_nil(&text));
    if let Some(term) = kif::canonical(&text) {
        assert_eq!(
            kif::canonical(&term).as_ref(),
            Some(&term),
            "canonical text is not stable"
        );
    }
    let same = kif::map_names(&text, str::to_owned);
    assert_eq!(kif::map_names(&same, str::to_owned), same);
    let _ = http::decode_target(&text);
    assert!(!http::printable(&text).contains(['\n', '\r', '\u{1b}']));
    let _ = http::Peer::parse(&text);
    if let Some(message::Message::Start { rules, .. }) = message::Message::parse(&mended) {
        let _ = gdl::read(rules, &gdl::Options::default());
    }
}

/// Follows a trace in Dresden's XML.
pub fn trace_xml(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let _ = xmltrace::check(KRIEG.simulator().as_mut(), text);
}

/// Looks at the flag for one move.
const LOOKS: u64 = 500;

/// Reads the name of a player, and lets it choose a move if it is one that thinks here.
pub fn player(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    // Names of files are not followed: what is in them is the business of other targets.
    if text.starts_with("strategy") || text.contains("net=") {
        return;
    }
    let Ok(spec) = PlayerSpec::parse(text) else { return };
    if spec.is_guest() {
        return;
    }
    if let Ok(Seat::Player(mut player)) = MONTY.seat(&spec, RoleId(0), Seed(1)) {
        let budget = Budget::until(limits::looks(LOOKS));
        let _ = player.choose(&[], &budget);
    }
}

/// Fills in a game of the catalogue, and reads its rules if they are short.
pub fn game_name(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(rules) = catalogue::rules(text) {
        assert!(rules.len() < 16 << 20, "{text} has {} bytes", rules.len());
        if rules.len() < 1 << 14 {
            assert!(gdl::read(&rules, &gdl::Options::default()).is_playable(), "{text}");
        }
    }
}

/// Reads a file of game tests, and runs it if it is about games that are known and small.
pub fn game_tests(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for name in ["a.test", "a.md"] {
        let tests = match GameTests::parse(name, &text) {
            Ok(tests) => tests,
            Err(mistakes) => {
                let shown = render_mistakes(name, &text, &mistakes);
                assert!(!mistakes.is_empty() && shown.contains(name));
                continue;
            }
        };
        let harmless = tests.lines.iter().all(|line| match &line.statement {
            Statement::Game(game) => ["monty-hall", "kuhn-poker"].contains(&game.as_str()),
            Statement::Record(_) => false,
            _ => true,
        });
        if harmless && tests.lines.len() < 60 {
            let options = TestOptions {
                work: 300,
                compile: false,
                engine: limits::reference(),
                stop: limits::looks(100_000),
            };
            let report = run(&tests, &TestGames::default(), &options, &mut |_| {});
            let _ = (report.render(&tests), report.summary(&tests));
        }
    }
}
