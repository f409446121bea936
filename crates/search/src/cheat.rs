//! Flat Monte Carlo in the true state: what HyperPlay's experiments measure themselves against.

use crate::flat::{Guess, Plan, weigh};
use crate::tools::Tools;
use game::{Budget, Cheat, Decision, Fault, Meter};

/// Plays the move with the best mean over random games from the true state, which it is shown.
pub struct Cheater {
    tools: Tools,
    playouts: u64,
    round: u64,
}

impl Cheater {
    /// So many playouts for each legal move.
    pub fn new(tools: Tools, playouts: u64) -> Cheater {
        Cheater {
            tools,
            playouts,
            round: 0,
        }
    }
}

impl Cheat for Cheater {
    fn choose_knowing(&mut self, fluents: &[String], budget: &Budget) -> Result<Decision, Fault> {
        let unknown = || Fault::Unknown("the true state is not a state of the rules".to_owned());
        let state = self.tools.sim.state_of(fluents).ok_or_else(unknown)?;
        self.round += 1;
        let plan = Plan {
            playouts: self.playouts,
            seed: self.tools.seed.child("cheat").nth(self.round),
        };
        weigh(&mut self.tools, &[Guess { state, weight: 1.0 }], plan, budget)
    }

    fn meter(&self) -> Meter {
        self.tools.meter()
    }
}
