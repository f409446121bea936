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
    /// What remains of positive regrets of earlier iterations in this one, and in the next.
    positive: f64,
    next: f64,
}

/// What remains of negative regrets, for algorithms that keep them.
const NEGATIVE: f64 = 0.5;

impl Rule {
    /// The update in an iteration of an average that began after iteration `start`.
    pub fn new(algorithm: LargeAlgorithm, iteration: u64, start: u64, noise: f64) -> Rule {
        let remains = |iteration: u64| {
            let power = (iteration as f64).powf(algorithm.discount());
            power / (power + 1.0)
        };
        let (positive, next) = match algorithm {
            LargeAlgorithm::Predictive => (1.0, 1.0),
            _ => (remains(iteration.saturating_sub(1)), remains(iteration)),
        };
        Rule {
            algorithm,
            weight: ((iteration - start) as f64).powi(algorithm.averaging()),
            noise,
            positive,
            next,
        }
    }

    /// The strategy of this iteration.
    pub fn policy(&self, regret: &[f64], last: &[f64], policy: &mut [f64]) {
        self.matched(self.positive, regret, last, policy);
    }

    /// The strategy of the next iteration.
    pub fn next_policy(&self, regret: &[f64], last: &[f64], policy: &mut [f64]) {
        self.matched(self.next, regret, last, policy);
    }

    fn matched(&self, remains: f64, regret: &[f64], last: &[f64], policy: &mut [f64]) {
        match self.algorithm.predicts() {
            true => {
                let sums = regret.iter().zip(last).map(|(r, l)| (remains * r + l).max(0.0));
                policy.iter_mut().zip(sums).for_each(|(p, sum)| *p = sum);
            }
            false => policy.iter_mut().zip(regret).for_each(|(p, r)| *p = r.max(0.0)),
        }
        game::regret::normalise(policy);
    }

    /// A regret after one more gain.
    #[inline]
    pub fn add(&self, regret: f64, gain: f64) -> f64 {
        match self.algorithm.predicts() {
            true => (self.positive * regret + gain).max(0.0),
            false => self.discounted(regret) + gain,
        }
    }

    /// Regrets of information sets that were not reached: nothing is gained.
    pub fn pass_by(&self, regrets: &mut [f64]) {
        if self.algorithm != LargeAlgorithm::Predictive {
            regrets.iter_mut().for_each(|r| *r = self.discounted(*r));
        }
    }

    #[inline]
    fn discounted(&self, regret: f64) -> f64 {
        let remains = regret * if regret > 0.0 { self.positive } else { NEGATIVE };
        // Numbers that are hardly different from 0 are slow to compute with.
        if remains.abs() < 1e-200 { 0.0 } else { remains }
    }
}
