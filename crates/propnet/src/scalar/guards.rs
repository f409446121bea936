//! Guards: literals that are left out of legal moves and terminal, and looked at when those are read.

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

/// What is left out of a network, and where.
#[derive(Debug)]
pub(super) struct Guards {
    /// Per role: a literal without which none of some moves is legal.
    pub roles: Vec<Option<Guard>>,
    /// Fluents by whose values the end of the game is told apart: see [`Guards::case`].
    ends: Vec<u32>,
}

impl Guards {
    /// Takes guards out of a network. Whether a state is terminal is then told by one more row of legal moves, one for each
    /// combination of the guards' values.
    pub fn split(net: &mut Network) -> Guards {
        let roles = split_legal(net);
        let ends = split_terminal(net, &roles);
        Guards { roles, ends }
    }

    /// Which of the last row's signals says whether this state is terminal.
    #[inline(always)]
    pub fn case(&self, state: &[u64]) -> usize {
        let holds = |f: u32| (state[f as usize / 64] >> (f % 64) & 1) as usize;
        self.ends.iter().rev().fold(0, |case, &f| case * 2 + holds(f))
    }
}

/// A guard of fewer moves is not worth the trouble, except in tests, whose games are small.
const FEWEST_GUARDED: usize = if cfg!(test) { 2 } else { 12 };

/// Finds a role's guard, and takes it out of the legal moves that need it.
fn split_legal(net: &mut Network) -> Vec<Option<Guard>> {
    (0..net.outputs.legal.len())
        .map(|role| {
            let row = net.outputs.legal[role].clone();
            let (literal, members) = best_guard(net, &row).filter(|(_, m)| m.len() >= FEWEST_GUARDED)?;
            let image = assume(net, &row, &[literal]);
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

/// Guards whose values the end of the game is told apart by, at most.
const MOST_ENDS: usize = 3;

/// A game often ends when whose turn it is has no move: then the end depends on every move of every role, and every turn
/// would change all of them. The fluents by which it is told apart; the last row of legal moves has the cases.
fn split_terminal(net: &mut Network, guards: &[Option<Guard>]) -> Vec<u32> {
    let terminal = net.outputs.terminal;
    let cone = needed(net, &[terminal]);
    let mut ends: Vec<u32> = guards.iter().flatten().map(|guard| guard.fluent).collect();
    ends.sort_unstable();
    ends.dedup();
    ends.retain(|&f| cone[net.fluent(f as usize).node().0 as usize]);
    ends.truncate(MOST_ENDS);
    let cases: Vec<Signal> = (0..1 << ends.len())
        .map(|case: usize| {
            let literal = |(at, &f): (usize, &u32)| Signal::new(net.fluent(f as usize).node(), case >> at & 1 == 0);
            let literals: Vec<Signal> = ends.iter().enumerate().map(literal).collect();
            let image = assume(net, &[terminal], &literals);
            apply(&image, terminal)
        })
        .collect();
    net.outputs.terminal = Signal::FALSE;
    net.outputs.legal.push(cases);
    ends
}

/// The nodes of a cone, rebuilt as if the literals were true.
fn assume(net: &mut Network, row: &[Signal], literals: &[Signal]) -> Vec<Signal> {
    let cone = needed(net, row);
    let mut image: Vec<Signal> = (0..net.len()).map(|at| Signal::new(NodeId(at as u32), false)).collect();
    for literal in literals {
        image[literal.node().0 as usize] = if literal.is_complement() {
            Signal::FALSE
        } else {
            Signal::TRUE
        };
    }
    for at in (0..image.len()).filter(|&at| cone[at]) {
        let id = NodeId(at as u32);
        if net.node(id) == Node::And {
            let operands: Vec<Signal> = net.operands(id).iter().map(|&s| apply(&image, s)).collect();
            image[at] = net.and(operands);
        }
    }
    image
}
