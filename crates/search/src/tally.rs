//! What simulations of moves in models came to.

use crate::perfect::Worth;
use crate::pruning::DISCOUNT;
use game::{Fault, MoveId, Seed};
use std::collections::BTreeSet;

/// One simulated game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// What we got.
    pub points: u8,
    /// Rounds it took from the decision on.
    pub rounds: u64,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    legal: bool,
    n: u64,
    points: f64,
    squares: f64,
    discounted: f64,
    /// Discounted a little in any case, to tell the quicker of equals.
    hastened: f64,
}

/// A row for every move that is legal in some model, a column for each model.
pub(crate) struct Tallies {
    moves: Vec<MoveId>,
    /// Weights of the models; sum to one.
    weights: Vec<f64>,
    cells: Vec<Cell>,
}

impl Tallies {
    /// For models with these weights and legal moves.
    pub(crate) fn new<L: AsRef<[MoveId]>>(weights: Vec<f64>, legal: &[L]) -> Result<Tallies, Fault> {
        let all: BTreeSet<MoveId> = legal.iter().flat_map(|l| l.as_ref()).copied().collect();
        if all.is_empty() {
            return Err(Fault::no_move(None));
        }
        let total: f64 = weights.iter().sum();
        let cell = |mv| {
            legal.iter().map(move |l| Cell {
                legal: l.as_ref().contains(&mv),
                ..Cell::default()
            })
        };
        Ok(Tallies {
            cells: all.iter().flat_map(|&mv| cell(mv)).collect(),
            moves: all.into_iter().collect(),
            weights: weights.into_iter().map(|w| w / total).collect(),
        })
    }

    pub(crate) fn n_moves(&self) -> usize {
        self.moves.len()
    }

    pub(crate) fn n_models(&self) -> usize {
        self.weights.len()
    }

    pub(crate) fn moves(&self) -> &[MoveId] {
        &self.moves
    }

    pub(crate) fn is_legal(&self, mv: usize, model: usize) -> bool {
        self.row(mv)[model].legal
    }

    fn row(&self, mv: usize) -> &[Cell] {
        &self.cells[mv * self.weights.len()..][..self.weights.len()]
    }

    pub(crate) fn add(&mut self, mv: usize, model: usize, sample: Sample, discount: f64) {
        let cell = &mut self.cells[mv * self.weights.len() + model];
        let points = f64::from(sample.points);
        cell.n += 1;
        cell.points += points;
        cell.squares += points * points;
        let rounds = sample.rounds.min(10_000) as i32;
        cell.discounted += points * discount.powi(rounds);
        cell.hastened += points * DISCOUNT.powi(rounds);
    }

    /// Leaves out models in which some legal move was not tried, if that leaves any: so that moves are compared in the same
    /// models when time ran out.
    pub(crate) fn keep_complete(&mut self) {
        let complete =
            |model: usize| (0..self.n_moves()).all(|mv| self.row(mv)[model].n > 0 || !self.is_legal(mv, model));
        let keep: Vec<bool> = (0..self.n_models()).map(complete).collect();
        if keep.iter().any(|&k| k) {
            let kept = self.weights.iter().zip(&keep).map(|(w, &k)| if k { *w } else { 0.0 });
            let total: f64 = kept.clone().sum();
            self.weights = kept.map(|w| w / total).collect();
        }
    }

    /// What a move is worth when moves are compared: discounted; zero in models where it is not legal.
    pub(crate) fn value(&self, mv: usize) -> f64 {
        self.expect(mv, |cell| cell.discounted)
    }

    fn expect(&self, mv: usize, of: impl Fn(&Cell) -> f64) -> f64 {
        let cells = self.row(mv).iter().zip(&self.weights).filter(|(cell, _)| cell.n > 0);
        cells.map(|(cell, weight)| weight * of(cell) / cell.n as f64).sum()
    }

    /// Standard error of a move's mean, as far as the simulations themselves tell: none if each cell was tried once.
    pub(crate) fn stderr(&self, mv: usize) -> f64 {
        let cells = self.row(mv).iter().zip(&self.weights).filter(|(cell, _)| cell.n > 1);
        let variance = |(cell, weight): (&Cell, &f64)| {
            let n = cell.n as f64;
            let mean = cell.points / n;
            weight * weight * ((cell.squares / n - mean * mean).max(0.0) / (n - 1.0))
        };
        // The sum of nothing is a negative zero.
        (cells.map(variance).sum::<f64>() + 0.0).sqrt()
    }

    /// The moves by value, best first; of equal ones first those whose points come sooner, then in an order that the seed gives.
    pub(crate) fn ranking(&self, seed: Seed) -> Vec<usize> {
        let mut rng = seed.child("ties").rng();
        let rank = |mv| {
            (
                to_a_millionth(self.value(mv)),
                to_a_millionth(self.expect(mv, |cell| cell.hastened)),
            )
        };
        let mut order: Vec<(usize, (f64, f64), u64)> =
            (0..self.n_moves()).map(|mv| (mv, rank(mv), rng.bits())).collect();
        order.sort_by(|(_, a, lot_a), (_, b, lot_b)| {
            let by_value = b.0.total_cmp(&a.0);
            by_value.then(b.1.total_cmp(&a.1)).then(lot_a.cmp(lot_b))
        });
        order.into_iter().map(|(mv, _, _)| mv).collect()
    }

    /// What the moves of a ranking are worth, undiscounted.
    pub(crate) fn worths(&self, ranking: &[usize]) -> Vec<Worth> {
        let worth = |&mv: &usize| Worth {
            mv: self.moves[mv],
            mean: self.expect(mv, |cell| cell.points),
            stderr: self.stderr(mv),
            visits: self.row(mv).iter().map(|cell| cell.n).sum(),
        };
        ranking.iter().map(worth).collect()
    }
}

/// Rounded, because differences that come from the order of summation mean nothing.
pub(crate) fn to_a_millionth(x: f64) -> f64 {
    (x * 1e6).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_moves_the_quicker_comes_first() {
        let legal = [[MoveId(0), MoveId(1), MoveId(2)]];
        for seed in 0..8 {
            let mut tallies = Tallies::new(vec![1.0], &legal).unwrap();
            let samples = [(50, 1), (100, 9), (100, 3)];
            for (mv, (points, rounds)) in samples.into_iter().enumerate() {
                tallies.add(mv, 0, Sample { points, rounds }, 1.0);
            }
            // Points count first, however long they take.
            assert_eq!(tallies.ranking(Seed(seed)), [2, 1, 0]);
        }
    }
}
