//! Opponents that play a known strategy: how likely a history is if they do.
//!
//! A strategy says what a role does after its *view*. Samplers of beliefs merge histories that lead to the same state,
//! in which views differ, so that the strategy cannot weigh their steps. Whole histories can be weighed afterwards,
//! each by the probability of the opponents' moves, relative to uniform play, for which it was sampled.

use crate::tabular::ViewPolicy;
use belief::{Joint, Model};
use game::{Fault, RoleId, Simulator, Told};
use std::sync::{Arc, Mutex, PoisonError};

/// Strategies of other roles.
pub struct ViewOpponents {
    sim: Mutex<Box<dyn Simulator>>,
    /// By role; none where nothing is known, where moves are uniform.
    policies: Vec<Option<Arc<dyn ViewPolicy>>>,
}

/// Probability with which an opponent makes any move, whatever the strategy says: nobody follows a model for certain.
const ANYTHING: f64 = 0.01;

impl ViewOpponents {
    /// Opponents with these strategies, by role.
    ///
    /// # Errors
    /// If a strategy names moves or percepts that its role does not have in this game.
    pub fn new(
        mut sim: Box<dyn Simulator>,
        policies: Vec<Option<Arc<dyn ViewPolicy>>>,
    ) -> Result<ViewOpponents, Fault> {
        for (role, policy) in policies.iter().enumerate() {
            if let Some(policy) = policy {
                policy.check(sim.as_mut(), RoleId(role as u16))?;
            }
        }
        Ok(ViewOpponents {
            sim: Mutex::new(sim),
            policies,
        })
    }

    /// Weighs histories that were sampled for uniform opponents. If no history is likely at all, nothing changes.
    pub(crate) fn weigh(&self, models: &mut [Model]) -> Result<(), Fault> {
        let mut weights = Vec::with_capacity(models.len());
        for model in models.iter() {
            weights.push(model.weight * self.likelihood(&model.history)?);
        }
        let total: f64 = weights.iter().sum();
        if total > 0.0 && total.is_finite() {
            for (model, weight) in models.iter_mut().zip(weights) {
                model.weight = weight / total;
            }
        }
        Ok(())
    }

    /// The probability of the opponents' moves in a history, relative to uniform play.
    ///
    /// # Errors
    /// If the simulator fails.
    pub fn likelihood(&self, history: &[Joint]) -> Result<f64, Fault> {
        let mut guard = self.sim.lock().unwrap_or_else(PoisonError::into_inner);
        let sim = guard.as_mut();
        let mut likelihood = 1.0;
        let mut views: Vec<Vec<Told>> = vec![Vec::new(); self.policies.len()];
        let mut state = sim.initial()?;
        let (mut legal, mut sees) = (Vec::new(), Vec::new());
        for joint in history {
            for (number, policy) in self.policies.iter().enumerate() {
                let Some(policy) = policy else { continue };
                let role = RoleId(number as u16);
                sim.legal(&state, role, &mut legal)?;
                let own = sim.move_text(role, joint[number]).to_owned();
                let known = match legal.len() > 1 {
                    true => {
                        let texts: Vec<&str> = legal.iter().map(|&mv| sim.move_text(role, mv)).collect();
                        policy.policy_among(&views[number], &texts)
                    }
                    false => None,
                };
                if let Some(known) = known {
                    let total: f64 = known.iter().map(|(_, p)| p).sum();
                    let p = known.iter().find(|(mv, _)| *mv == own).map_or(0.0, |(_, p)| p / total);
                    likelihood *= (1.0 - ANYTHING) * p * legal.len() as f64 + ANYTHING;
                }
                sim.percepts(&state, joint, role, &mut sees)?;
                let sees = sees.iter().map(|&p| sim.percept_text(role, p).to_owned());
                views[number].push(Told::new(own, sees.collect::<Vec<_>>()));
            }
            state = sim.next(&state, joint)?;
        }
        Ok(likelihood)
    }
}
