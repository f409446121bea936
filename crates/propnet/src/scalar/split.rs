//! Splits gates of a few operands into chains of pairs, where a trial shows that this needs fewer updates.
//!
//! A change of an operand updates a gate of two operands only if the other operand holds (see `events.rs`), and a wider
//! gate always. So a wider gate is worth splitting if its first operands seldom hold together.

use super::order::Numbers;
use super::trial::Trial;
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::{apply, needed};
use crate::tuning::Tuning;

/// A signal, how often it changed in the trial, and the part of the trial in which it held.
#[derive(Clone, Copy, Debug)]
struct Habit {
    signal: Signal,
    changes: f32,
    held: f32,
}

/// The same functions with some gates as chains.
pub(super) fn split_gates(net: &Network, numbers: &Numbers, trial: &Trial, tuning: &Tuning) -> Network {
    let cone = needed(net, &net.outputs.all());
    let mut new = net.same_leaves();
    new.keep_shape();
    let mut image = vec![Signal::FALSE; net.len()];
    for at in 0..net.len() {
        let id = NodeId(at as u32);
        image[at] = match net.node(id) {
            Node::And if !cone[at] => continue,
            Node::And => match chain(net, numbers, trial, id, tuning) {
                Some(order) => {
                    let operands = order.into_iter().map(|s| apply(&image, s));
                    operands.reduce(|made, s| new.and([made, s])).unwrap_or(Signal::TRUE)
                }
                None => new.and(net.operands(id).iter().map(|&s| apply(&image, s))),
            },
            _ => Signal::new(new.leaf_like(net, id), false),
        };
    }
    new.outputs = net.outputs.map(|s| apply(&image, s));
    new
}

/// The operands of a gate in the order of its chain, if a chain is worth it.
fn chain(net: &Network, numbers: &Numbers, trial: &Trial, gate: NodeId, tuning: &Tuning) -> Option<Vec<Signal>> {
    let operands = net.operands(gate);
    if !(3..=tuning.widest_chain).contains(&operands.len()) {
        return None;
    }
    let habits: Option<Vec<Habit>> = operands.iter().map(|&s| habit(net, numbers, trial, s)).collect();
    let mut left = habits?;
    let told: f32 = left.iter().map(|habit| habit.changes).sum();
    let first = (0..left.len()).min_by(|&a, &b| left[a].changes.total_cmp(&left[b].changes))?;
    let mut made = left.swap_remove(first);
    let mut order = vec![made.signal];
    let mut work = tuning.pair_cost * told;
    while !left.is_empty() {
        let changes = |habit: &Habit| made.changes * habit.held + habit.changes * made.held;
        let next = (0..left.len()).min_by(|&a, &b| changes(&left[a]).total_cmp(&changes(&left[b])))?;
        let habit = left.swap_remove(next);
        made.changes = changes(&habit);
        made.held *= habit.held;
        order.push(habit.signal);
        if !left.is_empty() {
            work += (tuning.pair_cost + tuning.change_cost) * made.changes;
        }
    }
    (work < tuning.worth_chain * told).then_some(order)
}

fn habit(net: &Network, numbers: &Numbers, trial: &Trial, signal: Signal) -> Option<Habit> {
    let node = numbers.of(net, signal.node())?;
    let held = trial.held[node] as f32 / trial.looks.max(1) as f32;
    Some(Habit {
        signal,
        changes: trial.changes[node] as f32,
        held: if signal.is_complement() { 1.0 - held } else { held },
    })
}
