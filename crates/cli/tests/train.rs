//! `surmise train` and what it leaves, as a user meets them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn surmise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_surmise")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn text_of(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

fn fails_with(args: &[&str], message: &str) {
    let output = surmise(args);
    assert!(!output.status.success(), "{args:?} should fail");
    let stderr = text(&output.stderr);
    assert!(stderr.contains(message), "{args:?}: {stderr}");
}

/// A folder of its own that does not exist yet.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("surmise-train-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn train(game: &str, out: &Path, more: &[&str]) -> Output {
    let out = out.to_str().unwrap();
    let mut args = vec!["train", game, "--out", out, "--trials", "2", "--width", "16"];
    args.extend(more);
    surmise(&args)
}

#[test]
fn training_can_be_played_rated_and_resumed() {
    let (one, two) = (folder("one"), folder("two"));
    let output = train("kuhn-poker", &one, &["--games", "40000"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("against random"),
        "{}",
        text(&output.stdout)
    );
    let net = format!("cfr:net={}", one.display());
    let rated = surmise(&["solve", "kuhn-poker", "--rate", &net, "--json"]);
    let rated: serde_json::Value = serde_json::from_slice(&rated.stdout).unwrap();
    let gap = rated["nash_conv"].as_f64().unwrap() / rated["payoff_range"].as_f64().unwrap();
    assert!(gap < 0.05, "{gap}");
    // Without the table, the search solves the game before it has begun.
    let off = surmise(&["solve", "kuhn-poker", "--rate", &format!("{net},table=off"), "--json"]);
    let off: serde_json::Value = serde_json::from_slice(&off.stdout).unwrap();
    let gap = off["nash_conv"].as_f64().unwrap() / off["payoff_range"].as_f64().unwrap();
    assert!(gap < 0.005, "{gap}");
    // The table against its best answer, with and without a tree.
    let walked = surmise(&["solve", "kuhn-poker", "--rate", &net, "--walk", "0", "--json"]);
    let walked: serde_json::Value = serde_json::from_slice(&walked.stdout).unwrap();
    for role in rated["best_response"].as_object().unwrap().keys() {
        let by_tree = rated["best_response"][role].as_f64().unwrap();
        let low = walked["best_response_low"][role].as_f64().unwrap();
        assert!((by_tree - low).abs() < 1e-3, "{role}: {by_tree} {low}");
    }
    let played = surmise(&["match", "kuhn-poker", &net, "random", "--games", "3"]);
    assert!(played.status.success(), "{}", text(&played.stderr));

    // In two parts, on another number of threads, with and without a cache: the same bytes.
    let first = train(
        "kuhn-poker",
        &two,
        &["--games", "20000", "--threads", "3", "--cache", "0"],
    );
    assert!(text(&first.stdout).contains("0.0% hits of"), "{}", text_of(&first));
    let lab = |expected: &str| {
        let spec = two.with_extension("toml");
        let text = "name = \"net\"\ntitle = \"Net\"\n[set]\nnet = \"\"\n[[sweep]]\ngame = \"kuhn-poker\"\nplayers = [\"cfr:net={net}\", \"random\"]\n\
                    games = 4\nneeds = \"net\"\n";
        std::fs::write(&spec, text).unwrap();
        let (spec, out) = (spec.to_str().unwrap().to_owned(), two.with_extension("lab"));
        let set = format!("net={}", two.display());
        let output = surmise(&["lab", "run", &spec, "--set", &set, "--out", out.to_str().unwrap()]);
        assert!(text_of(&output).contains(expected), "{}", text_of(&output));
    };
    lab("4 games played, 0 there before");
    lab("0 games played, 4 there before");
    let resumed = train("kuhn-poker", &two, &["--games", "40000", "--threads", "1", "--resume"]);
    // The folder has the same name and holds another network: another experiment.
    lab("4 games played, 0 there before");
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    for file in ["checkpoint.safetensors", "network.safetensors", "table.safetensors"] {
        let read = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
        assert!(read(&one) == read(&two), "{file} differs");
    }
    let out = one.to_str().unwrap();
    fails_with(
        &["train", "kuhn-poker", "--out", out, "--games", "1"],
        "--resume goes on",
    );
    fails_with(&["match", "monty-hall", &net], "does not fit this game");
    fails_with(
        &["train", "monty-hall", "--out", out, "--games", "1", "--resume"],
        "does not fit this game",
    );
    let checkpoint = two.join("checkpoint.safetensors");
    let mut bytes = std::fs::read(&checkpoint).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&checkpoint, &bytes).unwrap();
    let out = two.to_str().unwrap();
    fails_with(
        &["train", "kuhn-poker", "--out", out, "--games", "99999", "--resume"],
        "it is damaged",
    );
    let _ = (std::fs::remove_dir_all(&one), std::fs::remove_dir_all(&two));
}

