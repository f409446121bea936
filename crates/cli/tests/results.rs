//! Results of matches: intervals, totals, what is hidden, records.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn surmise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_surmise")).args(args).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[track_caller]
fn json(args: &[&str]) -> Value {
    let output = surmise(args);
    assert!(output.status.success(), "{args:?}: {}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("surmise-results-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Twenty wins do not make certain that the twenty-first will be one, and no payoff is above 100.
#[test]
fn intervals_are_possible_and_never_of_width_zero() {
    for games in ["1", "3", "20"] {
        let result = json(&["match", "monty-hall", "legal", "--games", games, "--json"]);
        let interval = &result["players"][0]["ci95"];
        let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
        assert!(0.0 <= low && low < high && high <= 100.0, "{games}: {low} {high}");
    }
    // A player that always wins.
    let args = ["match", "tictactoe", "minimax:9", "legal", "--games", "20", "--json"];
    let result = json(&args);
    assert_eq!(result["players"][0]["mean"], 100.0);
    let low = result["players"][0]["ci95"][0].as_f64().unwrap();
    assert!((60.0..99.9).contains(&low), "{low}");
}

#[test]
fn players_that_change_seats_have_totals() {
    let args = [
        "match",
        "tictactoe",
        "minimax:9",
        "random",
        "--games",
        "10",
        "--swap",
        "--json",
    ];
    let result = json(&args);
    assert_eq!(result["players"].as_array().unwrap().len(), 4);
    let totals = result["totals"].as_array().unwrap();
    let players: Vec<&str> = totals.iter().map(|t| t["player"].as_str().unwrap()).collect();
    assert_eq!(players, ["minimax:9", "random"]);
    let sum: f64 = totals.iter().map(|t| t["mean"].as_f64().unwrap()).sum();
    assert!((sum - 100.0).abs() < 1e-9, "{sum}");
    let plain = json(&["match", "tictactoe", "minimax:9", "random", "--games", "2", "--json"]);
    assert_eq!(plain["totals"], Value::Null);
    let shown = text(&surmise(&[
        "match",
        "tictactoe",
        "minimax:9",
        "random",
        "--games",
        "4",
        "--swap",
    ]));
    assert!(
        shown.lines().filter(|l| l.trim_start().starts_with("all ")).count() == 2,
        "{shown}"
    );
}

/// A die is thrown before every move, and everybody sees it: nothing is hidden.
const DICE: &str = "
(role me) (role random) (face 1) (face 2) (face 3)
(init (thrown 1)) (init (round 1)) (succ 1 2) (succ 2 3)
(<= (legal random (throw ?n)) (face ?n))
(<= (legal me (bet ?n)) (face ?n))
(<= (next (thrown ?n)) (does random (throw ?n)))
(<= (next (won)) (does me (bet ?n)) (true (thrown ?n)))
(<= (next (won)) (true (won)))
(<= (next (round ?m)) (true (round ?n)) (succ ?n ?m))
(<= terminal (true (round 3)))
(<= (goal me 100) (true (won)))
(<= (goal me 0) (not (true (won))))
(goal random 0)
";

#[test]
fn games_of_chance_without_sees_are_open() {
    let place = folder("dice");
    let rules = place.join("dice.kif");
    std::fs::write(&rules, DICE).unwrap();
    let rules = rules.to_str().unwrap();
    for player in ["mc:50", "uct:200", "minimax:2", "hp:4,4"] {
        let result = json(&["match", rules, player, "--games", "10", "--json"]);
        // The bet is on the die that everybody has seen.
        assert_eq!(result["players"][0]["mean"], 100.0, "{player}");
        assert_eq!(result["players"][0]["illegal"], 0, "{player}");
    }
    let shown = text(&surmise(&["show", rules]));
    assert!(shown.contains("every role sees every move"), "{shown}");
    assert_eq!(json(&["show", rules, "--json"])["information"], "open");
    assert_eq!(json(&["show", "kuhn-poker", "--json"])["information"], "hidden");
    std::fs::remove_dir_all(place).unwrap();
}

/// Rules in Latin-1 are decoded once; the record holds the decoded text, and replays.
#[test]
fn records_of_latin_1_rules_replay() {
    let place = folder("latin");
    let rules = place.join("latin.kif");
    let mut bytes = b"; caf\xe9\n".to_vec();
    bytes.extend(DICE.replace("won", "gagn\u{e9}").chars().map(|c| c as u32 as u8));
    std::fs::write(&rules, bytes).unwrap();
    let records = place.join("records");
    let (rules, folder) = (rules.to_str().unwrap(), records.to_str().unwrap());
    json(&["match", rules, "legal", "--games", "1", "--record", folder, "--json"]);
    let record = records.join("match-000000.json");
    let checked = json(&["replay", record.to_str().unwrap(), "--json"]);
    assert_eq!(
        (&checked["ok"], &checked["rounds"]),
        (&Value::Bool(true), &Value::from(2))
    );
    std::fs::remove_dir_all(place).unwrap();
}

#[test]
fn broken_records_are_refused_where_they_break() {
    let place = folder("broken");
    let records = place.to_str().unwrap();
    json(&[
        "match",
        "kuhn-poker",
        "random",
        "--games",
        "1",
        "--record",
        records,
        "--json",
    ]);
    let path = place.join("match-000000.json");
    let good: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let breaks: [(&str, Value, &str); 4] = [
        ("/moves/1", Value::Array(Vec::new()), "0 entries in `moves[1]`"),
        ("/percepts/0", Value::Array(Vec::new()), "0 entries in `percepts[0]`"),
        ("/states", Value::Array(Vec::new()), "0 entries in `states`"),
        ("/goalValues/0", Value::from("much"), "no list of payoffs `goalValues`"),
    ];
    for (field, value, message) in breaks {
        let mut broken = good.clone();
        *broken.pointer_mut(field).unwrap() = value;
        let file = place.join("broken.json");
        std::fs::write(&file, broken.to_string()).unwrap();
        for args in [
            &["replay"][..],
            &["belief", "kuhn-poker", "--role", "player1", "--match"],
            &["explain", "kuhn-poker", "--record"],
        ] {
            let output = surmise(&[args, &[file.to_str().unwrap()]].concat());
            let said = text(&output);
            assert_eq!(output.status.code(), Some(1), "{args:?} {field}: {said}");
            assert!(said.contains(message), "{args:?} {field}: {said}");
        }
    }
    std::fs::remove_dir_all(place).unwrap();
}

#[test]
fn numbers_without_sense_are_refused() {
    for (args, message) in [
        (&["bench", "tictactoe", "--seconds", "NaN"][..], "--seconds must be"),
        (&["match", "tictactoe", "--games", "0"], "0 is not in 1.."),
        (
            &["match", "tictactoe", "--time-per-move", "NaN"],
            "--time-per-move must be",
        ),
        (&["match", "kuhn-poker", "hp:99999999999,1"], "from 1 to 1000000"),
        (
            &["match", "kuhn-poker", "ismcts:10,models=100000000000000"],
            "from 1 to 1000000",
        ),
    ] {
        let output = surmise(args);
        let said = text(&output);
        assert!(!output.status.success() && said.contains(message), "{args:?}: {said}");
    }
}

/// A typo in a player's name is found before the game is opened: here there is no such game either.
#[test]
fn players_are_read_before_games_are_opened() {
    let said = text(&surmise(&["match", "no-such-game", "hpp", "random"]));
    assert!(said.contains("did you mean `hp`?"), "{said}");
    let said = text(&surmise(&["manage", "no-such-game", "--players", "hp:modles=4"]));
    assert!(said.contains("did you mean `models`?"), "{said}");
}

#[test]
fn quiet_says_nothing_but_results() {
    let place = folder("quiet");
    let file = place.join("kuhn.json");
    let path = file.to_str().unwrap();
    let loud = surmise(&["solve", "kuhn-poker", "--save", path]);
    assert!(
        String::from_utf8_lossy(&loud.stderr).contains("wrote `"),
        "{}",
        text(&loud)
    );
    let quiet = surmise(&["solve", "kuhn-poker", "--save", path, "--quiet"]);
    assert!(quiet.stderr.is_empty() && !quiet.stdout.is_empty(), "{}", text(&quiet));
    assert!(Path::new(path).exists());
    std::fs::remove_dir_all(place).unwrap();
}
