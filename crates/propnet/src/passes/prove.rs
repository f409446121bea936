//! A small prover: shows that signals cannot hold together in any reachable, unfinished state.
//!
//! Boolean constraint propagation through the gates, with what is known about leaves: each role makes one move, moves
//! are legal, the game is not over, and at most one fluent of an exclusive family holds. Where propagation stops, the
//! false gate with the fewest open operands is split into cases. The prover is sound but not complete.

use crate::network::{Network, Node, NodeId, Signal};
use crate::tuning::Bounds;

/// Assumptions and what follows from them.
pub(crate) struct Prover<'n> {
    net: &'n Network,
    bounds: Bounds<'n>,
    readers: Vec<Vec<u32>>,
    /// Families of fluents (as nodes) of which at most one holds, and which of them are assumed.
    families: Vec<Vec<NodeId>>,
    assumed: Vec<bool>,
    families_of: Vec<Vec<u32>>,
    value: Vec<Option<bool>>,
    trail: Vec<NodeId>,
    head: usize,
    effort: u64,
    /// Nodes visited in all proofs so far.
    total_effort: u64,
}

impl<'n> Prover<'n> {
    /// A prover that assumes none of the families yet.
    pub fn new(net: &'n Network, families: Vec<Vec<NodeId>>, bounds: Bounds<'n>) -> Prover<'n> {
        let mut readers = vec![Vec::new(); net.len()];
        for at in 0..net.len() {
            for s in net.operands(NodeId(at as u32)) {
                readers[s.node().0 as usize].push(at as u32);
            }
        }
        let mut families_of = vec![Vec::new(); net.len()];
        for (at, family) in families.iter().enumerate() {
            family
                .iter()
                .for_each(|node| families_of[node.0 as usize].push(at as u32));
        }
        Prover {
            net,
            bounds,
            readers,
            assumed: vec![false; families.len()],
            families,
            families_of,
            value: vec![None; net.len()],
            trail: Vec::new(),
            head: 0,
            effort: 0,
            total_effort: 0,
        }
    }

    /// Adds a family to the assumptions, or removes it.
    pub fn assume_family(&mut self, family: usize, assumed: bool) {
        self.assumed[family] = assumed;
    }

    /// Whether the effort allows another proof.
    pub fn may_go_on(&self) -> bool {
        self.total_effort < self.bounds.tuning.families_effort && !self.bounds.is_stopped()
    }

    /// Whether these signals are proven not to hold together.
    pub fn exclude(&mut self, together: &[Signal]) -> bool {
        self.effort = 0;
        let mut given = together.to_vec();
        given.push(!self.net.outputs.terminal);
        let refuted = self.refute(&given, self.bounds.tuning.proof_depth);
        self.total_effort += self.effort;
        refuted
    }

    fn refute(&mut self, given: &[Signal], depth: u32) -> bool {
        let mark = self.trail.len();
        let refuted = !self.assign_all(given) || (depth > 0 && self.split(depth));
        self.undo(mark);
        refuted
    }

    /// Splits a false gate into cases: which operand is the first false one?
    fn split(&mut self, depth: u32) -> bool {
        let Some(gate) = self.open_gate() else { return false };
        let open: Vec<Signal> = self
            .net
            .operands(gate)
            .iter()
            .copied()
            .filter(|&s| self.read(s).is_none())
            .collect();
        for operand in open {
            if self.effort > self.bounds.tuning.proof_effort {
                return false;
            }
            if self.read(operand).is_some() {
                continue;
            }
            if !self.refute(&[!operand], depth - 1) {
                return false;
            }
            if !self.assign_all(&[operand]) {
                return true;
            }
        }
        // All operands of a false gate would be true, which propagation has excluded.
        true
    }

    /// The false gate with fewest open operands, none of them known to be false.
    fn open_gate(&self) -> Option<NodeId> {
        const MOST: usize = 48;
        let mut best: Option<(usize, NodeId)> = None;
        for &node in &self.trail {
            if self.value[node.0 as usize] != Some(false) || self.net.node(node) != Node::And {
                continue;
            }
            let operands = self.net.operands(node);
            if operands.iter().any(|&s| self.read(s) == Some(false)) {
                continue;
            }
            let open = operands.iter().filter(|&&s| self.read(s).is_none()).count();
            if open <= MOST && best.is_none_or(|(least, _)| open < least) {
                best = Some((open, node));
            }
        }
        best.map(|(_, node)| node)
    }

    fn read(&self, s: Signal) -> Option<bool> {
        self.value[s.node().0 as usize].map(|v| v != s.is_complement())
    }

    fn undo(&mut self, mark: usize) {
        for node in self.trail.drain(mark..) {
            self.value[node.0 as usize] = None;
        }
        self.head = mark;
    }

    /// False if a contradiction follows.
    fn assign_all(&mut self, signals: &[Signal]) -> bool {
        signals.iter().all(|&s| self.assign(s)) && self.propagate()
    }

    fn assign(&mut self, s: Signal) -> bool {
        if s.is_constant() {
            return s == Signal::TRUE;
        }
        let value = !s.is_complement();
        let slot = &mut self.value[s.node().0 as usize];
        match *slot {
            Some(known) => known == value,
            None => {
                *slot = Some(value);
                self.trail.push(s.node());
                true
            }
        }
    }

    fn propagate(&mut self) -> bool {
        while self.head < self.trail.len() {
            if self.effort > self.bounds.tuning.proof_effort {
                // The effort is spent: no further conclusions.
                self.head = self.trail.len();
                return true;
            }
            let node = self.trail[self.head];
            self.head += 1;
            let value = self.value[node.0 as usize] == Some(true);
            if !self.follow_definition(node, value) || !self.follow_readers(node) {
                return false;
            }
        }
        true
    }

    fn follow_definition(&mut self, node: NodeId, value: bool) -> bool {
        let net = self.net;
        match net.node(node) {
            Node::And if value => {
                self.effort += net.operands(node).len() as u64;
                net.operands(node).iter().all(|&s| self.assign(s))
            }
            Node::And => self.check_false(node),
            Node::Does { role, mv } if value => {
                let others = (0..net.outputs.legal[role as usize].len()).filter(|&m| m != mv as usize);
                self.effort += net.outputs.legal[role as usize].len() as u64;
                let alone = others.into_iter().all(|m| self.assign(!net.does(role as usize, m)));
                alone && self.assign(net.outputs.legal[role as usize][mv as usize])
            }
            Node::Fluent(_) if value => {
                for at in 0..self.families_of[node.0 as usize].len() {
                    let family = self.families_of[node.0 as usize][at] as usize;
                    if !self.assumed[family] {
                        continue;
                    }
                    self.effort += self.families[family].len() as u64;
                    for other in 0..self.families[family].len() {
                        let mate = self.families[family][other];
                        if mate != node && !self.assign(Signal::new(mate, true)) {
                            return false;
                        }
                    }
                }
                true
            }
            _ => true,
        }
    }

    fn follow_readers(&mut self, node: NodeId) -> bool {
        for at in 0..self.readers[node.0 as usize].len() {
            let gate = NodeId(self.readers[node.0 as usize][at]);
            self.effort += 1;
            let fine = match self.value[gate.0 as usize] {
                Some(true) => true,
                Some(false) => self.check_false(gate),
                None => {
                    let operands = self.net.operands(gate);
                    self.effort += operands.len() as u64 / 4;
                    if operands.iter().any(|&s| self.read(s) == Some(false)) {
                        self.assign(Signal::new(gate, true))
                    } else if operands.iter().all(|&s| self.read(s) == Some(true)) {
                        self.assign(Signal::new(gate, false))
                    } else {
                        true
                    }
                }
            };
            if !fine {
                return false;
            }
        }
        true
    }

    /// A false gate needs a false operand: if only one is open, it is that one.
    fn check_false(&mut self, gate: NodeId) -> bool {
        let operands = self.net.operands(gate);
        self.effort += operands.len() as u64 / 2;
        let mut open = None;
        for &s in operands {
            match self.read(s) {
                Some(false) => return true,
                Some(true) => {}
                None if open.is_some() => return true,
                None => open = Some(s),
            }
        }
        match open {
            Some(s) => self.assign(!s),
            None => false,
        }
    }
}
