//! Managers that are interrupted or killed: what they did is kept.

use crate::support::{Fake, folder, manage, only_record, pause, player, polite};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use surmise::referee::Record;

#[test]
#[cfg(unix)]
fn t28_ctrl_c_aborts_and_keeps_the_record() {
    let fake = Fake::answering(|message| {
        if message.starts_with("(PLAY") {
            pause(2_000);
        }
        polite(message, "noop")
    });
    let folder = folder("ctrl-c");
    let mut child = manage(&[
        "tictactoe",
        "--players",
        &fake.name(),
        "--record",
        folder.to_str().unwrap(),
    ])
    .spawn()
    .unwrap();
    let begun = Instant::now();
    while !fake.messages().iter().any(|m| m.starts_with("(PLAY")) {
        assert!(begun.elapsed() < Duration::from_secs(20));
        pause(20);
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert!(!child.wait().unwrap().success());
    assert!(
        fake.messages().last().unwrap().starts_with("(ABORT "),
        "{:?}",
        fake.messages()
    );
    let (text, _) = only_record(&folder);
    assert!(text.contains("\"isAborted\":true"), "{text}");
}

#[test]
#[cfg(unix)]
fn t29_a_killed_manager_leaves_a_record_that_replays() {
    let fake = Fake::answering(|message| {
        pause(30);
        polite(message, "(no such move)")
    });
    let folder = folder("killed");
    let name = fake.name();
    let mut child = manage(&[
        "blind-tictactoe",
        "--players",
        &name,
        "--record",
        folder.to_str().unwrap(),
    ])
    .spawn()
    .unwrap();
    let begun = Instant::now();
    while fake.messages().iter().filter(|m| m.starts_with("(PLAY")).count() < 7 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        pause(5);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (text, path) = only_record(&folder);
    let record = Record::from_json(&text.parse().unwrap()).unwrap();
    assert!(
        !record.complete && !record.aborted && record.rounds.len() >= 2,
        "{text}"
    );
    let wire = record.wire.as_ref().unwrap();
    assert_eq!(
        (wire.state_times.len(), wire.times_ms.len()),
        (record.states.len(), record.rounds.len())
    );
    let replayed = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .arg("replay")
        .arg(path)
        .output()
        .unwrap();
    assert!(replayed.status.success(), "{replayed:?}");
}

/// The manager dies in the middle of a match and is started again. The player still holds a match that nobody will
/// ever end, and drops it for the new one; the record of the first match is kept.
#[test]
#[cfg(unix)]
fn t28_a_killed_manager_is_started_again() {
    let player = player("random");
    let silent = Fake::answering(|message| match message.starts_with("(PLAY") {
        true => None,
        false => polite(message, "noop"),
    });
    let folder = folder("restart");
    let players = format!("{};{}", player.peer(), silent.name());
    let record = folder.to_str().unwrap().to_owned();
    let clocks = ["--start-clock", "3", "--play-clock", "1", "--record", &record];
    let mut child = manage(&[&["tictactoe", "--players", &players], &clocks[..]].concat())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !silent.messages().iter().any(|m| m.starts_with("(PLAY")) {
        assert!(begun.elapsed() < Duration::from_secs(20));
        pause(20);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(player.handle.matches(), 1, "nobody told the player");
    let again = format!("{};random", player.peer());
    let run = || {
        let output = manage(&[&["tictactoe", "--json", "--players", &again], &clocks[..]].concat())
            .output()
            .unwrap();
        let said: serde_json::Value = String::from_utf8(output.stdout).unwrap().parse().unwrap();
        (output.status.success(), said["players"][0]["errors"].clone())
    };
    let (played, errors) = run();
    assert!(played && errors == serde_json::json!({}), "{errors}");
    let files = std::fs::read_dir(&folder).unwrap().flatten().map(|f| f.path());
    let records: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == "json")).collect();
    assert!(records.len() >= 2, "{records:?}");
    let replayed = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .arg("replay")
        .args(&records)
        .output()
        .unwrap();
    assert!(replayed.status.success(), "{replayed:?}");
}
