//! Records of matches that other programs wrote: Dresden's XML and ggp-base's JSON. They name no rules, so the rules
//! are given; every difference from the rules is reported.

use crate::{Error, Game};
use game::{RoleId, Simulator};
use ggp::kif;
use ggp::xmlmatch::{self, ForeignMatch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// The format of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// Ours.
    Surmise,
    /// A step or final state of Dresden's GameController.
    DresdenXml,
    /// A match of ggp-base.
    GgpBaseJson,
}

impl fmt::Display for RecordFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RecordFormat::Surmise => "Surmise's JSON",
            RecordFormat::DresdenXml => "Dresden's XML",
            RecordFormat::GgpBaseJson => "ggp-base's JSON",
        })
    }
}

impl RecordFormat {
    /// The format of a text.
    pub fn of(text: &str) -> RecordFormat {
        if text.trim_start().starts_with('<') {
            return RecordFormat::DresdenXml;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) if value["gameText"].is_null() && value["moves"].is_array() && value["states"].is_array() => {
                RecordFormat::GgpBaseJson
            }
            _ => RecordFormat::Surmise,
        }
    }
}

/// Reads a record of another program.
///
/// # Errors
/// If the text is not what it looks like.
pub fn read(text: &str, format: RecordFormat) -> Result<ForeignMatch, Error> {
    let wrong = |what: String| Error::OtherMatch(what);
    match format {
        RecordFormat::DresdenXml => xmlmatch::read(text).map_err(|error| wrong(error.to_string())),
        RecordFormat::GgpBaseJson | RecordFormat::Surmise => {
            let value = serde_json::from_str(text).map_err(|error| wrong(format!("is not JSON: {error}")))?;
            from_ggp_base(&value).map_err(|field| wrong(format!("`{field}` cannot be read")))
        }
    }
}

/// A match of ggp-base; the name of a field that cannot be read.
fn from_ggp_base(value: &Value) -> Result<ForeignMatch, String> {
    let term = |v: &Value| v.as_str().and_then(kif::canonical);
    let list = |key: &str| value[key].as_array().ok_or_else(|| key.to_owned());
    let mut found = ForeignMatch {
        id: value["matchId"].as_str().unwrap_or_default().to_owned(),
        ..ForeignMatch::default()
    };
    for (at, state) in list("states")?.iter().enumerate() {
        let items = state.as_str().and_then(kif::items);
        let facts: Option<Vec<String>> = items.and_then(|items| items.into_iter().map(fluent).collect());
        found.states.push((at, facts.ok_or_else(|| format!("states[{at}]"))?));
    }
    for (at, joint) in list("moves")?.iter().enumerate() {
        let moves: Option<Vec<String>> = joint.as_array().and_then(|moves| moves.iter().map(term).collect());
        found.moves.push(moves.ok_or_else(|| format!("moves[{at}]"))?);
    }
    if let Some(goals) = value["goalValues"].as_array() {
        let goals: Option<Vec<i64>> = goals.iter().map(Value::as_i64).collect();
        found.goals = Some(goals.ok_or("goalValues")?);
    }
    Ok(found)
}

/// A fluent of a state; some writers keep the word `true` around it.
fn fluent(text: &str) -> Option<String> {
    let canonical = kif::canonical(text)?;
    let inner = canonical.strip_prefix("(true ").and_then(|t| t.strip_suffix(')'));
    Some(inner.map_or_else(|| canonical.clone(), str::to_owned))
}

impl Game {
    /// Plays the moves of a match of another program again, and returns what differs.
    ///
    /// # Errors
    /// If the rules cannot be run.
    pub fn differences(&self, foreign: &ForeignMatch) -> Result<Vec<String>, Error> {
        let mut out = Vec::new();
        let mut sim = self.simulator();
        if !foreign.roles.is_empty() && foreign.roles != self.roles() {
            out.push(differ("the roles", &self.roles().join(", "), &foreign.roles.join(", ")));
            return Ok(out);
        }
        let mut state = sim.initial()?;
        let mut states = foreign.states.iter().peekable();
        for round in 0..=foreign.moves.len() {
            while let Some((_, facts)) = states.next_if(|(at, _)| *at == round) {
                compare_state(sim.as_ref(), &state, round, facts, &mut out);
            }
            let Some(texts) = foreign.moves.get(round) else { break };
            if sim.terminal(&state)? {
                out.push(format!("round {}: the game is over before it", round + 1));
                return Ok(out);
            }
            let mut joint = Vec::new();
            for (role, name) in self.roles().iter().enumerate() {
                let role = RoleId(role as u16);
                let text = texts.get(usize::from(role.0)).map_or("", String::as_str);
                let mut legal = Vec::new();
                sim.legal(&state, role, &mut legal)?;
                match legal.into_iter().find(|&m| sim.move_text(role, m) == text) {
                    Some(mv) => joint.push(mv),
                    None => out.push(format!("round {}: `{text}` is not a legal move of {name}", round + 1)),
                }
            }
            if joint.len() < self.roles().len() {
                return Ok(out);
            }
            state = sim.next(&state, &joint)?;
        }
        if let Some(goals) = &foreign.goals {
            if !sim.terminal(&state)? {
                out.push("the record has goals, and by the rules the game is not over".to_owned());
            }
            self.compare_goals(sim.as_mut(), &state, goals, &mut out)?;
        }
        Ok(out)
    }

    fn compare_goals(
        &self,
        sim: &mut dyn Simulator,
        state: &game::State,
        goals: &[i64],
        out: &mut Vec<String>,
    ) -> Result<(), Error> {
        for (role, name) in self.roles().iter().enumerate() {
            let ours = sim.goal(state, RoleId(role as u16))?;
            let theirs = goals.get(role).copied();
            match ours.exact() {
                Some(ours) if theirs == Some(i64::from(ours)) => {}
                Some(ours) => {
                    let theirs = theirs.map_or_else(|| "nothing".to_owned(), |t| t.to_string());
                    out.push(differ(&format!("the goal of {name}"), &ours.to_string(), &theirs));
                }
                // Dresden's program writes 0 where nature has no goal, and 100 where there are two.
                None => {}
            }
        }
        Ok(())
    }
}

fn compare_state(sim: &dyn Simulator, state: &game::State, round: usize, facts: &[String], out: &mut Vec<String>) {
    let (ours, theirs): (BTreeSet<String>, BTreeSet<String>) = (
        sim.fluents(state).into_iter().collect(),
        facts.iter().cloned().collect(),
    );
    if ours == theirs {
        return;
    }
    let list = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>().join(" ");
    let what = match round {
        0 => "the initial state".to_owned(),
        round => format!("the state after round {round}"),
    };
    out.push(format!(
        "{what}: only by the rules [{}], only in the record [{}]",
        list(&ours, &theirs),
        list(&theirs, &ours)
    ));
}

fn differ(what: &str, rules: &str, record: &str) -> String {
    format!("{what}: the rules give {rules}, the record says {record}")
}
