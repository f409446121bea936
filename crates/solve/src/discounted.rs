//! Discounted and linear CFR (Brown and Sandholm, *Solving Imperfect-Information Games via Discounted Regret
//! Minimization*, 2019). Early regrets are discounted: after iteration t, accumulated regrets are multiplied by t^α /
//! (t^α + 1) where they are positive and by t^β / (t^β + 1) where they are negative. The paper multiplies the sum of
//! strategies by (t / (t + 1))^γ, which is the same as weighing iteration t by t^γ.

use crate::sweep::SweepRule;
use game::regret::RegretRule;

/// The rule of discounted CFR with its three exponents.
#[derive(Clone, Copy, Debug)]
pub struct Discounted {
    alpha: f64,
    beta: f64,
    gamma: f64,
    positive: f64,
    negative: f64,
    weight: f64,
}

impl Discounted {
    /// With these exponents; the default is 1.5, 0 and 2, as the paper recommends.
    pub fn new(alpha: f64, beta: f64, gamma: f64) -> Discounted {
        Discounted {
            alpha,
            beta,
            gamma,
            positive: 0.0,
            negative: 0.0,
            weight: 1.0,
        }
    }

    /// Linear CFR: iteration t counts t times, in regrets and strategies.
    pub fn linear() -> Discounted {
        Discounted::new(1.0, 1.0, 1.0)
    }
}

impl Default for Discounted {
    fn default() -> Self {
        Discounted::new(1.5, 0.0, 2.0)
    }
}

impl SweepRule for Discounted {
    fn begin(&mut self, iteration: u64) {
        // The discount of the iteration before is applied when the regrets are next used. The delay makes no
        // difference, because regret matching is invariant under a common factor.
        let factor = |exponent: f64| {
            let power = (iteration as f64 - 1.0).powf(exponent);
            power / (power + 1.0)
        };
        (self.positive, self.negative) = (factor(self.alpha), factor(self.beta));
        self.weight = (iteration as f64).powf(self.gamma);
    }
}

impl RegretRule for Discounted {
    #[inline]
    fn regret(&self, before: f64, gain: f64, value: f64) -> f64 {
        before * if before > 0.0 { self.positive } else { self.negative } + (gain - value)
    }

    fn weight(&self) -> f64 {
        self.weight
    }
}
