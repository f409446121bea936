//! The layout of a frame: cells of one vector each.

use crate::network::Network;

/// Random vectors that one choice consumes.
pub const RANDOM_BITS: u32 = 16;

/// Cells of a frame. The first two are the constants.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The present state, per fluent.
    pub state: u32,
    /// The state to start again from, per fluent.
    pub root: u32,
    /// Successor state, per fluent.
    pub next: u32,
    /// Moves made, per role: the first cell of its moves.
    pub does: Vec<u32>,
    /// Legal moves, per role: the first cell of its moves.
    pub legal: Vec<u32>,
    /// Percepts, per role: the first cell.
    pub sees: Vec<u32>,
    /// Goals, per role: the first cell.
    pub goals: Vec<u32>,
    /// The game is over.
    pub terminal: u32,
    /// Some role has no legal move though the game is not over.
    pub stuck: u32,
    /// Lanes whose playout has just ended.
    pub ended: u32,
    /// Lanes to which an operation is restricted.
    pub mask: u32,
    /// Random vectors, [`RANDOM_BITS`] per role.
    pub random: u32,
    /// Cycle atoms while they settle.
    pub cycles: u32,
    /// Cycle atoms of the successor state while they settle.
    pub cycles_after: u32,
    /// Number of cells before scratch space.
    pub len: u32,
}

/// The cell of all zeros.
pub const ZERO: u32 = 0;
/// The cell of all ones.
pub const ONE: u32 = 1;

impl Layout {
    /// The layout of a network's frame. Cells that playouts use come first.
    pub fn new(net: &Network) -> Layout {
        let mut at = 2;
        let mut take = |n: usize| {
            let start = at;
            at += n as u32;
            start
        };
        let n_moves = net.n_moves();
        let out = &net.outputs;
        Layout {
            terminal: take(1),
            stuck: take(1),
            ended: take(1),
            mask: take(1),
            random: take(n_moves.len() * RANDOM_BITS as usize),
            goals: out.goals.iter().map(|row| take(row.len())).collect(),
            state: take(net.n_fluents()),
            cycles: take(net.cycles().len()),
            cycles_after: take(net.cycles().len()),
            root: take(net.n_fluents()),
            next: take(net.n_fluents()),
            does: n_moves.iter().map(|&n| take(n)).collect(),
            legal: n_moves.iter().map(|&n| take(n)).collect(),
            sees: out.sees.iter().map(|row| take(row.len())).collect(),
            len: at,
        }
    }
}
