//! Logistic regression with a ridge, by Newton's method with conjugate gradients.
//!
//! Komarek and Moore, *Making Logistic Regression a Core Data Mining Tool with TR-IRLS* (ICDM 2005): few steps of
//! conjugate gradients in each step of Newton's method are enough. Where we differ: targets may lie between 0 and 1,
//! and a step that does not lower the loss is halved.

use game::StopFlag;

/// Examples: sparse rows of counts, each with a target between 0 and 1 and a weight.
#[derive(Default)]
pub(super) struct Examples {
    ends: Vec<usize>,
    /// Feature and count, row after row.
    entries: Vec<(u32, f32)>,
    targets: Vec<f64>,
    weights: Vec<f64>,
}

/// Steps of Newton's method, and of conjugate gradients in each.
const NEWTON_STEPS: usize = 8;
const GRADIENT_STEPS: usize = 16;
/// The part of the loss by which a step must lower it, or else it was the last.
const PROGRESS: f64 = 1e-4;
/// The ridge of the constant.
const SMALL: f64 = 1e-6;

impl Examples {
    pub fn add(&mut self, row: impl Iterator<Item = (u32, f32)>, target: f64, weight: f64) {
        self.entries.extend(row);
        self.ends.push(self.entries.len());
        self.targets.push(target);
        self.weights.push(weight);
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Each row with its target and weight.
    fn rows(&self) -> impl Iterator<Item = (&[(u32, f32)], f64, f64)> {
        let mut start = 0;
        self.ends.iter().enumerate().map(move |(at, &end)| {
            let row = &self.entries[start..end];
            start = end;
            (row, self.targets[at], self.weights[at])
        })
    }

    /// The mean loss of a model, in units of information (nats).
    pub fn loss(&self, model: &[f64]) -> f64 {
        let losses = self
            .rows()
            .map(|(row, target, weight)| weight * cross_entropy(dot(row, model), target));
        losses.sum::<f64>() / self.weights.iter().sum::<f64>().max(SMALL)
    }

    /// The logarithm of the odds of the mean target.
    pub fn constant(&self) -> f64 {
        let all = self.weights.iter().sum::<f64>();
        let hits: f64 = self
            .targets
            .iter()
            .zip(&self.weights)
            .map(|(target, weight)| target * weight)
            .sum();
        ((hits + 0.5) / (all - hits + 0.5)).ln()
    }

    /// Improves a model: a weight for each feature, and the constant at the end. Returns false if the flag was raised
    /// before the end.
    pub fn fit(&self, ridge: f64, model: &mut [f64], stop: &StopFlag) -> bool {
        let n = model.len();
        let shrinks = |at: usize| if at + 1 == n { SMALL } else { ridge };
        let penalty = |model: &[f64]| -> f64 {
            let squares = model.iter().enumerate().map(|(at, w)| shrinks(at) * w * w);
            squares.sum::<f64>() / 2.0
        };
        let all = self.weights.iter().sum::<f64>();
        let cost = |model: &[f64]| self.loss(model) * all + penalty(model);
        let mut now = cost(model);
        for _ in 0..NEWTON_STEPS {
            let Some(direction) = self.direction(&shrinks, model, stop) else {
                return false;
            };
            let mut step = 1.0;
            let (best, better) = loop {
                let tried: Vec<f64> = model.iter().zip(&direction).map(|(w, d)| w + step * d).collect();
                let then = cost(&tried);
                if then < now || step < 0.01 {
                    break (then, tried);
                }
                step /= 2.0;
            };
            if best >= now {
                break;
            }
            model.copy_from_slice(&better);
            let done = now - best < PROGRESS * now;
            now = best;
            if done {
                break;
            }
        }
        true
    }

    /// Roughly the step of Newton's method.
    fn direction(&self, shrinks: &impl Fn(usize) -> f64, model: &[f64], stop: &StopFlag) -> Option<Vec<f64>> {
        let n = model.len();
        let mut residual: Vec<f64> = (0..n).map(|at| -shrinks(at) * model[at]).collect();
        let mut curvature = Vec::with_capacity(self.targets.len());
        let mut diagonal: Vec<f64> = (0..n).map(shrinks).collect();
        for (row, target, weight) in self.rows() {
            let p = logistic(dot(row, model));
            let bend = weight * (p * (1.0 - p)).max(SMALL);
            scatter(row, weight * (target - p), &mut residual);
            row.iter()
                .for_each(|&(f, count)| diagonal[f as usize] += bend * f64::from(count * count));
            diagonal[n - 1] += bend;
            curvature.push(bend);
        }
        let scaled = |v: &[f64]| -> Vec<f64> { v.iter().zip(&diagonal).map(|(v, d)| v / d).collect() };
        let inner = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let mut direction = vec![0.0; n];
        let mut ahead = scaled(&residual);
        let mut norm = inner(&residual, &ahead);
        let first = norm;
        for _ in 0..GRADIENT_STEPS {
            if norm <= 1e-4 * first || norm <= 1e-12 {
                break;
            }
            if stop.is_raised() {
                return None;
            }
            let mut bent: Vec<f64> = (0..n).map(|at| shrinks(at) * ahead[at]).collect();
            for ((row, ..), bend) in self.rows().zip(&curvature) {
                scatter(row, bend * dot(row, &ahead), &mut bent);
            }
            let step = norm / inner(&ahead, &bent).max(1e-300);
            direction.iter_mut().zip(&ahead).for_each(|(d, a)| *d += step * a);
            residual.iter_mut().zip(&bent).for_each(|(r, b)| *r -= step * b);
            let next = scaled(&residual);
            let then = inner(&residual, &next);
            ahead.iter_mut().zip(&next).for_each(|(a, n)| *a = n + then / norm * *a);
            norm = then;
        }
        Some(direction)
    }
}

/// The value of a row: its weights and the constant.
fn dot(row: &[(u32, f32)], model: &[f64]) -> f64 {
    let counted = row.iter().map(|&(f, count)| model[f as usize] * f64::from(count));
    counted.sum::<f64>() + model[model.len() - 1]
}

/// Adds a multiple of a row.
fn scatter(row: &[(u32, f32)], by: f64, to: &mut [f64]) {
    row.iter()
        .for_each(|&(f, count)| to[f as usize] += by * f64::from(count));
    let last = to.len() - 1;
    to[last] += by;
}

/// The probability with these odds, of which `z` is the logarithm.
pub(super) fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// The loss of predicting these odds.
fn cross_entropy(z: f64, target: f64) -> f64 {
    z.max(0.0) - z * target + (-z.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a ridge the model has the odds of what was seen: 3 of 4 with the feature, 1 of 4 without it.
    #[test]
    fn odds_are_found() {
        let mut examples = Examples::default();
        for (count, target) in [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 0.0)] {
            examples.add([(0, count)].into_iter(), target, 1.0);
        }
        for target in [1.0, 0.0, 0.0, 0.0] {
            examples.add(std::iter::empty(), target, 1.0);
        }
        let mut model = [0.0, 0.0];
        assert!(examples.fit(1e-9, &mut model, &StopFlag::default()));
        let odds = 3_f64.ln();
        assert!(
            (model[1] + odds).abs() < 1e-2 && (model[0] - 2.0 * odds).abs() < 1e-2,
            "{model:?}"
        );
        let expected = -(0.75 * 0.75_f64.ln() + 0.25 * 0.25_f64.ln());
        assert!((examples.loss(&model) - expected).abs() < 1e-4);
        // A strong ridge leaves only the constant.
        let mut flat = [0.0, 0.0];
        assert!(examples.fit(1e9, &mut flat, &StopFlag::default()));
        assert!(flat[0].abs() < 1e-6 && flat[1].abs() < 1e-6);
        let raised = StopFlag::default();
        raised.raise();
        assert!(!examples.fit(1.0, &mut [0.0, 0.0], &raised));
    }
}
