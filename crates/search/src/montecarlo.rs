//! Flat Monte Carlo in a game of complete information.

use crate::flat::{Guess, Plan, weigh};
use crate::tools::Tools;
use game::{Budget, Decision, Fault, Meter, Player, State, Told};

/// Plays the move with the best mean over random games from the present state.
pub struct MonteCarlo {
    tools: Tools,
    playouts: u64,
    line: Vec<State>,
}

impl MonteCarlo {
    /// So many playouts for each legal move.
    pub fn new(tools: Tools, playouts: u64) -> MonteCarlo {
        MonteCarlo {
            tools,
            playouts,
            line: Vec::new(),
        }
    }

    fn present(&mut self, told: &[Told]) -> Result<State, Fault> {
        if self.line.is_empty() {
            self.line.push(self.tools.sim.initial()?);
        }
        while self.line.len() <= told.len() {
            let round = self.line.len() - 1;
            let next = self.tools.follow(&self.line[round], &told[round])?;
            let hidden = || Fault::Unknown("mc needs a game of complete information; use hp for this one".to_owned());
            self.line.push(next.ok_or_else(hidden)?);
        }
        Ok(self.line[told.len()].clone())
    }
}

impl Player for MonteCarlo {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        let state = self.present(told)?;
        let guess = Guess { state, weight: 1.0 };
        let plan = Plan {
            playouts: self.playouts,
            seed: self.tools.seed.child("mc").nth(told.len() as u64),
        };
        weigh(&mut self.tools, &[guess], plan, budget)
    }

    fn meter(&self) -> Meter {
        self.tools.meter()
    }
}
