//! A small prover: shows that signals cannot hold together in any reachable, unfinished state.
//!
//! Boolean constraint propagation through the gates, with what is known about leaves: one move per role, moves are
//! legal, the game is not over, and families of fluents of which at most one holds. Where propagation gets stuck, the
//! false gate with fewest open operands is split into cases. Sound, not complete: "not proven" means nothing.

use crate::network::{Network, Node, NodeId, Signal};

/// Nodes looked at before a proof is given up.
const EFFORT: u64 = 60_000;
/// Case distinctions within each other.
const DEPTH: u32 = 5;

/// Assumptions and what follows from them.
pub(crate) struct Prover<'n> {
    net: &'n Network,
    readers: Vec<Vec<u32>>,
    /// Families of fluents (as nodes) of which at most one holds, and which of them are assumed.
    families: Vec<Vec<NodeId>>,
    assumed: Vec<bool>,
    families_of: Vec<Vec<u32>>,
    /// Per node: moves that are legal if it holds, or if it does not (the second part says so).
    moves_of: Vec<Vec<(Signal, bool)>>,
    /// Per role: how many of its moves are known not to be made.
    not_made: Vec<usize>,
    value: Vec<Option<bool>>,
    trail: Vec<NodeId>,
    head: usize,
    effort: u64,
    /// Nodes looked at in all proofs so far.
    pub total_effort: u64,
}

impl<'n> Prover<'n> {
    /// A prover that assumes none of the families yet.
    pub fn new(net: &'n Network, families: Vec<Vec<NodeId>>) -> Prover<'n> {
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
        let mut moves_of = vec![Vec::new(); net.len()];
        for (role, row) in net.outputs.legal.iter().enumerate() {
            for (mv, legal) in row.iter().enumerate() {
                moves_of[legal.node().0 as usize].push((net.does(role, mv), legal.is_complement()));
            }
        }
        Prover {
            net,
            readers,
            moves_of,
            assumed: vec![false; families.len()],
            families,
            families_of,
            not_made: vec![0; net.outputs.legal.len()],
            value: vec![None; net.len()],
            trail: Vec::new(),
            head: 0,
            effort: 0,
            total_effort: 0,
        }
    }

    /// Assumes a family, or no longer.
    pub fn assume_family(&mut self, family: usize, assumed: bool) {
        self.assumed[family] = assumed;
    }

    /// Whether these signals are shown not to hold together.
    pub fn exclude(&mut self, together: &[Signal]) -> bool {
        self.effort = 0;
        let mut given = together.to_vec();
        given.push(!self.net.outputs.terminal);
        let refuted = self.refute(&given, DEPTH);
        self.total_effort += self.effort;
        refuted
    }

    fn refute(&mut self, given: &[Signal], depth: u32) -> bool {
        let mark = self.trail.len();
        let refuted = !self.assign_all(given) || (depth > 0 && self.split(mark, depth));
        self.undo(mark);
        refuted
    }

    /// Splits a false gate into cases: which operand is the first false one? Without such a gate: which move is made?
    fn split(&mut self, mark: usize, depth: u32) -> bool {
        let cases: Vec<Signal> = match self.open_gate() {
            Some(gate) => self.net.operands(gate).to_vec(),
            None => self.open_moves(),
        };
        let open: Vec<Signal> = cases.into_iter().filter(|&s| self.read(s).is_none()).collect();
        if open.is_empty() {
            return false;
        }
        let _ = mark;
        for operand in open {
            if self.effort > EFFORT {
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
        // All operands of a false gate are true: propagation would have seen it.
        true
    }

    /// The moves, complemented, of the role that has fewest left, if some are known not to be made.
    fn open_moves(&self) -> Vec<Signal> {
        const MOST: usize = 48;
        let left = |role: usize| self.net.outputs.legal[role].len() - self.not_made[role];
        let roles =
            (0..self.not_made.len()).filter(|&role| self.not_made[role] > 0 && (2..=MOST).contains(&left(role)));
        let role = roles.min_by_key(|&role| left(role));
        let moves = role.map(|role| (0..self.net.outputs.legal[role].len()).map(move |mv| !self.net.does(role, mv)));
        moves.into_iter().flatten().collect()
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
            let value = self.value[node.0 as usize].take();
            if let (Node::Does { role, .. }, Some(false)) = (self.net.node(node), value) {
                self.not_made[role as usize] -= 1;
            }
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
                if let (Node::Does { role, .. }, false) = (self.net.node(s.node()), value) {
                    self.not_made[role as usize] += 1;
                }
                true
            }
        }
    }

    fn propagate(&mut self) -> bool {
        while self.head < self.trail.len() {
            if self.effort > EFFORT {
                // Nothing more follows as far as we care to look.
                self.head = self.trail.len();
                return true;
            }
            let node = self.trail[self.head];
            self.head += 1;
            let value = self.value[node.0 as usize] == Some(true);
            if !self.follow_definition(node, value) || !self.follow_readers(node) || !self.follow_moves(node, value) {
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
            Node::Does { role, .. } => self.check_made(role as usize),
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

    /// A role makes one of its moves: if only one is left, it is that one.
    fn check_made(&mut self, role: usize) -> bool {
        let n = self.net.outputs.legal[role].len();
        if self.not_made[role] + 1 < n {
            return true;
        }
        self.effort += n as u64;
        let does = (0..n).map(|mv| self.net.does(role, mv));
        let left = does.into_iter().find(|&does| self.read(does) != Some(false));
        left.is_some_and(|does| self.assign(does))
    }

    /// Moves that are not legal are not made.
    fn follow_moves(&mut self, node: NodeId, value: bool) -> bool {
        self.effort += self.moves_of[node.0 as usize].len() as u64;
        (0..self.moves_of[node.0 as usize].len()).all(|at| {
            let (does, is_complement) = self.moves_of[node.0 as usize][at];
            value != is_complement || self.assign(!does)
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_that_are_not_legal_are_not_made() {
        // Whoever's turn it is not has none of its five moves; no case distinction is needed to see that.
        let mut net = Network::new(2, &[5]);
        let (mine, yours) = (net.fluent(0), net.fluent(1));
        net.outputs.legal = vec![vec![mine; 5]];
        let moves: Vec<Signal> = (0..5).map(|mv| net.does(0, mv)).collect();
        let any = net.or(moves.into_iter().take(2));
        let mut prover = Prover::new(&net, vec![vec![mine.node(), yours.node()]]);
        assert!(!prover.refute(&[yours, any], 0));
        prover.assume_family(0, true);
        assert!(prover.refute(&[yours, any], 0));
        assert!(!prover.refute(&[mine, any], 0));
        // One of them has to be made.
        assert!(prover.refute(&[yours], 0));
        let not = (0..4).map(|mv| !net.does(0, mv));
        assert!(prover.refute(&not.chain([!net.does(0, 4)]).collect::<Vec<_>>(), 0));
        assert!(!prover.refute(&[mine], 0));
    }
}
