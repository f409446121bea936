//! Ctrl-C and SIGTERM end any command within two seconds, and what was done is printed and kept.
#![cfg(unix)]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Started {
    child: Child,
    args: String,
}

fn start(args: &[&str]) -> Started {
    let child = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Started {
        child,
        args: args.join(" "),
    }
}

impl Started {
    /// Sends a signal after some time and waits for the end: exit status, output, and how long it took.
    fn stopped(mut self, after: Duration, signal: &str) -> (Option<i32>, String, Duration) {
        std::thread::sleep(after);
        assert!(
            self.child.try_wait().unwrap().is_none(),
            "{} ended by itself",
            self.args
        );
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        let begun = Instant::now();
        let output = self.child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), text, begun.elapsed())
    }
}

/// The limit of the promise, with some room for a machine on which other tests run.
const SOON: Duration = Duration::from_secs(4);

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("surmise-stop-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// Players that think for hours are stopped in the middle of a move.
#[test]
fn players_that_are_thinking_are_stopped() {
    for player in [
        "hp:1000,1000000",
        "hp:1000,1000000,sampler=hyperplay",
        "hp2:1000,1000,1000,1000",
        "either:1000,1000,1000,1000",
        "ismcts:1000000000",
        "cfr:1000,iterations=1000000000,depth=20,nodes=10000000",
        "cheat:1000000000",
    ] {
        let started = start(&["match", "krieg-tictactoe", player, "random", "--games", "5"]);
        let (code, said, took) = started.stopped(Duration::from_millis(1500), "-INT");
        assert!(took < SOON, "{player}: {took:?}");
        assert_eq!(code, Some(130), "{player}: {said}");
        assert!(said.contains("stopped after 0 of 5 matches"), "{player}: {said}");
    }
    for player in [
        "mc:1000000000",
        "uct:1000000000",
        "uct:1000000000,leaves=learned",
        "minimax:60,nodes=1000000000",
        "nested:6,1000000",
    ] {
        let started = start(&["match", "breakthrough", player, "random", "--games", "5"]);
        let (code, said, took) = started.stopped(Duration::from_millis(1500), "-INT");
        assert!(took < SOON && code == Some(130), "{player}: {took:?} {said}");
    }
}

#[test]
fn long_commands_are_stopped_and_keep_what_was_done() {
    let (lab, net) = (folder("lab"), folder("net"));
    let (lab, net) = (lab.to_str().unwrap(), net.to_str().unwrap());
    let cases: [(&[&str], &str); 8] = [
        (
            &["solve", "liars-dice", "--algorithm", "cfr", "--seconds", "1000"],
            "iterations in",
        ),
        (&["solve", "goofspiel:cards=8", "--limit", "1000000000"], "stopped"),
        (&["solve", "leduc-poker", "--rate", "cfr"], "information sets"),
        (&["train", "meier", "--out", net, "--minutes", "60"], "play with it"),
        (&["lab", "run", "2012-figure-7", "--out", lab], "same command goes on"),
        (&["bench", "tictactoe", "--seconds", "1000"], "playouts/s"),
        (
            &["check", "blind-breakthrough", "--simulate", "--games", "100000000"],
            "interrupted",
        ),
        (
            &["match", "breakthrough", "mc:2000", "random", "--games", "100000"],
            "of 100000 matches",
        ),
    ];
    for (args, expected) in cases {
        let (_, said, took) = start(args).stopped(Duration::from_millis(2500), "-TERM");
        assert!(took < SOON, "{args:?}: {took:?}");
        assert!(said.contains(expected), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{args:?}: {said}");
    }
    let _ = (std::fs::remove_dir_all(lab), std::fs::remove_dir_all(net));
}

#[test]
fn the_server_ends_at_once() {
    let data = folder("serve");
    let data = data.to_str().unwrap();
    for signal in ["-INT", "-TERM"] {
        let started = start(&["serve", "--port", "0", "--data", data]);
        let (code, said, took) = started.stopped(Duration::from_millis(800), signal);
        assert!(took < SOON && code == Some(0), "{took:?} {said}");
        assert!(said.contains("Surmise serves at http://127.0.0.1:"), "{said}");
    }
    let _ = std::fs::remove_dir_all(data);
}

/// Rules whose instances are far too many, and which are slow to evaluate: drawing them takes long.
fn slow_rules() -> String {
    let succ: String = (1..400).map(|i| format!("(succ {i} {}) ", i + 1)).collect();
    format!(
        "(role walker) {succ} (index 1) (<= (index ?y) (succ ?x ?y)) (init (at 1 1)) (init (step 1))
         (<= (legal walker (go ?x ?y)) (index ?x) (index ?y))
         (<= (next (at ?x ?y)) (does walker (go ?x ?y)))
         (<= (next (at ?x ?y)) (true (at ?x ?y)))
         (<= (linked ?a ?b ?c ?d) (true (at ?a ?b)) (true (at ?c ?d)) (succ ?a ?c))
         (<= (linked ?a ?b ?e ?f) (linked ?a ?b ?c ?d) (linked ?c ?d ?e ?f))
         (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
         (<= terminal (true (step 400))) (<= terminal (linked 1 1 400 400)) (goal walker 100)"
    )
}

#[test]
fn drawing_is_stopped() {
    let path = folder("slow.kif");
    std::fs::write(&path, slow_rules()).unwrap();
    for signal in ["-INT", "-TERM"] {
        let started = start(&["draw", path.to_str().unwrap()]);
        let (code, said, took) = started.stopped(Duration::from_millis(400), signal);
        assert!(took < SOON && code != Some(0), "{took:?} {code:?} {said}");
        assert!(
            said.contains("stopped") && !said.contains("<svg") && !said.contains("panicked"),
            "{said}"
        );
    }
    std::fs::remove_file(path).unwrap();
}
