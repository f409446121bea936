//! Writes that fail, processes that are killed, and memory that runs out: nothing half-written is left or accepted, and
//! nothing that was there before is lost.
//!
//! A full disk is a limit of the size of files: with the signal ignored, a write beyond it fails as on a full disk.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("failures-{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A command that runs in this folder, after these commands of the shell.
fn after(setup: &str, folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("{setup}; exec \"$@\""),
        "sh",
        env!("CARGO_BIN_EXE_surmise"),
    ]);
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command
}

fn surmise(folder: &Path, args: &[&str]) -> Output {
    after("true", folder, args).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// All files of a folder and its folders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// The commands that write files, each with the folder or file that it writes.
const WRITERS: &[(&[&str], &str)] = &[
    (
        &["match", "kuhn-poker", "random", "--games", "2", "--record", "out"],
        "record",
    ),
    (&["solve", "kuhn-poker", "--save", "out"], "strategy"),
    (&["solve", "kuhn-poker", "--efg", "out"], "tree"),
    (&["train", "monty-hall", "--games", "64", "--out", "out"], "training"),
    (&["lab", "run", "spec.toml", "--out", "out"], "experiment"),
];

const SPEC: &str = "name = \"small\"\ntitle = \"Small\"\n[[sweep]]\ngame = \"monty-hall\"\nplayers = [\"random\"]\n\
                    games = 300\n";

#[test]
fn on_a_full_disk_nothing_half_written_stays() {
    // 512 bytes or a kibibyte, as the shell counts: less than any of the files.
    let full = "trap '' XFSZ; ulimit -f 1";
    for (args, what) in WRITERS {
        let folder = folder(&format!("full-{what}"));
        std::fs::write(folder.join("spec.toml"), SPEC).unwrap();
        let output = after(full, &folder, args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{what}: {}", text(&output));
        assert!(text(&output).contains("cannot write"), "{what}: {}", text(&output));
        let left: Vec<PathBuf> = files(&folder)
            .into_iter()
            .filter(|path| {
                !["spec.toml", "lab.json", "lock"]
                    .iter()
                    .any(|whole| path.ends_with(whole))
            })
            .filter(|path| std::fs::metadata(path).unwrap().len() > 0)
            .collect();
        // The description of an experiment fits. A journal keeps the whole lines that fitted.
        let journal = |path: &PathBuf| path.extension().is_some_and(|e| e == "jsonl");
        assert!(left.iter().all(journal), "{what}: {left:?}");
        for path in left {
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes.ends_with(b"\n"), "{what}: {}", path.display());
        }
        // With room, the same command succeeds.
        let again = surmise(&folder, args);
        assert!(again.status.success(), "{what}: {}", text(&again));
    }
}

#[test]
fn a_failed_write_keeps_what_was_there() {
    let folder = folder("kept");
    let saved = folder.join("out");
    assert!(
        surmise(&folder, &["solve", "kuhn-poker", "--save", "out"])
            .status
            .success()
    );
    let before = std::fs::read(&saved).unwrap();
    let args = ["solve", "matching-pennies", "--save", "out", "--force"];
    let output = after("trap '' XFSZ; ulimit -f 0", &folder, &args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(std::fs::read(&saved).unwrap(), before);
    assert_eq!(files(&folder), [saved]);
}

#[test]
fn results_that_cannot_be_printed_are_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = after("true", Path::new("."), &["games"]);
    let status = command.stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn notes_and_errors_that_nobody_can_read_change_nothing() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = folder("unread");
    for (args, code) in [
        (&["bench", "no-such-game"][..], 1),
        (&["solve", "kuhn-poker", "--save", "out"], 0),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = after("true", &folder, args).stdout(Stdio::null()).stderr(full).status();
        assert_eq!(status.unwrap().code(), Some(code), "{args:?}");
    }
}

/// Runs a command and kills it after a time.
fn killed(folder: &Path, args: &[&str], after_ms: u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(after_ms));
    let _ = child.kill();
    child.wait().unwrap();
}

