//! Inputs and options without bound end with a message: soon, and in little memory. Files are not lost unasked.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs the program with 4 GiB of address space and a minute of processor time.
fn surmise(args: &[&str]) -> Output {
    let mut words = vec!["-c", "ulimit -v 4194304; ulimit -t 60; exec \"$@\"", "sh"];
    words.push(env!("CARGO_BIN_EXE_surmise"));
    words.extend(args);
    let mut command = Command::new("sh");
    command.args(words).stdin(Stdio::null()).output().unwrap()
}

fn succeeds(args: &[&str]) -> String {
    let output = surmise(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the program, which must end by itself with an error that says this.
fn fails(args: &[&str], says: &str) {
    let output = surmise(args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(
        code.is_some_and(|code| code != 0 && code < 100),
        "{args:?}: {:?}\n{text}",
        output.status
    );
    assert!(text.contains(says), "{args:?}: {text}");
    assert!(text.len() < 1 << 20, "{args:?}: {} bytes", text.len());
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bounds-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// So many roles with two moves each.
fn crowd(n_roles: usize) -> String {
    let roles: String = (0..n_roles).map(|n| format!("(role r{n})")).collect();
    format!(
        "{roles}(<= (legal ?r go) (role ?r))(<= (legal ?r stay) (role ?r))(init (s 0))
         (<= (next (s 1)) (true (s 0)))(<= (next (s 2)) (true (s 1)))(<= (goal ?r 50) (role ?r))
         (<= terminal (true (s 2)))(<= (sees r0 m) (does r1 go))"
    )
}

#[test]
fn players_move_among_more_joint_moves_than_memory_holds() {
    let folder = folder("crowd");
    for n_roles in [40, 63, 70] {
        let rules = file(&folder, &format!("crowd-{n_roles}.kif"), crowd(n_roles).as_bytes());
        for player in [
            "hp:2,2,sampler=hyperplay",
            "hp:2,2,sampler=cached",
            "hp:2,2,sampler=naive",
            "hp:2,2",
            "hp2:2,2",
            "ismcts:10",
            "cfr",
        ] {
            let mut args = vec!["match", &rules, player];
            args.extend(vec!["random"; n_roles - 1]);
            args.extend(["--games", "1", "--json"]);
            succeeds(&args);
        }
        fails(&["solve", &rules], "histories");
    }
}

#[test]
fn a_term_that_doubles_ends_every_command() {
    let text = b"(role a)(init (c z))(legal a go)(<= (next (c (p ?x ?x))) (true (c ?x)))
        (<= terminal (true (c (never))))(goal a 0)";
    let rules = file(&folder("doubling"), "doubling.kif", text);
    fails(&["trace", &rules], "10000 symbols of a term");
    fails(&["match", &rules, "legal"], "10000 symbols of a term");
    fails(&["check", "--simulate", &rules], "10000 symbols of a term");
}

#[test]
fn files_that_never_end_are_refused() {
    let zero = "/dev/zero";
    fails(
        &["belief", "kuhn-poker", "--role", "player1", "--view", zero],
        "zero byte",
    );
    fails(
        &["belief", "kuhn-poker", "--role", "player1", "--match", zero],
        "zero byte",
    );
    fails(&["trace", "kuhn-poker", "--follow", zero], "longer than");
    fails(&["trace", "kuhn-poker", "--check", zero], "zero byte");
    fails(&["match", "kuhn-poker", "strategy:/dev/zero"], "zero byte");
    fails(&["lab", "run", zero], "zero byte");
    fails(&["replay", zero], "zero byte");
}

#[test]
fn rules_are_never_cut_short_quietly() {
    let long = "; a comment\n".repeat((16 << 20) / 12 + 1);
    let rules = file(&folder("long"), "long.kif", long.as_bytes());
    fails(&["show", &rules, "--rules"], "longer than 16 MiB");
}

#[test]
fn numbers_have_ranges() {
    let models = ["belief", "kuhn-poker", "--role", "player1", "--models", "100000000000"];
    fails(&models, "at most 10000000 models");
}

#[test]
fn a_short_trace_does_not_wait_for_the_compiler() {
    let short = succeeds(&["trace", "krieg-tictactoe", "--steps", "5"]);
    for engine in ["reference", "scalar", "lanes"] {
        assert_eq!(
            short,
            succeeds(&["trace", "krieg-tictactoe", "--steps", "5", "--engine", engine])
        );
    }
}

#[test]
fn files_are_overwritten_only_by_force() {
    let folder = folder("force");
    let saved = file(&folder, "mine.json", b"mine");
    let efg = file(&folder, "mine.efg", b"mine");
    fails(&["solve", "matching-pennies", "--save", &saved], "--force");
    fails(&["solve", "matching-pennies", "--efg", &efg], "--force");
    assert_eq!(std::fs::read(&saved).unwrap(), b"mine");
    assert_eq!(std::fs::read(&efg).unwrap(), b"mine");
    succeeds(&["solve", "matching-pennies", "--save", &saved, "--efg", &efg, "--force"]);
    assert_ne!(std::fs::read(&saved).unwrap(), b"mine");
    let records = folder.join("records");
    let records = records.to_str().unwrap();
    let play = ["match", "kuhn-poker", "random", "--games", "2", "--record", records];
    succeeds(&play);
    // The same matches give the same bytes, so that nothing is lost.
    succeeds(&play);
    let other = [&play[..], &["--seed", "2"]].concat();
    fails(&other, "match-000000.json");
    succeeds(&[&other[..], &["--force"]].concat());
}

#[test]
fn a_training_is_resumed_as_it_began_and_by_one_at_a_time() {
    let folder = folder("train");
    let out = folder.to_str().unwrap();
    let train = ["train", "kuhn-poker", "--out", out, "--games", "256", "--trials", "1"];
    succeeds(&[&train[..], &["--seed", "7", "--width", "16"]].concat());
    fails(&[&train[..], &["--resume", "--seed", "8"]].concat(), "--seed 7, not 8");
    fails(
        &[&train[..], &["--resume", "--width", "32"]].concat(),
        "--width 16, not 32",
    );
    fails(
        &[&train[..], &["--resume", "--method", "paper"]].concat(),
        "--method regrets, not paper",
    );
    fails(
        &[&train[..], &["--resume", "--beginners", "0.5"]].concat(),
        "--beginners",
    );
    let lock = std::fs::File::open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    fails(&[&train[..], &["--resume"]].concat(), "in use");
    drop(lock);
    succeeds(&[&train[..], &["--resume", "--seed", "7"]].concat());
}
