//! Two-player zero-sum games in one move, exactly.
//!
//! The row player picks a row and wants much, the column player picks a column and wants little. The value and an
//! optimal mixture for each are the solution of a linear program and its dual (Dantzig 1951), found by the simplex
//! method on a dense table. Payoffs are scaled to lie between 1 and 2, which makes the program feasible from the start
//! and its value positive. The largest coefficient enters the basis; should that go on for long, the smallest index
//! does (Bland 1977), which cannot cycle.

/// What optimal play is worth, and how it mixes.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixEquilibrium {
    /// What the row player gets.
    pub value: f64,
    /// How often each row is played.
    pub rows: Vec<f64>,
    /// How often each column is played.
    pub columns: Vec<f64>,
}

/// Coefficients smaller than this are zero.
const TINY: f64 = 1e-10;

/// Solves a game with this many columns, given row by row. A game without moves has the value 0.
pub fn solve(payoffs: &[f64], n_columns: usize) -> MatrixEquilibrium {
    let n_rows = payoffs.len().checked_div(n_columns).unwrap_or(0);
    if n_rows == 0 || payoffs.iter().any(|p| !p.is_finite()) {
        return MatrixEquilibrium {
            value: 0.0,
            rows: vec![1.0 / n_rows.max(1) as f64; n_rows],
            columns: vec![1.0 / n_columns.max(1) as f64; n_columns],
        };
    }
    let least = payoffs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if most > least { most - least } else { 1.0 };
    let scaled = |p: &f64| 1.0 + (p - least) / range;
    let mut table = Tableau::new(payoffs.iter().map(scaled), n_rows, n_columns);
    table.optimise();
    let total = table.objective();
    let columns = normal((0..n_columns).map(|c| table.primal(c)));
    let rows = normal((0..n_rows).map(|r| table.dual(r)));
    MatrixEquilibrium {
        value: least + (1.0 / total - 1.0) * range,
        rows,
        columns,
    }
}

fn normal(parts: impl Iterator<Item = f64>) -> Vec<f64> {
    let parts: Vec<f64> = parts.map(|p| p.max(0.0)).collect();
    let total: f64 = parts.iter().sum();
    parts.iter().map(|p| p / total).collect()
}

/// The tableau of the simplex method: maximise the sum of `y` where `A y <= 1` and `y >= 0`. One row for each
/// constraint with its slack variable, and a last row for the objective; the last column is the right side.
struct Tableau {
    cells: Vec<f64>,
    width: usize,
    n_rows: usize,
    n_columns: usize,
    /// The variable of each row.
    basis: Vec<usize>,
}

impl Tableau {
    fn new(payoffs: impl Iterator<Item = f64>, n_rows: usize, n_columns: usize) -> Tableau {
        let width = n_columns + n_rows + 1;
        let mut cells = vec![0.0; width * (n_rows + 1)];
        for (at, payoff) in payoffs.enumerate() {
            cells[at / n_columns * width + at % n_columns] = payoff;
        }
        for row in 0..n_rows {
            cells[row * width + n_columns + row] = 1.0;
            cells[row * width + width - 1] = 1.0;
        }
        cells[n_rows * width..n_rows * width + n_columns].fill(-1.0);
        Tableau {
            cells,
            width,
            n_rows,
            n_columns,
            basis: (n_columns..n_columns + n_rows).collect(),
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.width + column]
    }

    fn objective(&self) -> f64 {
        self.at(self.n_rows, self.width - 1)
    }

    fn primal(&self, column: usize) -> f64 {
        let row = self.basis.iter().position(|&b| b == column);
        row.map_or(0.0, |row| self.at(row, self.width - 1))
    }

    fn dual(&self, row: usize) -> f64 {
        self.at(self.n_rows, self.n_columns + row)
    }

    fn optimise(&mut self) {
        let patience = 50 * self.width;
        // Bland's rule terminates; the limit guards against rounding errors.
        for step in 0..20 * patience {
            let Some(column) = self.entering(step > patience) else {
                return;
            };
            let Some(row) = self.leaving(column) else {
                return;
            };
            self.pivot(row, column);
        }
    }

