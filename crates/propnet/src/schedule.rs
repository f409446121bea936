//! In which order a circuit's operations run.
//!
//! Components that must settle cut the circuit into stages: straight code, a loop, straight code, a loop, ... The
//! operations of a stage are ordered depth first (few values alive at a time: for machine code) or by level (long
//! runs of one operation: for the interpreter).

use crate::circuit::{Circuit, Op, Wire};

/// A piece of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Operations to run once.
    Straight(Vec<Wire>),
    /// Operations of a component, to run until its atoms have settled.
    Loop {
        /// Which component.
        component: usize,
        /// What to compute in each pass.
        ops: Vec<Wire>,
    },
}

/// How to order operations within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Operands just before their use.
    DepthFirst,
    /// By distance from the inputs, then by kind of operation.
    ByLevel,
}

/// The order of everything that the circuit's stores need. Loads and constants are not listed.
pub fn schedule(circuit: &Circuit, order: Order) -> Vec<Block> {
    let needed = circuit.needed();
    let stages = Stages::new(circuit, &needed);
    let mut blocks = Vec::new();
    for stage in 0..=stages.order.len() {
        if stage > 0 {
            let component = stages.order[stage - 1];
            let roots = &circuit.components[component].definitions;
            let ops = arrange(circuit, &stages.loops[stage - 1], roots, order);
            blocks.push(Block::Loop { component, ops });
        }
        if !stages.straight[stage].is_empty() {
            let roots: Vec<Wire> = circuit.stores.iter().map(|&(_, w)| w).collect();
            blocks.push(Block::Straight(arrange(
                circuit,
                &stages.straight[stage],
                &roots,
                order,
            )));
        }
    }
    blocks
}

/// The operands of an operation.
pub fn operands(op: Op) -> Option<(Wire, Wire)> {
    match op {
        Op::And(a, b) | Op::AndNot(a, b) | Op::Or(a, b) | Op::Xor(a, b) => Some((a, b)),
        _ => None,
    }
}

struct Stages {
    /// Needed components, in the order in which they settle.
    order: Vec<usize>,
    /// Per stage: operations that run once.
    straight: Vec<Vec<Wire>>,
    /// Per stage but the first: operations of the component's loop.
    loops: Vec<Vec<Wire>>,
}

impl Stages {
    fn new(circuit: &Circuit, needed: &[bool]) -> Stages {
        let is_needed = |c: &usize| {
            circuit.components[*c]
                .atoms
                .first()
                .is_some_and(|a| needed[a.0 as usize])
        };
        let order: Vec<usize> = (0..circuit.components.len()).filter(is_needed).collect();
        let mut place = vec![0; circuit.components.len()];
        order.iter().enumerate().for_each(|(at, &c)| place[c] = at + 1);
        let mut stage = vec![0_usize; circuit.ops().len()];
        for (at, &op) in circuit.ops().iter().enumerate() {
            stage[at] = match op {
                Op::Settled { component, .. } => place[component as usize],
                op => operands(op).map_or(0, |(a, b)| stage[a.0 as usize].max(stage[b.0 as usize])),
            };
        }
        let mut in_loop = vec![false; circuit.ops().len()];
        for &component in &order {
            let mine = place[component];
            let mut work = circuit.components[component].definitions.clone();
            while let Some(wire) = work.pop() {
                let at = wire.0 as usize;
                // Of this stage means: reads, directly or not, an atom of this component.
                if stage[at] == mine
                    && !in_loop[at]
                    && let Some((a, b)) = operands(circuit.op(wire))
                {
                    in_loop[at] = true;
                    work.extend([a, b]);
                }
            }
        }
        let mut straight = vec![Vec::new(); order.len() + 1];
        let mut loops = vec![Vec::new(); order.len()];
        for (at, &op) in circuit.ops().iter().enumerate() {
            if needed[at] && operands(op).is_some() {
                let wire = Wire(at as u32);
                if in_loop[at] {
                    loops[stage[at] - 1].push(wire)
                } else {
                    straight[stage[at]].push(wire)
                }
            }
        }
        Stages { order, straight, loops }
    }
}

fn arrange(circuit: &Circuit, ops: &[Wire], roots: &[Wire], order: Order) -> Vec<Wire> {
    match order {
        Order::DepthFirst => depth_first(circuit, ops, roots),
        Order::ByLevel => by_level(circuit, ops),
    }
}

fn depth_first(circuit: &Circuit, ops: &[Wire], roots: &[Wire]) -> Vec<Wire> {
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

fn by_level(circuit: &Circuit, ops: &[Wire]) -> Vec<Wire> {
    let mut level = vec![0_u32; circuit.ops().len()];
    for &wire in ops {
        if let Some((a, b)) = operands(circuit.op(wire)) {
            level[wire.0 as usize] = 1 + level[a.0 as usize].max(level[b.0 as usize]);
        }
    }
    let kind = |wire: &Wire| match circuit.op(*wire) {
        Op::And(..) => 0,
        Op::AndNot(..) => 1,
        Op::Or(..) => 2,
        _ => 3,
    };
    let mut sorted = ops.to_vec();
    sorted.sort_by_key(|w| (level[w.0 as usize], kind(w), *w));
    sorted
}
