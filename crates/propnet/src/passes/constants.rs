//! Constants of the state: fluents that keep their initial value in every reachable state, and fluents that are always
//! equal.
//!
//! Constants are found by three-valued simulation from the initial state. A fluent that may change becomes unknown, and
//! what follows from that spreads from gate to gate until no fluent is added. Equal fluents start equal and have the
//! same next signal.

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
    let mut spread = Spread::new(net, initial);
    let mut n_spread = 0;
    while let Some(node) = spread.waiting.pop() {
        if bounds.is_stopped_at(n_spread) {
            return None;
        }
        n_spread += 1;
        spread.spread(node as usize);
    }
    let constant = |(&value, &node): (&bool, &u32)| match spread.is_unknown[node as usize] {
        true => None,
        false => Some(value),
    };
    Some(initial.iter().zip(&spread.fluents).map(constant).collect())
}

/// Unknown values on their way through a network. What is unknown stays so: every node is spread once.
struct Spread {
    /// Values of the nodes, as their readers know them.
    value: Vec<Ternary>,
    is_unknown: Vec<bool>,
    /// Unknown nodes whose readers do not know it yet.
    waiting: Vec<u32>,
    /// Per gate: the number of its false operands. Without any, one unknown operand makes the gate unknown.
    n_false: Vec<u32>,
    /// The gates that read a node, and whether they read its complement: up to `ends` of the node.
    readers: Vec<(u32, bool)>,
    ends: Vec<u32>,
    /// Node whose value a fluent has next, and the node of the fluent, sorted.
    next: Vec<(u32, u32)>,
    /// The node of each fluent; fluents that nothing reads have nodes after all others.
    fluents: Vec<u32>,
}

impl Spread {
    fn new(net: &Network, initial: &[bool]) -> Spread {
        let state: Vec<Ternary> = initial.iter().map(|&b| Ternary::of(b)).collect();
        let mut value = simulate(net, &state);
        let mut fluents: Vec<u32> = (net.len()..net.len() + initial.len()).map(|n| n as u32).collect();
        for at in 0..net.len() {
            if let Node::Fluent(f) = net.node(NodeId(at as u32)) {
                fluents[f as usize] = at as u32;
            }
        }
        value.extend(&state);
        let mut is_unknown: Vec<bool> = value.iter().map(|&v| v == Ternary::Unknown).collect();
        let mut waiting = Vec::new();
        let mut next = Vec::with_capacity(initial.len());
        for (f, s) in net.outputs.next.iter().enumerate() {
            let from = s.node().0 as usize;
            next.push((from as u32, fluents[f]));
            if value[from].flip(s.is_complement()) != state[f] {
                is_unknown[fluents[f] as usize] = true;
                waiting.push(fluents[f]);
            }
        }
        next.sort_unstable();
        let mut spread = Spread {
            n_false: vec![0; net.len()],
            readers: Vec::new(),
            ends: vec![0; value.len() + 1],
            value,
            is_unknown,
            waiting,
            next,
            fluents,
        };
        spread.find_readers(net);
        spread
    }

    fn find_readers(&mut self, net: &Network) {
        let gates = || (0..net.len()).flat_map(|at| net.operands(NodeId(at as u32)).iter().map(move |&s| (at, s)));
        for (gate, s) in gates() {
            let node = s.node().0 as usize;
            self.ends[node + 1] += 1;
            self.n_false[gate] += u32::from(self.value[node].flip(s.is_complement()) == Ternary::False);
        }
        for at in 1..self.ends.len() {
            self.ends[at] += self.ends[at - 1];
        }
        self.readers = vec![(0, false); self.ends[self.ends.len() - 1] as usize];
        for (gate, s) in gates() {
            let end = &mut self.ends[s.node().0 as usize];
            self.readers[*end as usize] = (gate as u32, s.is_complement());
            *end += 1;
        }
    }

    /// Tells the readers of a node that it is unknown.
    fn spread(&mut self, node: usize) {
        let before = std::mem::replace(&mut self.value[node], Ternary::Unknown);
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        for at in start..self.ends[node] {
            let (gate, is_complement) = self.readers[at as usize];
            let n_false = &mut self.n_false[gate as usize];
            *n_false -= u32::from(before.flip(is_complement) == Ternary::False);
            if *n_false == 0 {
                self.forget(gate);
            }
        }
        let first = self.next.partition_point(|&(from, _)| (from as usize) < node);
        for at in first..self.next.len() {
            let (from, fluent) = self.next[at];
            if from as usize != node {
                break;
            }
            self.forget(fluent);
        }
    }

    fn forget(&mut self, node: u32) {
        if !std::mem::replace(&mut self.is_unknown[node as usize], true) {
            self.waiting.push(node);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::random_program::random_program;
    use game::Seed;

    /// The meaning of [`constant_fluents`]: whole simulations until no fluent is added.
    fn slowly(net: &Network, initial: &[bool]) -> Vec<Option<bool>> {
        let mut state: Vec<Ternary> = initial.iter().map(|&b| Ternary::of(b)).collect();
        loop {
            let value = simulate(net, &state);
            let before = state.clone();
            for (f, next) in net.outputs.next.iter().enumerate() {
                let next = value[next.node().0 as usize].flip(next.is_complement());
                if next != state[f] {
                    state[f] = Ternary::Unknown;
                }
            }
            if state == before {
                let known = |t: &Ternary| match t {
                    Ternary::Unknown => None,
                    t => Some(*t == Ternary::True),
                };
                return state.iter().map(known).collect();
            }
        }
    }

    #[test]
    fn constants_are_those_of_whole_simulations() {
        let mut rng = Seed(11).rng();
        let (mut n_constant, mut n_free) = (0, 0);
        for _ in 0..400 {
            let program = random_program(&mut rng);
            let mut initial = vec![false; program.fluents.len()];
            program.initial.iter().for_each(|&f| initial[f as usize] = true);
            Bounds::shipped(|bounds| {
                let net = build(&program, bounds).unwrap();
                let constant = constant_fluents(&net, &initial, bounds).unwrap();
                assert_eq!(constant, slowly(&net, &initial));
                n_constant += constant.iter().flatten().count();
                n_free += constant.iter().filter(|c| c.is_none()).count();
            });
        }
        assert!(n_constant > 100 && n_free > 100, "{n_constant} {n_free}");
    }

    /// A counter reaches each of its states one step after the one before: whole simulations would take a round each.
    #[test]
    fn long_chains_are_spread_once() {
        const LENGTH: usize = 200_000;
        let mut net = Network::new(LENGTH, &[]);
        let nodes: Vec<Signal> = (0..LENGTH).map(|f| net.fluent(f)).collect();
        net.outputs.next = (0..LENGTH).map(|f| nodes[(f + LENGTH - 1) % LENGTH]).collect();
        let mut initial = vec![false; LENGTH];
        initial[0] = true;
        let constant = Bounds::shipped(|bounds| constant_fluents(&net, &initial, bounds)).unwrap();
        assert!(constant.iter().all(Option::is_none));
    }
}
