//! Pearson's χ² test of a sample of histories.
//!
//! Two tests: the counts against the uniform distribution over histories, as the 2017 paper measures bias, and the
//! weighted sample against the true posterior, which is what a player needs.

use crate::{InformationSet, Model};

/// The outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chi2 {
    /// Pearson's statistic.
    pub statistic: f64,
    /// Degrees of freedom: one less than there are elements.
    pub freedom: usize,
    /// The probability of a statistic at least as large if the sample has the expected distribution; 1 for a single
    /// element.
    pub p: f64,
    /// Whether the sample is large enough for `p`: five times the number of elements.
    pub reliable: bool,
}

/// The counts of the models against the uniform distribution over the histories of an information set. A model outside
/// of the set makes the sample impossible: `p` is 0.
pub fn against_uniform(set: &InformationSet, models: &[Model]) -> Chi2 {
    let even = vec![1.0 / set.histories.len() as f64; set.histories.len()];
    test(&even, &tally(set, models, |_| 1.0), models.len() as f64)
}

/// The weighted models against the posterior. The size of the sample is its effective size.
pub fn against_posterior(set: &InformationSet, models: &[Model]) -> Chi2 {
    let posterior: Vec<f64> = set.histories.iter().map(|h| h.probability).collect();
    let squares: f64 = models.iter().map(|m| m.weight * m.weight).sum();
    let total: f64 = models.iter().map(|m| m.weight).sum();
    test(&posterior, &tally(set, models, |m| m.weight), total * total / squares)
}

/// The share of every history in the sample; the last entry is what lies outside of the set.
fn tally(set: &InformationSet, models: &[Model], weight: impl Fn(&Model) -> f64) -> Vec<f64> {
    let places = set.places();
    let mut shares = vec![0.0; set.histories.len() + 1];
    for model in models {
        let at = places.get(&model.history[..]).copied();
        shares[at.unwrap_or(set.histories.len())] += weight(model);
    }
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|s| *s /= total);
    shares
}

fn test(expected: &[f64], shares: &[f64], n: f64) -> Chi2 {
    let terms = expected.iter().zip(shares).map(|(e, o)| (o - e).powi(2) / e);
    let statistic = n * terms.sum::<f64>();
    let freedom = expected.len().saturating_sub(1);
    let outside = shares.last().copied().unwrap_or(0.0);
    Chi2 {
        statistic,
        freedom,
        p: if outside > 0.0 {
            0.0
        } else {
            p_value(statistic, freedom)
        },
        reliable: n >= 5.0 * expected.len() as f64,
    }
}

/// The probability that a χ² variable with so many degrees of freedom is at least this large.
pub fn p_value(statistic: f64, freedom: usize) -> f64 {
    if freedom == 0 || statistic <= 0.0 {
        return 1.0;
    }
    upper_gamma(freedom as f64 / 2.0, statistic / 2.0)
}

/// The regularised upper incomplete gamma function Q(a, x): a series below a + 1, a continued fraction above
/// (W. Press et al., *Numerical Recipes*, 6.2).
fn upper_gamma(a: f64, x: f64) -> f64 {
    let scale = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-16 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return (1.0 - sum * scale).clamp(0.0, 1.0);
    }
    // Lentz's method.
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut h = d;
    for i in 1..10_000 {
        let an = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        let small = |v: f64| if v.abs() < TINY { TINY } else { v };
        d = 1.0 / small(an * d + b);
        c = small(b + an / c);
        h *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (scale * h).clamp(0.0, 1.0)
}

/// Log of the gamma function (Lanczos, g = 7, n = 9), about 15 digits.
fn ln_gamma(x: f64) -> f64 {
    const C: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        let reflected = (std::f64::consts::PI * x).sin().abs();
        return std::f64::consts::PI.ln() - reflected.ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = C
        .iter()
        .enumerate()
        .skip(1)
        .fold(C[0], |sum, (i, c)| sum + c / (x + i as f64));
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the closed forms: Q(1, x) = e^-x, Q(2, x) = e^-x (1 + x), Q(1/2, x) = erfc(sqrt x).
    #[test]
    fn p_values_are_right() {
        for x in [0.1, 1.0, 3.0, 10.0, 50.0] {
            assert!((p_value(2.0 * x, 2) - (-x).exp()).abs() < 1e-13);
            assert!((p_value(2.0 * x, 4) - (-x).exp() * (1.0 + x)).abs() < 1e-13);
        }
        for (statistic, freedom, p) in [
            (3.841_458_820_694_124, 1, 0.05),
            (6.634_896_601_021_214, 1, 0.01),
            (18.307_038_053_275_14, 10, 0.05),
            (124.342_113_404_004, 100, 0.05),
            (67.327_563_305_479_1, 100, 0.995),
        ] {
            assert!((p_value(statistic, freedom) - p).abs() < 1e-9, "{statistic} {freedom}");
        }
        assert_eq!(p_value(0.0, 5), 1.0);
        assert_eq!(p_value(7.0, 0), 1.0);
        assert!(p_value(1e6, 3) < 1e-100);
    }

    #[test]
    fn gamma_of_whole_numbers() {
        let mut factorial = 0.0_f64;
        for n in 1..50 {
            assert!((ln_gamma(f64::from(n)) - factorial).abs() < 1e-11, "{n}");
            factorial += f64::from(n).ln();
        }
    }
}
