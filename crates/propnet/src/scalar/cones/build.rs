//! Preparation of cones: machine code for every fluent and every joint move.

use super::super::cofactor::Cofactor;
use super::super::guards::Guards;
use super::super::heads::{HeadGroup, HeadPlan};
use super::super::numbering::Numbering;
use super::super::step::FIRST_FLUENT;
use super::super::words::Words;
use super::{Computed, Cone, ConeNet, Effect, Group, HeadBlock, Heads, Masks, heads_cost, stale_words};
use crate::circuit::{Circuit, Op, Wire};
use crate::compiled::Habits;
use crate::jit::{BlockId, BlocksBuilder};
use crate::lower::{Lowering, Polar};
use crate::network::{Network, Node, NodeId, Signal};
use crate::schedule::operands;
use crate::tuning::Bounds;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// A builder of [`ConeNet`].
pub(super) struct Builder<'n> {
    net: &'n Network,
    bounds: Bounds<'n>,
    words: Words,
    plan: Option<HeadPlan>,
    /// The first byte of the moves that heads make legal.
    headed: usize,
    does: Vec<usize>,
    /// The first byte of the outputs that are kept up to date.
    outputs: usize,
    /// The first byte of the outputs that joint moves compute.
    computed: usize,
    /// Circuit of everything that depends on the state alone.
    circuit: Circuit,
    /// Outputs that depend on moves.
    made: Vec<(usize, Signal)>,
    /// Byte of each operation's value.
    home: Vec<u32>,
    /// Further output bytes of each wire.
    copies: FxHashMap<Wire, Vec<u32>>,
    readers: Vec<Vec<Wire>>,
    /// Wires of nodes that are kept up to date.
    kept: FxHashMap<NodeId, Polar>,
    blocks: BlocksBuilder,
    ops: usize,
}

