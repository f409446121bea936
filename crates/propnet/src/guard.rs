//! Guards: literals that many moves need, usually the fluent that says whose turn it is.

use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::needed;
use crate::tuning::Bounds;
use rustc_hash::FxHashMap;

/// The literal that most of these moves need, and the moves that need it.
pub(crate) fn best_guard(net: &Network, row: &[Signal], bounds: &Bounds) -> Option<(Signal, Vec<usize>)> {
    let cone = needed(net, row);
    let mut counts: FxHashMap<Signal, usize> = FxHashMap::default();
    for at in (0..net.len()).filter(|&at| cone[at]) {
        for &s in net.operands(NodeId(at as u32)) {
            if matches!(net.node(s.node()), Node::Fluent(_)) {
                *counts.entry(s).or_default() += 1;
            }
        }
    }
    let mut literals: Vec<(usize, Signal)> = counts.into_iter().map(|(s, n)| (n, s)).collect();
    literals.sort_unstable_by_key(|&(n, s)| (std::cmp::Reverse(n), s));
    let literals = literals.into_iter().take(4).take_while(|_| !bounds.is_stopped());
    let tried = literals.map(|(_, literal)| {
        let falls = falls_with(net, &cone, literal);
        let members = (0..row.len()).filter(|&m| !row[m].is_complement() && falls[row[m].node().0 as usize]);
        (literal, members.collect::<Vec<usize>>())
    });
    tried.max_by_key(|(_, members)| members.len())
}

/// Nodes that are false whenever this literal is false.
pub(crate) fn falls_with(net: &Network, cone: &[bool], literal: Signal) -> Vec<bool> {
    // Values that follow from the literal being false.
    let mut known: Vec<Option<bool>> = vec![None; net.len()];
    known[0] = Some(false);
    known[literal.node().0 as usize] = Some(literal.is_complement());
    for at in (0..net.len()).filter(|&at| cone[at]) {
        let operands = net.operands(NodeId(at as u32));
        if operands.is_empty() {
            continue;
        }
        let mut all = Some(true);
        for s in operands {
            match known[s.node().0 as usize].map(|v| v != s.is_complement()) {
                Some(false) => {
                    all = Some(false);
                    break;
                }
                None => all = None,
                Some(true) => {}
            }
        }
        known[at] = all;
    }
    known.into_iter().map(|v| v == Some(false)).collect()
}

/// How often each node is read by the gates of legal moves.
pub(crate) fn reads_by_legal(net: &Network) -> Vec<usize> {
    let roots: Vec<Signal> = net.outputs.legal.iter().flatten().copied().collect();
    let cone = needed(net, &roots);
    let mut reads = vec![0; net.len()];
    for at in (0..net.len()).filter(|&at| cone[at]) {
        net.operands(NodeId(at as u32))
            .iter()
            .for_each(|s| reads[s.node().0 as usize] += 1);
    }
    roots.iter().for_each(|s| reads[s.node().0 as usize] += 1);
    reads
}
