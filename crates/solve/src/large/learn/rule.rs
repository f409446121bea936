//! What an iteration does at one information set.

use super::LargeAlgorithm;

/// The update of an information set in one iteration.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub algorithm: LargeAlgorithm,
    /// Weight of the iteration in the average.
    pub weight: f64,
    /// Regrets below this share of the mass are rounding.
    pub noise: f64,
    pub positive: f64,
    pub negative: f64,
}

impl Rule {
    pub fn new(algorithm: LargeAlgorithm, iteration: u64, noise: f64) -> Rule {
        let before = iteration.saturating_sub(1) as f64;
        let power = before.powf(1.5);
        Rule {
            algorithm,
            weight: (iteration as f64).powi(2),
            noise,
            positive: power / (power + 1.0),
            negative: 0.5,
        }
    }

    /// The strategy of the next iteration.
    pub fn policy(&self, regret: &[f64], last: &[f64], policy: &mut [f64]) {
        match self.algorithm {
            LargeAlgorithm::Predictive => {
                let sums = regret.iter().zip(last).map(|(r, l)| (r + l).max(0.0));
                policy.iter_mut().zip(sums).for_each(|(p, sum)| *p = sum);
            }
            LargeAlgorithm::Discounted => {
                policy.iter_mut().zip(regret).for_each(|(p, r)| *p = r.max(0.0));
            }
        }
        game::regret::normalise(policy);
    }
}
