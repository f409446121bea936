//! Outputs under a known joint move: most of them are constant or unchanged.
//!
//! Each gate becomes a constant, equal to another node, or stays open; no new gates are built. From one joint move to
//! the next, only gates that read a changed move are computed again.

use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::{apply, needed};
use crate::tuning::Bounds;

/// A network under a sequence of joint moves.
pub(super) struct Cofactor<'n> {
    net: &'n Network,
    bounds: Bounds<'n>,
    /// Output bits and their signals.
    outputs: Vec<(usize, Signal)>,
    /// The bit of the first fluent's next value; the bits of the other fluents follow.
    next: usize,
    /// Image of each node.
    image: Vec<Signal>,
    joint: Option<Vec<u32>>,
    /// Gates that depend on moves, ascending.
    gates: Vec<u32>,
    readers: Vec<Vec<u32>>,
    looks: usize,
}

/// Output bits with known values, and open output bits.
pub(super) type Split = (Vec<(usize, bool)>, Vec<(usize, Signal)>);

impl<'n> Cofactor<'n> {
    /// Outputs are given as bits and signals; the bits of the next state start at `next`.
    pub fn new(net: &'n Network, outputs: &[(usize, Signal)], next: usize, bounds: Bounds<'n>) -> Cofactor<'n> {
        let roots: Vec<Signal> = outputs.iter().map(|&(_, s)| s).collect();
        let cone = needed(net, &roots);
        let mut moved = vec![false; net.len()];
        let mut readers = vec![Vec::new(); net.len()];
        let mut gates = Vec::new();
        for at in (0..net.len()).filter(|&at| cone[at]) {
            let id = NodeId(at as u32);
            let is_moved = |s: &Signal| moved[s.node().0 as usize];
            moved[at] = matches!(net.node(id), Node::Does { .. }) || net.operands(id).iter().any(is_moved);
            if moved[at] && net.node(id) == Node::And {
                gates.push(at as u32);
                let operands = net.operands(id).iter().map(|s| s.node().0 as usize);
                operands.filter(|&o| moved[o]).for_each(|o| readers[o].push(at as u32));
            }
        }
        Cofactor {
            net,
            bounds,
            outputs: outputs.to_vec(),
            next,
            image: (0..net.len()).map(|at| Signal::new(NodeId(at as u32), false)).collect(),
            joint: None,
            gates,
            readers,
            looks: 0,
        }
    }

    /// Known and open outputs under this joint move. Fluents that keep their value are in neither list. `None` if it
    /// took too much work.
    pub fn split(&mut self, joint: &[u32]) -> Option<Split> {
        let gates = match self.joint.take() {
            Some(before) => self.gates_between(&before, joint),
            None => {
                let moves = (0..joint.len()).flat_map(|role| (0..self.net.n_moves()[role]).map(move |mv| (role, mv)));
                for (role, mv) in moves {
                    self.image[self.net.does(role, mv).node().0 as usize] = Signal::FALSE;
                }
                self.gates.clone()
            }
        };
        for (role, &mv) in joint.iter().enumerate() {
            self.image[self.net.does(role, mv as usize).node().0 as usize] = Signal::TRUE;
        }
        self.joint = Some(joint.to_vec());
        self.looks += gates.len() + self.outputs.len();
        if self.looks > self.bounds.tuning.cofactor_visits {
            return None;
        }
        for at in gates {
            self.image[at as usize] = self.look(NodeId(at));
        }
        Some(self.sorted_outputs())
    }

    /// The constant value of a node under the last joint move, if it has one.
    pub fn constant(&self, node: NodeId) -> Option<bool> {
        let image = self.image[node.0 as usize];
        image.is_constant().then_some(image == Signal::TRUE)
    }

    /// Gates that depend on moves in which two joint moves differ, ascending. The moves of the first are undone.
    fn gates_between(&mut self, before: &[u32], joint: &[u32]) -> Vec<u32> {
        let mut work: Vec<u32> = Vec::new();
        for (role, (&old, &new)) in before.iter().zip(joint).enumerate() {
            if old != new {
                let old = self.net.does(role, old as usize).node();
                self.image[old.0 as usize] = Signal::FALSE;
                work.extend([old.0, self.net.does(role, new as usize).node().0]);
            }
        }
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(at) = work.pop() {
            work.extend(self.readers[at as usize].iter().filter(|&&reader| seen.insert(reader)));
        }
        let mut gates: Vec<u32> = seen.into_iter().collect();
        gates.sort_unstable();
        gates
    }

    fn look(&self, gate: NodeId) -> Signal {
        let mut only: Option<Signal> = None;
        let mut is_open = false;
        for &operand in self.net.operands(gate) {
            match apply(&self.image, operand) {
                Signal::FALSE => return Signal::FALSE,
                Signal::TRUE => {}
                s if only.is_none_or(|only| only == s) => only = Some(s),
                s if only == Some(!s) => return Signal::FALSE,
                _ => is_open = true,
            }
        }
        match only {
            _ if is_open => Signal::new(gate, false),
            Some(s) => s,
            None => Signal::TRUE,
        }
    }

    fn sorted_outputs(&self) -> Split {
        let (mut known, mut open) = (Vec::new(), Vec::new());
        for &(bit, signal) in &self.outputs {
            let image = apply(&self.image, signal);
            let fluent = bit - self.next;
            let is_fluent = fluent < self.net.n_fluents();
            match image {
                // Percepts that are not mentioned are not seen.
                Signal::FALSE if !is_fluent => {}
                Signal::FALSE | Signal::TRUE => known.push((bit, image == Signal::TRUE)),
                s if is_fluent && s == self.net.fluent(fluent) => {}
                _ => open.push((bit, signal)),
            }
        }
        (known, open)
    }
}
