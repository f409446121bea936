//! Games and recorded plays by others: `../shared/conformance`.

use super::{face, percept_texts};
use flate2::read::GzDecoder;
use game::{MoveId, RoleId, Simulator, State};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The entry of a game.
pub fn entry(folder: &Path, game: &str) -> Entry {
    let found = entries(folder).into_iter().find(|e| e.name == game);
    found.unwrap_or_else(|| panic!("{game} is not in the index"))
}

/// A game and, usually, recorded plays.
pub struct Entry {
    pub name: String,
    pub rules: PathBuf,
    pub trace: Option<PathBuf>,
}

impl Entry {
    pub fn read(&self) -> gdl::Reading {
        let bytes = fs::read(&self.rules).expect("the index names files that exist");
        gdl::read_bytes(&bytes, &gdl::Options::default())
    }

    /// The lines of the recorded plays.
    pub fn lines(&self) -> Vec<Value> {
        let Some(trace) = &self.trace else {
            return Vec::new();
        };
        let file = fs::File::open(trace).expect("the index names files that exist");
        BufReader::new(GzDecoder::new(file))
            .lines()
            .map(|line| serde_json::from_str(&line.expect("a line of text")).expect("JSON"))
            .collect()
    }
}

/// All entries of the index.
pub fn entries(folder: &Path) -> Vec<Entry> {
    let index = fs::read_to_string(folder.join("index.json")).expect("readable index");
    let index: Vec<Value> = serde_json::from_str(&index).expect("JSON");
    let entry = |e: &Value| Entry {
        name: e["game"].as_str().expect("a name").to_owned(),
        rules: folder.join(e["rules"].as_str().expect("a file of rules")),
        trace: e["trace"].as_str().map(|t| folder.join(t)),
    };
    assert!(!index.is_empty(), "the index of {} is empty", folder.display());
    index.iter().map(entry).collect()
}

/// A comparison that is left out, and why.
pub struct Skip {
    pub game: &'static str,
    /// `state`, `legal`, `terminal`, `goal` or `sees`.
    pub what: &'static str,
    pub reason: &'static str,
}

/// Where a trace and the language disagree, the language wins.
pub const SKIPS: &[Skip] = &[Skip {
    game: "mastermind448",
    what: "goal",
    reason: "the rules use `and` inside `or`, an extension of the language that the reasoner behind the trace takes \
             for an undefined relation: no goal where three of four colours match",
}];

/// Plays the moves of a trace up to a number of lines, and returns the number of lines compared or the first
/// difference.
pub fn follow(
    sim: &mut dyn Simulator,
    lines: &[Value],
    max_lines: usize,
    skips: &[Skip],
    game: &str,
) -> Result<usize, String> {
    let skipped: Vec<&str> = skips.iter().filter(|s| s.game == game).map(|s| s.what).collect();
    let mut state = State::default();
    let lines = &lines[..lines.len().min(max_lines)];
    for line in lines {
        if line["step"] == 0 {
            state = sim.initial().map_err(|e| e.to_string())?;
        }
        state = follow_line(sim, state, line, &skipped)
            .map_err(|e| format!("playout {} step {}: {e}", line["playout"], line["step"]))?;
    }
    Ok(lines.len())
}

/// Compares one line; returns the state after its move.
fn follow_line(sim: &mut dyn Simulator, state: State, line: &Value, skipped: &[&str]) -> Result<State, String> {
    compare_face(sim, &state, line, skipped)?;
    if line.get("move").is_none() {
        return Ok(state);
    }
    let joint = joint_of(sim, line)?;
    compare_sees(sim, &state, &joint, line)?;
    sim.next(&state, &joint).map_err(|e| e.to_string())
}

fn compare_face(sim: &mut dyn Simulator, state: &State, line: &Value, skipped: &[&str]) -> Result<(), String> {
    let face = face(sim, state).map_err(|e| e.to_string())?;
    let roles = sim.roles().to_vec();
    let named: Vec<String> = line["legal"].as_object().expect("legal").keys().cloned().collect();
    differ("roles", &roles, &named)?;
    differ("state", &face.fluents, &sorted(&line["state"]))?;
    differ("terminal", &Value::from(face.terminal), &line["terminal"])?;
    for (n, role) in roles.iter().enumerate() {
        differ("legal", &face.legal[n], &sorted(&line["legal"][role]))?;
        let goal = face.goals[n].exact().map_or(Value::Null, Value::from);
        if !skipped.contains(&"goal") {
            differ("goal", &goal, &line["goal"][role])?;
        }
    }
    Ok(())
}

fn compare_sees(sim: &mut dyn Simulator, state: &State, joint: &[MoveId], line: &Value) -> Result<(), String> {
    let Some(sees) = line.get("sees") else {
        return Ok(());
    };
    for (n, role) in sim.roles().to_vec().iter().enumerate() {
        let ours = percept_texts(sim, state, joint, n).map_err(|e| e.to_string())?;
        differ("sees", &ours, &sorted(&sees[role]))?;
    }
    Ok(())
}

fn joint_of(sim: &mut dyn Simulator, line: &Value) -> Result<Vec<MoveId>, String> {
    let mut joint = Vec::new();
    for (n, role) in sim.roles().to_vec().iter().enumerate() {
        let text = line["move"][role].as_str().ok_or("a role without a move")?;
        let mv = sim.find_move(RoleId(n as u16), text);
        joint.push(mv.ok_or_else(|| format!("{role} has no move {text}"))?);
    }
    Ok(joint)
}

fn sorted(list: &Value) -> Vec<String> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    let mut texts: Vec<String> = list.iter().map(|t| t.as_str().expect("text").to_owned()).collect();
    texts.sort();
    texts
}

fn differ<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs {
        Ok(())
    } else {
        Err(format!("{what}: ours {ours:?}, theirs {theirs:?}"))
    }
}
