//! Where outputs are kept, packed into words.

use crate::network::{Network, Signal};

/// The places of outputs among the words of one engine.
#[derive(Debug)]
pub(super) struct Words {
    /// The first word of each role's legal moves, and how many there are.
    pub legal: Vec<(usize, usize)>,
    /// The word of terminal.
    pub terminal: usize,
    /// The first word of the next state.
    pub next: usize,
    /// The first word of each role's percepts, and how many there are.
    pub sees: Vec<(usize, usize)>,
    /// How many there are in all.
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

    /// Every output bit and its signal.
    pub fn each_output(&self, net: &Network, mut f: impl FnMut(usize, Signal)) {
        let mut row = |first: usize, row: &[Signal]| row.iter().enumerate().for_each(|(at, &s)| f(first * 64 + at, s));
        for (place, signals) in self.legal.iter().zip(&net.outputs.legal) {
            row(place.0, signals);
        }
        row(self.terminal, &[net.outputs.terminal]);
        row(self.next, &net.outputs.next);
        for (place, signals) in self.sees.iter().zip(&net.outputs.sees) {
            row(place.0, signals);
        }
    }
}
