//! Plain evaluation: all gates in order. For goals, and for games with positive cycles.
//!
//! This evaluates networks of gates. The naive evaluator of ground programs is `ground::Direct`.

use super::evaluator::{Stage, Values};
use super::guards::Guards;
use super::words::Words;
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::needed;

/// The values of a network with cycles, all computed for every question.
#[derive(Clone, Debug)]
pub(super) struct PlainValues {
    state: Vec<u64>,
    outputs: Vec<u64>,
    /// Per node.
    values: Vec<u8>,
}

/// A network of any shape, prepared once per game.
#[derive(Debug)]
pub(super) struct PlainNet {
    net: Network,
    words: Words,
    /// Legal moves and terminal.
    state: Plain,
    /// The next state and percepts.
    moves: Plain,
}

impl PlainNet {
    /// Prepares a network.
    pub fn new(net: &Network) -> PlainNet {
        let out = &net.outputs;
        let mut state: Vec<Signal> = out.legal.iter().flatten().copied().collect();
        state.push(out.terminal);
        let mut moves = out.next.clone();
        moves.extend(out.sees.iter().flatten());
        PlainNet {
            words: Words::new(net),
            state: Plain::new(net, &state),
            moves: Plain::new(net, &moves),
            net: net.clone(),
        }
    }
}

impl Values for PlainValues {
    type Net = PlainNet;

    fn start(plain: &PlainNet) -> PlainValues {
        PlainValues {
            state: vec![0; plain.net.n_fluents().div_ceil(64)],
            outputs: vec![0; plain.words.len],
            values: vec![0; plain.net.len()],
        }
    }

    fn words(plain: &PlainNet) -> &Words {
        &plain.words
    }

    fn guards(_: &PlainNet) -> Option<&Guards> {
        None
    }

    fn state(&self) -> &[u64] {
        &self.state
    }

    fn outputs(&self) -> &[u64] {
        &self.outputs
    }

    fn fluent_bytes(&self, _: &PlainNet) -> Option<&[u8]> {
        None
    }

    fn move_to(&mut self, plain: &PlainNet, state: &[u64]) {
        self.state.copy_from_slice(state);
        set_leaves(&plain.net, &mut self.values, |f| word_bit(state, f), None);
        plain.state.run(&plain.net, &mut self.values);
        let end = (plain.words.terminal + 1) * 64;
        self.collect(plain, 0..end);
    }

    fn make(&mut self, plain: &PlainNet, joint: &[u32], _: Stage) {
        let state = &self.state;
        set_leaves(&plain.net, &mut self.values, |f| word_bit(state, f), Some(joint));
        plain.moves.run(&plain.net, &mut self.values);
        self.collect(plain, plain.words.next * 64..plain.words.len * 64);
    }

    fn advance(&mut self, plain: &PlainNet) {
        let first = plain.words.next;
        let next = self.outputs[first..first + self.state.len()].to_vec();
        self.move_to(plain, &next);
    }

    fn copy_from(&mut self, other: &PlainValues) {
        self.clone_from(other);
    }
}

impl PlainValues {
    /// Packs the output bits in a range.
    fn collect(&mut self, plain: &PlainNet, bits: std::ops::Range<usize>) {
        self.outputs[bits.start / 64..bits.end / 64].fill(0);
        plain.words.each_output(&plain.net, |bit, s| {
            if bits.contains(&bit) {
                self.outputs[bit / 64] |= u64::from(read(&self.values, s)) << (bit % 64);
            }
        });
    }
}

/// The value of a fluent in a packed state.
pub(super) fn word_bit(state: &[u64], f: u32) -> u8 {
    (state[f as usize / 64] >> (f % 64) & 1) as u8
}

/// Sets the leaves of a network: fluents, and optionally a joint move.
pub(super) fn set_leaves(net: &Network, values: &mut [u8], fluent: impl Fn(u32) -> u8, joint: Option<&[u32]>) {
    for (at, value) in values.iter_mut().enumerate() {
        match net.node(NodeId(at as u32)) {
            Node::Fluent(f) => *value = fluent(f),
            Node::Does { role, mv } => *value = u8::from(joint.is_some_and(|j| j[role as usize] == mv)),
            // Leaves come first.
            Node::And => break,
            _ => {}
        }
    }
}

/// Gates of some outputs in dependency order, cycles included.
#[derive(Debug, Default)]
pub(super) struct Plain {
    gates: Vec<NodeId>,
    /// Per component: its atoms.
    components: Vec<Vec<usize>>,
}

impl Plain {
    /// Prepares the evaluation of these signals.
    pub fn new(net: &Network, roots: &[Signal]) -> Plain {
        let mut roots = roots.to_vec();
        let mut components: Vec<Vec<usize>> = Vec::new();
        let mut wanted = needed(net, &roots);
        // A cycle atom needs the definitions of its whole component.
        loop {
            let open = net.cycles().iter().find(|c| {
                wanted[c.node.0 as usize] && !components.iter().any(|m| net.cycles()[m[0]].component == c.component)
            });
            let Some(component) = open.map(|c| c.component) else {
                break;
            };
            let mates: Vec<usize> = (0..net.cycles().len())
                .filter(|&at| net.cycles()[at].component == component)
                .collect();
            roots.extend(mates.iter().map(|&at| net.cycles()[at].definition));
            components.push(mates);
            wanted = needed(net, &roots);
        }
        components.sort_by_key(|m| net.cycles()[m[0]].component);
        let is_gate = |at: &usize| wanted[*at] && net.node(NodeId(*at as u32)) == Node::And;
        Plain {
            gates: (0..net.len()).filter(is_gate).map(|at| NodeId(at as u32)).collect(),
            components,
        }
    }

    /// Evaluates the gates; all leaves except cycle atoms must be set.
    pub fn run(&self, net: &Network, values: &mut [u8]) {
        for component in &self.components {
            component
                .iter()
                .for_each(|&at| values[net.cycles()[at].node.0 as usize] = 0);
        }
        self.pass(net, values);
        // Lower components first: an atom that still waits for a lower one must not count as settled.
        for component in &self.components {
            component
                .iter()
                .for_each(|&at| values[net.cycles()[at].node.0 as usize] = 0);
            self.pass(net, values);
            for _ in 0..component.len() {
                let mut changed = false;
                for &at in component {
                    let cycle = net.cycles()[at];
                    let new = u8::from(read(values, cycle.definition));
                    changed |= std::mem::replace(&mut values[cycle.node.0 as usize], new) != new;
                }
                if !changed {
                    break;
                }
                self.pass(net, values);
            }
        }
    }

    fn pass(&self, net: &Network, values: &mut [u8]) {
        for &gate in &self.gates {
            let all = net.operands(gate).iter().all(|&s| read(values, s));
            values[gate.0 as usize] = u8::from(all);
        }
    }
}

/// The value of a signal.
#[inline]
pub(super) fn read(values: &[u8], s: Signal) -> bool {
    (values[s.node().0 as usize] == 1) != s.is_complement()
}