impl<'n> Builder<'n> {
    /// Lays out the frame and lowers everything that depends on the state.
    pub fn new(net: &'n Network, plan: Option<HeadPlan>, bounds: Bounds<'n>) -> Option<Builder<'n>> {
        let words = Words::new(net);
        let mut at = FIRST_FLUENT + net.n_fluents();
        let mut room = |n: usize| {
            let first = at.next_multiple_of(64);
            at = first + n;
            first
        };
        let does: Vec<usize> = net.n_moves().iter().map(|&n| room(n)).collect();
        let outputs = room(words.len * 64);
        let computed = room(words.len * 64);
        let headed = room(plan.as_ref().map_or(0, |_| words.next * 64));
        let mut circuit = Circuit::new();
        let moved = depends_on_moves(net);
        let (made, by_itself): (Vec<_>, Vec<_>) = words
            .each_made(net)
            .into_iter()
            .partition(|(_, s)| moved[s.node().0 as usize]);
        let stored = words.each_state(net).into_iter().chain(by_itself);
        let kept = lower_state(net, stored, outputs, &mut circuit);
        let (home, copies, end) = homes(&circuit, at as u32);
        Some(Builder {
            net,
            bounds,
            words,
            plan,
            headed,
            does,
            outputs,
            computed,
            home,
            copies,
            readers: readers(&circuit),
            kept,
            circuit,
            made,
            blocks: BlocksBuilder::new(end)?,
            ops: 0,
        })
    }

    /// Compiles all code; `None` if it is too much or the work was stopped.
    pub fn build(mut self, guards: Guards, numbering: Numbering) -> Option<ConeNet> {
        let needed = self.circuit.needed();
        let all: Vec<Wire> = (0..needed.len())
            .filter(|&at| needed[at])
            .map(|at| Wire(at as u32))
            .collect();
        let whole = self.state_block(&all)?.0;
        let (mut fluents, mut touched) = (Vec::new(), Vec::new());
        for f in 0..self.net.n_fluents() {
            fluents.push(self.cone(f, &mut touched)?);
        }
        let heads = match self.plan.take() {
            Some(plan) => Some(self.heads(plan)?),
            None => None,
        };
        let mut cofactor = Cofactor::new(self.net, &self.made, self.words.next * 64, self.bounds);
        let (mut effects, mut masks, mut computed) = (Vec::new(), Vec::new(), Vec::new());
        for joint in numbering.joint_moves(&self.net.n_moves()) {
            self.bounds.go_on()?;
            let (known, open) = cofactor.split(&joint)?;
            let first = masks.len() as u32;
            masks.extend(as_masks(&known));
            let known = first..masks.len() as u32;
            effects.push(self.effect(known, &open, Some(&cofactor), &mut computed)?);
        }
        let open = std::mem::take(&mut self.made);
        let by_itself = mask_without(&self.words, self.net, &open);
        effects.push(self.effect(0..0, &open, None, &mut computed)?);
        Some(ConeNet {
            words: self.words,
            guards,
            code: self.blocks.finish()?,
            whole,
            fluents,
            heads,
            touched,
            by_itself,
            numbering,
            effects,
            masks,
            computed,
            does: self.does,
            outputs: self.outputs,
            n_fluents: self.net.n_fluents(),
        })
    }

    /// Average number of operations per step that keep the state up to date, or some number above `most`.
    pub fn state_cost(&self, habits: Habits, most: f32) -> f32 {
        let mut cost = 0.0;
        let mut seen = vec![u32::MAX; self.readers.len().max(self.home.len())];
        for (f, p) in habits.changes.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            if self.bounds.is_stopped() || cost > most {
                break;
            }
            let n = self.leaf(f).map(|leaf| self.fan_out_size(leaf, &mut seen, f as u32));
            cost += p * n.unwrap_or_default() as f32;
        }
        cost
    }

    /// Average number of operations per step that compute moves from their heads.
    pub fn head_cost(&self, habits: Habits) -> f32 {
        let groups = self.plan.iter().flat_map(|plan| &plan.groups);
        groups
            .map(|group| {
                let mut ops = vec![None; self.net.n_fluents()];
                for head in group.heads.iter().take_while(|_| !self.bounds.is_stopped()) {
                    let block = self.head_circuit(group, &head.moves, &FxHashSet::default());
                    ops[head.fluent as usize] = Some(block.cost() as u32);
                }
                heads_cost(group.guard.as_ref(), ops.into_iter(), habits, self.bounds.tuning)
            })
            .sum()
    }

    /// Code for moves with heads.
    fn heads(&mut self, plan: HeadPlan) -> Option<Heads> {
        let mut groups = Vec::new();
        for group in &plan.groups {
            groups.push(self.head_group(group)?);
        }
        let none_of = plan.none_of.iter().map(|moves| {
            let mut masks: Vec<(u32, u64)> = Vec::new();
            for &(role, mv) in moves {
                let word = (self.words.legal[role].0 + mv / 64) as u32;
                if masks.last().is_none_or(|last| last.0 != word) {
                    masks.push((word, 0));
                }
                if let Some(last) = masks.last_mut() {
                    last.1 |= 1 << (mv % 64);
                }
            }
            masks
        });
        Some(Heads {
            none_of: none_of.collect(),
            groups,
            cells: self.headed,
        })
    }

    fn head_group(&mut self, group: &HeadGroup) -> Option<Group> {
        let (mut once, mut again) = (FxHashSet::default(), FxHashSet::default());
        for &(mv, _) in group.heads.iter().flat_map(|head| &head.moves) {
            if !once.insert(mv) {
                again.insert(mv);
            }
        }
        let mut fluents = vec![0_u64; self.net.n_fluents().div_ceil(64)];
        let mut blocks = vec![None; self.net.n_fluents()];
        for head in &group.heads {
            let block = self.head_circuit(group, &head.moves, &again);
            let first = self.words.legal[group.role].0;
            let mut words: Vec<u32> = head.moves.iter().map(|&(mv, _)| (first + mv / 64) as u32).collect();
            words.sort_unstable();
            words.dedup();
            fluents[head.fluent as usize / 64] |= 1 << (head.fluent % 64);
            blocks[head.fluent as usize] = Some(HeadBlock {
                ops: self.count(block.cost() + block.stores.len())?,
                code: self.blocks.add(&block, self.bounds.stop)?,
                words,
            });
        }
        let fluents = fluents.into_iter().enumerate().filter(|&(_, mask)| mask != 0);
        Some(Group {
            guard: group.guard.clone(),
            fluents: fluents.map(|(word, mask)| (word as u32, mask)).collect(),
            blocks,
        })
    }

    /// The moves of one head. Moves in `shared` belong to other heads too, so their bytes are combined by OR.
    fn head_circuit(&self, group: &HeadGroup, moves: &[(usize, Signal)], shared: &FxHashSet<usize>) -> Circuit {
        let mut block = Circuit::new();
        let given = |block: &mut Circuit, node: NodeId| -> Option<Polar> {
            if let Some(&(wire, inverted)) = self.kept.get(&node) {
                return Some((outside(block, &self.circuit, &self.home, wire), inverted));
            }
            match self.net.node(node) {
                Node::Fluent(f) => Some((block.load(FIRST_FLUENT as u32 + f), false)),
                _ => None,
            }
        };
        let mut lowering = Lowering::new(self.net, &mut block, 0).given(&given);
        for &(mv, signal) in moves {
            let cell = (self.headed + self.words.legal[group.role].0 * 64 + mv) as u32;
            let mut wire = lowering.plain(&mut block, signal);
            if shared.contains(&mv) {
                let before = block.load(cell);
                wire = block.or(before, wire);
            }
            block.store(cell, wire);
        }
        block
    }

    fn count(&mut self, ops: usize) -> Option<u32> {
        self.bounds.go_on()?;
        self.ops += ops;
        (self.ops <= self.bounds.tuning.cone_total_ops).then_some(ops as u32)
    }

    /// Code that recomputes these wires, in ascending order, and its number of operations.
    fn state_block(&mut self, wires: &[Wire]) -> Option<(BlockId, u32)> {
        let mut block = Circuit::new();
        let mut here: FxHashMap<Wire, Wire> = FxHashMap::default();
        for &wire in wires {
            let mut read = |w: Wire| match here.get(&w) {
                Some(&w) => w,
                None => outside(&mut block, &self.circuit, &self.home, w),
            };
            let op = self.circuit.op(wire);
            let value = match operands(op) {
                Some((a, b)) => {
                    let (a, b) = (read(a), read(b));
                    same_op(&mut block, op, a, b)
                }
                None => outside(&mut block, &self.circuit, &self.home, wire),
            };
            here.insert(wire, value);
            if operands(op).is_some() {
                block.store(self.home[wire.0 as usize], value);
            }
            for &cell in self.copies.get(&wire).into_iter().flatten() {
                block.store(cell, value);
            }
        }
        let ops = self.count(block.cost() + block.stores.len())?;
        Some((self.blocks.add(&block, self.bounds.stop)?, ops))
    }

    fn cone(&mut self, f: usize, touched: &mut Vec<u64>) -> Option<Cone> {
        let wires = self.leaf(f).map_or_else(Vec::new, |leaf| self.fan_out(leaf));
        let mut cells: Vec<u32> = Vec::new();
        for wire in &wires {
            cells.extend(self.home.get(wire.0 as usize).filter(|&&home| home != NOWHERE));
            cells.extend(self.copies.get(wire).into_iter().flatten());
        }
        let first = touched.len();
        touched.resize(first + stale_words(&self.words), 0);
        let outputs = self.outputs..self.outputs + self.words.len * 64;
        for cell in cells
            .iter()
            .map(|&cell| cell as usize)
            .filter(|cell| outputs.contains(cell))
        {
            let word = (cell - self.outputs) / 64;
            touched[first + word / 64] |= 1 << (word % 64);
        }
        let (code, ops) = match cells.is_empty() {
            true => (None, 0),
            false => self.state_block(&wires).map(|(code, ops)| (Some(code), ops))?,
        };
        Some(Cone { code, ops })
    }

    /// The wire of a fluent, if any value depends on it.
    fn leaf(&self, f: usize) -> Option<Wire> {
        self.circuit.find(Op::Load((FIRST_FLUENT + f) as u32))
    }

    /// A wire and all wires that depend on it, ascending.
    fn fan_out(&self, leaf: Wire) -> Vec<Wire> {
        let mut seen = FxHashSet::from_iter([leaf]);
        let mut work = vec![leaf];
        while let Some(wire) = work.pop() {
            for &reader in self.readers.get(wire.0 as usize).into_iter().flatten() {
                if seen.insert(reader) {
                    work.push(reader);
                }
            }
        }
        let mut wires: Vec<Wire> = seen.into_iter().collect();
        wires.sort_unstable();
        wires
    }

    /// How many wires depend on a leaf. `seen` has the last mark of each wire; marks are not used twice.
    fn fan_out_size(&self, leaf: Wire, seen: &mut [u32], mark: u32) -> usize {
        let mut work = vec![leaf];
        seen[leaf.0 as usize] = mark;
        let mut n = 1;
        while let Some(wire) = work.pop() {
            for &reader in self.readers.get(wire.0 as usize).into_iter().flatten() {
                if std::mem::replace(&mut seen[reader.0 as usize], mark) != mark {
                    work.push(reader);
                    n += 1;
                }
            }
        }
        n
    }

    /// Code for the open outputs of a joint move; `under` is the network under that joint move, or `None` for any joint
    /// move.
    fn effect(
        &mut self,
        masks: Range<u32>,
        open: &[(usize, Signal)],
        under: Option<&Cofactor>,
        computed: &mut Vec<Computed>,
    ) -> Option<Effect> {
        let first = computed.len() as u32;
        let mut block = Circuit::new();
        let given = |block: &mut Circuit, node: NodeId| -> Option<Polar> {
            if let Some(&(wire, inverted)) = self.kept.get(&node) {
                return Some((outside(block, &self.circuit, &self.home, wire), inverted));
            }
            let wire = match (under.and_then(|under| under.constant(node)), self.net.node(node)) {
                (Some(true), _) => block.one(),
                (Some(false), _) => block.zero(),
                (None, Node::Fluent(f)) => block.load(FIRST_FLUENT as u32 + f),
                (None, Node::Does { role, mv }) => block.load(self.does[role as usize] as u32 + mv),
                _ => return None,
            };
            Some((wire, false))
        };
        let mut lowering = Lowering::new(self.net, &mut block, 0).given(&given);
        for &(bit, signal) in open {
            let wire = lowering.plain(&mut block, signal);
            let cell = (self.computed + bit) as u32;
            block.store(cell, wire);
            computed.push(Computed { bit: bit as u32, cell });
        }
        let ops = self.count(block.cost() + 3 * block.stores.len() + 3 * masks.len())?;
        let code = match open.is_empty() {
            true => None,
            false => Some(self.blocks.add(&block, self.bounds.stop)?),
        };
        Some(Effect {
            masks,
            code,
            computed: first..computed.len() as u32,
            ops,
        })
    }
}

