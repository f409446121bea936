//! Helpers of the tests: reading rules, and following recorded games.

#![allow(dead_code, reason = "each test uses its part")]

pub mod conformance;
pub mod walk;

use game::{Fault, Goal, MoveId, RoleId, Simulator};
use gdl::Rules;

/// Reads rules that are expected to be good.
pub fn rules(text: &str) -> Rules {
    let reading = gdl::read(text, &gdl::Options::default());
    assert!(reading.is_playable(), "{}", reading.render("test"));
    reading.rules
}

/// Canonical texts of the legal moves of a role in the initial state or any other.
pub fn legal_texts(sim: &mut dyn Simulator, state: &game::State, role: usize) -> Result<Vec<String>, Fault> {
    let role = RoleId(role as u16);
    let mut moves = Vec::new();
    sim.legal(state, role, &mut moves)?;
    Ok(moves.iter().map(|&m| sim.move_text(role, m).to_owned()).collect())
}

/// Canonical texts of what a role perceives.
pub fn percept_texts(
    sim: &mut dyn Simulator,
    state: &game::State,
    joint: &[MoveId],
    role: usize,
) -> Result<Vec<String>, Fault> {
    let role = RoleId(role as u16);
    let mut percepts = Vec::new();
    sim.percepts(state, joint, role, &mut percepts)?;
    Ok(percepts.iter().map(|&p| sim.percept_text(role, p).to_owned()).collect())
}

/// The joint move with these texts.
pub fn joint(sim: &mut dyn Simulator, moves: &[&str]) -> Vec<MoveId> {
    let find = |(role, text): (usize, &&str)| {
        sim.find_move(RoleId(role as u16), text)
            .unwrap_or_else(|| panic!("no move {text}"))
    };
    moves.iter().enumerate().map(find).collect()
}

/// All observable properties of a state.
#[derive(Debug, PartialEq)]
pub struct Face {
    pub fluents: Vec<String>,
    pub terminal: bool,
    pub goals: Vec<Goal>,
    pub legal: Vec<Vec<String>>,
}

/// The observable properties of a state, as a simulator gives them.
pub fn face(sim: &mut dyn Simulator, state: &game::State) -> Result<Face, Fault> {
    let n_roles = sim.roles().len();
    Ok(Face {
        fluents: sim.fluents(state),
        terminal: sim.terminal(state)?,
        goals: (0..n_roles)
            .map(|r| sim.goal(state, RoleId(r as u16)))
            .collect::<Result<_, _>>()?,
        legal: (0..n_roles)
            .map(|r| legal_texts(sim, state, r))
            .collect::<Result<_, _>>()?,
    })
}
