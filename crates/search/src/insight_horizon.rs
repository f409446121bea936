//! States at a horizon valued by a search with perfect information.
//!
//! The value of a state is that of the best move of each role, as if every role knew the state. Determinised searches
//! use such values; EPIMC (Arjonilla, Saffidine and Cazenave, *Perfect Information Monte Carlo with Postponing
//! Reasoning*, 2024) postpones them by some rounds in which the roles decide by what they know.

use crate::cfr::Horizon;
use crate::{Insight, Tools};
use game::{Budget, Fault, RoleId, Seed, State, StopFlag};

/// Values by an [`Insight`] into each state.
pub struct InsightHorizon {
    /// The search.
    pub insight: Box<dyn Insight>,
}

impl Horizon for InsightHorizon {
    fn values(&mut self, tools: &mut Tools, states: &[State], seed: Seed, stop: &StopFlag) -> Result<Vec<f32>, Fault> {
        let (me, nature, n_roles) = (tools.role, tools.sim.nature(), tools.sim.roles().len());
        let mut values = Vec::with_capacity(states.len() * n_roles);
        for (number, state) in states.iter().enumerate() {
            if stop.is_raised() {
                break;
            }
            for role in (0..n_roles).map(|r| RoleId(r as u16)) {
                if Some(role) == nature {
                    values.push(0.0);
                    continue;
                }
                tools.role = role;
                let seed = seed.nth(number as u64).nth(u64::from(role.0));
                let worths = self.insight.value(tools, state, seed, &Budget::until(stop.clone()));
                tools.role = me;
                let best = worths?.first().map_or(0.0, |w| w.mean);
                values.push(best as f32 / 100.0);
            }
        }
        Ok(values)
    }
}
