//! From n-ary gates with complemented edges to two-input operations without NOT.
//!
//! Every gate is kept in the polarity that needs no extra operation: a gate of complemented operands is an OR whose
//! result is marked as inverted. A complement costs an operation only where an output needs the plain value.

use crate::circuit::{Circuit, Wire};
use crate::network::{Network, Node, NodeId, Signal};
use rustc_hash::FxHashMap;

/// Operands combined in one chain before the next chain begins: enough to keep few values alive, few enough to avoid
/// one long dependency.
const CHAIN: usize = 8;

/// A wire, and whether it holds the complement.
pub type Polar = (Wire, bool);

/// Gives wires to nodes that need not be lowered.
pub type Given<'n> = dyn Fn(&mut Circuit, NodeId) -> Option<Polar> + 'n;

/// A network that is being lowered into a circuit. Leaves get wires first; gates follow on demand.
pub struct Lowering<'n> {
    net: &'n Network,
    /// Wires of nodes that have one.
    wires: FxHashMap<NodeId, Polar>,
    /// Source of wires for nodes when they are first met.
    given: Option<&'n Given<'n>>,
    chain: usize,
    /// First cell of the cycle atoms while they settle.
    cycle_cells: u32,
}

impl<'n> Lowering<'n> {
    /// No leaf has a wire yet; cycle atoms will be in cells from `cycle_cells` on.
    pub fn new(net: &'n Network, circuit: &mut Circuit, cycle_cells: u32) -> Lowering<'n> {
        Lowering {
            net,
            wires: FxHashMap::from_iter([(NodeId(0), (circuit.zero(), false))]),
            given: None,
            chain: CHAIN,
            cycle_cells,
        }
    }

    /// Sets the source of wires for nodes; nodes without a wire are lowered.
    pub fn given(mut self, given: &'n Given<'n>) -> Lowering<'n> {
        self.given = Some(given);
        self
    }

