//! HyperPlay, and HyperPlay-II where some moves give more information than others.
//!
//! HyperPlay-II plays at least as well as HyperPlay at a much higher cost; the 2016 paper advises to use it only for
//! games that need it. This player decides that for each move: if some of our moves would leave us with less
//! uncertainty than others, HyperPlay-II is run as a trial. Its choice is played if HyperPlay-II values it above
//! HyperPlay's choice by more than the errors of both, or equally while giving more information.

use crate::flat::{Guess, PlayoutPlan, repeats, worths};
use crate::hp2::{HistoryRoot, HyperPlayII};
use crate::perfect::decision;
use game::{Budget, Decision, Fault, Meter, Player, Told};

/// Chooses between the two at each decision.
pub struct Either {
    careful: HyperPlayII,
    playouts: u64,
}

impl Either {
    /// Uses so many playouts for each legal move in each model for HyperPlay, and this player for the trials.
    pub fn new(careful: HyperPlayII, playouts: u64) -> Either {
        Either { careful, playouts }
    }
}

impl Either {
    /// Whether a trial's choice would leave less uncertainty than another move. Asked if both have the same value.
    fn tells_more(&mut self, trial: &Decision, than: &str, roots: &[HistoryRoot]) -> Result<bool, Fault> {
        let tools = &mut self.careful.believer.tools;
        let (role, sim) = (tools.role, tools.sim.as_mut());
        let (Some(mv), Some(other)) = (sim.find_move(role, &trial.mv), sim.find_move(role, than)) else {
            return Ok(false);
        };
        let doubt = self.careful.doubt_after(mv, roots)?;
        Ok(self.careful.doubt_after(other, roots)? - doubt > WORTH_KNOWING)
    }
}

/// The smallest difference of entropy that counts.
const WORTH_KNOWING: f64 = 0.05;

impl Player for Either {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        let roots = self.careful.prepare(told, budget)?;
        let guesses: Vec<Guess> = roots.iter().map(|root| self.careful.guess(root)).collect();
        let tools = &mut self.careful.believer.tools;
        let plan = PlayoutPlan {
            playouts: self
                .playouts
                .saturating_mul(repeats(self.careful.models, guesses.len())),
            seed: tools.seed.child("auto").nth(told.len() as u64),
        };
        let quick = worths(tools, &guesses, plan, &budget.part(0.5))?;
        let mut chosen = decision(tools, quick);
        let mut by = "hp";
        if chosen.candidates.len() > 1 && self.careful.is_information_at_stake(&roots, &budget.part(0.3))? {
            let trial = self.careful.weigh(&roots, told.len(), budget)?;
            let in_time = !budget.stop.is_raised();
            if is_clearly_better(&trial, &chosen.mv) || (in_time && self.tells_more(&trial, &chosen.mv, &roots)?) {
                chosen = trial;
                by = "hp2";
            }
        }
        chosen.belief = format!("{} (chosen by {by})", self.careful.believer.belief().report);
        Ok(chosen)
    }

    fn meter(&self) -> Meter {
        self.careful.meter()
    }
}

/// Whether a trial values its own choice above another move beyond the errors of both.
fn is_clearly_better(trial: &Decision, than: &str) -> bool {
    let Some(best) = trial.candidates.first() else {
        return false;
    };
    match trial.candidates.iter().find(|c| c.mv == than) {
        Some(other) => best.mean - other.mean > 1e-6 + best.stderr.hypot(other.stderr),
        None => true,
    }
}
