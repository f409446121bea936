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

    /// The interval cut off where values are impossible.
    pub fn within(&self, least: f64, most: f64) -> Interval {
        Interval {
            low: self.low.max(least),
            high: self.high.min(most),
            ..*self
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
    interval.within(0.0, 100.0)
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

/// The ratio of two sums over the same observations, with Student's interval of the linearised ratio (Cochran,
/// *Sampling Techniques*, 1977, chapter 6).
pub fn ratio(pairs: &[(f64, f64)], level: f64) -> Interval {
    let n = pairs.len() as f64;
    let (above, below) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let value = above / below;
    let rests: Vec<f64> = pairs.iter().map(|(x, y)| (x - value * y) / (below / n)).collect();
    let spread = student(&rests, level);
    Interval {
        mean: value,
        low: (value + spread.low).max(0.0),
        high: value + spread.high,
        n: pairs.len(),
        method: "ratio of sums",
    }
}

/// A difference, and how likely it is by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The difference.
    pub difference: Interval,
    /// Probability of a difference at least as large if there is none (two-sided); none if it cannot be said.
    pub p: Option<f64>,
}

/// Student's test of paired observations: the mean of first minus second. None for fewer than two pairs, or if all
/// differences are equal: then the sample says nothing about their spread.
pub fn paired(first: &[f64], second: &[f64], level: f64) -> Option<Test> {
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let &[one, ref others @ ..] = &differences[..] else {
        return None;
    };
    if others.iter().all(|d| *d == one) {
        return None;
    }
    let difference = Interval {
        method: "paired",
        ..student(&differences, level)
    };
    let n = differences.len() as f64;
    let variance = differences.iter().map(|d| (d - difference.mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(Test {
        difference,
        p: Some(two_sided(difference.mean / (variance / n).sqrt(), n - 1.0)),
    })
}

/// Welch's test of two samples: the mean of first minus second. None if one has fewer than two observations or neither
/// varies.
pub fn welch(first: &[f64], second: &[f64]) -> Option<f64> {
    let part = |values: &[f64]| {
        let (n, centre) = (values.len() as f64, mean(values));
        let variance = values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (n - 1.0);
        (centre, variance / n, n)
    };
    if first.len() < 2 || second.len() < 2 {
        return None;
    }
    let ((a, va, n), (b, vb, m)) = (part(first), part(second));
    if va + vb <= 0.0 {
        return None;
    }
    let freedom = (va + vb).powi(2) / (va * va / (n - 1.0) + vb * vb / (m - 1.0));
    Some(two_sided((a - b) / (va + vb).sqrt(), freedom))
}

/// Two-sided probability of Student's t.
fn two_sided(t: f64, freedom: f64) -> f64 {
    let distribution = StudentsT::new(0.0, 1.0, freedom).expect("positive freedom");
    (2.0 * distribution.cdf(-t.abs())).min(1.0)
}

/// Values of p adjusted for their number by Holm's method, in the same order.
pub fn holm(ps: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = ps.iter().enumerate().filter_map(|(at, p)| Some((at, (*p)?))).collect();
    order.sort_by(|(_, p), (_, q)| p.total_cmp(q));
    let all = order.len();
    let mut adjusted = vec![None; ps.len()];
    let mut least = 0.0_f64;
    for (rank, (at, p)) in order.into_iter().enumerate() {
        least = least.max(p * (all - rank) as f64).min(1.0);
        adjusted[at] = Some(least);
    }
    adjusted
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

    /// Student's sleep data (1908), as in every textbook: t = -4.0621, p = 0.002833 paired; t = -1.8608, p = 0.07939
    /// by Welch.
    #[test]
    fn known_tests() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let test = paired(&first, &second, 0.95).unwrap();
        close(test.difference.mean, -1.58);
        close(test.difference.low, -2.4599);
        close(test.difference.high, -0.7001);
        assert!((test.p.unwrap() - 0.002_833).abs() < 1e-6, "{test:?}");
        assert!((welch(&first, &second).unwrap() - 0.079_39).abs() < 1e-5);
        assert!(paired(&[1.0, 2.0], &[0.0, 1.0], 0.95).is_none() && welch(&[1.0, 1.0], &[1.0, 1.0]).is_none());
        let adjusted = holm(&[Some(0.01), None, Some(0.04), Some(0.03)]);
        let shown: Vec<String> = adjusted
            .iter()
            .map(|p| p.map_or("-".into(), |p| format!("{p:.2}")))
            .collect();
        assert_eq!(shown, ["0.03", "-", "0.06", "0.06"]);
    }

    #[test]
    fn a_ratio_of_sums_has_the_interval_of_a_mean_where_the_divisor_is_constant() {
        let values = [3.0, 5.0, 4.0, 8.0];
        let pairs = values.map(|v| (v, 2.0));
        let (ratio, mean) = (ratio(&pairs, 0.95), student(&values, 0.95));
        close(ratio.mean, mean.mean / 2.0);
        close(ratio.high, mean.high / 2.0);
        close(ratio.low, mean.low / 2.0);
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