/// The bits of outputs after the legal moves, except these.
fn mask_without(words: &Words, net: &Network, made: &[(usize, Signal)]) -> Vec<u64> {
    let mut mask = vec![0_u64; words.len - words.next];
    let outputs = words.each_made(net);
    let mut set = |bit: usize, value: bool| {
        let at = bit - words.next * 64;
        mask[at / 64] = mask[at / 64] & !(1 << (at % 64)) | u64::from(value) << (at % 64);
    };
    outputs.iter().for_each(|&(bit, _)| set(bit, true));
    made.iter().for_each(|&(bit, _)| set(bit, false));
    mask
}

fn depends_on_moves(net: &Network) -> Vec<bool> {
    let mut moved = vec![false; net.len()];
    for at in 0..net.len() {
        let id = NodeId(at as u32);
        let is_moved = |s: &Signal| moved[s.node().0 as usize];
        moved[at] = matches!(net.node(id), Node::Does { .. }) || net.operands(id).iter().any(is_moved);
    }
    moved
}

/// The byte of a value that has none.
const NOWHERE: u32 = u32::MAX;

/// A value of one circuit, loaded into another.
fn outside(block: &mut Circuit, circuit: &Circuit, home: &[u32], wire: Wire) -> Wire {
    match circuit.op(wire) {
        Op::Zero => block.zero(),
        Op::One => block.one(),
        Op::Load(cell) => block.load(cell),
        _ => block.load(home[wire.0 as usize]),
    }
}

