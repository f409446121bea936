//! Constants of the state: fluents that keep their initial value in every reachable state, and fluents that are always
//! equal.
//!
//! Constants are found by three-valued simulation from the initial state. A fluent that may change becomes unknown, and
//! the simulation is repeated until no fluent is added. Equal fluents start equal and have the same next signal.

use super::rebuild;
use crate::network::{Network, Node, NodeId, Signal};
use crate::tuning::Bounds;
use rustc_hash::FxHashMap;

/// What is known about every reachable state.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Per fluent: its value, if it never changes.
    pub constant: Vec<Option<bool>>,
    /// Per fluent: the first fluent that always has the same value (itself if there is none before it).
    pub same_as: Vec<u32>,
}

/// The same network with constant and repeated fluents replaced; `None` if the work was stopped.
pub(crate) fn fold_constants(net: &Network, initial: &[bool], bounds: &Bounds) -> Option<(Network, Known)> {
    let constant = constant_fluents(net, initial, bounds)?;
    let same_as = equal_fluents(net, initial, &constant);
    let new = rebuild(net, net.same_leaves(), bounds, |new, id| match net.node(id) {
        Node::Fluent(f) => match constant[f as usize] {
            Some(true) => Some(Signal::TRUE),
            Some(false) => Some(Signal::FALSE),
            None => Some(new.fluent(same_as[f as usize] as usize)),
        },
        _ => None,
    })?;
    Some((new, Known { constant, same_as }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ternary {
    False,
    True,
    Unknown,
}

impl Ternary {
    fn of(value: bool) -> Ternary {
        if value { Ternary::True } else { Ternary::False }
    }

    fn flip(self, flip: bool) -> Ternary {
        match (self, flip) {
            (Ternary::Unknown, _) | (_, false) => self,
            (Ternary::True, true) => Ternary::False,
            (Ternary::False, true) => Ternary::True,
        }
    }
}

fn constant_fluents(net: &Network, initial: &[bool], bounds: &Bounds) -> Option<Vec<Option<bool>>> {
    let mut state: Vec<Ternary> = initial.iter().map(|&b| Ternary::of(b)).collect();
    loop {
        bounds.go_on()?;
        let value = simulate(net, &state);
        let mut grew = false;
        for (f, next) in net.outputs.next.iter().enumerate() {
            let next = value[next.node().0 as usize].flip(next.is_complement());
            if state[f] != Ternary::Unknown && next != state[f] {
                state[f] = Ternary::Unknown;
                grew = true;
            }
        }
        if !grew {
            let known = |t: &Ternary| match t {
                Ternary::Unknown => None,
                t => Some(*t == Ternary::True),
            };
            return Some(state.iter().map(known).collect());
        }
    }
}

fn simulate(net: &Network, state: &[Ternary]) -> Vec<Ternary> {
    let mut value = vec![Ternary::False; net.len()];
    for at in 1..net.len() {
        let id = NodeId(at as u32);
        value[at] = match net.node(id) {
            Node::False => Ternary::False,
            Node::Fluent(f) => state[f as usize],
            Node::Does { .. } | Node::Cycle(_) => Ternary::Unknown,
            Node::And => {
                let mut all = Ternary::True;
                for s in net.operands(id) {
                    match value[s.node().0 as usize].flip(s.is_complement()) {
                        Ternary::False => {
                            all = Ternary::False;
                            break;
                        }
                        Ternary::Unknown => all = Ternary::Unknown,
                        Ternary::True => {}
                    }
                }
                all
            }
        };
    }
    value
}

fn equal_fluents(net: &Network, initial: &[bool], constant: &[Option<bool>]) -> Vec<u32> {
    let mut first: FxHashMap<(Signal, bool), u32> = FxHashMap::default();
    let one = |f: usize| {
        let next = net.outputs.next[f];
        if constant[f].is_some() {
            return f as u32;
        }
        *first.entry((next, initial[f])).or_insert(f as u32)
    };
    (0..net.n_fluents()).map(one).collect()
}
