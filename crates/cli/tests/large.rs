//! Games without a tree: `surmise solve --graph`, strategies and tables as files, and what is wrong with them.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

fn surmise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_surmise")).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("surmise-large-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

#[track_caller]
fn check(args: &[&str], code: i32, expected: &[&str]) -> String {
    let output = surmise(args);
    let all = stdout(&output) + &stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{all}");
    for text in expected {
        assert!(all.contains(text), "no `{text}` in:\n{all}");
    }
    stdout(&output)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&check(args, 0, &[])).unwrap()
}

#[test]
fn graphs_and_trees_rate_alike() {
    for game in ["kuhn-poker", "dark-hex:width=2,height=2,hidden=1", "goofspiel:cards=3"] {
        let tree = json(&["solve", game, "--rate", "uniform", "--json"]);
        let graph = json(&["solve", game, "--rate", "uniform", "--graph", "--json"]);
        let gap = |value: &Value| value["nash_conv"].as_f64().unwrap();
        assert!((gap(&tree) - gap(&graph)).abs() < 1e-9, "{tree} {graph}");
        assert_eq!(graph["complete"], true);
    }
}

#[test]
fn solved_strategies_are_saved_played_and_rated() {
    let (saved, checkpoint) = (file("saved", ""), file("checkpoint", ""));
    std::fs::remove_file(&checkpoint).unwrap();
    let (saved, checkpoint) = (saved.to_str().unwrap(), checkpoint.to_str().unwrap());
    let game = "dark-hex:width=2,height=2,hidden=1";
    let solve = ["solve", game, "--graph", "--save", saved, "--checkpoint", checkpoint];
    let until = ["--iterations", "200", "--json"];
    let first = json(&[&solve[..], &until[..]].concat());
    assert!(first["nash_conv"].as_f64().unwrap() < 0.5, "{first}");
    assert!(first["curve"].as_array().unwrap().len() > 5, "{first}");
    let rated = json(&["solve", game, "--graph", "--rate", saved, "--json"]);
    let gap = |value: &Value| value["nash_conv"].as_f64().unwrap();
    assert!((gap(&rated) - gap(&first)).abs() < 1e-3, "{rated} {first}");
    let on_tree = json(&["solve", game, "--rate", saved, "--json"]);
    assert!((gap(&on_tree) - gap(&rated)).abs() < 1e-9, "{on_tree} {rated}");
    // The checkpoint goes on where it was.
    let more = json(&[&solve[..], &["--force", "--iterations", "210", "--json"]].concat());
    assert_eq!(more["iterations"], 210);
    check(
        &["solve", "kuhn-poker", "--graph", "--checkpoint", checkpoint],
        1,
        &["cannot be continued", "another game"],
    );
    // Black wins with certainty, whatever white does.
    let player = format!("strategy:{saved}");
    let played = check(&["match", game, &player, "random", "--games", "20", "--json"], 0, &[]);
    assert!(played.contains("100"), "{played}");
    check(&["match", "kuhn-poker", &player, "random"], 1, &["is for dark-hex"]);
    check(
        &["solve", "kuhn-poker", "--graph", "--rate", saved],
        1,
        &["the strategy is for dark-hex", "roles"],
    );
    let mut bytes = std::fs::read(saved).unwrap();
    bytes.truncate(bytes.len() - 1);
    std::fs::write(saved, &bytes).unwrap();
    check(&["solve", game, "--graph", "--rate", saved], 1, &["damaged"]);
}

