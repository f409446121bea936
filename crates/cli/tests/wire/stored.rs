//! What is on the disk after a match: the player's own records, records of other programs, and records that somebody
//! has changed.

use crate::support::{folder, only_record, player_with};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use surmise::game::Seed;
use surmise::ggp::{Server, ServerOptions};
use surmise::referee::Record;
use surmise::{MatchRecorder, PlayerSpec, WirePlayers};

fn surmise(args: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_surmise")).args(args).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

#[track_caller]
fn works(args: &[&str]) -> String {
    let (fine, text) = surmise(args);
    assert!(fine, "{args:?}: {text}");
    text
}

#[track_caller]
fn fails(args: &[&str], why: &str) {
    let (fine, text) = surmise(args);
    assert!(!fine && text.contains(why), "{args:?} should fail with `{why}`: {text}");
}

/// Plays one match with a player that keeps a record, and returns the manager's record and the player's.
fn recorded(game: &str, name: &str, protocol: &str) -> (Record, Value, String) {
    let (theirs, ours) = (folder(&format!("{name}-manager")), folder(&format!("{name}-player")));
    let recorder = Arc::new(MatchRecorder::new(&ours, "hp:8,4").unwrap());
    let players = WirePlayers::new(Some(PlayerSpec::parse("hp:8,4").unwrap()), Seed(1)).unwrap();
    let options = ServerOptions {
        bind: ([127, 0, 0, 1], 0).into(),
        ..ServerOptions::default()
    };
    let server = Server::bind(options, Arc::new(players.recorded_by(recorder.clone()))).unwrap();
    let (address, handle) = (server.address().to_string(), server.handle());
    std::thread::spawn(|| server.serve());
    let players = format!("{address};random");
    let record = theirs.to_str().unwrap();
    works(&[
        "manage",
        game,
        "--players",
        &players,
        "--start-clock",
        "3",
        "--play-clock",
        "2",
        "--protocol",
        protocol,
        "--record",
        record,
        "--log",
        "off",
    ]);
    handle.stop();
    recorder.finish();
    let (manager, (player, path)) = (only_record(&theirs).0, only_record(&ours));
    let manager = Record::from_json(&manager.parse().unwrap()).unwrap();
    (manager, player.parse().unwrap(), path.to_str().unwrap().to_owned())
}

/// The player's record of a game that hides something holds what the role was told, and nothing else.
#[test]
fn t29_players_keep_records_of_what_they_were_told() {
    let (manager, value, path) = recorded("kuhn-poker", "sight", "gdl2b");
    let record = Record::from_json(&value).unwrap();
    let role = record.sight.expect("one role's sight");
    let name = manager.roles[role].as_str();
    assert_eq!(
        record.told(role, record.rounds.len()),
        manager.told(role, manager.rounds.len())
    );
    assert!(record.complete && record.states.is_empty() && value["goalValues"].is_null());
    for (round, other) in record
        .rounds
        .iter()
        .flat_map(|r| (0..r.moves.len()).map(move |o| (r, o)))
    {
        let silent = round.moves[other].is_empty() && round.percepts[other].is_empty();
        assert!(other == role || silent, "{round:?}");
    }
    assert!(works(&["replay", &path]).contains("rounds"));
    works(&["belief", "kuhn-poker", "--role", name, "--match", &path]);
    works(&["explain", "kuhn-poker", "--record", &path, "--player", "hp:8,4"]);
    let other = manager
        .roles
        .iter()
        .find(|r| r.as_str() != name && r.as_str() != "random")
        .unwrap();
    fails(
        &["belief", "kuhn-poker", "--role", other, "--match", &path],
        "only what",
    );
    fails(
        &[
            "explain",
            "kuhn-poker",
            "--record",
            &path,
            "--player",
            "hp:8,4",
            "--role",
            other,
        ],
        "only what",
    );
    // A view that cannot be is noticed.
    let mut changed = value.clone();
    changed["percepts"][0][role] = json!(["(elephant pink)"]);
    std::fs::write(&path, format!("{changed}\n")).unwrap();
    fails(&["replay", &path], "never perceives");
}

/// Where every move is told, the player's record has states and goals.
#[test]
fn t29_players_keep_whole_records_where_all_is_told() {
    let (manager, value, path) = recorded("tictactoe", "whole", "gdl1");
    let record = Record::from_json(&value).unwrap();
    assert_eq!(record.sight, None);
    assert_eq!((&record.states, &record.goals), (&manager.states, &manager.goals));
    works(&["replay", &path]);
}

/// One match as Surmise, ggp-base and Dresden's program write it.
#[test]
fn t29_records_of_other_programs_are_checked() {
    let folder = folder("foreign");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    works(&[
        "match",
        "monty-hall",
        "random",
        "--games",
        "1",
        "--seed",
        "5",
        "--record",
        &at("ours"),
    ]);
    let (text, ours) = only_record(Path::new(&at("ours")));
    let record: Value = text.parse().unwrap();
    // ggp-base: no rules, no percepts, `NIL`-free upper case here and there.
    let theirs = json!({
        "matchId": "kiosk.1", "randomToken": "abc", "startTime": 1, "gameMetaURL": "http://games.ggp.org/x/",
        "isCompleted": true, "states": record["states"], "moves": record["moves"], "goalValues": record["goalValues"],
        "previewClock": -1, "startClock": 30, "playClock": 15,
    });
    let path = at("ggp-base.json");
    std::fs::write(&path, theirs.to_string()).unwrap();
    fails(&["replay", &path], "--rules");
    works(&["replay", &path, "--rules", "monty-hall"]);
    let mut wrong = theirs.clone();
    wrong["goalValues"][0] = json!(37);
    std::fs::write(&path, wrong.to_string()).unwrap();
    fails(&["replay", &path, "--rules", "monty-hall"], "the goal of candidate");
    let mut wrong = theirs.clone();
    wrong["states"][1] = json!("( (car 1) (elephant pink) )");
    std::fs::write(&path, wrong.to_string()).unwrap();
    fails(&["replay", &path, "--rules", "monty-hall"], "(elephant pink)");
    let mut wrong = theirs;
    wrong["moves"][0][0] = json!("(CHOOSE 99)");
    std::fs::write(&path, wrong.to_string()).unwrap();
    fails(&["replay", &path, "--rules", "monty-hall"], "not a legal move");
    // Dresden: the files of RANDOM have the moves, the others do not.
    works(&["replay", ours.to_str().unwrap(), "--views", &at("views")]);
    let dirs: Vec<_> = std::fs::read_dir(at("views"))
        .unwrap()
        .flatten()
        .map(|d| d.path())
        .collect();
    let of = |end: &str| {
        dirs.iter()
            .find(|d| d.to_str().unwrap().ends_with(end))
            .unwrap()
            .join("finalstate.xml")
    };
    let (all, one) = (of("-RANDOM"), of("-candidate"));
    works(&["replay", all.to_str().unwrap(), "--rules", "monty-hall"]);
    fails(
        &["replay", one.to_str().unwrap(), "--rules", "monty-hall"],
        "without the moves",
    );
    let changed = std::fs::read_to_string(&all)
        .unwrap()
        .replace("<prop-f>STEP</prop-f>", "<prop-f>STOP</prop-f>");
    std::fs::write(&all, changed).unwrap();
    fails(
        &["replay", all.to_str().unwrap(), "--rules", "monty-hall"],
        "Dresden's XML differs",
    );
}

/// A record whose rules were changed, a record of other rules, and a record from before there was a hash.
#[test]
fn t29_changed_rules_are_noticed() {
    let folder = folder("changed");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    works(&[
        "match",
        "kuhn-poker",
        "hp:8,4",
        "random",
        "--games",
        "1",
        "--record",
        &at("ours"),
    ]);
    let (text, path) = only_record(Path::new(&at("ours")));
    let path = path.to_str().unwrap();
    works(&["replay", path]);
    works(&["explain", "kuhn-poker", "--record", path]);
    fails(&["explain", "leduc-poker", "--record", path], "other");
    let value: Value = text.parse().unwrap();
    // Payoffs changed within the record, and only there.
    let rules = value["gameText"].as_str().unwrap();
    let mut tampered = value.clone();
    tampered["gameText"] = json!(rules.replacen("jack", "knave", 1));
    std::fs::write(path, format!("{tampered}\n")).unwrap();
    fails(&["replay", path], "hash");
    fails(&["explain", "kuhn-poker", "--record", path], "hash");
    fails(&["belief", "kuhn-poker", "--role", "player1", "--match", path], "");
    let mut old = value.clone();
    old.as_object_mut().unwrap().remove("gameTextHash").expect("a hash");
    std::fs::write(path, format!("{old}\n")).unwrap();
    works(&["replay", path]);
    // The same roles, and other rules.
    let other = at("other.kif");
    std::fs::write(&other, format!("{rules}\n(never used)\n")).unwrap();
    fails(&["explain", &other, "--record", path], "other rules");
    // Comments and layout do not matter.
    std::fs::write(&other, format!("; a comment\n{}", rules.replace(") (", ")\n\n   ("))).unwrap();
    works(&["explain", &other, "--record", path]);
}

/// Rules in Latin-1 survive a record.
#[test]
fn t29_rules_in_latin_1_survive() {
    let folder = folder("latin");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let rules = "(role spieler) (init (zug 1)) (<= (legal spieler (z\u{fc}ge ?n)) (zahl ?n)) (zahl 1) (zahl 2)\n\
        (<= (next (zug 2)) (true (zug 1))) (<= terminal (true (zug 2))) (goal spieler 100) ; \u{e4}\u{f6}\n";
    let latin: Vec<u8> = rules.chars().map(|c| c as u8).collect();
    std::fs::write(at("rules.kif"), latin).unwrap();
    works(&[
        "match",
        &at("rules.kif"),
        "random",
        "--games",
        "1",
        "--record",
        &at("records"),
    ]);
    let (text, path) = only_record(Path::new(&at("records")));
    assert!(text.contains("z\u{fc}ge"), "{text}");
    works(&["replay", path.to_str().unwrap()]);
    works(&[
        "explain",
        &at("rules.kif"),
        "--record",
        path.to_str().unwrap(),
        "--player",
        "random",
    ]);
    // The same over the wire, where peers may count characters.
    let player = player_with("random", |_| {});
    let address = player.address.to_string();
    works(&[
        "manage",
        &at("rules.kif"),
        "--players",
        &address,
        "--play-clock",
        "2",
        "--record",
        &at("wire"),
    ]);
    let (_, path) = only_record(Path::new(&at("wire")));
    works(&["replay", path.to_str().unwrap()]);
}
