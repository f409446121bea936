//! The moves that may be legal, as far as a role can know.

use crate::World;
use game::{Fault, LaneSet, MoveId, RoleId, State};
use std::collections::BTreeSet;

/// The moves of a role that are legal in some of these states, in canonical order. In a state that is over no move is
/// legal. The answer is the same with and without a batch.
///
/// # Errors
/// If the rules cannot be evaluated in one of the states.
pub fn possible_moves(world: &mut World<'_>, role: RoleId, states: &[(State, f64)]) -> Result<Vec<String>, Fault> {
    let found = match world.batch.is_some() {
        true => in_groups(world, role, states)?,
        false => one_by_one(world, role, states)?,
    };
    let texts: BTreeSet<&str> = found.into_iter().map(|mv| world.sim.move_text(role, mv)).collect();
    Ok(texts.into_iter().map(str::to_owned).collect())
}

fn one_by_one(world: &mut World<'_>, role: RoleId, states: &[(State, f64)]) -> Result<BTreeSet<MoveId>, Fault> {
    let (mut found, mut moves) = (BTreeSet::new(), Vec::new());
    for (state, _) in states {
        if !world.sim.terminal(state)? {
            world.sim.legal(state, role, &mut moves)?;
            found.extend(moves.iter().copied());
        }
    }
    Ok(found)
}

fn in_groups(world: &mut World<'_>, role: RoleId, states: &[(State, f64)]) -> Result<BTreeSet<MoveId>, Fault> {
    let mut found = BTreeSet::new();
    let Some(batch) = world.batch.as_deref_mut() else {
        return Ok(found);
    };
    for group in states.chunks(batch.width()) {
        let group: Vec<&State> = group.iter().map(|(state, _)| state).collect();
        batch.load(&group)?;
        let over = batch.eval()?;
        let playing = LaneSet(over.0.map(|word| !word)).and(LaneSet::first(group.len()));
        batch.legal(role, &mut |mv, lanes| {
            if lanes.and(playing) != LaneSet::default() {
                found.insert(mv);
            }
        })?;
    }
    Ok(found)
}
