//! How far payoffs lie apart, to which exploration is scaled.
//!
//! The constant of UCB is meant for payoffs of 0 and 100, whose standard deviation is at most 50. Where random games
//! mostly end alike, or a leaf is worth the mean of several, values differ by less, and the same constant would spread
//! visits over all moves. Audibert, Munos and Szepesvári (*Exploration-exploitation tradeoff using variance estimates
//! in multi-armed bandits*, TCS 2009) use the variance of each move; we use that of all leaves that a search plays out,
//! since most moves below the root are seen a few times only. Ends that are reached again and again do not count: they
//! would make a safe payoff look as if nothing else could be had.

/// Leaves whose values are taken to differ as much as payoffs can, before any was seen.
const ASSUMED: f64 = 16.0;
/// The least factor: moves are always explored a little.
const LEAST: f64 = 0.1;
/// The largest standard deviation of payoffs.
const WIDEST: f64 = 50.0;

/// The values of leaves for each role, summed up.
#[derive(Default)]
pub(super) struct Spread {
    sums: Vec<Sums>,
    factors: Vec<f64>,
}

#[derive(Clone, Copy, Default)]
struct Sums {
    n: f64,
    points: f64,
    squares: f64,
}

impl Spread {
    /// Forgets all values.
    pub(super) fn reset(&mut self, n_roles: usize) {
        self.sums.clear();
        self.sums.resize(n_roles, Sums::default());
        self.factors.clear();
        self.factors.resize(n_roles, 1.0);
    }

    /// Counts the value of a leaf that was played out, with `n` visits. Factors change with the next [`settle`](Spread::settle).
    #[inline]
    pub(super) fn add(&mut self, role: usize, n: f64, points: f64) {
        let sums = &mut self.sums[role];
        sums.n += n;
        sums.points += n * points;
        sums.squares += n * points * points;
    }

    /// Computes the factors from what was counted.
    pub(super) fn settle(&mut self) {
        for (factor, sums) in self.factors.iter_mut().zip(&self.sums).filter(|(_, sums)| sums.n > 0.0) {
            let squares = (sums.squares - sums.points * sums.points / sums.n).max(0.0);
            let variance = (squares + ASSUMED * WIDEST * WIDEST) / (sums.n + ASSUMED);
            *factor = (variance.sqrt() / WIDEST).max(LEAST);
        }
    }

    /// The standard deviation of a role's payoffs, as a part of the largest possible.
    #[inline]
    pub(super) fn factor(&self, role: usize) -> f64 {
        self.factors[role]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_follow_the_payoffs() {
        let mut spread = Spread::default();
        spread.reset(3);
        assert_eq!(spread.factor(0), 1.0);
        for at in 0..10_000 {
            spread.add(0, 1.0, if at % 2 == 0 { 0.0 } else { 100.0 });
            spread.add(1, 1.0, if at % 2 == 0 { 40.0 } else { 60.0 });
            spread.add(2, 1.0, 40.0);
        }
        spread.settle();
        assert_eq!(spread.factor(0), 1.0);
        assert!((spread.factor(1) - 0.2).abs() < 0.005, "{}", spread.factor(1));
        assert_eq!(spread.factor(2), LEAST);
        spread.reset(3);
        assert_eq!(spread.factor(1), 1.0);
    }

    /// A leaf with several visits counts as often.
    #[test]
    fn visits_weigh() {
        let (mut one, mut three) = (Spread::default(), Spread::default());
        one.reset(1);
        three.reset(1);
        for points in [10.0, 30.0, 35.0] {
            (0..3).for_each(|_| one.add(0, 1.0, points));
            three.add(0, 3.0, points);
        }
        one.settle();
        three.settle();
        assert_eq!(one.factor(0), three.factor(0));
        assert!(one.factor(0) < 1.0);
    }
}
