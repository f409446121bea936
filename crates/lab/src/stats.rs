//! Means and medians with confidence intervals. The distributions are those of `statrs`.
//!
//! | sample | interval |
//! |---|---|
//! | payoffs that are all 0 or 100 | Wilson (1927) |
//! | other payoffs, and other means | Student, cut off at the smallest and largest payoff |
//! | constant payoffs | a bound on the share of unseen outcomes (Clopper and Pearson 1934) |
//! | medians | order statistics, without assumptions on the distribution |
//!
//! Where players change seats, a round of all seats is one observation. Differences and ratios combine two intervals
//! (MOVER; Zou and Donner, *Statistics in Medicine* 27, 2008), which also works where one side is constant.
//!
//! ```
//! use surmise_lab::stats::of_scores;
//!
//! let won = of_scores(&[100.0; 20], 1, 0.95);
//! assert_eq!((won.mean, won.high), (100.0, 100.0));
//! assert!(won.low > 83.0 && won.low < 84.0);
//! ```

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// The quantile of the standard normal distribution.
pub(crate) fn normal_quantile(q: f64) -> f64 {
    Normal::standard().inverse_cdf(q)
}

/// An estimate and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Observations.
    pub n: usize,
    /// Name of the method, for reports.
    pub method: &'static str,
}

impl Interval {
    const NOTHING: Interval = Interval {
        mean: f64::NAN,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        n: 0,
        method: "none",
    };

    /// Half the width of the interval.
    pub fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The difference of two estimates.
    pub fn minus(&self, other: &Interval) -> Interval {
        let mean = self.mean - other.mean;
        let below = (self.mean - self.low).hypot(other.high - other.mean);
        let above = (self.high - self.mean).hypot(other.mean - other.low);
        Interval {
            mean,
            low: mean - below,
            high: mean + above,
            n: self.n.min(other.n),
            method: "difference",
        }
    }

    /// The ratio of two estimates of positive quantities.
    pub fn over(&self, other: &Interval) -> Interval {
        let divide = |a: f64, b: f64| if b > 0.0 { a.max(0.0) / b } else { f64::INFINITY };
        Interval {
            mean: self.mean / other.mean,
            low: divide(self.low, other.high),
            high: divide(self.high, other.low),
            n: self.n.min(other.n),
            method: "ratio",
        }
    }
}

/// The mean payoff of matches, given in order, where each `block` of them is one round of all seats. The interval lies
/// between 0 and 100, and its width is never zero.
pub fn of_scores(scores: &[f64], block: usize, level: f64) -> Interval {
    let won = scores.iter().filter(|&&s| s == 100.0).count();
    let lost = scores.iter().filter(|&&s| s == 0.0).count();
    let rounds: Vec<f64> = scores.chunks_exact(block).map(mean).collect();
    let interval = match &rounds[..] {
        _ if won + lost == scores.len() => scaled(wilson(won, scores.len(), level), 100.0),
        // Comparing the payoffs and not the variance, which rounding may leave above zero.
        [first, others @ ..] if !others.is_empty() && others.iter().all(|payoff| payoff == first) => {
            constant(*first, rounds.len(), level)
        }
        rounds => student(rounds, level),
    };
    Interval {
        low: interval.low.max(0.0),
        high: interval.high.min(100.0),
        ..interval
    }
}

/// The mean of payoffs that were the same every time. Other payoffs may still be possible: their share is bounded as
/// for an outcome that never occurred in `n` trials (Clopper and Pearson 1934), and they are at worst 0 and at best
/// 100.
fn constant(payoff: f64, n: usize, level: f64) -> Interval {
    let others = 1.0 - ((1.0 - level) / 2.0).powf(1.0 / n as f64);
    Interval {
        mean: payoff,
        low: payoff * (1.0 - others),
        high: payoff + (100.0 - payoff) * others,
        n,
        method: "never varied",
    }
}

