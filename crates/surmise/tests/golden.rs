//! One readable playthrough of every catalogue game: states, legal moves, moves, and what each role perceives.
//!
//! The files are in `testdata/playthroughs/`. `make golden` writes them anew; look at the difference before you commit
//! it.

use game::{MoveId, RoleId, Seed, Simulator};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use surmise::{EngineKind, EngineOptions, Game, GameText};

/// Rounds that a playthrough shows.
const ROUNDS: usize = 40;

/// Legal moves that are listed; the number is always there.
const LISTED: usize = 12;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/playthroughs")
}

/// A random game, as everybody saw it.
fn playthrough(game: &Game, sim: &mut dyn Simulator) -> String {
    let mut out = format!("{}: a random game\n", game.name());
    let mut rng = Seed(1).child("playthrough").child(game.name()).rng();
    let mut state = sim.initial().unwrap();
    for round in 1..=ROUNDS {
        let _ = writeln!(out, "\nstate: {}", sim.fluents(&state).join(" "));
        if sim.terminal(&state).unwrap() {
            break;
        }
        let _ = writeln!(out, "round {round}");
        let mut joint: Vec<MoveId> = Vec::new();
        let mut legal = Vec::new();
        for (number, role) in game.roles().iter().enumerate() {
            let id = RoleId(number as u16);
            sim.legal(&state, id, &mut legal).unwrap();
            joint.push(*rng.pick(&legal));
            let listed: Vec<&str> = legal.iter().take(LISTED).map(|&m| sim.move_text(id, m)).collect();
            let more = if legal.len() > LISTED { " …" } else { "" };
            let _ = writeln!(out, "  {role}: {} legal: {}{more}", legal.len(), listed.join(" "));
        }
        for (number, role) in game.roles().iter().enumerate() {
            let id = RoleId(number as u16);
            let mut percepts = Vec::new();
            sim.percepts(&state, &joint, id, &mut percepts).unwrap();
            let seen: Vec<&str> = percepts.iter().map(|&p| sim.percept_text(id, p)).collect();
            let mv = sim.move_text(id, joint[number]);
            let _ = writeln!(out, "  {role} plays {mv}, sees [{}]", seen.join(" "));
        }
        state = sim.next(&state, &joint).unwrap();
    }
    if sim.terminal(&state).unwrap() {
        for (number, role) in game.roles().iter().enumerate() {
            let goal = sim.goal(&state, RoleId(number as u16)).unwrap().exact();
            let _ = writeln!(
                out,
                "goal of {role}: {}",
                goal.map_or("none".to_owned(), |g| g.to_string())
            );
        }
    }
    out
}

#[test]
fn playthroughs_are_as_recorded() {
    let write = std::env::var_os("SURMISE_GOLDEN").is_some();
    if write {
        std::fs::create_dir_all(folder()).unwrap();
    }
    let mut wrong = Vec::new();
    for entry in catalogue::games() {
        let game = Game::open(entry.name).unwrap();
        let text = playthrough(&game, game.simulator().as_mut());
        let path = folder().join(format!("{}.txt", entry.name));
        if write {
            std::fs::write(&path, &text).unwrap();
        }
        match std::fs::read_to_string(&path) {
            Ok(recorded) if recorded == text => {}
            Ok(recorded) => {
                let line = recorded.lines().zip(text.lines()).position(|(a, b)| a != b);
                wrong.push(format!(
                    "{} differs in line {}",
                    path.display(),
                    line.map_or(0, |n| n + 1)
                ));
            }
            Err(error) => wrong.push(format!("{}: {error}", path.display())),
        }
        let options = EngineOptions {
            kind: EngineKind::Reference,
            ..EngineOptions::default()
        };
        let slow = Game::new(&GameText::find(entry.name).unwrap(), &options).unwrap();
        assert_eq!(
            playthrough(&slow, slow.simulator().as_mut()),
            text,
            "{}: the reference differs",
            entry.name
        );
    }
    assert!(wrong.is_empty(), "{}\n`make golden` writes them anew", wrong.join("\n"));
}

#[test]
fn no_playthrough_is_left_over() {
    let files = std::fs::read_dir(folder()).expect("testdata/playthroughs is part of the tree");
    let mut names: Vec<String> = files.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut games: Vec<String> = catalogue::games().iter().map(|g| format!("{}.txt", g.name)).collect();
    games.sort();
    assert_eq!(names, games);
}
