//! Goals as machine code over bytes. Goals are needed once per game, so they are not kept up to date.
//!
//! If goals take many operations, and far fewer once the fluent of some family that holds is known, each of these cases
//! has its own code. Every evaluation checks that no two fluents of the family hold, so this need not be proven.

use super::cases::Cases;
use super::plain::{Plain, read, set_leaves, word_bit};
use super::step::FIRST_FLUENT;
use super::step::pack;
use crate::circuit::Circuit;
use crate::jit::{BlockId, BlocksBuilder, NativeBlocks};
use crate::lower::{Lowering, Polar};
use crate::network::{Network, Signal};
use crate::network::{Node, NodeId};
use crate::tuning::Bounds;
use game::Goal;
use std::sync::Arc;

/// The goals of a game and their values in one state.
#[derive(Clone, Debug)]
pub(super) enum GoalEvaluator {
    /// Machine code and its frame.
    Code(Arc<ByteGoals>, Vec<u8>),
    /// The gates that goals need, and values of nodes.
    Plain(Arc<Plain>, Vec<u8>),
}

/// The fluents of a state in one of two forms.
pub(super) enum Fluents<'s> {
    /// A bit each.
    Packed(&'s [u64]),
    /// A byte each, of which the lowest bit counts.
    Bytes(&'s [u8]),
}

impl GoalEvaluator {
    /// Prepares the goals of a network. In each family hardly ever two fluents hold.
    pub fn new(net: &Network, families: &[Vec<u32>], bounds: &Bounds) -> GoalEvaluator {
        if let Some(code) = ByteGoals::new(net, families, bounds) {
            return GoalEvaluator::Code(Arc::new(code), Vec::new());
        }
        let goals: Vec<Signal> = net.outputs.goals.iter().flatten().map(|&(_, s)| s).collect();
        GoalEvaluator::Plain(Arc::new(Plain::new(net, &goals)), Vec::new())
    }

    /// Evaluates the goals of a state.
    pub fn run(&mut self, net: &Network, fluents: Fluents) {
        match (self, fluents) {
            (GoalEvaluator::Code(code, frame), Fluents::Bytes(bytes)) => code.run_bytes(frame, bytes),
            (GoalEvaluator::Code(code, frame), Fluents::Packed(state)) => code.run(frame, state, net.n_fluents()),
            (GoalEvaluator::Plain(goals, values), fluents) => {
                values.resize(net.len(), 0);
                match fluents {
                    Fluents::Packed(state) => set_leaves(net, values, |f| word_bit(state, f), None),
                    Fluents::Bytes(bytes) => set_leaves(net, values, |f| bytes[f as usize] & 1, None),
                }
                goals.run(net, values);
            }
        }
    }

    /// The payoff of a role in the state that was evaluated last.
    pub fn goal(&self, net: &Network, role: usize) -> Goal {
        let mut goal = Goal::None;
        for (at, &(value, signal)) in net.outputs.goals[role].iter().enumerate() {
            let holds = match self {
                GoalEvaluator::Code(code, frame) => frame[code.cells[role][at]] & 1 == 1,
                GoalEvaluator::Plain(_, values) => read(values, signal),
            };
            if holds {
                goal = match goal {
                    Goal::None => Goal::Value(value),
                    _ => Goal::Many(value),
                };
            }
        }
        goal
    }
}

/// Goals as machine code over a frame of their own.
#[derive(Debug)]
pub(super) struct ByteGoals {
    code: NativeBlocks,
    /// Code for each case, and for any state last.
    blocks: Vec<BlockId>,
    /// Words of the state that contain fluents of the family, ascending: index, bits, and number of the first case. The
    /// last case but one is that no fluent of the family holds.
    family: Vec<(usize, u64, usize)>,
    /// The byte of each goal, per role.
    cells: Vec<Vec<usize>>,
}

impl ByteGoals {
    /// Compiles the goals of an acyclic network. In each family hardly ever two fluents hold.
    fn new(net: &Network, families: &[Vec<u32>], bounds: &Bounds) -> Option<ByteGoals> {
        if !net.cycles().is_empty() {
            return None;
        }
        let mut at = FIRST_FLUENT + net.n_fluents();
        let cells: Vec<Vec<usize>> = net
            .outputs
            .goals
            .iter()
            .map(|row| {
                let first = at;
                at += row.len();
                (first..at).collect()
            })
            .collect();
        let whole = circuit(net, &cells, &|_| None);
        let (mut circuits, mut family) = (Vec::new(), Vec::new());
        if whole.cost() >= bounds.tuning.fewest_goal_ops
            && let Some(cases) = case_circuits(net, &cells, families, bounds)
        {
            (family, circuits) = cases;
        }
        circuits.push(whole);
        let mut blocks = BlocksBuilder::new(at as u32)?;
        let ids: Option<Vec<BlockId>> = circuits
            .iter()
            .map(|circuit| blocks.add(circuit, bounds.stop))
            .collect();
        Some(ByteGoals {
            blocks: ids?,
            code: blocks.finish()?,
            family: family_words(&family),
            cells,
        })
    }

    /// Evaluates a state given as bytes.
    #[inline(always)]
    fn run_bytes(&self, frame: &mut Vec<u8>, fluents: &[u8]) {
        self.prepare(frame);
        frame[FIRST_FLUENT..FIRST_FLUENT + fluents.len()].copy_from_slice(fluents);
        let case = self.case(|word| {
            let bytes = &fluents[word * 64..fluents.len().min(word * 64 + 64)];
            let whole = bytes.len() / 8 * 8;
            let rest = bytes[whole..].iter().enumerate();
            rest.fold(pack(&bytes[..whole]), |word, (at, &byte)| {
                word | u64::from(byte & 1) << (whole + at)
            })
        });
        self.code.run(self.blocks[case], frame);
    }

    fn prepare(&self, frame: &mut Vec<u8>) {
        if frame.len() < self.code.frame_len {
            frame.resize(self.code.frame_len, 0);
            frame[crate::lanes::layout::ONE as usize] = 0xff;
        }
    }

    /// Evaluates a packed state.
    #[inline(always)]
    fn run(&self, frame: &mut Vec<u8>, state: &[u64], n_fluents: usize) {
        self.prepare(frame);
        for (f, byte) in frame[FIRST_FLUENT..FIRST_FLUENT + n_fluents].iter_mut().enumerate() {
            *byte = (state[f / 64] >> (f % 64)) as u8 & 1;
        }
        self.code.run(self.blocks[self.case(|word| state[word])], frame);
    }

    /// The case of a state, given by its words.
    #[inline(always)]
    fn case(&self, state: impl Fn(usize) -> u64) -> usize {
        let any = self.blocks.len() - 1;
        // Without a family the first number is not used.
        let (mut case, mut n_held) = (any.saturating_sub(1), 0);
        for &(word, mask, first) in &self.family {
            let held = state(word) & mask;
            if held != 0 {
                let below = (held & held.wrapping_neg()) - 1;
                case = first + (mask & below).count_ones() as usize;
                n_held += held.count_ones();
            }
        }
        if n_held > 1 { any } else { case }
    }
}

/// Circuit of all goals, given constant nodes.
fn circuit(net: &Network, cells: &[Vec<usize>], known: &dyn Fn(NodeId) -> Option<bool>) -> Circuit {
    let mut circuit = Circuit::new();
    let given = |circuit: &mut Circuit, node: NodeId| -> Option<Polar> {
        let wire = match (known(node), net.node(node)) {
            (Some(true), _) => circuit.one(),
            (Some(false), _) => circuit.zero(),
            (None, Node::Fluent(f)) => circuit.load(FIRST_FLUENT as u32 + f),
            _ => return None,
        };
        Some((wire, false))
    };
    let mut lowering = Lowering::new(net, &mut circuit, 0).given(&given);
    for (row, places) in net.outputs.goals.iter().zip(cells) {
        for (&(_, s), &cell) in row.iter().zip(places) {
            let wire = lowering.plain(&mut circuit, s);
            circuit.store(cell as u32, wire);
        }
    }
    circuit
}

/// The best family and the circuits of its cases, if cases are worth it.
fn case_circuits(
    net: &Network,
    cells: &[Vec<usize>],
    families: &[Vec<u32>],
    bounds: &Bounds,
) -> Option<(Vec<u32>, Vec<Circuit>)> {
    let roots: Vec<Signal> = net.outputs.goals.iter().flatten().map(|&(_, s)| s).collect();
    let mut cases = Cases::new(net, roots);
    let (family, _) = cases
        .best(families, bounds)
        .filter(|&(_, part)| part <= bounds.tuning.worth_cases)?;
    let mut family = family.to_vec();
    family.sort_unstable();
    let (mut circuits, mut ops) = (Vec::new(), 0);
    for member in family.iter().map(|&f| Some(f)).chain([None]) {
        cases.look(&family, member);
        let circuit = circuit(net, cells, &|node| cases.constant(node));
        ops += circuit.cost();
        if ops > bounds.tuning.most_case_ops || bounds.is_stopped() {
            return None;
        }
        circuits.push(circuit);
    }
    Some((family, circuits))
}

/// Words of the state that contain these fluents, given in ascending order.
fn family_words(family: &[u32]) -> Vec<(usize, u64, usize)> {
    let mut words = Vec::new();
    let mut first = 0;
    for row in family.chunk_by(|a, b| a / 64 == b / 64) {
        let mask = row.iter().map(|f| 1 << (f % 64)).sum();
        words.push((row[0] as usize / 64, mask, first));
        first += row.len();
    }
    words
}
