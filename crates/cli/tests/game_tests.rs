//! `surmise test`, `surmise new` and `surmise show --report`, as users run them.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn surmise(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surmise"));
    command.args(args).current_dir(folder).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[track_caller]
fn succeeds(folder: &Path, args: &[&str]) -> String {
    let output = surmise(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output));
    text(&output)
}

#[track_caller]
fn ends_with(folder: &Path, status: i32, args: &[&str]) -> String {
    let output = surmise(folder, args);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output));
    text(&output)
}

#[test]
fn a_new_game_passes_everything_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let said = succeeds(here, &["new", "game", "coin"]);
    assert!(
        said.contains("coin.kif\n") && said.contains("surmise test coin.test"),
        "{said}"
    );
    let said = succeeds(
        here,
        &["check", "--strict", "--simulate", "--deny-warnings", "coin.kif"],
    );
    assert!(said.contains("nothing to complain about"), "{said}");
    let said = succeeds(here, &["test", "coin.test", "--deny-undecided"]);
    assert!(said.ends_with("coin.test: 38 hold\n"), "{said}");
    // The rules file stands for its tests.
    succeeds(here, &["test", "coin.kif"]);
    let said = ends_with(here, 1, &["new", "game", "coin"]);
    assert!(said.contains("is there already"), "{said}");
    ends_with(here, 1, &["new", "game", "../coin"]);
}

#[test]
fn a_new_experiment_runs() {
    let folder = tempfile::tempdir().unwrap();
    succeeds(folder.path(), &["new", "lab", "doors"]);
    let said = succeeds(folder.path(), &["lab", "run", "doors.toml", "--quick"]);
    assert!(said.contains("600 games played"), "{said}");
}

#[test]
fn new_players_are_written_in_both_languages() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    succeeds(here, &["new", "player", "own-player"]);
    let plain = std::fs::read_to_string(here.join("own-player.py")).unwrap();
    assert!(
        plain.contains("exec:python3 own-player.py") && !plain.contains("{{"),
        "{plain}"
    );
    succeeds(here, &["new", "player", "my-player", "--package"]);
    let python = std::fs::read_to_string(here.join("my-player.py")).unwrap();
    assert!(
        python.contains("class MyPlayer(surmise.Player)") && !python.contains("{{"),
        "{python}"
    );
    succeeds(here, &["new", "player", "my-player", "--rust"]);
    let manifest = std::fs::read_to_string(here.join("my-player/Cargo.toml")).unwrap();
    let sources = manifest.split("path = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(Path::new(sources).join("src/lib.rs").is_file(), "{sources}");
    ends_with(here, 1, &["new", "lab", "x", "--rust"]);
}

/// The program of the Rust starter is compiled and run as an example of this package.
#[test]
fn the_rust_starter_is_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../surmise");
    let starter = std::fs::read_to_string(root.join("starters/player-main.rs")).unwrap();
    let example = std::fs::read_to_string(root.join("examples/starter.rs")).unwrap();
    let filled = starter.replace("{{name}}", "starter").replace("{{class}}", "Starter");
    assert_eq!(filled.replace("\nfn main()", "\npub(crate) fn main()"), example);
}

#[test]
fn failures_and_mistakes_have_their_status() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("bad.test"), "game monty-hall\nlegal candidate 4\n").unwrap();
    let said = ends_with(here, 1, &["test", "bad.test"]);
    assert!(
        said.contains("bad.test:2:7: fails: legal candidate 4\n  expected   4\n  found      3\n"),
        "{said}"
    );
    let output = surmise(here, &["test", "bad.test", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["ok"], &json["fail"]), (&Value::Bool(false), &1.into()));
    assert_eq!(json["lines"][0]["found"], "3");
    std::fs::write(here.join("wrong.test"), "game monty-hall\nleagl candidate 3\n").unwrap();
    let said = ends_with(here, 2, &["test", "wrong.test"]);
    assert!(
        said.contains("wrong.test:2:1: error:") && said.contains("did you mean `legal`?"),
        "{said}"
    );
    ends_with(here, 3, &["test", "missing.test"]);
    ends_with(here, 3, &["test", "missing.test", "--json"]);
    std::fs::write(here.join("long.test"), "game connect-four\nlength 7..42\n").unwrap();
    succeeds(here, &["test", "long.test", "--work", "1000"]);
    ends_with(here, 1, &["test", "long.test", "--work", "1000", "--deny-undecided"]);
    let words = succeeds(here, &["test", "--words"]);
    assert!(words.contains("believes ROLE FLUENT P"), "{words}");
}

/// The page of the format has exactly the lines that the program knows.
#[test]
fn the_page_lists_the_lines() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/game-tests.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows: Vec<&str> = page
        .lines()
        .skip_while(|line| *line != "| line | meaning |")
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let words: Vec<String> = surmise::game_tests::TEST_WORDS
        .iter()
        .map(|word| format!("| `{}` | {} |", word.shape, word.meaning))
        .collect();
    assert_eq!(rows, words);
}

#[test]
fn mutants_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    succeeds(here, &["new", "game", "coin"]);
    let args = ["test", "coin.test", "--mutate", "--mutants", "2", "--games", "10"];
    let said = succeeds(here, &args);
    assert!(
        said.contains("slip") && said.contains("neither") && said.contains("dropped-frame"),
        "{said}"
    );
    let output = surmise(here, &[&args[..], &["--json"]].concat());
    let lines = String::from_utf8(output.stdout).unwrap();
    let json: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(json["game"], "coin.kif");
    assert!(json["mutants"].as_u64().unwrap() > 10, "{json}");
}

#[test]
fn a_report_is_printed_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let few = ["--games", "20", "--matches", "2", "--beliefs", "2"];
    let args = [&["show", "monty-hall", "--report", "--html", "page.html"], &few[..]].concat();
    let said = succeeds(here, &args);
    for part in [
        "Random play (20 games",
        "Choice",
        "Good play (2 matches",
        "Value",
        "Hidden",
        "What moves tell",
        "Grounding",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let page = std::fs::read_to_string(here.join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"), "{page}");
    std::fs::write(here.join("page.html"), "mine").unwrap();
    ends_with(here, 1, &args);
    assert_eq!(std::fs::read_to_string(here.join("page.html")).unwrap(), "mine");
    succeeds(here, &[&args[..], &["--force"]].concat());
    assert_eq!(std::fs::read_to_string(here.join("page.html")).unwrap(), page);
    let output = surmise(
        here,
        &[&["show", "monty-hall", "--report", "--json"], &few[..]].concat(),
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["version"], &json["random"]["games"]), (&1.into(), &20.into()));
    ends_with(here, 1, &["show", "monty-hall", "--report", "--player", "no-such"]);
    ends_with(here, 2, &["show", "monty-hall", "--matches", "3"]);
}

/// A report that would take hours is stopped, and what was done is printed.
#[cfg(unix)]
#[test]
fn a_report_is_stopped() {
    let started = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args(["show", "monty-hall", "--report", "--matches", "100000000", "--quiet"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let sent = Command::new("kill").args(["-INT", &started.id().to_string()]).status();
    assert!(sent.unwrap().success());
    let begun = std::time::Instant::now();
    let output = started.wait_with_output().unwrap();
    assert!(begun.elapsed().as_secs() < 4, "{:?}", begun.elapsed());
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    let said = text(&output);
    assert!(
        said.contains("Random play (1000 games") && said.contains("Stopped early: good play"),
        "{said}"
    );
}
