//! `lab submit` and `train --slurm` against a real Slurm with two virtual nodes on loopback, started and stopped by
//! `scripts/loopback-slurm.sh`: the same bytes as a local run, with one task put back into the queue while it ran and
//! another cancelled and submitted again.
//!
//! Off unless `SURMISE_SLURM=1` (`make slurm-test`), since it needs root and Slurm's packages, and takes minutes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_surmise");

const SPEC: &str = r#"
name = "marks"
title = "Marks"
[[sweep]]
game = "krieg-tictactoe:size=4,line=4"
players = ["{player}", "hp:16,16"]
swap = true
games = 300
over = { player = ["hp:16,16", "hp:64,64"] }
"#;

/// A Slurm that is stopped when the test ends, however it ends.
struct Slurm {
    folder: PathBuf,
    conf: String,
    _turn: MutexGuard<'static, ()>,
}

/// Held by the test that has a Slurm.
static TURN: Mutex<()> = Mutex::new(());

impl Slurm {
    /// A Slurm, if one was asked for. One test has one at a time.
    fn asked_for(name: &str) -> Option<Slurm> {
        if std::env::var_os("SURMISE_SLURM").is_none() {
            surmise_testing::skip("slurm", "asked for by SURMISE_SLURM=1 (`make slurm-test`) only");
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        match Slurm::start(name, turn) {
            Ok(slurm) => Some(slurm),
            Err(why) => panic!("a Slurm was asked for, and does not start: {why}"),
        }
    }

    fn start(name: &str, turn: MutexGuard<'static, ()>) -> Result<Slurm, String> {
        let folder = std::env::temp_dir().join(format!("surmise-slurm-{}-{name}", std::process::id()));
        let output = script()
            .arg("start")
            .arg(&folder)
            .arg("2")
            .output()
            .map_err(|e| e.to_string())?;
        let conf = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match output.status.code() {
            Some(0) => Ok(Slurm {
                folder,
                conf,
                _turn: turn,
            }),
            Some(77) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            _ => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        }
    }

    #[track_caller]
    fn call(&self, program: &str, args: &[&str]) -> String {
        let output = Command::new(program)
            .args(args)
            .env("SLURM_CONF", &self.conf)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn lab(&self, args: &[&str]) -> String {
        let args: Vec<&str> = std::iter::once("lab").chain(args.iter().copied()).collect();
        self.call(PROGRAM, &args)
    }

    /// Task numbers and states.
    fn tasks(&self) -> Vec<(String, String)> {
        let listed = self.call("squeue", &["--noheader", "--array", "--format=%A_%K %K %T"]);
        let of = |line: &str| {
            let mut words = line.split_whitespace();
            words.next();
            Some((words.next()?.to_owned(), words.next()?.to_owned()))
        };
        listed.lines().filter_map(of).collect()
    }

    fn wait(&self, what: &str, enough: impl Fn(&[(String, String)]) -> bool) {
        let started = Instant::now();
        while !enough(&self.tasks()) {
            assert!(
                started.elapsed() < Duration::from_secs(900),
                "waiting until {what}: {:?}",
                self.tasks()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = script().arg("stop").arg(&self.folder).status();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn script() -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/loopback-slurm.sh");
    let mut command = Command::new("bash");
    command.arg(path);
    command
}

/// Workers of a training as tasks: the bytes of a local training.
#[test]
fn workers_of_a_training_come_to_the_bytes_of_a_local_one() {
    let Some(slurm) = Slurm::asked_for("train") else {
        return;
    };
    let at = |name: &str| slurm.folder.join(name).display().to_string();
    let (alone, shared) = (at("alone"), at("together"));
    let common = ["--games", "3000", "--threads", "1", "--width", "16", "--trials", "2"];
    let train = |out: &str, more: &[&str]| {
        let mut args = vec!["train", "liars-dice", "--out", out];
        args.extend(common.iter().chain(more));
        slurm.call(PROGRAM, &args)
    };
    train(&alone, &[]);
    train(&shared, &["--slurm", "2", "--partition", "virtual"]);
    slurm.wait("the workers have ended", <[_]>::is_empty);
    for name in ["checkpoint.safetensors", "network.safetensors", "table.safetensors"] {
        let bytes = |folder: &str| std::fs::read(Path::new(folder).join(name)).expect("a file");
        assert!(bytes(&alone) == bytes(&shared), "{name} differs");
    }
    let logs: String = (0..2)
        .map(|task| std::fs::read_to_string(Path::new(&shared).join(format!("slurm/worker-{task}.log"))))
        .map(Result::unwrap_or_default)
        .collect();
    eprintln!("workers of the training: {logs}");
}

fn lines(path: &Path) -> usize {
    std::fs::read(path).map_or(0, |bytes| bytes.iter().filter(|&&b| b == b'\n').count())
}

#[test]
fn a_job_array_comes_to_the_bytes_of_a_local_run() {
    let Some(slurm) = Slurm::asked_for("lab") else {
        return;
    };
    let at = |name: &str| slurm.folder.join(name).display().to_string();
    let (spec, local, shared) = (at("spec.toml"), at("local"), at("shared"));
    std::fs::write(&spec, SPEC).expect("a file");
    slurm.lab(&["run", &spec, "--out", &local, "--threads", "1"]);

    let submit = [
        "submit",
        &spec,
        "--out",
        &shared,
        "--slurm",
        "--array",
        "4",
        "--nodes",
        "2",
        "--partition",
        "virtual",
    ];
    let said = slurm.lab(&submit);
    assert!(said.contains("4 tasks for 600 games"), "{said}");
    let job = said
        .trim_start_matches("job ")
        .split(':')
        .next()
        .expect("a number")
        .to_owned();
    let running =
        |task: &'static str| move |tasks: &[(String, String)]| tasks.iter().any(|(t, s)| t == task && s == "RUNNING");
    let journal = |task: u32| Path::new(&shared).join(format!("journal/task-{task}.jsonl"));
    slurm.wait("task 0 runs", running("0"));
    while lines(&journal(0)) < 5 || lines(&journal(1)) < 5 {
        std::thread::sleep(Duration::from_millis(20));
    }
    // One is put back into the queue while it runs, as preemption would; another is cancelled.
    slurm.call("scontrol", &["requeue", &format!("{job}_0")]);
    slurm.call("scancel", &[&format!("{job}_1")]);
    let begun = (lines(&journal(0)), lines(&journal(1)));
    assert!(begun.0 < 150 && begun.1 < 150, "both were interrupted: {begun:?}");
    slurm.wait("task 1 is gone", |tasks| tasks.iter().all(|(t, _)| t != "1"));
    let status = slurm.lab(&["status", &shared]);
    assert!(status.contains("not finished and not queued: task 1"), "{status}");
    let again = slurm.lab(&submit);
    assert!(again.contains("1 tasks for"), "{again}");
    slurm.wait("everything is done", <[_]>::is_empty);
    let said = slurm.lab(&["collect", &shared]);
    assert!(said.contains("600 of 600 games"), "{said}");
    let results = |folder: &str| std::fs::read(Path::new(folder).join("results.jsonl")).expect("results");
    assert!(results(&local) == results(&shared), "the results differ");
    let journals: usize = (0..4).map(|task| lines(&journal(task))).sum();
    assert_eq!(journals, 600, "nothing was played twice");
    // The task that was requeued says what it played before it ended, and then where it went on.
    let log = std::fs::read_to_string(Path::new(&shared).join("slurm/task-0.log")).unwrap_or_default();
    let last = log
        .lines()
        .rfind(|line| line.contains("there before"))
        .unwrap_or_default();
    assert!(
        !last.is_empty() && !last.contains(" 0 there before"),
        "task 0 went on where it was: {log}"
    );
    eprintln!(
        "two nodes, four tasks, one requeued and one cancelled: the same {} bytes",
        results(&local).len()
    );
}