    /// Combines operands in balanced trees, so that a change of one operand passes through few operations.
    pub fn balanced(mut self) -> Lowering<'n> {
        self.chain = 2;
        self
    }

    /// The wire of a node, if it has one.
    pub fn wire(&self, node: NodeId) -> Option<Polar> {
        self.wires.get(&node).copied()
    }

    /// Gives a leaf its wire.
    pub fn set(&mut self, leaf: Signal, wire: Wire) {
        self.wires.insert(leaf.node(), (wire, false));
    }

    /// The plain value of a signal, all of whose leaves have wires.
    pub fn plain(&mut self, circuit: &mut Circuit, signal: Signal) -> Wire {
        let (wire, inverted) = self.signal(circuit, signal);
        if inverted { circuit.not(wire) } else { wire }
    }

    /// The value of a signal in the polarity that needs no extra operation: the wire, and whether it is inverted.
    pub fn signal(&mut self, circuit: &mut Circuit, signal: Signal) -> (Wire, bool) {
        self.ensure(circuit, &[signal]);
        self.get(signal)
    }

    fn get(&self, signal: Signal) -> (Wire, bool) {
        let (wire, inverted) = self
            .wire(signal.node())
            .expect("a leaf was read before it was given its wire");
        (wire, inverted ^ signal.is_complement())
    }

    /// Lowers every gate that these signals need.
    pub fn ensure(&mut self, circuit: &mut Circuit, roots: &[Signal]) {
        let mut todo: Vec<NodeId> = Vec::new();
        let mut components: Vec<u32> = Vec::new();
        self.collect(circuit, roots, &mut todo, &mut components);
        components.sort_unstable();
        for &component in &components {
            self.begin_component(circuit, component);
        }
        todo.sort_unstable();
        for node in todo {
            let value = self.gate(circuit, node);
            self.wires.insert(node, value);
        }
        for component in components {
            self.end_component(circuit, component);
        }
    }

    fn collect(&mut self, circuit: &mut Circuit, roots: &[Signal], todo: &mut Vec<NodeId>, components: &mut Vec<u32>) {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut work: Vec<NodeId> = roots.iter().map(|s| s.node()).collect();
        while let Some(node) = work.pop() {
            if self.wires.contains_key(&node) || !seen.insert(node) {
                continue;
            }
            if let Some(wire) = self.given.and_then(|given| given(circuit, node)) {
                self.wires.insert(node, wire);
                continue;
            }
            match self.net.node(node) {
                Node::And => {
                    todo.push(node);
                    work.extend(self.net.operands(node).iter().map(|s| s.node()));
                }
                Node::Cycle(c) => {
                    let component = self.net.cycles()[c as usize].component;
                    if !components.contains(&component) {
                        components.push(component);
                        let mates = self.net.cycles().iter().filter(|c| c.component == component);
                        work.extend(mates.flat_map(|c| [c.node, c.definition.node()]));
                    }
                }
                _ => {}
            }
        }
    }

    fn begin_component(&mut self, circuit: &mut Circuit, component: u32) {
        let mates: Vec<usize> = self.mates(component);
        let cells = mates.iter().map(|&at| self.cycle_cells + at as u32).collect();
        let id = circuit.add_component(cells);
        for (atom, at) in mates.into_iter().enumerate() {
            let wire = circuit.components[id].atoms[atom];
            self.wires.insert(self.net.cycles()[at].node, (wire, false));
        }
    }

    fn end_component(&mut self, circuit: &mut Circuit, component: u32) {
        let definitions: Vec<Wire> = self
            .mates(component)
            .into_iter()
            .map(|at| {
                let (wire, inverted) = self.get(self.net.cycles()[at].definition);
                if inverted { circuit.not(wire) } else { wire }
            })
            .collect();
        let first = self.net.cycles()[self.mates(component)[0]].node;
        let atom = self.wire(first).map(|(w, _)| w);
        let id = circuit.components.iter().position(|c| c.atoms.first().copied() == atom);
        if let Some(id) = id {
            circuit.components[id].definitions = definitions;
        }
    }

    fn mates(&self, component: u32) -> Vec<usize> {
        let cycles = self.net.cycles();
        (0..cycles.len())
            .filter(|&at| cycles[at].component == component)
            .collect()
    }

    fn gate(&self, circuit: &mut Circuit, node: NodeId) -> Polar {
        if let Some(value) = self.exclusive_or(circuit, node) {
            return value;
        }
        let mut plain = Vec::new();
        let mut inverted = Vec::new();
        for &operand in self.net.operands(node) {
            match self.get(operand) {
                (wire, false) => plain.push(wire),
                (wire, true) => inverted.push(wire),
            }
        }
        let none_of = combine(circuit, &inverted, self.chain, Circuit::or);
        let all_of = combine(circuit, &plain, self.chain, Circuit::and);
        match (none_of, all_of) {
            (Some(none), Some(all)) => (circuit.and_not(none, all), false),
            (Some(none), None) => (none, true),
            (None, Some(all)) => (all, false),
            (None, None) => (circuit.one(), false),
        }
    }

    /// `!(a & b) & !(!a & !b)` is one XOR.
    fn exclusive_or(&self, circuit: &mut Circuit, node: NodeId) -> Option<(Wire, bool)> {
        let &[x, y] = self.net.operands(node) else { return None };
        if !x.is_complement() || !y.is_complement() {
            return None;
        }
        let (&[a, b], &[c, d]) = (self.net.operands(x.node()), self.net.operands(y.node())) else {
            return None;
        };
        if !((a == !c && b == !d) || (a == !d && b == !c)) {
            return None;
        }
        let ((wa, na), (wb, nb)) = (self.get(a), self.get(b));
        Some((circuit.xor(wa, wb), na ^ nb))
    }
}

fn combine(
    circuit: &mut Circuit,
    wires: &[Wire],
    length: usize,
    op: fn(&mut Circuit, Wire, Wire) -> Wire,
) -> Option<Wire> {
    let chain = |circuit: &mut Circuit, wires: &[Wire]| wires.iter().copied().reduce(|a, b| op(circuit, a, b));
    if wires.len() <= length + length / 2 {
        return chain(circuit, wires);
    }
    let parts: Vec<Wire> = wires.chunks(length).filter_map(|part| chain(circuit, part)).collect();
    combine(circuit, &parts, length, op)
}
