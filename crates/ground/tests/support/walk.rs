//! Two simulators play the same game and are compared.

use super::{face, joint, percept_texts};
use game::{Fault, MoveId, Rng, Simulator, State};

/// Plays one game on both, with the same random moves, and compares everything that can be seen.
pub fn compare_play(left: &mut dyn Simulator, right: &mut dyn Simulator, mut rng: Rng) -> Result<(), String> {
    let fault = |e: Fault| e.to_string();
    if left.roles() != right.roles() {
        return Err("roles differ".to_owned());
    }
    let mut states = (left.initial().map_err(fault)?, right.initial().map_err(fault)?);
    for step in 0..12 {
        let face_left = face(left, &states.0).map_err(fault)?;
        let face_right = face(right, &states.1).map_err(fault)?;
        if face_left != face_right {
            return Err(format!("step {step}: {face_left:?} is not {face_right:?}"));
        }
        if face_left.terminal || face_left.legal.iter().any(Vec::is_empty) {
            break;
        }
        let moves: Vec<&str> = face_left.legal.iter().map(|l| rng.pick(l).as_str()).collect();
        let (joint_left, joint_right) = (joint(left, &moves), joint(right, &moves));
        compare_percepts((left, &states.0, &joint_left), (right, &states.1, &joint_right))?;
        states.0 = left.next(&states.0, &joint_left).map_err(fault)?;
        states.1 = right.next(&states.1, &joint_right).map_err(fault)?;
    }
    Ok(())
}

type At<'a> = (&'a mut dyn Simulator, &'a State, &'a [MoveId]);

fn compare_percepts(left: At, right: At) -> Result<(), String> {
    for role in 0..left.0.roles().len() {
        let ours = percept_texts(left.0, left.1, left.2, role).map_err(|e| e.to_string())?;
        let theirs = percept_texts(right.0, right.1, right.2, role).map_err(|e| e.to_string())?;
        if ours != theirs {
            return Err(format!("role {role} sees {ours:?}, or {theirs:?}"));
        }
    }
    Ok(())
}
