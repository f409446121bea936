//! Counterfactual regret minimisation (Zinkevich, Johanson, Bowling and Piccione, Regret Minimization in Games with
//! Incomplete Information, 2007). Regrets are summed as they are; the average strategy weighs every iteration alike.
//! Unlike in the paper, the players take turns within an iteration, as has become usual and as OpenSpiel does.

use crate::sweep::Rule;

/// The plain rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cfr;

impl Rule for Cfr {
    fn begin(&mut self, _iteration: u64) {}

    #[inline]
    fn regret(&self, before: f64, now: f64) -> f64 {
        before + now
    }

    fn weight(&self) -> f64 {
        1.0
    }
}