fn scaled(interval: Interval, by: f64) -> Interval {
    Interval {
        mean: interval.mean * by,
        low: interval.low * by,
        high: interval.high * by,
        ..interval
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A share of successes, with the interval of Wilson (1927).
pub fn wilson(successes: usize, n: usize, level: f64) -> Interval {
    if n == 0 {
        return Interval::NOTHING;
    }
    let z = normal_quantile(0.5 + level / 2.0);
    let (count, p) = (n as f64, successes as f64 / n as f64);
    let scale = 1.0 + z * z / count;
    let centre = (p + z * z / (2.0 * count)) / scale;
    let half = z / scale * (p * (1.0 - p) / count + z * z / (4.0 * count * count)).sqrt();
    Interval {
        mean: p,
        // Where all trials agree, one end is the share itself, but for rounding.
        low: (centre - half).clamp(0.0, p),
        high: (centre + half).clamp(p, 1.0),
        n,
        method: "Wilson",
    }
}

/// A mean, with Student's interval. The interval of a single observation is infinite.
pub fn student(values: &[f64], level: f64) -> Interval {
    let n = values.len();
    if n == 0 {
        return Interval::NOTHING;
    }
    let mean = mean(values);
    if n == 1 {
        return Interval {
            mean,
            n,
            ..Interval::NOTHING
        };
    }
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let t = StudentsT::new(0.0, 1.0, (n - 1) as f64).expect("positive freedom");
    let half = t.inverse_cdf(0.5 + level / 2.0) * (variance / n as f64).sqrt();
    Interval {
        mean,
        low: mean - half,
        high: mean + half,
        n,
        method: "Student",
    }
}

/// A quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan).
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = q * last as f64;
    let (low, share) = (place.floor() as usize, place.fract());
    sorted[low] + share * (sorted[(low + 1).min(last)] - sorted[low])
}

/// A median, with an interval from order statistics.
pub fn median(values: &[f64], level: f64) -> Interval {
    let n = values.len();
    if n == 0 {
        return Interval::NOTHING;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // The k-th smallest and k-th largest values enclose the median unless fewer than k values lie on one side of it.
    let below = Binomial::new(0.5, n as u64).expect("a probability");
    let k = (0..n as u64)
        .take_while(|&k| below.cdf(k) <= (1.0 - level) / 2.0)
        .count();
    let (low, high) = match k {
        0 => (f64::NEG_INFINITY, f64::INFINITY),
        k => (sorted[k - 1], sorted[n - k]),
    };
    Interval {
        mean: quantile(values, 0.5),
        low,
        high,
        n,
        method: "order statistics",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-3, "{a} is not {b}");
    }

    #[test]
    fn known_intervals() {
        // Brown, Cai and DasGupta (2001) and standard tables.
        let share = wilson(8, 10, 0.95);
        close(share.low, 0.4902);
        close(share.high, 0.9433);
        let nothing = wilson(0, 10, 0.95);
        close(nothing.low, 0.0);
        close(nothing.high, 0.2775);
        let few = student(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95);
        close(few.half(), 2.7764 * (2.5_f64 / 5.0).sqrt());
        assert_eq!(student(&[7.0], 0.95).high, f64::INFINITY);
        assert_eq!(student(&[], 0.95).n, 0);
    }

    #[test]
    fn medians_and_quartiles() {
        let values: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(quantile(&values, 0.25), 3.0);
        assert_eq!(quantile(&values, 0.5), 5.0);
        // For n = 9 the second smallest and second largest cover 96.1 %.
        let middle = median(&values, 0.95);
        assert_eq!((middle.low, middle.high), (2.0, 8.0));
        assert_eq!(median(&values[..3], 0.95).low, f64::NEG_INFINITY);
    }

    #[test]
    fn seats_are_paired() {
        // The seat decides everything: pairs never vary, single matches do.
        let scores: Vec<f64> = (0..40).map(|n| if n % 2 == 0 { 75.0 } else { 25.0 }).collect();
        let paired = of_scores(&scores, 2, 0.95);
        close(paired.mean, 50.0);
        assert_eq!(paired.n, 20);
        assert!(of_scores(&scores, 1, 0.95).half() > 5.0);
        // An outcome that never occurred in 100 trials has a share of at most 3.62 % at the 95 % level.
        let same = of_scores(&[80.0; 100], 1, 0.95);
        close(same.low, 80.0 * (1.0 - 0.036_217));
        close(same.high, 80.0 + 20.0 * 0.036_217);
        // Win rates are Wilson's.
        assert_eq!(of_scores(&[0.0, 100.0, 100.0], 1, 0.95).method, "Wilson");
    }

    /// Whatever the payoffs are: within 0 and 100, around the mean, and of a width that can be seen.
    #[track_caller]
    fn possible(scores: &[f64], block: usize, level: f64) {
        let Interval { mean, low, high, .. } = of_scores(scores, block, level);
        assert!(0.0 <= low && high <= 100.0, "{low}..{high} of {scores:?}");
        assert!(low <= mean && mean <= high, "{low}..{high} around {mean} of {scores:?}");
        assert!(high - low > 1e-6, "{low}..{high} of {scores:?}");
    }

    #[test]
    fn intervals_of_constant_payoffs_are_possible_and_have_a_width() {
        for n in 1..=40 {
            for payoff in [0.0, 1.0, 37.0, 50.0, 99.0, 100.0] {
                possible(&vec![payoff; n], 1, 0.95);
                possible(&vec![payoff; n], 1, 0.5);
            }
            // A round of three seats always comes to 101 in all; the mean of a round is no binary fraction.
            possible(&[100.0, 1.0, 0.0].repeat(n), 3, 0.95);
        }
        assert_eq!(of_scores(&[50.0; 20], 1, 0.95).method, "never varied");
        assert_eq!(of_scores(&[100.0, 1.0, 0.0].repeat(10), 3, 0.95).method, "never varied");
    }

    #[test]
    fn intervals_of_random_payoffs_are_possible() {
        let mut rng = game::Seed(9).rng();
        for n in 1..200 {
            let scores: Vec<f64> = (0..n).map(|_| [0.0, 3.0, 98.0, 100.0][rng.below(4)]).collect();
            possible(&scores, 1, 0.95);
        }
    }

    #[test]
    fn nothing_played_says_nothing() {
        let nothing = of_scores(&[], 1, 0.95);
        assert_eq!((nothing.low, nothing.high, nothing.n), (0.0, 100.0, 0));
        assert!(nothing.mean.is_nan());
    }

    #[test]
    fn intervals_cover_as_often_as_they_say() {
        let mut rng = game::Seed(5).rng();
        let mut covered = [0; 2];
        for _ in 0..2_000 {
            let won = (0..30).filter(|_| rng.below(10) < 3).count();
            let share = wilson(won, 30, 0.95);
            covered[0] += usize::from(share.low <= 0.3 && 0.3 <= share.high);
            let values: Vec<f64> = (0..12).map(|_| (0..12).map(|_| rng.unit()).sum::<f64>()).collect();
            let mean = student(&values, 0.95);
            covered[1] += usize::from(mean.low <= 6.0 && 6.0 <= mean.high);
        }
        assert!(covered.iter().all(|c| (1_860..1_945).contains(c)), "{covered:?}");
    }

    #[test]
    fn differences_know_their_direction() {
        let (all, none) = (wilson(20, 20, 0.95), wilson(0, 20, 0.95));
        let difference = all.minus(&none);
        assert!(difference.low > 0.7 && difference.high >= 1.0);
        let even = wilson(10, 20, 0.95).minus(&wilson(10, 20, 0.95));
        assert!(even.low < 0.0 && even.high > 0.0);
    }
}
