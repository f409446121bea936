//! A player that is shown the true state: the reference of HyperPlay's experiments.

use crate::perfect::{Insight, consider};
use crate::tools::Tools;
use game::{Budget, Cheat, Decision, Fault, Meter};

/// Plays the move that an insight ranks first in the true state.
pub struct Cheater {
    tools: Tools,
    insight: Box<dyn Insight>,
    round: u64,
}

impl Cheater {
    /// A player with this insight.
    pub fn new(tools: Tools, insight: Box<dyn Insight>) -> Cheater {
        Cheater {
            tools,
            insight,
            round: 0,
        }
    }
}

impl Cheat for Cheater {
    fn choose_knowing(&mut self, fluents: &[String], budget: &Budget) -> Result<Decision, Fault> {
        let unknown = || Fault::Foreign("the true state");
        let state = self.tools.sim.state_of(fluents).ok_or_else(unknown)?;
        self.round += 1;
        let seed = self.tools.seed.child("cheat").nth(self.round);
        consider(self.insight.as_mut(), &mut self.tools, &state, seed, budget)
    }

    fn meter(&self) -> Meter {
        let mut meter = self.tools.meter();
        meter.touches += self.insight.remembered();
        meter
    }
}