#[test]
fn what_cannot_be_learned_is_said() {
    let nowhere = folder("nowhere");
    let out = nowhere.to_str().unwrap();
    fails_with(&["train", "kuhn-poker", "--out", out, "--resume"], "cannot read");
    fails_with(&["train", "kuhn-poker", "--out", out, "--minutes=-1"], "--minutes must");
    fails_with(
        &["train", "kuhn-poker", "--out", out, "--beginners", "2"],
        "--beginners must",
    );
    fails_with(
        &["train", "kuhn-poker", "--out", out, "--cache", "9999999"],
        "--cache must",
    );
    fails_with(
        &["solve", "kuhn-poker", "--rate", "cfr", "--walk"],
        "has learned nothing",
    );
    fails_with(&["match", "kuhn-poker", &format!("cfr:net={out}")], "cannot read");
    fails_with(&["match", "kuhn-poker", "cfr:depth=0"], "net=DIR");
    fails_with(&["match", "kuhn-poker", "cfr:roots=nowhere"], "must be view or state");
    fails_with(
        &["solve", "kuhn-poker", "--rate", "random"],
        "does not say with which probabilities",
    );
}

#[test]
fn an_untrained_search_solves_what_is_small() {
    for game in ["kuhn-poker", "scissors-paper-rock", "matching-pennies"] {
        let rated = surmise(&["solve", game, "--rate", "cfr", "--json"]);
        let rated: serde_json::Value = serde_json::from_slice(&rated.stdout).unwrap();
        let gap = rated["nash_conv"].as_f64().unwrap() / rated["payoff_range"].as_f64().unwrap();
        assert!(gap < 0.005, "{game}: {gap}");
    }
}

/// Two workers help, one of them is killed and started again: the bytes of a training by one process.
#[cfg(unix)]
#[test]
fn workers_may_come_and_die() {
    let (alone, shared) = (folder("alone"), folder("shared"));
    // A match of this game takes long enough for workers to get some of it.
    let (game, games) = ("liars-dice", "3000");
    let output = train(game, &alone, &["--games", games, "--threads", "1"]);
    assert!(output.status.success(), "{}", text_of(&output));
    let out = shared.to_str().unwrap();
    let worker = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_surmise"));
        command.args(["train", game, "--out", out, "--work", "--threads", "1"]);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null());
        command.spawn().unwrap()
    };
    let steady = worker();
    let mut killed = worker();
    let leader = std::thread::spawn({
        let shared = shared.clone();
        move || {
            train(
                "liars-dice",
                &shared,
                &["--games", "3000", "--threads", "1", "--shared"],
            )
        }
    });
    let begun = std::time::Instant::now();
    while !leader.is_finished() && begun.elapsed() < std::time::Duration::from_secs(300) {
        std::thread::sleep(std::time::Duration::from_millis(150));
        let _ = killed.kill();
        let _ = killed.wait();
        killed = worker();
    }
    let output = leader.join().unwrap();
    assert!(output.status.success(), "{}", text_of(&output));
    let _ = killed.kill();
    let _ = killed.wait();
    let said = text_of(&steady.wait_with_output().unwrap());
    assert!(
        said.contains("shards with") && !said.starts_with("0 shards"),
        "it helped: {said}"
    );
    let bytes = |folder: &Path, name: &str| std::fs::read(folder.join(name)).unwrap();
    for name in ["checkpoint.safetensors", "network.safetensors", "table.safetensors"] {
        assert!(bytes(&alone, name) == bytes(&shared, name), "{name} differs");
    }
    let left: Vec<String> = std::fs::read_dir(shared.join("shards"))
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("state-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    for folder in [&alone, &shared] {
        let _ = std::fs::remove_dir_all(folder);
    }
}
