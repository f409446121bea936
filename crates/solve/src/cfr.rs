//! Counterfactual regret minimisation (Zinkevich, Johanson, Bowling and Piccione, *Regret Minimization in Games with
//! Incomplete Information*, 2007). Regrets are summed; the average strategy weighs every iteration equally. Unlike in
//! the paper, the players take turns within an iteration, as is usual now and as in OpenSpiel.

use crate::sweep::SweepRule;
use game::regret::RegretRule;

/// The plain rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainCfr;

impl SweepRule for PlainCfr {
    fn begin(&mut self, _iteration: u64) {}
}

impl RegretRule for PlainCfr {
    #[inline]
    fn regret(&self, before: f64, gain: f64, value: f64) -> f64 {
        before + (gain - value)
    }

    fn weight(&self) -> f64 {
        1.0
    }
}
