//! What states are worth where the search stops looking.
//!
//! A search asks about all states at its horizon together, so that random games can be played on lanes and a network
//! can be asked in batches.

use crate::Tools;
use game::{Fault, MoveId, RoleId, Seed, State, StopFlag, View};

/// Values of states, and perhaps how roles play in them.
pub trait Horizon: Send {
    /// What each role can expect in each state, in 0..1: one row a state, in role order. An answer after the flag was
    /// raised may be short, and is not used.
    fn values(&mut self, tools: &mut Tools, states: &[State], seed: Seed, stop: &StopFlag) -> Result<Vec<f32>, Fault>;

    /// What to do after a whole view, if that has been learned: the probabilities of the legal moves. Such advice is
    /// followed without a search.
    fn advise(&mut self, _role: RoleId, _view: &View, _legal: &[MoveId]) -> Option<Vec<f32>> {
        None
    }

    /// Whether [`advise`](Horizon::advise) may have an answer. If so, no search is wasted on rounds without a choice.
    fn knows_views(&self) -> bool {
        false
    }

    /// Whether [`policies`](Horizon::policies) has an opinion.
    fn knows_policies(&self) -> bool {
        false
    }

    /// How roles are taken to play in some states: for each question the probabilities of the legal moves. Nothing if
    /// the horizon has no opinion.
    fn policies(&mut self, _questions: &[Question<'_>]) -> Option<Vec<Vec<f32>>> {
        None
    }
}

/// A role that moves in a state.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The state.
    pub state: &'a State,
    /// Who moves.
    pub role: RoleId,
    /// What it can do.
    pub legal: &'a [MoveId],
}

/// Random games from every state.
#[derive(Clone, Copy, Debug)]
pub struct PlayoutHorizon {
    /// How many from each.
    pub playouts: u64,
}

impl Horizon for PlayoutHorizon {
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
