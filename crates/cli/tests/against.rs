//! Responses to models: `surmise solve --against` and `--records`, and what is wrong with models.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn surmise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_surmise")).args(args).output().unwrap()
}

#[track_caller]
fn check(args: &[&str], code: i32, expected: &[&str]) -> String {
    let output = surmise(args);
    let out = String::from_utf8(output.stdout.clone()).unwrap();
    let all = format!("{out}{}", String::from_utf8(output.stderr.clone()).unwrap());
    assert_eq!(output.status.code(), Some(code), "{all}");
    for text in expected {
        assert!(all.contains(text), "no `{text}` in:\n{all}");
    }
    out
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&check(&[args, &["--json"]].concat(), 0, &[])).unwrap()
}

fn numbers(value: &Value, field: &str) -> Vec<f64> {
    let points = value["points"].as_array().unwrap();
    points.iter().map(|p| p[field].as_f64().unwrap()).collect()
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// The linear program on a tree and iterations on graphs are two ways to the same responses.
#[test]
fn trees_and_graphs_agree() {
    let folder = tempfile::tempdir().unwrap();
    let records = folder.path().join("records");
    let records = records.to_str().unwrap();
    check(
        &[
            "match",
            "kuhn-poker",
            "random",
            "random",
            "--games",
            "60",
            "--record",
            records,
        ],
        0,
        &[],
    );
    for model in [["--against", "uniform"], ["--records", records]] {
        let tree = json(&[&["solve", "kuhn-poker"][..], &model].concat());
        let graph = json(&[&["solve", "kuhn-poker", "--graph", "--iterations", "3000"][..], &model].concat());
        assert_eq!((&tree["exact"], &graph["exact"]), (&true.into(), &false.into()));
        assert_eq!(tree["model_unknown_sets"], graph["model_unknown_sets"]);
        let weights = numbers(&tree, "weight");
        let (gains, worsts) = (numbers(&tree, "against_model"), numbers(&tree, "worst_case"));
        let (near_gains, near_worsts) = (numbers(&graph, "against_model"), numbers(&graph, "worst_case"));
        for at in 0..weights.len() {
            // What is optimised: at ties gain and worst case may differ, their mix may not.
            let mix = |gain: f64, worst: f64| weights[at] * gain + (1.0 - weights[at]) * worst;
            if model[0] == "--against" {
                let gap = mix(gains[at], worsts[at]) - mix(near_gains[at], near_worsts[at]);
                assert!((-1e-3..0.05).contains(&gap), "{tree} {graph}");
            }
            assert!(at == 0 || worsts[at] < worsts[at - 1] + 1e-3, "{tree}");
        }
        assert!((worsts[0] - near_worsts[0]).abs() < 0.02, "{tree} {graph}");
    }
}

#[test]
fn responses_are_saved_and_played() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("response");
    let saved = saved.to_str().unwrap();
    let solve = ["solve", "scissors-paper-rock", "--against", "legal", "--save", saved];
    check(&[&solve[..], &["--weight", "1"]].concat(), 0, &["asked for", "wrote"]);
    let player = format!("strategy:{saved}");
    let game = "scissors-paper-rock";
    let played = json(&["match", game, &player, "legal", "--games", "5"]);
    assert!(played.to_string().contains("100"), "{played}");
    check(&solve, 1, &["needs --weight"]);
    check(&["solve", game, "--weight", "0.5"], 1, &["go with --against"]);
    let series = json(&["solve", game, "--against", "legal", "--series", "30"]);
    assert_eq!(series["violations"], 0, "{series}");
    assert_eq!(series["matches"], 30);
}

