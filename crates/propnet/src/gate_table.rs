//! Which gate has given operands: open addressing over the numbers of gates.
//!
//! The operands themselves stay in the network. A table of boxed lists would be an allocation a gate, which every copy
//! of a network would repeat.

use crate::network::{NodeId, Signal};

/// The gates of a network by a hash of their operands.
#[derive(Clone, Debug, Default)]
pub(crate) struct GateTable {
    /// A gate's hash in the upper half, its number in the lower; 0 where there is none, because node 0 is no gate.
    slots: Vec<u64>,
    len: usize,
}

/// Slots of the first table.
const FIRST: usize = 64;

impl GateTable {
    /// The gate with these operands. `is_it` compares the operands of a gate with them.
    pub fn find(&self, operands: &[Signal], is_it: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        if self.slots.is_empty() {
            return None;
        }
        let hash = hash(operands);
        let mask = self.slots.len() - 1;
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            let node = NodeId(slot as u32);
            if slot >> 32 == u64::from(hash) && is_it(node) {
                return Some(node);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a gate that is not in the table.
    pub fn insert(&mut self, operands: &[Signal], node: NodeId) {
        if (self.len + 1) * 2 > self.slots.len() {
            self.grow();
        }
        self.len += 1;
        self.put(u64::from(hash(operands)) << 32 | u64::from(node.0));
    }

    fn put(&mut self, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut at = self.home((slot >> 32) as u32);
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    /// The slot where the search begins: the upper bits of the hash, so that a larger table needs no other hash.
    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.slots.len() as u64) >> 32) as usize
    }

    fn grow(&mut self) {
        let new = vec![0; (self.slots.len() * 2).max(FIRST)];
        let old = std::mem::replace(&mut self.slots, new);
        old.into_iter()
            .filter(|&slot| slot != 0)
            .for_each(|slot| self.put(slot));
    }
}

fn hash(operands: &[Signal]) -> u32 {
    let step = |hash: u64, s: &Signal| (hash.rotate_left(29) ^ u64::from(s.bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (operands.iter().fold(operands.len() as u64, step) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::Seed;
    use rustc_hash::FxHashMap;

    #[test]
    fn finds_what_a_map_of_lists_finds() {
        let mut rng = Seed(3).rng();
        let (mut table, mut map) = (GateTable::default(), FxHashMap::default());
        let mut lists: Vec<Vec<Signal>> = vec![Vec::new()];
        for _ in 0..20_000 {
            let list: Vec<Signal> = (0..2 + rng.below(3))
                .map(|_| Signal::from_bits(rng.below(40) as u32))
                .collect();
            let found = table.find(&list, |node| lists[node.0 as usize] == list);
            assert_eq!(found, map.get(&list).copied());
            if found.is_none() {
                let node = NodeId(lists.len() as u32);
                table.insert(&list, node);
                map.insert(list.clone(), node);
                lists.push(list);
            }
        }
        assert!(map.len() > 1_000 && map.len() < 20_000, "{}", map.len());
    }
}
