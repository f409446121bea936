//! Values of states at the horizon of a search.
//!
//! A search asks about all states at its horizon together, so that random games can be played in lanes and a network
//! can be evaluated in batches.

use crate::Tools;
use game::{Fault, MoveId, RoleId, Seed, State, StopFlag, View};

/// Values of states, and optionally policies of roles.
pub trait Horizon: Send {
    /// The expected payoff of each role in each state, in 0..1: one row for each state, in role order. An answer after
    /// the flag was raised may be incomplete, and is not used.
    fn values(&mut self, tools: &mut Tools, states: &[State], seed: Seed, stop: &StopFlag) -> Result<Vec<f32>, Fault>;

    /// Whether values take so long that few states can be valued in the time of a move.
    fn is_slow(&self) -> bool {
        false
    }

    /// Playouts behind each value; none if the values have no noise.
    fn playouts(&self) -> Option<u64> {
        None
    }

    /// The learned policy of a view, as probabilities of the legal moves; none if there is none. A learned policy is
    /// played without a search.
    fn advise(&mut self, _role: RoleId, _view: &View, _legal: &[MoveId]) -> Option<Vec<f32>> {
        None
    }

    /// Whether [`advise`](Horizon::advise) may return a policy. If so, rounds without a choice are not searched.
    fn knows_views(&self) -> bool {
        false
    }

    /// Whether [`policies`](Horizon::policies) returns policies.
    fn knows_policies(&self) -> bool {
        false
    }

    /// The assumed policies of roles in some states: for each question the probabilities of the legal moves. None if
    /// the horizon has no policies.
    fn policies(&mut self, _questions: &[Question<'_>]) -> Option<Vec<Vec<f32>>> {
        None
    }
}

/// A query for the policy of a role in a state.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The state.
    pub state: &'a State,
    /// The role.
    pub role: RoleId,
    /// Its legal moves.
    pub legal: &'a [MoveId],
}

/// Random games from every state.
#[derive(Clone, Copy, Debug)]
pub struct PlayoutHorizon {
    /// Playouts from each state.
    pub playouts: u64,
}

impl Horizon for PlayoutHorizon {
    fn playouts(&self) -> Option<u64> {
        Some(self.playouts.max(1))
    }

    fn values(&mut self, tools: &mut Tools, states: &[State], seed: Seed, stop: &StopFlag) -> Result<Vec<f32>, Fault> {
        let totals = tools.play_out(states, self.playouts, seed, stop)?;
        let n_roles = tools.sim.roles().len();
        let mut values = Vec::with_capacity(states.len() * n_roles);
        for total in &totals {
            let scale = 100.0 * total.playouts.max(1) as f32;
            values.extend(total.points.iter().map(|&p| p as f32 / scale));
        }
        Ok(values)
    }
}