fn same_op(block: &mut Circuit, op: Op, a: Wire, b: Wire) -> Wire {
    match op {
        Op::And(..) => block.and(a, b),
        Op::AndNot(..) => block.and_not(a, b),
        Op::Or(..) => block.or(a, b),
        _ => block.xor(a, b),
    }
}

fn as_masks(known: &[(usize, bool)]) -> Vec<Masks> {
    let mut masks: Vec<Masks> = Vec::new();
    for &(bit, value) in known {
        let word = (bit / 64) as u32;
        if masks.last().is_none_or(|last| last.word != word) {
            masks.push(Masks { word, keep: !0, set: 0 });
        }
        if let Some(last) = masks.last_mut() {
            last.keep &= !(1 << (bit % 64));
            last.set |= u64::from(value) << (bit % 64);
        }
    }
    masks
}

/// Lowers these output bits and stores them. Returns the wires of computed nodes.
fn lower_state(
    net: &Network,
    bits: impl Iterator<Item = (usize, Signal)>,
    outputs: usize,
    circuit: &mut Circuit,
) -> FxHashMap<NodeId, Polar> {
    let mut lowering = Lowering::new(net, circuit, 0).balanced();
    for f in 0..net.n_fluents() {
        let wire = circuit.load((FIRST_FLUENT + f) as u32);
        lowering.set(net.fluent(f), wire);
    }
    for (bit, signal) in bits {
        let wire = lowering.plain(circuit, signal);
        circuit.store((outputs + bit) as u32, wire);
    }
    let used = circuit.needed();
    let ids = (0..net.len()).map(|at| NodeId(at as u32));
    ids.filter_map(|id| lowering.wire(id).map(|wire| (id, wire)))
        .filter(|(_, (wire, _))| used[wire.0 as usize])
        .collect()
}

