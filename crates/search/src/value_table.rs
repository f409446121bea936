//! Mean payoffs of moves over weighted models: the table by which `hp`, `hp2`, their inner players and `mc` compare
//! moves.
//!
//! The table has a row for every move that is legal in some model and a column for each model. A cell counts the games
//! that began with its move in its model. The value of a move is the expectation over the models; a move counts zero in
//! a model in which it is illegal.

use crate::perfect::{Worth, widest};
use crate::pruning::DISCOUNT;
use game::{MoveId, Rng, Seed};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// One simulated game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Our payoff.
    pub points: u8,
    /// Rounds from the decision to the end of the game.
    pub rounds: u64,
}

/// Games of one move in one model.
#[derive(Clone, Copy, Default)]
struct Cell {
    legal: bool,
    n: u64,
    points: f64,
    squares: f64,
    /// Sum of payoffs, discounted as the player asks.
    discounted: f64,
    /// Sum of payoffs, discounted in any case: breaks ties between equal moves in favour of the faster one.
    hastened: f64,
}

/// Payoffs by move and model.
pub(crate) struct ValueTable {
    /// In ascending order.
    moves: Vec<MoveId>,
    /// Weights of the models; they sum to one.
    weights: Vec<f64>,
    /// Row by row.
    cells: Vec<Cell>,
}

