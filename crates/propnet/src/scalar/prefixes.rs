//! Shared prefixes of wide gates, so that a change updates few gates.
//!
//! The gates of a queen's moves along a line all read the cells between. A change of one cell updates every gate beyond
//! it, for every queen that might stand on the line. The operands of each gate are put in order: the operand that is
//! least often true comes first, then operands by the number of gates with the same first operand that contain them.
//! Gates then have common prefixes, which become gates. A cell now updates one gate per line, and that gate hardly ever
//! changes.

use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::{apply, needed};
use crate::tuning::{Bounds, Tuning};
use rustc_hash::FxHashMap;

/// The same functions with shared prefixes; `likely` is the frequency of each fluent. `None` if the work was stopped.
pub(super) fn share_prefixes(net: &Network, likely: &[f32], bounds: &Bounds) -> Option<Network> {
    let cone = needed(net, &net.outputs.all());
    let gates: Vec<usize> = (0..net.len())
        .filter(|&at| cone[at] && net.node(NodeId(at as u32)) == Node::And)
        .collect();
    let rows = ordered_operands(net, &gates, likely, bounds.tuning);
    bounds.go_on()?;
    let mut shared: FxHashMap<u64, u32> = FxHashMap::default();
    for row in rows.iter().flatten() {
        prefix_keys(row).for_each(|key| *shared.entry(key).or_default() += 1);
    }
    let mut new = net.same_leaves();
    new.keep_shape();
    let mut image: Vec<Signal> = (0..net.len())
        .map(|at| match net.node(NodeId(at as u32)) {
            Node::And => Signal::FALSE,
            _ => Signal::new(new.leaf_like(net, NodeId(at as u32)), false),
        })
        .collect();
    for (number, (&at, row)) in gates.iter().zip(&rows).enumerate() {
        if bounds.is_stopped_at(number) {
            return None;
        }
        image[at] = match row {
            Some(row) => build(&mut new, &image, row, &shared),
            None => {
                let operands = net.operands(NodeId(at as u32));
                new.and(operands.iter().map(|&s| apply(&image, s)))
            }
        };
    }
    new.outputs = net.outputs.map(|s| apply(&image, s));
    Some(new)
}

/// The operands of each gate that may share a prefix, in the order of sharing.
fn ordered_operands(net: &Network, gates: &[usize], likely: &[f32], tuning: &Tuning) -> Vec<Option<Vec<Signal>>> {
    let likely = likelihoods(net, likely);
    let of = |s: Signal| {
        let p = likely[s.node().0 as usize];
        if s.is_complement() { 1.0 - p } else { p }
    };
    let mut common: FxHashMap<(Signal, Signal), u32> = FxHashMap::default();
    let mut rows = Vec::with_capacity(gates.len());
    for &at in gates {
        let operands = flatten(net, NodeId(at as u32), tuning.widest_prefix);
        let rarest = operands
            .iter()
            .copied()
            .min_by(|&a, &b| of(a).total_cmp(&of(b)).then(a.cmp(&b)));
        let head = rarest
            .filter(|&s| of(s) <= tuning.likeliest_prefix && (3..=tuning.widest_prefix).contains(&operands.len()));
        rows.push(head.map(|head| {
            operands
                .iter()
                .for_each(|&s| *common.entry((head, s)).or_default() += 1);
            let mut row = operands;
            row.retain(|&s| s != head);
            row.insert(0, head);
            row
        }));
    }
    for row in rows.iter_mut().flatten() {
        let head = row[0];
        row[1..].sort_unstable_by_key(|&s| (std::cmp::Reverse(common[&(head, s)]), s));
    }
    rows
}

/// The operands of a gate, with conjunctions replaced by their operands: prefixes replace the sharing of conjunctions.
/// Conjunctions of leaves are kept.
fn flatten(net: &Network, gate: NodeId, widest: usize) -> Vec<Signal> {
    let is_chain = |s: &Signal| {
        let operands = net.operands(s.node());
        !s.is_complement() && operands.iter().any(|s| net.node(s.node()) == Node::And)
    };
    let mut flat = net.operands(gate).to_vec();
    while let Some(at) = flat.iter().position(is_chain) {
        let chain = flat.swap_remove(at);
        flat.extend(net.operands(chain.node()));
        if flat.len() > 2 * widest {
            return net.operands(gate).to_vec();
        }
    }
    flat.sort_unstable();
    flat.dedup();
    flat
}

/// Estimated frequency of each node, as if operands were independent.
pub(super) fn likelihoods(net: &Network, fluents: &[f32]) -> Vec<f32> {
    let n_moves = net.n_moves();
    let mut likely: Vec<f32> = vec![0.0; net.len()];
    for at in 1..net.len() {
        let id = NodeId(at as u32);
        likely[at] = match net.node(id) {
            Node::Fluent(f) => fluents[f as usize],
            Node::Does { role, .. } => 1.0 / n_moves[role as usize] as f32,
            _ => net
                .operands(id)
                .iter()
                .map(|s| {
                    let p = likely[s.node().0 as usize];
                    if s.is_complement() { 1.0 - p } else { p }
                })
                .product(),
        };
    }
    likely
}

/// A key for each prefix of a row. A collision of keys costs a gate, nothing else.
fn prefix_keys(row: &[Signal]) -> impl Iterator<Item = u64> + '_ {
    row.iter().scan(0_u64, |key, s| {
        let word = u64::from(s.node().0) << 1 | u64::from(s.is_complement());
        *key = (key.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some(*key)
    })
}

/// A gate over the prefixes that it shares with other rows.
fn build(new: &mut Network, image: &[Signal], row: &[Signal], shared: &FxHashMap<u64, u32>) -> Signal {
    let counts: Vec<u32> = prefix_keys(row).map(|key| shared[&key]).collect();
    let mut open: Vec<Signal> = Vec::new();
    for (at, &s) in row.iter().enumerate() {
        open.push(apply(image, s));
        let is_left = counts.get(at + 1).is_some_and(|&further| further < counts[at]);
        if is_left && at > 0 {
            let prefix = new.and(open.drain(..));
            open.push(prefix);
        }
    }
    new.and(open)
}
