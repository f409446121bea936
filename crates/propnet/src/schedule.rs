//! The order in which the operations of a circuit run.
//!
//! Components that must settle cut the circuit into stages: straight code, a loop, straight code, a loop, and so on.
//! Within a stage the interpreter wants operations by level ([`by_level`]). Machine code wants operations depth first,
//! so that few values are alive at a time.

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

/// A function that orders the operations of a block; `roots` are the values that the block is for.
pub type Arrange = fn(&Circuit, ops: &[Wire], roots: &[Wire]) -> Vec<Wire>;

/// The order of everything that the circuit's stores need. Loads and constants are not listed.
pub fn schedule(circuit: &Circuit, arrange: Arrange) -> Vec<Block> {
    let needed = circuit.needed();
    let stages = Stages::new(circuit, &needed);
    let mut blocks = Vec::new();
    for stage in 0..=stages.order.len() {
        if stage > 0 {
            let component = stages.order[stage - 1];
            let roots = &circuit.components[component].definitions;
            let ops = arrange(circuit, &stages.loops[stage - 1], roots);
            blocks.push(Block::Loop { component, ops });
        }
        if !stages.straight[stage].is_empty() {
            let roots: Vec<Wire> = circuit.stores.iter().map(|&(_, w)| w).collect();
            blocks.push(Block::Straight(arrange(circuit, &stages.straight[stage], &roots)));
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
                // An operation of this stage reads, directly or not, an atom of this component.
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

/// An [`Arrange`] by distance from the inputs, then by kind of operation: long runs of one operation.
pub fn by_level(circuit: &Circuit, ops: &[Wire], _roots: &[Wire]) -> Vec<Wire> {
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
