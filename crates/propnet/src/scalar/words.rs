//! The places of outputs among the words of an evaluation.

use crate::network::{Network, Signal};

/// The places of outputs among the words of an evaluation.
#[derive(Debug)]
pub(super) struct Words {
    /// The first word of each role's legal moves, and the number of words.
    pub legal: Vec<(usize, usize)>,
    /// The word of terminal.
    pub terminal: usize,
    /// The first word of the next state.
    pub next: usize,
    /// The first word of each role's percepts, and the number of words.
    pub sees: Vec<(usize, usize)>,
    /// Number of words.
    pub len: usize,
}

impl Words {
    /// The places of a network's outputs.
    pub fn new(net: &Network) -> Words {
        let mut len = 0;
        let mut place = |n: usize| {
            let first = len;
            len += n.div_ceil(64);
            (first, n.div_ceil(64))
        };
        let out = &net.outputs;
        Words {
            legal: out.legal.iter().map(|row| place(row.len())).collect(),
            terminal: place(1).0,
            next: place(out.next.len()).0,
            sees: out.sees.iter().map(|row| place(row.len())).collect(),
            len,
        }
    }

    /// The word that says, per case of the guards, whether the state is terminal: a last row of legal moves, which
    /// [`Guards::split`](super::guards::Guards::split) adds.
    #[inline(always)]
    pub fn ends(&self) -> usize {
        self.legal[self.legal.len() - 1].0
    }

    /// Every output bit and its signal.
    pub fn each_output(&self, net: &Network, mut f: impl FnMut(usize, Signal)) {
        let outputs = self.each_state(net).into_iter().chain(self.each_made(net));
        outputs.for_each(|(bit, s)| f(bit, s));
    }

    /// Output bits that depend on the state alone, and their signals.
    pub fn each_state(&self, net: &Network) -> Vec<(usize, Signal)> {
        let legal = self.legal.iter().zip(&net.outputs.legal);
        let mut bits: Vec<(usize, Signal)> = legal.flat_map(|(place, signals)| row(place.0, signals)).collect();
        bits.push((self.terminal * 64, net.outputs.terminal));
        bits
    }

    /// Output bits that depend on the moves made, and their signals: the next state first, fluent by fluent.
    pub fn each_made(&self, net: &Network) -> Vec<(usize, Signal)> {
        let sees = self.sees.iter().zip(&net.outputs.sees);
        row(self.next, &net.outputs.next)
            .chain(sees.flat_map(|(place, signals)| row(place.0, signals)))
            .collect()
    }
}

fn row(first: usize, signals: &[Signal]) -> impl Iterator<Item = (usize, Signal)> + '_ {
    signals.iter().enumerate().map(move |(at, &s)| (first * 64 + at, s))
}
