//! Plain evaluation: all gates in order. For goals, and for games with positive cycles.
//!
//! This evaluates networks of gates. The naive evaluator of ground programs is `ground::Direct`.

use super::evaluator::{Stage, Values};
use super::guards::Guards;
use super::words::Words;
use crate::network::{Network, Node, NodeId, Signal};
use std::collections::{BTreeMap, BTreeSet};

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
    /// Gates that need no cycle.
    first: Vec<NodeId>,
    /// Components, each after those that it depends on.
    blocks: Vec<Block>,
}

/// A component of cycle atoms, and the gates whose last component it is.
#[derive(Debug, Default)]
struct Block {
    /// Its atoms, as places in [`Network::cycles`].
    atoms: Vec<usize>,
    /// Gates of the definitions, evaluated until no atom changes.
    inner: Vec<NodeId>,
    /// Gates that only read the result.
    after: Vec<NodeId>,
}

impl Plain {
    /// Prepares the evaluation of these signals.
    pub fn new(net: &Network, roots: &[Signal]) -> Plain {
        let (wanted, components) = wanted(net, roots);
        let last = last_components(net);
        let mut plain = Plain::default();
        let mut place = vec![usize::MAX; components.iter().max().map_or(0, |&c| c as usize + 1)];
        for &component in &components {
            place[component as usize] = plain.blocks.len();
            plain.blocks.push(Block::default());
        }
        for (at, cycle) in net.cycles().iter().enumerate() {
            if let Some(block) = place
                .get(cycle.component as usize)
                .and_then(|&p| plain.blocks.get_mut(p))
            {
                block.atoms.push(at);
            }
        }
        let defining = defining(net, &last);
        for at in (0..net.len()).filter(|&at| wanted[at] && net.node(NodeId(at as u32)) == Node::And) {
            let gate = NodeId(at as u32);
            match last[at] {
                None => plain.first.push(gate),
                Some(component) => {
                    let block = &mut plain.blocks[place[component as usize]];
                    let list = if defining[at] {
                        &mut block.inner
                    } else {
                        &mut block.after
                    };
                    list.push(gate);
                }
            }
        }
        plain
    }

    /// Evaluates the gates; all leaves except cycle atoms must be set.
    pub fn run(&self, net: &Network, values: &mut [u8]) {
        pass(net, values, &self.first);
        // Lower components first: a component may read the complement of a lower one.
        for block in &self.blocks {
            block.settle(net, values);
            pass(net, values, &block.after);
        }
    }
}

impl Block {
    /// Finds the least solution of the definitions.
    fn settle(&self, net: &Network, values: &mut [u8]) {
        for &at in &self.atoms {
            values[net.cycles()[at].node.0 as usize] = 0;
        }
        pass(net, values, &self.inner);
        for _ in 0..self.atoms.len() {
            let mut changed = false;
            for &at in &self.atoms {
                let cycle = net.cycles()[at];
                let new = u8::from(read(values, cycle.definition));
                changed |= std::mem::replace(&mut values[cycle.node.0 as usize], new) != new;
            }
            if !changed {
                break;
            }
            pass(net, values, &self.inner);
        }
    }
}

fn pass(net: &Network, values: &mut [u8], gates: &[NodeId]) {
    for &gate in gates {
        let all = net.operands(gate).iter().all(|&s| read(values, s));
        values[gate.0 as usize] = u8::from(all);
    }
}

/// The nodes that some signals need, and the components among them, in order. A cycle atom needs the definitions of
/// its whole component.
fn wanted(net: &Network, roots: &[Signal]) -> (Vec<bool>, Vec<u32>) {
    let mut wanted = vec![false; net.len()];
    let mut open: Vec<NodeId> = roots.iter().map(|s| s.node()).collect();
    let mut atom = vec![None; net.len()];
    let mut members: BTreeMap<u32, Vec<Signal>> = BTreeMap::new();
    for cycle in net.cycles() {
        atom[cycle.node.0 as usize] = Some(cycle.component);
        members.entry(cycle.component).or_default().push(cycle.definition);
    }
    let mut components = BTreeSet::new();
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut wanted[node.0 as usize], true) {
            continue;
        }
        open.extend(net.operands(node).iter().map(|s| s.node()));
        if let Some(component) = atom[node.0 as usize]
            && components.insert(component)
        {
            open.extend(members[&component].iter().map(|s| s.node()));
        }
    }
    (wanted, components.into_iter().collect())
}

/// For each node the last component that it needs.
fn last_components(net: &Network) -> Vec<Option<u32>> {
    let mut last = vec![None; net.len()];
    for cycle in net.cycles() {
        last[cycle.node.0 as usize] = Some(cycle.component);
    }
    for at in 0..net.len() {
        let operands = net.operands(NodeId(at as u32)).iter();
        let of_operands = operands.filter_map(|s| last[s.node().0 as usize]).max();
        last[at] = last[at].max(of_operands);
    }
    last
}

/// The gates between the atoms of a component and its definitions.
fn defining(net: &Network, last: &[Option<u32>]) -> Vec<bool> {
    let mut defining = vec![false; net.len()];
    for cycle in net.cycles() {
        let mut open = vec![cycle.definition.node()];
        while let Some(node) = open.pop() {
            // What needs no atom of this component is settled before it.
            let at = node.0 as usize;
            if last[at] == Some(cycle.component) && !std::mem::replace(&mut defining[at], true) {
                open.extend(net.operands(node).iter().map(|s| s.node()));
            }
        }
    }
    defining
}

/// The value of a signal.
#[inline]
pub(super) fn read(values: &[u8], s: Signal) -> bool {
    (values[s.node().0 as usize] == 1) != s.is_complement()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` rings of two atoms, the first fed by fluent 0, each other one by the complement of the ring before.
    fn rings(n: u32) -> (Network, Vec<Signal>) {
        let mut net = Network::new(1, &[1]);
        let mut feed = net.fluent(0);
        let mut tops = Vec::new();
        for ring in 0..n {
            let (a, b) = (net.add_cycle(ring), net.add_cycle(ring));
            let definition = net.or([feed, b]);
            net.define_cycle(2 * ring as usize, definition);
            net.define_cycle(2 * ring as usize + 1, a);
            feed = !b;
            tops.push(b);
        }
        (net, tops)
    }

    #[test]
    fn a_ring_holds_if_the_ring_before_does_not() {
        let (net, tops) = rings(5);
        let plain = Plain::new(&net, &tops);
        for fed in [0, 1] {
            let mut values = vec![0; net.len()];
            set_leaves(&net, &mut values, |_| fed, None);
            plain.run(&net, &mut values);
            let held: Vec<bool> = tops.iter().map(|&top| read(&values, top)).collect();
            let expected: Vec<bool> = (0..5).map(|ring| (ring % 2 == 0) == (fed == 1)).collect();
            assert_eq!(held, expected);
        }
    }

    /// Work is counted: a gate is evaluated with its own component only. All of them were evaluated for each.
    #[test]
    fn a_gate_belongs_to_one_block() {
        let (net, tops) = rings(100);
        let plain = Plain::new(&net, &tops);
        let gates = (0..net.len()).filter(|&at| net.node(NodeId(at as u32)) == Node::And);
        let evaluated: usize = plain.blocks.iter().map(|b| b.inner.len() + b.after.len()).sum();
        assert_eq!(evaluated + plain.first.len(), gates.count());
        assert!(plain.blocks.iter().all(|b| b.inner.len() <= 2 && b.atoms.len() == 2));
    }
}
