//! Guards: literals that are left out of legal moves, and looked at when those are read.

use crate::guard::best_guard;
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::{apply, needed};

/// A literal that all of some moves need, usually whose turn it is. It is left out of their gates, which would all
/// change with every turn, and looked at when legal moves are read.
#[derive(Debug)]
pub(super) struct Guard {
    /// The fluent, and the value it must have.
    pub fluent: u32,
    pub value: bool,
    /// The moves that need it, packed.
    pub moves: Vec<u64>,
}

impl Guard {
    /// Whether the moves that need it may be legal in a state.
    #[inline(always)]
    pub fn is_open(&self, state: &[u64]) -> bool {
        (state[self.fluent as usize / 64] >> (self.fluent % 64) & 1 == 1) == self.value
    }
}

/// A guard of fewer moves is not worth the trouble.
const FEWEST_GUARDED: usize = 12;

/// Finds a role's guard, and takes it out of the legal moves that need it.
pub(super) fn split_guards(net: &mut Network) -> Vec<Option<Guard>> {
    (0..net.outputs.legal.len())
        .map(|role| {
            let row = net.outputs.legal[role].clone();
            let (literal, members) = best_guard(net, &row).filter(|(_, m)| m.len() >= FEWEST_GUARDED)?;
            let image = assume(net, &row, literal);
            let mut moves = vec![0_u64; row.len().div_ceil(64)];
            for m in members {
                net.outputs.legal[role][m] = apply(&image, row[m]);
                moves[m / 64] |= 1 << (m % 64);
            }
            let Node::Fluent(fluent) = net.node(literal.node()) else {
                return None;
            };
            Some(Guard {
                fluent,
                value: !literal.is_complement(),
                moves,
            })
        })
        .collect()
}

/// The nodes of a cone, rebuilt as if the literal were true.
fn assume(net: &mut Network, row: &[Signal], literal: Signal) -> Vec<Signal> {
    let cone = needed(net, row);
    let mut image: Vec<Signal> = (0..net.len()).map(|at| Signal::new(NodeId(at as u32), false)).collect();
    image[literal.node().0 as usize] = if literal.is_complement() {
        Signal::FALSE
    } else {
        Signal::TRUE
    };
    for at in (0..image.len()).filter(|&at| cone[at]) {
        let id = NodeId(at as u32);
        if net.node(id) == Node::And {
            let operands: Vec<Signal> = net.operands(id).iter().map(|&s| apply(&image, s)).collect();
            image[at] = net.and(operands);
        }
    }
    image
}
