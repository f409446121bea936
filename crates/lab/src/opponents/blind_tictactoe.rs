//! Blind tic-tac-toe by hand, for the even and the biased game (Partridge and Thielscher, 2022, tables 2 and 3).
//!
//! The paper only says that its opponent is strong and does not adapt. This player plays for its own open lines. A line
//! is open while no cell on it was refused, since a refused cell belongs to the other side. The player marks the cell
//! whose best open line has most of its own marks. Ties go to the centre, then to corners, then to sides, then to
//! chance.

use game::{Budget, Decision, Fault, Meter, Player, Seed, Told};

/// Cells are numbered by rows, 0 to 8.
const LINES: [[usize; 3]; 8] = [
    [0, 1, 2],
    [3, 4, 5],
    [6, 7, 8],
    [0, 3, 6],
    [1, 4, 7],
    [2, 5, 8],
    [0, 4, 8],
    [2, 4, 6],
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CellState {
    #[default]
    Untried,
    Mine,
    Theirs,
}

/// A player of blind tic-tac-toe.
pub struct BlindTictactoe {
    seed: Seed,
}

impl BlindTictactoe {
    /// A player with this seed.
    pub fn new(seed: Seed) -> BlindTictactoe {
        BlindTictactoe { seed }
    }
}

impl Player for BlindTictactoe {
    fn choose(&mut self, told: &[Told], _: &Budget) -> Result<Decision, Fault> {
        let board = board(told);
        let wish = |&cell: &usize| (progress(&board, cell), place(cell));
        let untried: Vec<usize> = (0..9).filter(|&c| board[c] == CellState::Untried).collect();
        let best = untried.iter().map(wish).max();
        let best: Vec<usize> = untried.into_iter().filter(|c| Some(wish(c)) == best).collect();
        if best.is_empty() {
            return Err(Fault::player("every cell was tried"));
        }
        let cell = *self.seed.nth(told.len() as u64).rng().pick(&best);
        Ok(Decision::plain(format!("(mark {} {})", cell / 3 + 1, cell % 3 + 1)))
    }

    fn meter(&self) -> Meter {
        Meter::default()
    }
}

/// The cells as the player knows them.
fn board(told: &[Told]) -> [CellState; 9] {
    let mut board = [CellState::default(); 9];
    for round in told {
        if let Some(cell) = place_of("(mark ", &round.own) {
            let got_it = round.sees.iter().any(|p| p == "yes");
            board[cell] = if got_it { CellState::Mine } else { CellState::Theirs };
        }
        // Where only free cells are legal, everybody is told which cells are taken.
        for cell in round.sees.iter().filter_map(|p| place_of("(taken ", p)) {
            if board[cell] == CellState::Untried {
                board[cell] = CellState::Theirs;
            }
        }
    }
    board
}

/// The cell of `(mark X Y)` or `(taken X Y)`, by the text before the numbers.
fn place_of(before: &str, text: &str) -> Option<usize> {
    let (x, y) = text.strip_prefix(before)?.strip_suffix(')')?.split_once(' ')?;
    let index = |t: &str| t.parse().ok().filter(|i| (1..=3).contains(i));
    let (x, y): (usize, usize) = (index(x)?, index(y)?);
    Some(3 * (x - 1) + y - 1)
}

/// Own marks on the best open line through a cell, plus one; 0 if no line is open.
fn progress(board: &[CellState; 9], cell: usize) -> usize {
    let open = |line: &&[usize; 3]| line.contains(&cell) && line.iter().all(|&c| board[c] != CellState::Theirs);
    let marks = |line: &[usize; 3]| 1 + line.iter().filter(|&&c| board[c] == CellState::Mine).count();
    LINES.iter().filter(open).map(marks).max().unwrap_or(0)
}

/// Rank of a cell: the centre before corners before sides.
fn place(cell: usize) -> u8 {
    match cell {
        4 => 2,
        0 | 2 | 6 | 8 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opponents::testing::{chosen, told};

    #[test]
    fn taken_cells_that_are_told_are_remembered() {
        let rounds = [told("(mark 2 2)", &["yes", "(taken 1 1)", "(taken 2 2)"])];
        for seed in 0..50 {
            let choice = chosen(&mut BlindTictactoe::new(Seed(seed)), &rounds);
            assert!(["(mark 1 3)", "(mark 3 1)"].contains(&choice.as_str()), "{choice}");
        }
    }

    #[track_caller]
    fn check(rounds: &[(&str, &str)], expected: &[&str]) {
        let told: Vec<Told> = rounds.iter().map(|(own, sees)| told(own, &[sees])).collect();
        let mut seen: Vec<String> = (0..200)
            .map(|seed| chosen(&mut BlindTictactoe::new(Seed(seed)), &told))
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen, expected);
    }

    #[test]
    fn centre_then_corners() {
        check(&[], &["(mark 2 2)"]);
        let corners = ["(mark 1 1)", "(mark 1 3)", "(mark 3 1)", "(mark 3 3)"];
        check(&[("(mark 2 2)", "yes")], &corners);
        check(&[("(mark 2 2)", "no")], &corners);
    }

    #[test]
    fn lines_are_finished_and_lost_cells_remembered() {
        check(&[("(mark 2 2)", "yes"), ("(mark 1 1)", "yes")], &["(mark 3 3)"]);
        // The diagonal is lost; the corner and the centre have other lines.
        let lost = [("(mark 2 2)", "yes"), ("(mark 1 1)", "yes"), ("(mark 3 3)", "no")];
        check(&lost, &["(mark 1 3)", "(mark 3 1)"]);
        let side = [("(mark 2 2)", "no"), ("(mark 1 1)", "yes"), ("(mark 1 3)", "no")];
        check(&side, &["(mark 3 1)"]);
    }
}
