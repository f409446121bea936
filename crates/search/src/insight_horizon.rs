//! States at a horizon valued by a search with perfect information.
//!
//! The value of a state is that of the best move of each role, as if every role knew the state. Determinised searches
//! use such values; EPIMC (Arjonilla, Saffidine and Cazenave, *Perfect Information Monte Carlo with Postponing
//! Reasoning*, 2024) postpones them by some rounds in which the roles decide by what they know.

use crate::cfr::Horizon;
use crate::{Insight, Tools};
use game::{Budget, Fault, Seed, State, StopFlag};

/// Values by an [`Insight`] into each state.
pub struct InsightHorizon {
    /// The search.
    pub insight: Box<dyn Insight>,
}

impl Horizon for InsightHorizon {
    fn values(&mut self, tools: &mut Tools, states: &[State], seed: Seed, stop: &StopFlag) -> Result<Vec<f32>, Fault> {
        let budget = Budget::until(stop.clone());
        let mut values = Vec::with_capacity(states.len() * tools.sim.roles().len());
        for (number, state) in states.iter().enumerate() {
            if stop.is_raised() {
                break;
            }
            let payoffs = self.insight.payoffs(tools, state, seed.nth(number as u64), &budget)?;
            values.extend(payoffs.iter().map(|&points| points as f32 / 100.0));
        }
        Ok(values)
    }

    fn is_slow(&self) -> bool {
        true
    }
}
