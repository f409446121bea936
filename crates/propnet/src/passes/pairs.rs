//! Common sub-expressions of wide gates.
//!
//! First, literals that occur in exactly the same gates become one gate (in linear time, by hashing the gates of each
//! literal). Then the pair of literals that most gates share is extracted, greedily, until no pair occurs twice or the
//! budget is spent. Gates with too many operands are left out, because all pairs of operands are counted.

use super::needed;
use crate::network::{Network, Node, NodeId, Signal};
use crate::tuning::Bounds;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The work budget of extraction.
#[derive(Clone, Copy, Debug)]
pub struct PairBudget {
    /// Pairs counted at the start; the widest gates are left out until the count fits.
    pub pairs: usize,
    /// Gates visited while extracting.
    pub visits: usize,
}

impl Default for PairBudget {
    fn default() -> Self {
        PairBudget {
            pairs: 1_500_000,
            visits: 3_000_000,
        }
    }
}

/// The same network with shared parts of wide gates computed once; `None` if the work was stopped.
pub(crate) fn extract_common(net: &Network, budget: PairBudget, bounds: &Bounds) -> Option<Network> {
    let mut work = Work::new(net);
    work.extract_blocks();
    work.extract_pairs(budget, bounds);
    if bounds.is_stopped() {
        return None;
    }
    Some(work.finish(net))
}

/// Gates as lists of operands; indices past the network's are gates made here.
struct Work {
    lists: Vec<Vec<Signal>>,
}

impl Work {
    fn new(net: &Network) -> Work {
        let needed = needed(net, &net.roots());
        let list = |at: usize| {
            if needed[at] {
                net.operands(NodeId(at as u32)).to_vec()
            } else {
                Vec::new()
            }
        };
        Work {
            lists: (0..net.len()).map(list).collect(),
        }
    }

    fn add_gate(&mut self, list: Vec<Signal>) -> Signal {
        self.lists.push(list);
        Signal::new(NodeId(self.lists.len() as u32 - 1), false)
    }

    /// Literals that occur in exactly the same two or more gates are gathered into one gate.
    fn extract_blocks(&mut self) {
        let mut where_used: FxHashMap<Signal, Vec<u32>> = FxHashMap::default();
        for (gate, list) in self.lists.iter().enumerate().filter(|(_, l)| l.len() > 2) {
            list.iter()
                .for_each(|&s| where_used.entry(s).or_default().push(gate as u32));
        }
        let mut blocks: FxHashMap<Vec<u32>, Vec<Signal>> = FxHashMap::default();
        for (signal, gates) in where_used {
            if gates.len() > 1 {
                blocks.entry(gates).or_default().push(signal);
            }
        }
        let mut blocks: Vec<(Vec<u32>, Vec<Signal>)> = blocks.into_iter().filter(|(_, s)| s.len() > 1).collect();
        blocks.sort_unstable();
        for (gates, mut signals) in blocks {
            signals.sort_unstable();
            // A gate that is exactly this block serves as the block.
            let whole = gates.iter().copied().find(|&g| self.lists[g as usize] == signals);
            let block = match whole {
                Some(gate) => Signal::new(NodeId(gate), false),
                None => self.add_gate(signals.clone()),
            };
            for gate in gates.into_iter().filter(|&g| Some(g) != whole) {
                let list = &mut self.lists[gate as usize];
                list.retain(|s| signals.binary_search(s).is_err());
                insert(list, block);
            }
        }
    }

    fn extract_pairs(&mut self, budget: PairBudget, bounds: &Bounds) {
        let widest = self.widest_within(budget.pairs);
        if bounds.is_stopped() {
            return;
        }
        let mut pairs = Pairs::count(&self.lists, widest);
        let mut visits = 0;
        while visits < budget.visits && !bounds.is_stopped() {
            let Some((a, b)) = pairs.best() else { break };
            visits += self.take_out(&mut pairs, a, b, widest);
        }
    }

    /// The width up to which all gates together have at most so many pairs.
    fn widest_within(&self, budget: usize) -> usize {
        let mut widths: Vec<usize> = self.lists.iter().map(Vec::len).collect();
        widths.sort_unstable();
        let mut total = 0;
        for &width in &widths {
            total += width * width.saturating_sub(1) / 2;
            if total > budget {
                return width - 1;
            }
        }
        usize::MAX
    }

    fn take_out(&mut self, pairs: &mut Pairs, a: Signal, b: Signal, widest: usize) -> usize {
        let shorter = if pairs.uses[&a].len() <= pairs.uses[&b].len() {
            a
        } else {
            b
        };
        let mut gates: Vec<u32> = pairs.uses[&shorter]
            .iter()
            .copied()
            .filter(|&g| {
                let list = &self.lists[g as usize];
                list.binary_search(&a).is_ok() && list.binary_search(&b).is_ok()
            })
            .collect();
        gates.dedup();
        let visits = pairs.uses[&shorter].len() + gates.len();
        pairs.forget(a, b);
        let whole = gates.iter().copied().find(|&g| self.lists[g as usize].len() == 2);
        let pair = match whole {
            Some(gate) => Signal::new(NodeId(gate), false),
            None => self.add_gate(if a < b { vec![a, b] } else { vec![b, a] }),
        };
        let mut touched = Vec::new();
        for &gate in gates.iter().filter(|&&g| Some(g) != whole) {
            let list = &mut self.lists[gate as usize];
            debug_assert!(list.len() <= widest);
            list.retain(|&s| s != a && s != b);
            for &other in list.iter() {
                pairs.less(a, other);
                pairs.less(b, other);
                if pairs.more(pair, other) {
                    touched.push(other);
                }
            }
            insert(list, pair);
            pairs.uses.entry(pair).or_default().push(gate);
        }
        touched.sort_unstable();
        touched.dedup();
        touched.into_iter().for_each(|other| pairs.offer(pair, other));
        visits
    }

