//! The order of operations in machine code: depth first, so that few values are alive at a time.

use super::cover::Gate;
use crate::circuit::{Circuit, Wire};
use crate::schedule::operands;

/// An [`Arrange`](crate::schedule::Arrange) that puts operands just before their use.
pub(super) fn depth_first(circuit: &Circuit, ops: &[Wire], roots: &[Wire]) -> Vec<Wire> {
    let mut pending = vec![false; circuit.ops().len()];
    ops.iter().for_each(|w| pending[w.0 as usize] = true);
    let weight = weights(circuit, ops);
    let mut done = Vec::with_capacity(ops.len());
    // Roots first; then whatever only later stages read.
    for &root in roots.iter().chain(ops.iter().rev()) {
        let mut work = vec![(root, false)];
        while let Some((wire, entered)) = work.pop() {
            if !pending[wire.0 as usize] {
                continue;
            }
            if entered {
                pending[wire.0 as usize] = false;
                done.push(wire);
                continue;
            }
            work.push((wire, true));
            if let Some((a, b)) = operands(circuit.op(wire)) {
                // The operand that needs more room goes first.
                let (first, second) = if weight[a.0 as usize] >= weight[b.0 as usize] {
                    (a, b)
                } else {
                    (b, a)
                };
                work.extend([(second, false), (first, false)]);
            }
        }
    }
    done
}

/// Registers that a tree would need (Sethi and Ullman's numbers): a guide for graphs too.
fn weights(circuit: &Circuit, ops: &[Wire]) -> Vec<u16> {
    let mut weight = vec![0_u16; circuit.ops().len()];
    for &wire in ops {
        if let Some((a, b)) = operands(circuit.op(wire)) {
            let (a, b) = (weight[a.0 as usize], weight[b.0 as usize]);
            weight[wire.0 as usize] = if a == b { a.saturating_add(1) } else { a.max(b) };
        }
    }
    weight
}

/// All gates that these values need, in the order of [`depth_first`].
pub(super) fn depth_first_gates(gates: &[Option<Gate>], roots: &[Wire]) -> Vec<Wire> {
    let mut weight = vec![0_u16; gates.len()];
    for (at, gate) in gates.iter().enumerate() {
        let Some(gate) = gate else { continue };
        let mut of: [u16; 3] = [0; 3];
        gate.inputs()
            .iter()
            .zip(&mut of)
            .for_each(|(w, of)| *of = weight[w.0 as usize]);
        of.sort_unstable();
        let [least, middle, most] = of;
        // The heaviest input goes first; each further input needs room beside those before it.
        weight[at] = most.max(middle.saturating_add(1)).max(least.saturating_add(2));
    }
    let mut pending: Vec<bool> = gates.iter().map(Option::is_some).collect();
    let mut done = Vec::new();
    let mut work = Vec::new();
    for &root in roots {
        work.push((root, false));
        while let Some((wire, entered)) = work.pop() {
            let at = wire.0 as usize;
            let Some(gate) = gates[at].as_ref().filter(|_| pending[at]) else {
                continue;
            };
            if entered {
                pending[at] = false;
                done.push(wire);
                continue;
            }
            work.push((wire, true));
            let first = work.len();
            work.extend(gate.inputs().iter().map(|&input| (input, false)));
            // What is pushed last goes first.
            work[first..].sort_by_key(|(input, _)| weight[input.0 as usize]);
        }
    }
    done
}
