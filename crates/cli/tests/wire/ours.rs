//! Our players at our own tables.

use crate::support::{Fake, outcome, player, table};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use surmise::ggp::Variant;

/// Games that are over quickly; `benchmarks/wire.py corpus` plays every game of the catalogue, ten matches each.
const SMALL: &[&str] = &[
    "kuhn-poker",
    "monty-hall",
    "monty-hall:doors=4",
    "krieg-tictactoe",
    "blind-tictactoe",
    "meier",
    "leduc-poker",
    "number-guessing",
    "tiger",
    "mastermind",
    "matching-pennies",
    "scissors-paper-rock",
    "goofspiel",
    "liars-dice",
    "banker-and-thief",
    "border-protection",
    "guess-who",
    "phantom-tictactoe",
    "biased-blind-tictactoe",
    "transit",
];

#[test]
fn t32_our_player_at_our_table() {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(game) = SMALL.get(next.fetch_add(1, Ordering::SeqCst)) {
                    play_against_ourselves(game, 3);
                }
            });
        }
    });
}

/// Every seat is one of our players behind a socket; nobody makes a mistake, and the record replays.
fn play_against_ourselves(game: &str, matches: u64) {
    let opened = crate::support::open(game);
    let seats = opened.seating().played();
    let players: Vec<_> = seats.iter().map(|_| player("hp:8,2")).collect();
    let names: Vec<String> = players.iter().map(|p| format!("remote:{}", p.peer())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut table = table(&opened, &names, Variant::Gdl2b);
    (table.clocks.start, table.clocks.play) = (10, 10);
    for seed in 0..matches {
        let (_, outcome) = outcome(&table, seed);
        let bad: Vec<_> = outcome
            .record
            .rounds
            .iter()
            .flat_map(|r| r.substitutions.iter().flatten())
            .collect();
        assert!(bad.is_empty(), "{game}: {bad:?}");
        assert!(outcome.record.complete, "{game}");
        let wire = outcome.record.wire.as_ref().unwrap();
        assert!(
            wire.start_errors.iter().all(String::is_empty),
            "{game}: {:?}",
            wire.start_errors
        );
    }
}

#[test]
fn players_elsewhere_by_name_in_match() {
    let player = player("random");
    let name = format!("remote:{},play=5,start=5", player.peer());
    let output = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args(["match", "matching-pennies", &name, "random", "--games", "3", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let value: serde_json::Value = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    assert_eq!(
        (&value["games"], &value["players"][0]["illegal"]),
        (&3.into(), &0.into())
    );
    assert_eq!(player.handle.matches(), 0, "it was told that the matches were over");
}

#[test]
fn our_own_player_passes_the_compliance_report() {
    let player = player("random");
    let run = |peer: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_surmise"))
            .args(["compliance", peer])
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = run(&player.address.to_string());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(" 0 failed, 0 noted, 0 left out"), "{text}");
    let (code, text) = run("127.0.0.1:1");
    assert_eq!(code, Some(1), "{text}");
    // Somebody who answers `ready` to everything does not pass.
    let fake = Fake::answering(|_| Some("ready".to_owned()));
    let (code, text) = run(&fake.peer.to_string());
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("FAILED") && text.contains("not a legal move"), "{text}");
}

/// A player that serves one connection at a time leaves INFO waiting while it thinks; and one that knows no INFO is
/// tested all the same.
#[test]
fn compliance_finds_players_that_leave_info_waiting() {
    use crate::support::{Fake, pause, polite};
    use surmise::ggp::compliance::{CheckVerdict, run};
    let turn = std::sync::Mutex::new(());
    let fake = Fake::answering(move |message| {
        let _turn = turn.lock().unwrap();
        match message {
            "(INFO)" => return Some(String::new()),
            _ if message.starts_with("(PLAY c.busy") => pause(2_500),
            _ => {}
        }
        polite(message, "(say a)")
    });
    let findings = run(&fake.peer, false, &surmise::game::StopFlag::default(), &mut |_| {});
    assert!(findings.len() > 20, "{findings:?}");
    let info = findings.iter().find(|f| f.number == 6).unwrap();
    assert!(matches!(info.verdict, CheckVerdict::Failed(_)), "{info:?}");
    let played = findings.iter().find(|f| f.title.contains("GDL-I match")).unwrap();
    assert_eq!(played.verdict, CheckVerdict::Passed);
    // What only some managers need is a note, and what needs INFO is not counted again.
    let refused = |f: &&surmise::ggp::compliance::Finding| matches!(f.verdict, CheckVerdict::Failed(_));
    let failed: Vec<u32> = findings.iter().filter(refused).map(|f| f.number).collect();
    assert!(
        failed.contains(&0) && !failed.iter().any(|n| (1..=5).contains(n)),
        "{findings:?}"
    );
    assert!(
        findings.iter().any(|f| matches!(f.verdict, CheckVerdict::Noted(_))),
        "{findings:?}"
    );
    // Nobody there: one finding.
    let gone = surmise::ggp::http::Peer::parse("127.0.0.1:1").unwrap();
    assert_eq!(
        run(&gone, false, &surmise::game::StopFlag::default(), &mut |_| {}).len(),
        1
    );
}
