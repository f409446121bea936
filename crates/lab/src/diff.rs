//! Two folders of results compared, cell by cell.
//!
//! Cells are the same if they have the same game, the same players and the same values of all variables; the contents
//! of files may differ, for that is what is often compared. Matches of equal number and seed are compared in pairs,
//! where both folders have them (common random numbers); other samples by Welch's test. As many cells are tested, the
//! values of p are adjusted by Holm's method (*Scandinavian Journal of Statistics* 6, 1979).

use crate::claims::label;
use crate::stats::{self, Interval, Test};
use crate::summary::CellSummary;

/// The difference of a cell in two folders.
pub struct CellDifference {
    /// The cell in words.
    pub label: String,
    /// The game.
    pub game: String,
    /// The players.
    pub players: Vec<String>,
    /// The value in the first folder.
    pub before: Interval,
    /// The value in the second folder.
    pub after: Interval,
    /// Second minus first.
    pub difference: Interval,
    /// Probability of a difference at least as large if there is none; none if it cannot be said.
    pub p: Option<f64>,
    /// The same, adjusted for the number of cells.
    pub adjusted: Option<f64>,
}

impl CellDifference {
    /// Whether the difference is significant at this level, all cells considered.
    pub fn is_significant(&self, level: f64) -> bool {
        self.adjusted.is_some_and(|p| p < 1.0 - level)
    }
}

/// The cells of two folders that are the same, and how many cells only one of them has.
pub struct Comparison {
    /// Cells that both have.
    pub cells: Vec<CellDifference>,
    /// Labels of cells that only the first has.
    pub only_before: Vec<String>,
    /// Labels of cells that only the second has.
    pub only_after: Vec<String>,
}

/// Compares a measured value of all cells.
pub fn compare(before: &[CellSummary<'_>], after: &[CellSummary<'_>], measure: &str, level: f64) -> Comparison {
    let same = |a: &CellSummary<'_>, b: &CellSummary<'_>| {
        let (a, b) = (a.cell, b.cell);
        a.game == b.game && a.players == b.players && a.vars == b.vars && a.swap == b.swap
    };
    let alone = |from: &[CellSummary<'_>], other: &[CellSummary<'_>]| {
        let missing = from.iter().filter(|a| !other.iter().any(|b| same(a, b)));
        missing.map(|a| label(a.cell)).collect()
    };
    let mut cells = Vec::new();
    for first in before {
        let Some(second) = after.iter().find(|second| same(first, second)) else {
            continue;
        };
        let (Some(old), Some(new)) = (first.value(measure), second.value(measure)) else {
            continue;
        };
        let test = second.test_against(first, measure, level);
        cells.push(CellDifference {
            label: label(first.cell),
            game: first.cell.game.clone(),
            players: first.cell.players.clone(),
            before: old,
            after: new,
            difference: test.map_or_else(|| new.minus(&old), |test: Test| test.difference),
            p: test.and_then(|test| test.p),
            adjusted: None,
        });
    }
    let adjusted = stats::holm(&cells.iter().map(|cell| cell.p).collect::<Vec<_>>());
    cells.iter_mut().zip(adjusted).for_each(|(cell, p)| cell.adjusted = p);
    Comparison {
        cells,
        only_before: alone(before, after),
        only_after: alone(after, before),
    }
}
