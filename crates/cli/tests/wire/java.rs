//! Both sides against `scripts/interop/Peer.java`, which behaves as ggp-base and Dresden's GameController are known
//! to, in Java and from scratch. It is not their code: the programs themselves could not be had where this was
//! written.

use crate::player::MONTY;
use crate::support::player_with;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The peer, or nothing where there is no JDK to run it.
fn peer(args: &[&str]) -> Option<Command> {
    let jdk = Command::new("javac")
        .arg("-version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !jdk.is_ok_and(|status| status.success()) {
        surmise_testing::skip("java peers", "there is no JDK (javac) on this machine");
        return None;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/interop/Peer.java");
    let mut command = Command::new("java");
    command
        .arg("-XX:TieredStopAtLevel=1")
        .arg(source)
        .args(args)
        .stdout(Stdio::piped());
    Some(command)
}

/// A folder with the rules of the two games that the peer knows.
fn rules(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("surmise-java-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("monty.kif"), MONTY.to_lowercase()).unwrap();
    std::fs::write(
        folder.join("tictactoe.kif"),
        surmise::catalogue::rules("tictactoe").unwrap(),
    )
    .unwrap();
    folder
}

/// Managers as ggp-base (30) and both generations of Dresden's (31) have them; GDL-I and GDL-II games, all dialects.
#[test]
fn t30_t31_java_managers_meet_our_player() {
    let player = player_with("hp:16,16", |_| {});
    let folder = rules("managers");
    let Some(mut java) = peer(&["manage", &player.address.to_string(), folder.to_str().unwrap()]) else {
        return;
    };
    let output = java.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.ends_with("0 errors\n"), "{said}");
    let matches: Vec<&str> = said.lines().filter(|line| line.contains(" rounds, goal ")).collect();
    assert_eq!(matches.len(), 18, "{said}");
    // ggp-base tells every move, so that the car is no secret.
    let told = matches.iter().filter(|line| line.starts_with("BASE monty"));
    assert!(
        told.clone().count() == 3 && told.clone().all(|line| line.contains("goal 100")),
        "{said}"
    );
    assert_eq!(player.handle.matches(), 0);
}

/// Ends the process when the test does, however it does.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Players as ggp-base has them (30), Dresden's and Lisp players (31).
#[test]
fn t30_t31_java_players_meet_our_manager() {
    let Some(mut java) = peer(&["play"]) else {
        return;
    };
    let mut java = Ended(java.spawn().unwrap());
    let lines = BufReader::new(java.0.stdout.take().unwrap())
        .lines()
        .take(3)
        .map(Result::unwrap);
    let ports: Vec<(String, String)> = lines
        .map(|line| {
            line.split_once(' ')
                .map(|(kind, port)| (kind.to_owned(), format!("127.0.0.1:{port}")))
                .unwrap()
        })
        .collect();
    let at = |kind: &str| ports.iter().find(|(k, _)| k == kind).unwrap().1.clone();
    let folder = rules("players");
    let monty = folder.join("monty.kif").display().to_string();
    let manage = |game: &str, players: &str, protocol: &str| -> serde_json::Value {
        let records = folder
            .join("records")
            .join(format!("{}{}", protocol, players.len()))
            .display()
            .to_string();
        let output = Command::new(env!("CARGO_BIN_EXE_surmise"))
            .args([
                "manage",
                game,
                "--players",
                players,
                "--protocol",
                protocol,
                "--games",
                "3",
                "--json",
            ])
            .args([
                "--start-clock",
                "2",
                "--play-clock",
                "1",
                "--log",
                "off",
                "--record",
                &records,
            ])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let files = std::fs::read_dir(&records).unwrap().flatten().map(|f| f.path());
        let replayed = Command::new(env!("CARGO_BIN_EXE_surmise"))
            .arg("replay")
            .args(files)
            .output()
            .unwrap();
        assert!(replayed.status.success(), "{replayed:?}");
        String::from_utf8(output.stdout).unwrap().parse().unwrap()
    };
    let both = |a: &str, b: &str| format!("{};{}", at(a), at(b));
    for (game, players, protocol) in [
        ("tictactoe", both("base", "lisp"), "gdl1"),
        ("tictactoe", both("dresden", "base"), "gdl1"),
        ("tictactoe", both("dresden", "lisp"), "gdl2b"),
        (&monty, at("dresden"), "gdl2b"),
        (&monty, at("lisp"), "gdl2a"),
    ] {
        let said = manage(game, &players, protocol);
        assert_eq!(said["complete"], 3, "{game} {protocol}: {said}");
        for player in said["players"].as_array().unwrap() {
            assert_eq!(player["errors"], serde_json::json!({}), "{game} {protocol}: {said}");
        }
    }
    // ggp-base's player knows nothing of turns: it breaks down without a word, and the match goes on without it.
    let refused = Command::new(env!("CARGO_BIN_EXE_surmise"))
        .args([
            "manage",
            "matching-pennies",
            "--players",
            &format!("{};random", at("base")),
            "--protocol",
            "gdl2b",
            "--json",
        ])
        .args([
            "--start-clock",
            "1",
            "--play-clock",
            "1",
            "--grace",
            "0.2",
            "--log",
            "off",
        ])
        .output()
        .unwrap();
    let said: serde_json::Value = String::from_utf8(refused.stdout).unwrap().parse().unwrap();
    assert!(
        said["complete"] == 1 && said["players"][0]["errors"]["TO"].as_u64() > Some(0),
        "{said}"
    );
}