#[test]
fn bad_models_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |policy: &str| {
        format!(
            r#"{{"role": "player2", "view": [{{"move": "noop", "sees": ["(card jack)"]}}, {{"move": "noop",
            "sees": ["(did player1 bet)"]}}], "policy": {policy}}}"#
        )
        .replace('\n', " ")
    };
    let good = entry(r#"{"call": 0.25, "fold": 0.75}"#);
    let against = |text: &str, graph: bool, code: i32, expected: &[&str]| {
        let path = write(folder.path(), "model", text);
        let mut args = vec![
            "solve",
            "kuhn-poker",
            "--against",
            path.to_str().unwrap(),
            "--weight",
            "0.5",
        ];
        args.extend(graph.then_some("--graph"));
        check(&args, code, expected);
    };
    for graph in [false, true] {
        against(
            &format!("# by hand\n{good}\n"),
            graph,
            0,
            &["5 of 6 information sets are not in the model"],
        );
        let wrong = entry(r#"{"call": 0.25, "fold": 0.5}"#);
        against(&wrong, graph, 1, &["line 1", "sum to 0.75"]);
        against(
            &entry(r#"{"call": -1, "fold": 2}"#),
            graph,
            1,
            &["line 1", "at least 0"],
        );
        against(&entry(r#"{"check": 1}"#), graph, 1, &["line 1", "not legal"]);
        against(&format!("{good}\n{good}\n"), graph, 1, &["line 2", "given before"]);
        let unreal = good.replace("(did player1 bet)", "(card jack)");
        against(&unreal, graph, 1, &["line 1", "impossible"]);
        against(&good.replace("player2", "player3"), graph, 1, &["no role `player3`"]);
        against("", graph, 1, &["is empty"]);
    }
    let strategy = folder.path().join("other");
    let strategy = strategy.to_str().unwrap();
    check(&["solve", "matching-pennies", "--save", strategy], 0, &[]);
    check(
        &["solve", "kuhn-poker", "--against", strategy],
        1,
        &["matching-pennies"],
    );
    check(
        &["solve", "kuhn-poker", "--against", "nobody"],
        1,
        &["uniform, a file, records:DIR or a player", "nobody"],
    );
    check(
        &["solve", "kuhn-poker", "--against", "uniform", "--weight", "-1"],
        1,
        &["from 0 to 1"],
    );
    check(&["solve", "kuhn-poker", "--against", "mc"], 1, &["nothing is hidden"]);
    // Games of other kinds.
    check(&["solve", "tiger", "--against", "uniform"], 1, &["two roles"]);
    let general = write(
        folder.path(),
        "general.kif",
        "(role a) (role b) (init (step 1)) (<= (legal ?r stag) (role ?r)) (<= (legal ?r hare) (role ?r))
        (<= (next (step 2)) (true (step 1))) (<= (next (did ?r ?m)) (does ?r ?m)) (<= terminal (true (step 2)))
        (<= both (true (did a stag)) (true (did b stag)))
        (<= (goal ?r 100) (role ?r) both) (<= (goal ?r 50) (true (did ?r hare)))
        (<= (goal ?r 0) (true (did ?r stag)) (not both))",
    );
    let general = general.to_str().unwrap();
    for graph in [&[][..], &["--graph"]] {
        let args = [&["solve", general, "--against", "uniform"], graph].concat();
        check(&args, 1, &["sum to a constant"]);
    }
    check(
        &["match", general, "exploit:model=uniform", "random"],
        1,
        &["sum to a constant"],
    );
    // Records that are none.
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    check(
        &["solve", "kuhn-poker", "--records", empty.to_str().unwrap()],
        1,
        &["holds no records"],
    );
    write(&empty, "match-000000.json", "{}");
    check(
        &["solve", "kuhn-poker", "--records", empty.to_str().unwrap()],
        1,
        &["no record of a match"],
    );
    check(
        &["solve", "kuhn-poker", "--records", "/no/such/folder"],
        1,
        &["cannot read the folder"],
    );
    // Too little memory, or a place that cannot be written: the table is printed, and the error told.
    check(
        &[
            "--memory",
            "200",
            "solve",
            "dark-hex:hidden=1",
            "--graph",
            "--against",
            "uniform",
        ],
        1,
        &["MiB are allowed"],
    );
    let nowhere = [
        "solve",
        "kuhn-poker",
        "--against",
        "uniform",
        "--weight",
        "1",
        "--save",
        "/no/such/folder/file",
    ];
    check(&nowhere, 1, &["62.5000", "/no/such/folder/file"]);
}