    fn entering(&self, smallest_index: bool) -> Option<usize> {
        let costs = &self.cells[self.n_rows * self.width..][..self.width - 1];
        let mut negative = costs.iter().enumerate().filter(|(_, cost)| **cost < -TINY);
        match smallest_index {
            true => negative.next().map(|(at, _)| at),
            false => negative.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at),
        }
    }

    fn leaving(&self, column: usize) -> Option<usize> {
        let ratio = |row: usize| self.at(row, self.width - 1) / self.at(row, column);
        let rows = (0..self.n_rows).filter(|&row| self.at(row, column) > TINY);
        rows.min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(self.basis[a].cmp(&self.basis[b])))
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let width = self.width;
        let by = self.at(row, column);
        self.cells[row * width..(row + 1) * width]
            .iter_mut()
            .for_each(|c| *c /= by);
        let pivot: Vec<f64> = self.cells[row * width..(row + 1) * width].to_vec();
        for other in (0..=self.n_rows).filter(|&other| other != row) {
            let factor = self.at(other, column);
            if factor != 0.0 {
                let cells = &mut self.cells[other * width..(other + 1) * width];
                cells.iter_mut().zip(&pivot).for_each(|(cell, p)| *cell -= factor * p);
            }
        }
        self.basis[row] = column;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(payoffs: &[f64], n_columns: usize, value: f64, rows: &[f64], columns: &[f64]) {
        let found = solve(payoffs, n_columns);
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!((found.value - value).abs() < 1e-9, "{found:?}");
        assert!(close(&found.rows, rows) && close(&found.columns, columns), "{found:?}");
    }

    #[test]
    fn matching_pennies() {
        check(&[100.0, 0.0, 0.0, 100.0], 2, 50.0, &[0.5; 2], &[0.5; 2]);
        // Matching with heads counts three times: heads is shown a quarter of the time.
        check(
            &[3.0, -1.0, -1.0, 1.0],
            2,
            1.0 / 3.0,
            &[1.0 / 3.0, 2.0 / 3.0],
            &[1.0 / 3.0, 2.0 / 3.0],
        );
    }

    #[test]
    fn scissors_paper_rock() {
        check(
            &[0.0, 1.0, -1.0, -1.0, 0.0, 1.0, 1.0, -1.0, 0.0],
            3,
            0.0,
            &[1.0 / 3.0; 3],
            &[1.0 / 3.0; 3],
        );
        // Games with scissors count double.
        let double = [50.0, 100.0, 0.0, 0.0, 50.0, 75.0, 100.0, 25.0, 50.0];
        check(&double, 3, 50.0, &[0.2, 0.4, 0.4], &[0.2, 0.4, 0.4]);
        // Only wins with scissors count double.
        let wins = [50.0, 100.0, 25.0, 0.0, 50.0, 75.0, 75.0, 25.0, 50.0];
        check(&wins, 3, 50.0, &[0.25, 0.25, 0.5], &[0.25, 0.25, 0.5]);
    }

    #[test]
    fn dominated_moves_are_not_played() {
        check(&[2.0, 3.0, 1.0, 0.0], 2, 2.0, &[1.0, 0.0], &[1.0, 0.0]);
        check(&[5.0, 5.0, 5.0, 4.0, 1.0, 9.0], 3, 5.0, &[1.0, 0.0], &[1.0, 0.0, 0.0]);
        check(&[7.0], 1, 7.0, &[1.0], &[1.0]);
        check(&[1.0, 2.0, 3.0], 1, 3.0, &[0.0, 0.0, 1.0], &[1.0]);
        check(&[1.0, 2.0, 3.0], 3, 1.0, &[1.0], &[1.0, 0.0, 0.0]);
    }

    #[test]
    fn nothing_to_solve() {
        assert_eq!(solve(&[], 0).value, 0.0);
        assert_eq!(solve(&[50.0; 4], 2).value, 50.0);
    }

    /// No player gains by deviating from the equilibrium, on random games of many shapes.
    #[test]
    fn random_games_leave_nothing_to_gain() {
        let mut rng = game::Seed(5).rng();
        for _ in 0..300 {
            let (m, n) = (1 + rng.below(12), 1 + rng.below(12));
            let levels = 1 + rng.below(100);
            let payoffs: Vec<f64> = (0..m * n).map(|_| rng.below(levels + 1) as f64).collect();
            let found = solve(&payoffs, n);
            for row in 0..m {
                let gain: f64 = (0..n).map(|c| payoffs[row * n + c] * found.columns[c]).sum();
                assert!(gain <= found.value + 1e-6, "{payoffs:?} {found:?}");
            }
            for column in 0..n {
                let gain: f64 = (0..m).map(|r| payoffs[r * n + column] * found.rows[r]).sum();
                assert!(gain >= found.value - 1e-6, "{payoffs:?} {found:?}");
            }
        }
    }
}