impl ValueTable {
    /// An empty table for models with these weights and legal moves. None if there is no legal move at all.
    pub(crate) fn new<L: AsRef<[MoveId]>>(mut weights: Vec<f64>, legal: &[L]) -> Option<ValueTable> {
        let all = legal.iter().flat_map(|l| l.as_ref()).map(|&mv| (mv, 0));
        let mut rows: BTreeMap<MoveId, usize> = all.collect();
        rows.values_mut().enumerate().for_each(|(number, row)| *row = number);
        let mut cells = vec![Cell::default(); rows.len() * weights.len()];
        for (model, legal) in legal.iter().enumerate() {
            for mv in legal.as_ref() {
                cells[rows[mv] * weights.len() + model].legal = true;
            }
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        (!rows.is_empty()).then(|| ValueTable {
            moves: rows.into_keys().collect(),
            weights,
            cells,
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

    /// Cells in which a game can be played.
    pub(crate) fn n_legal(&self) -> usize {
        self.cells.iter().filter(|cell| cell.legal).count()
    }

    fn row(&self, mv: usize) -> &[Cell] {
        &self.cells[mv * self.weights.len()..][..self.weights.len()]
    }

    fn cell_mut(&mut self, mv: usize, model: usize) -> &mut Cell {
        &mut self.cells[mv * self.weights.len() + model]
    }

    /// Adds a game whose length is known.
    pub(crate) fn add(&mut self, mv: usize, model: usize, sample: Sample, discount: f64) {
        let cell = self.cell_mut(mv, model);
        let points = f64::from(sample.points);
        cell.n += 1;
        cell.points += points;
        cell.squares += points * points;
        let rounds = sample.rounds.min(10_000) as i32;
        cell.discounted += points * discount.powi(rounds);
        cell.hastened += points * DISCOUNT.powi(rounds);
    }

    /// Adds the totals of playouts, of which only the sum of payoffs is known. Such a table is ranked by
    /// [`worths_by_mean`](ValueTable::worths_by_mean).
    pub(crate) fn add_playouts(&mut self, mv: usize, model: usize, playouts: u64, points: u64) {
        let cell = self.cell_mut(mv, model);
        cell.n += playouts;
        cell.points += points as f64;
    }

    /// Leaves out models in which some legal move was not tried, if any model is complete: when time runs out, moves
    /// are compared in the same models.
    pub(crate) fn keep_complete(&mut self) {
        let complete =
            |model: usize| (0..self.n_moves()).all(|mv| self.row(mv)[model].n > 0 || !self.is_legal(mv, model));
        let keep: Vec<bool> = (0..self.n_models()).map(complete).collect();
        if keep.contains(&true) && keep.contains(&false) {
            let kept = self.weights.iter().zip(&keep).map(|(w, &k)| if k { *w } else { 0.0 });
            let total: f64 = kept.clone().sum();
            self.weights = kept.map(|w| w / total).collect();
        }
    }

    /// The value by which moves are compared: discounted; zero in models in which the move is illegal.
    pub(crate) fn value(&self, mv: usize) -> f64 {
        self.expect(mv, |cell| cell.discounted)
    }

    fn expect(&self, mv: usize, of: impl Fn(&Cell) -> f64) -> f64 {
        let cells = self.row(mv).iter().zip(&self.weights).filter(|(cell, _)| cell.n > 0);
        let sum: f64 = cells.map(|(cell, weight)| weight * of(cell) / cell.n as f64).sum();
        sum / self.known_share(mv)
    }

    /// The weight of the models in which the value of a move is known: it was tried there, or it is illegal. Less than
    /// 1 only if time ran out, or for moves that were not tried at all, whose share is taken as 1.
    fn known_share(&self, mv: usize) -> f64 {
        if self.visits(mv) == 0 {
            return 1.0;
        }
        let unknown = self.row(mv).iter().zip(&self.weights);
        let unknown = unknown.filter(|(cell, _)| cell.legal && cell.n == 0);
        1.0 - unknown.map(|(_, weight)| weight).fold(0.0, |sum, weight| sum + weight)
    }

    fn visits(&self, mv: usize) -> u64 {
        self.row(mv).iter().map(|cell| cell.n).sum()
    }

    /// Standard error of a move's mean, estimated from the samples: zero if each cell was tried once.
    pub(crate) fn stderr(&self, mv: usize) -> f64 {
        let cells = self.row(mv).iter().zip(&self.weights).filter(|(cell, _)| cell.n > 1);
        let variance = |(cell, weight): (&Cell, &f64)| {
            let n = cell.n as f64;
            let mean = cell.points / n;
            weight * weight * ((cell.squares / n - mean * mean).max(0.0) / (n - 1.0))
        };
        // An empty sum is a negative zero.
        (cells.map(variance).sum::<f64>() + 0.0).sqrt()
    }

    /// The moves by discounted value, best first. Ties go to the move whose points come sooner, then by lot.
    pub(crate) fn ranking(&self, seed: Seed) -> Vec<usize> {
        let rank = |mv| {
            let hastened = self.expect(mv, |cell| cell.hastened);
            (mv, to_a_millionth(self.value(mv)), to_a_millionth(hastened))
        };
        let ranked = best_first(
            (0..self.n_moves()).map(rank),
            &mut seed.child("ties").rng(),
            |(_, value_a, hastened_a), (_, value_b, hastened_b)| {
                value_b.total_cmp(value_a).then(hastened_b.total_cmp(hastened_a))
            },
        );
        ranked.into_iter().map(|(mv, _, _)| mv).collect()
    }

    /// Undiscounted values of the moves of a ranking, with standard errors estimated from the samples.
    pub(crate) fn worths(&self, ranking: &[usize]) -> Vec<Worth> {
        let worth = |&mv: &usize| Worth {
            mv: self.moves[mv],
            mean: self.expect(mv, |cell| cell.points),
            stderr: self.stderr(mv),
            visits: self.visits(mv),
        };
        ranking.iter().map(worth).collect()
    }

    /// The moves by mean payoff, best first, ties by lot. Standard errors are the widest that the means allow.
    pub(crate) fn worths_by_mean(&self, seed: Seed) -> Vec<Worth> {
        let worths = (0..self.n_moves()).map(|mv| self.worth_by_mean(mv));
        best_first(worths, &mut seed.child("ties").rng(), by_mean)
    }

    fn worth_by_mean(&self, mv: usize) -> Worth {
        let (mut mean, mut variance) = (0.0, 0.0);
        for (cell, weight) in self.row(mv).iter().zip(&self.weights).filter(|(cell, _)| cell.n > 0) {
            let n = cell.n as f64;
            // Not `expect`: `hp` breaks ties between exact means, and the order of the operations decides the last bit.
            let m = cell.points / n;
            mean += weight * m;
            variance += (weight * widest(m, n)).powi(2);
        }
        let share = self.known_share(mv);
        Worth {
            mv: self.moves[mv],
            mean: mean / share,
            stderr: variance.sqrt() / share,
            visits: self.visits(mv),
        }
    }
}

/// Items in order, with ties broken by lot: each item draws 64 bits, in the order in which the items come.
pub(crate) fn best_first<T>(
    items: impl Iterator<Item = T>,
    rng: &mut Rng,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Vec<T> {
    let mut drawn: Vec<(T, u64)> = items.map(|item| (item, rng.bits())).collect();
    drawn.sort_by(|(a, lot_a), (b, lot_b)| compare(a, b).then(lot_a.cmp(lot_b)));
    drawn.into_iter().map(|(item, _)| item).collect()
}

/// The order of moves by mean payoff, best first.
pub(crate) fn by_mean(a: &Worth, b: &Worth) -> Ordering {
    b.mean.total_cmp(&a.mean)
}

/// Rounded to a millionth, because smaller differences come from the order of summation.
pub(crate) fn to_a_millionth(x: f64) -> f64 {
    (x * 1e6).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_faster_move() {
        let legal = [[MoveId(0), MoveId(1), MoveId(2)]];
        for seed in 0..8 {
            let mut table = ValueTable::new(vec![1.0], &legal).unwrap();
            let samples = [(50, 1), (100, 9), (100, 3)];
            for (mv, (points, rounds)) in samples.into_iter().enumerate() {
                table.add(mv, 0, Sample { points, rounds }, 1.0);
            }
            // Points count first, however long they take.
            assert_eq!(table.ranking(Seed(seed)), [2, 1, 0]);
        }
    }

    #[test]
    fn lots_break_ties_only() {
        let mut rng = Seed(1).rng();
        let mut firsts = [0; 3];
        for _ in 0..300 {
            let order = best_first([(0, 7), (1, 9), (2, 9)].into_iter(), &mut rng, |a, b| b.1.cmp(&a.1));
            assert_eq!(order[2], (0, 7));
            firsts[order[0].0] += 1;
        }
        assert!(firsts[1] > 100 && firsts[2] > 100, "{firsts:?}");
    }

    #[test]
    fn without_a_complete_model_moves_are_valued_where_they_were_tried() {
        let legal = [[MoveId(0), MoveId(1)]; 2];
        let mut table = ValueTable::new(vec![0.75, 0.25], &legal).unwrap();
        table.add_playouts(0, 1, 2, 160);
        table.add_playouts(1, 0, 2, 120);
        table.keep_complete();
        let means = table.worths_by_mean(Seed(0)).into_iter().map(|w| w.mean);
        assert_eq!(means.collect::<Vec<_>>(), [80.0, 60.0]);
    }

    #[test]
    fn illegal_moves_count_zero() {
        let legal: [&[MoveId]; 2] = [&[MoveId(3), MoveId(5)], &[MoveId(5)]];
        let mut table = ValueTable::new(vec![3.0, 1.0], &legal).unwrap();
        assert_eq!((table.n_moves(), table.n_legal()), (2, 3));
        table.add_playouts(0, 0, 4, 400);
        table.add_playouts(1, 0, 4, 200);
        table.add_playouts(1, 1, 4, 400);
        let worths = table.worths_by_mean(Seed(0));
        let means: Vec<(u32, f64, u64)> = worths.iter().map(|w| (w.mv.0, w.mean, w.visits)).collect();
        assert_eq!(means, [(3, 75.0, 4), (5, 62.5, 8)]);
        assert!(ValueTable::new(vec![1.0], &[Vec::new()]).is_none());
    }
}