    /// The network of the lists, in dependency order.
    fn finish(self, net: &Network) -> Network {
        let mut new = net.same_leaves();
        new.keep_shape();
        let mut image: Vec<Option<Signal>> = vec![None; self.lists.len()];
        for (at, image) in image.iter_mut().enumerate().take(net.len()) {
            let id = NodeId(at as u32);
            if net.node(id) != Node::And {
                *image = Some(Signal::new(new.leaf_like(net, id), false));
            }
        }
        let mut value = |s: Signal| {
            build_gate(&self.lists, &mut image, &mut new, s.node());
            let plain = image[s.node().0 as usize].unwrap_or(Signal::FALSE);
            if s.is_complement() { !plain } else { plain }
        };
        let outputs = net.outputs.map(&mut value);
        let definitions: Vec<Signal> = net.cycles().iter().map(|c| value(c.definition)).collect();
        new.outputs = outputs;
        definitions
            .into_iter()
            .enumerate()
            .for_each(|(at, d)| new.define_cycle(at, d));
        new
    }
}

/// Builds a gate after its operands, with a stack of its own.
fn build_gate(lists: &[Vec<Signal>], image: &mut [Option<Signal>], new: &mut Network, root: NodeId) {
    let mut work = vec![root.0 as usize];
    while let Some(&at) = work.last() {
        if image[at].is_some() {
            work.pop();
            continue;
        }
        let before = work.len();
        work.extend(
            lists[at]
                .iter()
                .map(|s| s.node().0 as usize)
                .filter(|&n| image[n].is_none()),
        );
        if work.len() > before {
            continue;
        }
        work.pop();
        let operands = lists[at].iter().map(|s| {
            let plain = image[s.node().0 as usize].unwrap_or(Signal::FALSE);
            if s.is_complement() { !plain } else { plain }
        });
        let operands: Vec<Signal> = operands.collect();
        image[at] = Some(new.and(operands));
    }
}

fn insert(list: &mut Vec<Signal>, signal: Signal) {
    if let Err(at) = list.binary_search(&signal) {
        list.insert(at, signal);
    }
}

/// The number of gates that each pair of literals shares, and the most frequent pair.
struct Pairs {
    counts: FxHashMap<(Signal, Signal), u32>,
    uses: FxHashMap<Signal, Vec<u32>>,
    heap: BinaryHeap<(u32, Reverse<(Signal, Signal)>)>,
}

impl Pairs {
    fn count(lists: &[Vec<Signal>], widest: usize) -> Pairs {
        let mut uses: FxHashMap<Signal, Vec<u32>> = FxHashMap::default();
        let mut all: Vec<(Signal, Signal)> = Vec::new();
        for (gate, list) in lists
            .iter()
            .enumerate()
            .filter(|(_, l)| l.len() > 1 && l.len() <= widest)
        {
            for (at, &a) in list.iter().enumerate() {
                uses.entry(a).or_default().push(gate as u32);
                all.extend(list[at + 1..].iter().map(|&b| (a, b)));
            }
        }
        // Pairs that occur once are left out: they can only recur with a gate made later. Sorting keeps them out of the
        // hash table, which would otherwise not fit into the cache.
        all.sort_unstable();
        let same = all.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        let counts: FxHashMap<(Signal, Signal), u32> = same.map(|same| (same[0], same.len() as u32)).collect();
        let heap = counts.iter().map(|(&pair, &c)| (c, Reverse(pair))).collect();
        Pairs { counts, uses, heap }
    }

    fn best(&mut self) -> Option<(Signal, Signal)> {
        while let Some((count, Reverse(pair))) = self.heap.pop() {
            let now = self.counts.get(&pair).copied().unwrap_or(0);
            if now == count {
                return Some(pair);
            }
            if now > 1 {
                self.heap.push((now, Reverse(pair)));
            }
        }
        None
    }

    fn forget(&mut self, a: Signal, b: Signal) {
        self.counts.remove(&ordered(a, b));
    }

    fn less(&mut self, a: Signal, b: Signal) {
        if let Some(count) = self.counts.get_mut(&ordered(a, b)) {
            *count -= 1;
            if *count < 2 {
                self.counts.remove(&ordered(a, b));
            }
        }
    }

    /// Whether the pair now occurs at least twice.
    fn more(&mut self, a: Signal, b: Signal) -> bool {
        let count = self.counts.entry(ordered(a, b)).or_default();
        *count += 1;
        *count > 1
    }

    fn offer(&mut self, a: Signal, b: Signal) {
        if let Some(&count) = self.counts.get(&ordered(a, b)) {
            self.heap.push((count, Reverse(ordered(a, b))));
        }
    }
}

fn ordered(a: Signal, b: Signal) -> (Signal, Signal) {
    if a < b { (a, b) } else { (b, a) }
}