#[test]
fn tables_by_others_are_read_or_refused_with_the_line() {
    let good = r#"{"role": "alice", "view": [], "policy": {"heads": 0.25, "tails": 0.75}}"#;
    let first = json(&["solve", "matching-pennies", "--graph", "--json"]);
    let role = first["roles"][0].as_str().unwrap();
    let saved = file("pennies.json", "");
    check(
        &[
            "solve",
            "matching-pennies",
            "--save",
            saved.to_str().unwrap(),
            "--force",
        ],
        0,
        &[],
    );
    let entries: Value = serde_json::from_str(&std::fs::read_to_string(&saved).unwrap()).unwrap();
    let line = entries["strategy"][0].to_string();
    let table = |text: &str| {
        let path = file("table.jsonl", text);
        path.to_str().unwrap().to_owned()
    };
    let rate = |path: &str, code: i32, expected: &[&str]| {
        check(
            &["solve", "matching-pennies", "--graph", "--rate", path],
            code,
            expected,
        )
    };
    rate(saved.to_str().unwrap(), 0, &["NashConv"]);
    rate(
        &table(&format!("# by hand\n\n{line}\n")),
        0,
        &["random moves in 1 information sets"],
    );
    rate(&table(&format!("{line}\n{line}\n")), 1, &["line 2", "given before"]);
    rate(&table(good), 1, &["line 1", "no role `alice`"]);
    rate(&table(&format!("{line}\nnonsense\n")), 1, &["line 2 is not JSON"]);
    let other = format!(r#"{{"role": "{role}", "view": [], "policy": {{"fold": 1}}}}"#);
    rate(&table(&other), 1, &["line 1", "never has the move `fold`"]);
    let unreal = line.replace("\"view\":[]", r#""view":[{"move": "x", "sees": []}]"#);
    rate(&table(&unreal), 1, &["line 1", "never has `x`"]);
    let mut wrong: Value = serde_json::from_str(&line).unwrap();
    wrong["policy"]
        .as_object_mut()
        .unwrap()
        .values_mut()
        .for_each(|p| *p = 0.7.into());
    rate(&table(&wrong.to_string()), 1, &["line 1", "sum to 1.4"]);
    rate(&table(""), 1, &["is empty"]);
    rate("strategy:/no/such/file", 1, &["cannot read"]);
}

#[test]
fn sizes_are_told_and_memory_is_bounded() {
    check(
        &["solve", "kuhn-poker", "--graph", "--rate", "uniform"],
        0,
        &["12 information sets", "rating needs", "solving"],
    );
    let game = "dark-hex:hidden=1";
    check(
        &["--memory", "200", "solve", game, "--graph", "--rate", "uniform"],
        1,
        &["the graph of states", "150 MiB are allowed"],
    );
    check(
        &["solve", "kuhn-poker", "--graph", "--algorithm", "lp"],
        1,
        &["too large for a tree"],
    );
    check(
        &["solve", "kuhn-poker", "--rounds", "few"],
        2,
        &["auto, counted or dropped"],
    );
}

#[test]
fn a_model_is_exploited_at_a_price() {
    let found = json(&["solve", "kuhn-poker", "--against", "uniform", "--json"]);
    let points = found["points"].as_array().unwrap();
    let of = |at: usize, field: &str| points[at][field].as_f64().unwrap();
    let last = points.len() - 1;
    // An equilibrium strategy gets 48.61 from anybody; a best response gets more, and can lose more.
    assert!((of(0, "worst_case") - 48.611).abs() < 0.05, "{found}");
    assert!(of(last, "against_model") > of(0, "against_model") + 1.0, "{found}");
    assert!(of(last, "worst_case") < of(0, "worst_case") - 1.0, "{found}");
    let one = [
        "solve",
        "kuhn-poker",
        "--against",
        "uniform",
        "--role",
        "player2",
        "--weight",
    ];
    check(
        &[&one[..], &["0.5"]].concat(),
        0,
        &["player2 against uniform", "worst case"],
    );
    check(&[&one[..], &["1.5"]].concat(), 1, &["from 0 to 1"]);
    let nobody = ["solve", "kuhn-poker", "--against", "uniform", "--role", "nobody"];
    check(&nobody, 1, &["nobody", "player1"]);
    check(&["solve", "tiger", "--against", "uniform"], 1, &["two roles"]);
}

#[test]
fn a_role_commits_itself() {
    check(
        &["solve", "kuhn-poker", "--commit", "player1"],
        0,
        &["player1: 48.611", "linear programs"],
    );
    check(
        &["solve", "kuhn-poker", "--commit", "nobody"],
        1,
        &["nobody", "player1"],
    );
    check(&["solve", "tiger", "--commit", "agent"], 1, &["agent"]);
}

/// Three roles choose a number at the same time; nature breaks the tie. Whoever is alone with a number wins.
const THREE: &str = "
    (role ann) (role bob) (role cat) (role random) (init (step 1))
    (number 1) (number 2)
    (person ann) (person bob) (person cat)
    (<= (legal ?p (say ?n)) (person ?p) (number ?n))
    (<= (legal random (toss ?n)) (number ?n))
    (<= (next (said ?p ?n)) (does ?p (say ?n)) (person ?p))
    (<= (next (tossed ?n)) (does random (toss ?n)))
    (next (step 2))
    (<= (sees ?p (did ?q ?n)) (person ?p) (does ?q (say ?n)) (person ?q))
    (<= terminal (true (step 2)))
    (<= (shared ?p) (true (said ?p ?n)) (true (said ?q ?n)) (distinct ?p ?q))
    (<= (goal ?p 100) (person ?p) (true (step 2)) (not (shared ?p)))
    (<= (goal ?p 30) (person ?p) (shared ?p) (true (said ?p ?n)) (true (tossed ?n)))
    (<= (goal ?p 0) (person ?p) (shared ?p) (true (said ?p ?n)) (not (true (tossed ?n))))
    (<= (goal ?p 0) (person ?p) (not (true (step 2))))";

#[test]
fn three_roles_are_rated_by_a_walk_as_on_the_tree() {
    let game = file("three.kif", THREE);
    let game = game.to_str().unwrap();
    let line = |role: &str| {
        format!("{{\"role\": \"{role}\", \"view\": [], \"policy\": {{\"(say 1)\": 0.9, \"(say 2)\": 0.1}}}}\n")
    };
    let table = file("three.jsonl", &(line("ann") + &line("bob")));
    let table = table.to_str().unwrap();
    let tree = json(&["solve", game, "--rate", "uniform", "--json"]);
    let walk = json(&["solve", game, "--rate", "uniform", "--walk", "--json"]);
    for what in ["nash_conv", "value", "best_response"] {
        assert_eq!(tree[what], walk[what], "{what}");
    }
    let skewed = json(&["solve", game, "--rate", table, "--walk", "--json"]);
    // The third role says 2 and is alone in 0.81 of all games; alone with 2 it gets 100, otherwise 15 on average.
    assert!(
        (skewed["best_response"]["cat"].as_f64().unwrap() - (81.0 + 0.19 * 15.0)).abs() < 1e-9,
        "{skewed}"
    );
    check(
        &["solve", game, "--rate", "uniform", "--graph"],
        1,
        &["3 roles besides nature"],
    );
    let wrong = file("wrong.jsonl", &line("ann").replace("0.9", "0.8"));
    check(
        &["solve", game, "--rate", wrong.to_str().unwrap(), "--walk"],
        1,
        &["line 1", "sum to 0.9"],
    );
}

#[test]
fn what_cannot_be_read_or_written_is_told_before_the_work_or_beside_its_result() {
    let kuhn = file("kuhn.json", "");
    let kuhn = kuhn.to_str().unwrap();
    check(&["solve", "kuhn-poker", "--save", kuhn, "--force"], 0, &[]);
    // Probabilities that do not sum to 1, on the tree too.
    let mut strategy: Value = serde_json::from_str(&std::fs::read_to_string(kuhn).unwrap()).unwrap();
    let lines: Vec<String> = strategy["strategy"]
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    strategy["strategy"][0]["policy"] = serde_json::json!({"bet": 0.9, "check": 0.8});
    let wrong = file("sum.json", &strategy.to_string());
    check(
        &["solve", "kuhn-poker", "--rate", wrong.to_str().unwrap()],
        1,
        &["sum to 1.7", "player1"],
    );
    // Tables in JSON lines need no --graph.
    let table = file("lines.jsonl", &lines.join("\n"));
    check(
        &["solve", "kuhn-poker", "--rate", table.to_str().unwrap()],
        0,
        &["48.611111 points"],
    );
    check(
        &["solve", "kuhn-poker", "--graph", "--rate", "nothing.json"],
        1,
        &["no file `nothing.json`"],
    );
    let nowhere = "/nowhere/at/all.ck";
    let printed = check(
        &["solve", "kuhn-poker", "--iterations", "3", "--checkpoint", nowhere],
        1,
        &["cannot write"],
    );
    assert_eq!(printed, "", "nothing is computed that cannot be kept");
    let folder = std::env::temp_dir();
    check(
        &["solve", "kuhn-poker", "--save", folder.to_str().unwrap(), "--force"],
        1,
        &["is not a file"],
    );
}

#[test]
fn a_killed_run_goes_on_from_its_checkpoint() {
    let path = file("killed.ck", "");
    std::fs::remove_file(&path).unwrap();
    let path = path.to_str().unwrap();
    let run = |iterations: &str| {
        let args = [
            "solve",
            "leduc-poker",
            "--graph",
            "--iterations",
            iterations,
            "--checkpoint",
            path,
            "--json",
        ];
        json(&args)
    };
    let whole = json(&["solve", "leduc-poker", "--graph", "--iterations", "40", "--json"]);
    run("25");
    let args = [
        "solve",
        "leduc-poker",
        "--graph",
        "--seconds",
        "1000",
        "--checkpoint",
        path,
    ];
    let mut killed = Command::new(env!("CARGO_BIN_EXE_surmise")).args(args).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let on = run("40");
    assert_eq!(on["iterations"], 40);
    // The best strategies of the 25 iterations were kept with the checkpoint.
    assert!(on["nash_conv"].as_f64().unwrap() <= whole["nash_conv"].as_f64().unwrap() + 1e-9);
}

#[test]
fn sampling_needs_no_tree_and_repeats_itself_on_any_number_of_threads() {
    let run = |threads: &str| {
        let args = [
            "solve",
            "liars-dice:sides=3",
            "--graph",
            "--algorithm",
            "external",
            "--iterations",
            "20000",
        ];
        let mut found = json(&[&args[..], &["--seed", "7", "--threads", threads, "--json"]].concat());
        let found = found.as_object_mut().unwrap();
        found.retain(|name, _| !name.contains("seconds") && name != "curve");
        found.clone()
    };
    let one = run("1");
    assert!(one["nash_conv"].as_f64().unwrap() < 3.0, "{one:?}");
    assert_eq!(one, run("3"));
}
