//! Case distinction by the fluent of a family that holds: in each case, many nodes of a network are constant.

use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::needed;
use crate::tuning::Bounds;
use rustc_hash::FxHashMap;

/// Some outputs of a network, given the fluent of a family that holds.
pub(super) struct Cases<'n> {
    net: &'n Network,
    roots: Vec<Signal>,
    /// The gates that the outputs need, ascending.
    gates: Vec<usize>,
    /// Value of each node, if it is constant.
    known: Vec<Option<bool>>,
}

impl<'n> Cases<'n> {
    /// No case yet.
    pub fn new(net: &'n Network, roots: Vec<Signal>) -> Cases<'n> {
        let cone = needed(net, &roots);
        let is_gate = |&at: &usize| cone[at] && net.node(NodeId(at as u32)) == Node::And;
        let mut known = vec![None; net.len()];
        known[0] = Some(false);
        Cases {
            gates: (0..net.len()).filter(is_gate).collect(),
            net,
            roots,
            known,
        }
    }

    /// Enters the case in which this member of a family holds, or none.
    pub fn look(&mut self, family: &[u32], member: Option<u32>) {
        for &f in family {
            self.known[self.net.fluent(f as usize).node().0 as usize] = Some(member == Some(f));
        }
        for &at in &self.gates {
            let mut value = Some(true);
            for &s in self.net.operands(NodeId(at as u32)) {
                match self.value(s) {
                    Some(true) => {}
                    Some(false) => {
                        value = Some(false);
                        break;
                    }
                    None => value = None,
                }
            }
            self.known[at] = value;
        }
    }

    /// Leaves the cases of a family. Gates are computed anew in the next case.
    fn forget(&mut self, family: &[u32]) {
        for &f in family {
            self.known[self.net.fluent(f as usize).node().0 as usize] = None;
        }
    }

    /// The value of a node in the present case, if it is constant.
    pub fn constant(&self, node: NodeId) -> Option<bool> {
        self.known[node.0 as usize]
    }

    fn value(&self, s: Signal) -> Option<bool> {
        self.constant(s.node()).map(|value| value != s.is_complement())
    }

    /// Number of operands that must be read to compute the outputs.
    fn open_operands(&self) -> usize {
        let mut seen = vec![false; self.net.len()];
        let mut work: Vec<NodeId> = self.roots.iter().map(|s| s.node()).collect();
        let mut n = 0;
        while let Some(id) = work.pop() {
            if self.constant(id).is_some() || std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            let open = self.net.operands(id).iter().filter(|&&s| self.value(s).is_none());
            open.for_each(|s| {
                n += 1;
                work.push(s.node());
            });
        }
        n
    }

    /// The family whose worst case needs the fewest operands, and which part of all operands that is.
    pub fn best<'f>(&mut self, families: &'f [Vec<u32>], bounds: &Bounds) -> Option<(&'f [u32], f32)> {
        let tuning = bounds.tuning;
        self.look(&[], None);
        let whole = self.open_operands().max(1);
        let mut least = whole;
        let mut best: Option<&[u32]> = None;
        let mut left = tuning.case_visits / self.gates.len().max(1);
        let mut large: Vec<&Vec<u32>> = families
            .iter()
            .filter(|family| (tuning.smallest_family..=tuning.largest_family).contains(&family.len()))
            .collect();
        large.sort_by_key(|family| std::cmp::Reverse(family.len()));
        for family in large {
            let mut most = 0;
            for &member in family {
                self.look(family, Some(member));
                most = most.max(self.open_operands());
                left = left.saturating_sub(1);
                if most >= least || left == 0 || bounds.is_stopped() {
                    break;
                }
            }
            self.forget(family);
            if left == 0 {
                break;
            }
            if most < least {
                (best, least) = (Some(&family[..]), most);
            }
        }
        best.map(|family| (family, least as f32 / whole as f32))
    }
}

/// Relations of whose fluents hardly ever two hold, judging by the frequency of each fluent.
pub(super) fn lonely_relations(names: &[String], likely: &[f32]) -> Vec<Vec<u32>> {
    const CROWDED: f32 = 1.01;
    let mut relations: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (f, name) in names.iter().enumerate() {
        let relation = name.trim_start_matches('(').split(' ').next().unwrap_or_default();
        relations.entry(relation).or_default().push(f as u32);
    }
    let is_lonely = |family: &Vec<u32>| family.iter().map(|&f| likely[f as usize]).sum::<f32>() <= CROWDED;
    let mut lonely: Vec<Vec<u32>> = relations.into_values().filter(is_lonely).collect();
    lonely.sort_unstable();
    lonely
}
