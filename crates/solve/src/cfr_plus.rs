//! CFR+ (Tammelin, *Solving Large Imperfect Information Games Using CFR+*, 2014). Accumulated regrets do not fall below
//! 0, so that an action that turns out well is played at once; the average strategy weighs iteration t by t.

use crate::sweep::SweepRule;
use game::regret::RegretRule;

/// The rule of CFR+.
#[derive(Clone, Copy, Debug, Default)]
pub struct CfrPlus {
    weight: f64,
}

impl SweepRule for CfrPlus {
    fn begin(&mut self, iteration: u64) {
        self.weight = iteration as f64;
    }
}

impl RegretRule for CfrPlus {
    #[inline]
    fn regret(&self, before: f64, gain: f64, value: f64) -> f64 {
        (before + (gain - value)).max(0.0)
    }

    fn weight(&self) -> f64 {
        self.weight
    }
}
