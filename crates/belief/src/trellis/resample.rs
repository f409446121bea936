//! Resampling: fewer states with the same expected masses.
//!
//! P. Fearnhead and P. Clifford, *On-Line Inference for Hidden Markov Models via Particle Filters*, 2003. There is a
//! threshold such that states above it are kept as they are, and states below it are kept with probability mass /
//! threshold and then have the threshold as mass. No state is kept twice, every mass keeps its expectation, and no
//! unbiased method that keeps as many states has a smaller error.

use game::Rng;

/// Chooses `limit` of these masses to keep and sets their new masses. Returns for each whether it is kept.
pub(crate) fn resample(masses: &mut [f64], limit: usize, rng: &mut Rng) -> Vec<bool> {
    if masses.len() <= limit {
        return vec![true; masses.len()];
    }
    let threshold = threshold(masses, limit);
    // Systematic sampling: one random offset, then one state for each threshold of mass along the row.
    let mut left = rng.unit() * threshold;
    masses
        .iter_mut()
        .map(|mass| {
            if *mass >= threshold {
                return true;
            }
            left -= *mass;
            let keep = left < 0.0;
            if keep {
                left += threshold;
                *mass = threshold;
            }
            keep
        })
        .collect()
}

/// The mass at which `sum(min(1, mass / threshold))` is the limit.
fn threshold(masses: &[f64], limit: usize) -> f64 {
    let mut sorted = masses.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut rest: f64 = sorted.iter().sum();
    for (kept, mass) in sorted.iter().enumerate().take(limit) {
        let threshold = rest / (limit - kept) as f64;
        if *mass < threshold {
            return threshold;
        }
        rest -= mass;
    }
    // Reached only by rounding: every state with mass is kept.
    sorted[limit - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::Seed;

    #[test]
    fn masses_keep_their_expectation() {
        let masses = [0.3, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05, 0.04, 0.03, 0.02, 0.005, 0.005];
        let mut sums = [0.0; 12];
        let n = 40_000;
        for trial in 0..n {
            let mut row = masses;
            let keep = resample(&mut row, 5, &mut Seed(1).nth(trial).rng());
            let kept = keep.iter().filter(|&&k| k).count();
            assert!((4..=6).contains(&kept), "{kept}");
            assert!(keep[0] && row[0] == 0.3);
            for at in 0..12 {
                sums[at] += if keep[at] { row[at] } else { 0.0 };
            }
        }
        for (sum, mass) in sums.iter().zip(masses) {
            let mean = sum / n as f64;
            assert!((mean - mass).abs() < 0.004, "{mean} instead of {mass}");
        }
    }

    #[test]
    fn nothing_to_do() {
        let mut row = [0.5, 0.5];
        assert_eq!(resample(&mut row, 2, &mut Seed(0).rng()), [true, true]);
        assert_eq!(row, [0.5, 0.5]);
    }
}
