//! How many threads work on a game.

/// How many threads work on a game, and from which size on. Results do not depend on either, to the bit.
///
/// Threads build the tree and its form, and compute NashConv and best responses. An iteration of a solver runs on one
/// thread.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// Number of threads.
    pub n: usize,
    /// Histories that one thread plays out before the others join in.
    pub histories: u64,
    /// Rows of the form from which on several threads build it. NashConv needs four times as many.
    pub rows: usize,
}

impl Threads {
    /// So many threads, on games that are large enough to gain by them.
    pub fn new(n: usize) -> Threads {
        Threads {
            n: n.max(1),
            histories: 20_000,
            rows: 60_000,
        }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Threads::new(1)
    }
}
