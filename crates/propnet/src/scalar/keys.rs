//! Which operand of a gate is its key: the one without which the gate does not listen to the others.

use super::events::Numbers;
use super::trial::Trial;
use crate::network::{Network, NodeId, Signal};

/// Gates with more operands have no key.
const WIDEST: usize = 8;

/// A key must save this much of what its gate is told, at least: being told by way of a key takes longer.
const WORTH_IT: f32 = 0.8;

/// Per gate number, the position of the key among the gate's operands, if it is worth having one.
pub(super) fn choose_keys(net: &Network, numbers: &Numbers, trial: &Trial) -> Vec<Option<u32>> {
    let mut keys = vec![None; numbers.fluents];
    for (id, gate) in numbers.gates() {
        keys[gate as usize] = choose_key(net, numbers, trial, id);
    }
    keys
}

fn choose_key(net: &Network, numbers: &Numbers, trial: &Trial, gate: NodeId) -> Option<u32> {
    let operands = net.operands(gate);
    if !(2..=WIDEST).contains(&operands.len()) {
        return None;
    }
    let nodes: Option<Vec<usize>> = operands.iter().map(|s| numbers.of(net, s.node())).collect();
    let nodes = nodes.filter(|nodes| (1..nodes.len()).all(|at| !nodes[..at].contains(&nodes[at])))?;
    let changes = |node: usize| trial.changes[node] as f32;
    let holds = |node: usize, s: Signal| {
        let held = trial.held[node] as f32 / trial.looks.max(1) as f32;
        if s.is_complement() { 1.0 - held } else { held }
    };
    let all: f32 = nodes.iter().map(|&node| changes(node)).sum();
    // The key tells the gate, which asks every other operand; the others tell it while the key holds.
    let cost = |at: usize| {
        let node = nodes[at];
        changes(node) * operands.len() as f32 + holds(node, operands[at]) * (all - changes(node))
    };
    let (key, best) = (0..nodes.len())
        .map(|at| (at as u32, cost(at)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    (best < WORTH_IT * all).then_some(key)
}
