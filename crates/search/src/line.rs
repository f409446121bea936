//! The expected continuation of a game, for display.

use crate::Tools;
use crate::flat::{Guess, PlayoutPlan, worths};
use game::{Budget, Fault, MoveId, RoleId, State};

/// Rounds that are expected to follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The moves of all roles, round by round, in canonical text.
    pub rounds: Vec<Vec<String>>,
    /// Points per role, if the game is over after these rounds.
    pub points: Option<Vec<u8>>,
}

/// Plays on from a state for a few rounds, beginning with a move of ours. Every role but nature is assumed to know the
/// state and to play the move that random games value highest: the assumption of HyperPlay about a model.
pub fn expected_line(
    tools: &mut Tools,
    from: &State,
    first: MoveId,
    rounds: usize,
    playouts: u64,
    budget: &Budget,
) -> Result<Line, Fault> {
    let (me, nature, n_roles) = (tools.role, tools.sim.nature(), tools.sim.roles().len());
    let mut line = Line::default();
    let mut state = from.clone();
    for round in 0..rounds {
        if tools.sim.terminal(&state)? || budget.stop.is_raised() {
            break;
        }
        let mut joint = Vec::with_capacity(n_roles);
        for role in (0..n_roles).map(|r| RoleId(r as u16)) {
            let seed = tools.seed.child("line").nth(round as u64).nth(u64::from(role.0));
            let legal = tools.legal(&state, role)?;
            let mv = match legal[..] {
                [] => return Ok(line),
                [only] => only,
                _ if round == 0 && role == me && legal.contains(&first) => first,
                _ if Some(role) == nature => *seed.rng().pick(&legal),
                _ => best(tools, &state, role, PlayoutPlan { playouts, seed }, budget)?,
            };
            joint.push(mv);
        }
        let text = |(role, &mv): (usize, &MoveId)| tools.sim.move_text(RoleId(role as u16), mv).to_owned();
        line.rounds.push(joint.iter().enumerate().map(text).collect());
        state = tools.sim.next(&state, &joint)?;
    }
    if tools.sim.terminal(&state)? {
        let mut points = Vec::with_capacity(n_roles);
        for role in (0..n_roles).map(|r| RoleId(r as u16)) {
            points.push(tools.sim.goal(&state, role)?.points());
        }
        line.points = Some(points);
    }
    Ok(line)
}

fn best(tools: &mut Tools, state: &State, role: RoleId, plan: PlayoutPlan, budget: &Budget) -> Result<MoveId, Fault> {
    let guess = Guess {
        state: state.clone(),
        weight: 1.0,
    };
    let me = std::mem::replace(&mut tools.role, role);
    let worths = worths(tools, &[guess], plan, budget);
    tools.role = me;
    let none = || Fault::no_move(None);
    worths?.first().map(|w| w.mv).ok_or_else(none)
}