/// Moments at which processes are killed: spread over the first second, most of them early.
fn moments(n: u64) -> impl Iterator<Item = u64> {
    (0..n).map(move |k| 20 + k * k * 900 / (n * n) + k * 37 % 23)
}

#[test]
fn killed_matches_leave_whole_records() {
    let folder = folder("killed-records");
    let mut whole = 0;
    for (number, moment) in moments(12).enumerate() {
        let out = format!("out{number}");
        let args = [
            "match",
            "kuhn-poker",
            "random",
            "--games",
            "20000",
            "--record",
            &out,
            "--threads",
            "2",
        ];
        killed(&folder, &args, moment);
        let Ok(listed) = std::fs::read_dir(folder.join(&out)) else {
            continue;
        };
        let records: Vec<String> = listed
            .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
            .filter(|path| path.ends_with(".json") && !path.contains("/."))
            .collect();
        for some in records.chunks(500) {
            let mut args = vec!["replay"];
            args.extend(some.iter().map(String::as_str));
            let output = surmise(&folder, &args);
            assert!(output.status.success(), "{}", text(&output));
        }
        whole += records.len();
    }
    assert!(whole > 0, "no process lived long enough to write a record");
}

#[test]
fn a_killed_solver_leaves_the_old_strategy_or_the_new() {
    let folder = folder("killed-strategy");
    let saved = folder.join("out");
    let solve = |game: &'static str| ["solve", game, "--save", "out", "--force"];
    assert!(surmise(&folder, &solve("matching-pennies")).status.success());
    for (number, moment) in moments(10).enumerate() {
        killed(
            &folder,
            &solve(["kuhn-poker", "matching-pennies"][number % 2]),
            moment / 4,
        );
        let text = std::fs::read_to_string(&saved).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).expect("a whole file");
        let game = value["game"].as_str().unwrap().to_owned();
        let player = ["strategy:out", "strategy:out"];
        let output = surmise(&folder, &["match", &game, player[0], player[1], "--games", "2"]);
        assert!(
            output.status.success(),
            "{game}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn a_killed_training_goes_on() {
    let folder = folder("killed-training");
    let train = |resume: bool| {
        let mut args = vec!["train", "monty-hall", "--minutes", "5", "--out", "out"];
        args.extend(resume.then_some("--resume"));
        args
    };
    let checkpoint = folder.join("out/checkpoint.safetensors");
    for moment in moments(6) {
        killed(&folder, &train(checkpoint.exists()), 200 + moment);
        if checkpoint.exists() {
            let output = surmise(&folder, &["match", "monty-hall", "cfr:net=out", "--games", "1"]);
            // The checkpoint is written first; the files for play may not be there yet.
            let playable = folder.join("out/network.safetensors").exists();
            assert!(output.status.success() || !playable, "{}", text(&output));
        }
    }
    let mut last = vec!["train", "monty-hall", "--minutes", "0.01", "--out", "out"];
    last.extend(checkpoint.exists().then_some("--resume"));
    let output = surmise(&folder, &last);
    assert!(output.status.success(), "{}", text(&output));
    assert!(checkpoint.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn memory_has_a_limit_that_can_be_set() {
    let folder = folder("memory");
    let solve = ["--memory", "64", "solve", "phantom-tictactoe"];
    let output = surmise(&folder, &solve);
    let said = text(&output);
    let stopped = output.status.code() == Some(130) && said.contains("more than 64 MiB");
    assert!(stopped, "{:?}: {said}", output.status);
    let by_variable = after("export SURMISE_MEMORY=64", &folder, &solve[2..])
        .output()
        .unwrap();
    assert_eq!(by_variable.status.code(), Some(130), "{}", text(&by_variable));
    let wrong = surmise(&folder, &["--memory", "1", "games"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong));
    let enough = surmise(&folder, &["--memory", "2000", "solve", "kuhn-poker"]);
    assert!(enough.status.success(), "{}", text(&enough));
}
