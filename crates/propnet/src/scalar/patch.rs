//! What a joint move makes of the outputs that read its move bits.
//!
//! With the move bits fixed, most gates fold to constants or to signals that are kept up to date anyway; what is left
//! is a short list of conjunctions. Patches are made when a joint move is first played, and kept.

use super::net::{Ref, ScalarNet};
use crate::network::{Network, Node, NodeId, Signal};
use rustc_hash::FxHashMap;

/// Conjunctions to evaluate, and outputs that are constants or signals.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// For each new value: how many operands, then the operands. Values are numbered after the kept nodes.
    code: Vec<u32>,
    /// Words of outputs with bits that are always the same.
    pub masks: Vec<MaskedWord>,
    /// Outputs that are a signal to look at, ascending.
    pub signals: Vec<(u32, Ref)>,
}

/// Bits of a word that need no evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaskedWord {
    pub word: u32,
    /// Bits that are constant.
    pub fixed: u64,
    /// Those of them that are set.
    pub set: u64,
    /// Bits that stay as they are in the present state.
    pub stays: u64,
}

impl Patch {
    /// Next bits (fluent and signal) under a joint move. Fluents that stay as they are need no evaluation.
    pub fn of_next(net: &Network, kept: &ScalarNet, joint: &[u32], wanted: &[(u32, Signal)]) -> Patch {
        let mut patch = Patch::new(net, kept, joint, wanted);
        let mut signals = std::mem::take(&mut patch.signals);
        signals.retain(|&(f, reference)| {
            let own = kept.image[net.fluent(f as usize).node().0 as usize];
            if own == Some(reference) {
                patch.word(f).stays |= 1 << (f % 64);
            }
            own != Some(reference)
        });
        patch.signals = signals;
        patch
    }

    /// The outputs `wanted` (number and signal) under a joint move.
    pub fn new(net: &Network, kept: &ScalarNet, joint: &[u32], wanted: &[(u32, Signal)]) -> Patch {
        let mut maker = Maker {
            net,
            kept,
            joint,
            done: FxHashMap::default(),
            code: Vec::new(),
            n_values: 0,
        };
        let mut patch = Patch::default();
        for &(number, signal) in wanted {
            match maker.signal(signal) {
                0 => patch.fix(number, false),
                1 => patch.fix(number, true),
                reference => patch.signals.push((number, reference)),
            }
        }
        patch.code = maker.code;
        patch
    }

    fn fix(&mut self, number: u32, value: bool) {
        let masked = self.word(number);
        masked.fixed |= 1 << (number % 64);
        masked.set |= u64::from(value) << (number % 64);
    }

    fn word(&mut self, number: u32) -> &mut MaskedWord {
        let word = number / 64;
        let at = self.masks.iter().position(|m| m.word == word).unwrap_or_else(|| {
            let empty = MaskedWord {
                word,
                fixed: 0,
                set: 0,
                stays: 0,
            };
            self.masks.push(empty);
            self.masks.len() - 1
        });
        &mut self.masks[at]
    }

    /// Overwrites the next bits that this is about.
    #[inline(always)]
    pub fn apply(&self, values: &[u8], state: &[u64], next: &mut [u64]) {
        for m in &self.masks {
            let word = m.word as usize;
            next[word] = next[word] & !(m.fixed | m.stays) | m.set | state[word] & m.stays;
        }
        // Gathered word by word: writing bit by bit would wait for memory each time.
        let mut rest = &self.signals[..];
        while let Some(&(first, _)) = rest.first() {
            let word = first as usize / 64;
            let n = rest.iter().take_while(|(f, _)| *f as usize / 64 == word).count();
            let (here, after) = rest.split_at(n);
            rest = after;
            let (mut ours, mut set) = (0, 0);
            for &(f, reference) in here {
                ours |= 1_u64 << (f % 64);
                set |= u64::from(read(values, reference)) << (f % 64);
            }
            next[word] = next[word] & !ours | set;
        }
    }

    /// Evaluates the conjunctions: `values` are the kept nodes, and room for what is computed here follows.
    pub fn run(&self, values: &mut Vec<u8>, n_kept: usize) {
        values.truncate(n_kept);
        let mut rest = &self.code[..];
        while let Some((&n, tail)) = rest.split_first() {
            let (operands, tail) = tail.split_at(n as usize);
            rest = tail;
            let all = operands.iter().all(|&r| read(values, r));
            values.push(u8::from(all));
        }
    }

    /// Words of memory it takes.
    pub fn size(&self) -> usize {
        16 + self.code.len() + 6 * self.masks.len() + 2 * self.signals.len()
    }
}

/// The value of a reference.
#[inline]
pub(super) fn read(values: &[u8], reference: Ref) -> bool {
    (values[(reference >> 1) as usize] ^ reference as u8) & 1 == 1
}

struct Maker<'a> {
    net: &'a Network,
    kept: &'a ScalarNet,
    joint: &'a [u32],
    done: FxHashMap<NodeId, Ref>,
    code: Vec<u32>,
    n_values: u32,
}

impl Maker<'_> {
    fn signal(&mut self, signal: Signal) -> Ref {
        self.node(signal.node()) ^ u32::from(signal.is_complement())
    }

    fn known(&self, node: NodeId) -> Option<Ref> {
        if let Some(reference) = self.kept.image[node.0 as usize] {
            return Some(reference);
        }
        match self.net.node(node) {
            Node::Does { role, mv } => Some(u32::from(self.joint[role as usize] == mv)),
            _ => self.done.get(&node).copied(),
        }
    }

    /// With a stack of its own: gates may be deep.
    fn node(&mut self, root: NodeId) -> Ref {
        let mut work = vec![root];
        while let Some(&node) = work.last() {
            if self.known(node).is_some() {
                work.pop();
                continue;
            }
            let before = work.len();
            let operands = self.net.operands(node);
            // An operand that is known to be false settles the gate without looking at the others.
            let refs: Vec<Option<Ref>> = operands
                .iter()
                .map(|s| self.known(s.node()).map(|r| r ^ u32::from(s.is_complement())))
                .collect();
            if refs.contains(&Some(0)) {
                self.done.insert(node, 0);
                continue;
            }
            work.extend(operands.iter().map(|s| s.node()).filter(|&n| self.known(n).is_none()));
            if work.len() == before {
                let reference = self.conjunction(refs.into_iter().flatten());
                self.done.insert(node, reference);
            }
        }
        self.known(root).unwrap_or(0)
    }

    fn conjunction(&mut self, operands: impl Iterator<Item = Ref>) -> Ref {
        let mut list: Vec<Ref> = operands.filter(|&r| r != 1).collect();
        list.sort_unstable();
        list.dedup();
        if list.windows(2).any(|w| w[0] ^ 1 == w[1]) {
            return 0;
        }
        match list[..] {
            [] => 1,
            [only] => only,
            _ => {
                self.code.push(list.len() as u32);
                self.code.extend(&list);
                self.n_values += 1;
                (self.kept.n_nodes as u32 + self.n_values - 1) << 1
            }
        }
    }
}