/// Byte of each operation's value; further bytes of wires; the end of the frame.
fn homes(circuit: &Circuit, first_free: u32) -> (Vec<u32>, FxHashMap<Wire, Vec<u32>>, u32) {
    let mut home = vec![NOWHERE; circuit.ops().len()];
    let mut copies: FxHashMap<Wire, Vec<u32>> = FxHashMap::default();
    for &(cell, wire) in &circuit.stores {
        let is_op = operands(circuit.op(wire)).is_some();
        if is_op && home[wire.0 as usize] == NOWHERE {
            home[wire.0 as usize] = cell;
        } else {
            copies.entry(wire).or_default().push(cell);
        }
    }
    let mut end = first_free;
    let needed = circuit.needed();
    for (at, op) in circuit.ops().iter().enumerate() {
        if needed[at] && operands(*op).is_some() && home[at] == NOWHERE {
            home[at] = end;
            end += 1;
        }
    }
    (home, copies, end)
}

fn readers(circuit: &Circuit) -> Vec<Vec<Wire>> {
    let mut readers = vec![Vec::new(); circuit.ops().len()];
    let needed = circuit.needed();
    for (at, op) in circuit.ops().iter().enumerate().filter(|(at, _)| needed[*at]) {
        if let Some((a, b)) = operands(*op) {
            readers[a.0 as usize].push(Wire(at as u32));
            readers[b.0 as usize].push(Wire(at as u32));
        }
    }
    readers
}
