//! The engine of cones: for every fluent, machine code that recomputes what depends on it, and nothing else.
//!
//! Legal moves and terminal are kept up to date: when a fluent changes, its *cone* is run, straight code without a branch.
//! What a joint move leads to is known when the game is prepared but for a few bits: most fluents stay as they are, most of
//! the others become what they become in any state. Only the rest is computed when the move is made. Like [`super::events`]
//! this costs as much as there are changes on the board; a change costs its whole cone, but an operation of it costs a cycle,
//! where there it costs a dozen.

use super::cofactor::Cofactor;
use super::guards::Guards;
use super::step::{FIRST_FLUENT, pack};
use super::words::Words;
use crate::circuit::{Circuit, Op, Wire};
use crate::jit::{BlockId, BlocksBuilder, NativeBlocks};
use crate::lanes::layout::ONE;
use crate::lower::{Lowering, Polar};
use crate::network::{Network, Node, NodeId, Signal};
use crate::schedule::operands;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Operations in all cones and joint moves together, beyond which a game is left to other engines.
const MOST_OPS: usize = 600_000;

/// Joint moves, beyond which only those are prepared in which all roles but one pass.
const MOST_JOINT_MOVES: usize = 1_500;

/// A network as pieces of machine code, prepared once per game.
#[derive(Debug)]
pub(super) struct ConeNet {
    /// Where outputs are.
    pub words: Words,
    /// What is left out of them.
    pub guards: Guards,
    code: NativeBlocks,
    /// All cones at once.
    whole: BlockId,
    fluents: Vec<Cone>,
    /// Output words that a change of a fluent may change: what [`Cone::words`] are ranges of.
    touched: Vec<u32>,
    numbering: Numbering,
    /// What each joint move leads to, and at last what an unprepared one does.
    effects: Vec<Effect>,
    /// What [`Effect::masks`] are ranges of.
    masks: Vec<Masks>,
    /// What [`Effect::computed`] are ranges of.
    computed: Vec<Computed>,
    /// The byte of each role's first move.
    does: Vec<usize>,
    /// The first byte of the outputs.
    outputs: usize,
    n_fluents: usize,
}

/// What depends on a fluent.
#[derive(Clone, Debug)]
struct Cone {
    code: Option<BlockId>,
    words: Range<u32>,
    ops: u32,
}

/// What a joint move leads to. Fluents that are not mentioned stay, percepts that are not mentioned are not seen.
#[derive(Clone, Debug)]
struct Effect {
    masks: Range<u32>,
    code: Option<BlockId>,
    computed: Range<u32>,
    ops: u32,
}

/// An output word of which some bits are known.
#[derive(Clone, Copy, Debug)]
struct Masks {
    word: u32,
    keep: u64,
    set: u64,
}

/// An output bit, and the byte in which code leaves it.
#[derive(Clone, Copy, Debug)]
struct Computed {
    bit: u32,
    cell: u32,
}

/// How joint moves that are prepared are numbered.
#[derive(Debug)]
enum Numbering {
    /// All of them: the number is the sum of each role's move times its stride.
    All(Vec<usize>),
    /// Those in which all roles but one pass. The number of each role's first move, and its pass.
    Turns(Vec<(usize, u32)>),
    /// None.
    None,
}

impl Numbering {
    fn new(n_moves: &[usize], passes: &[Option<u32>]) -> Numbering {
        let n_joint = n_moves.iter().try_fold(1_usize, |all, &n| all.checked_mul(n));
        if n_joint.is_some_and(|n| n <= MOST_JOINT_MOVES) {
            let stride = |role: usize| n_moves[..role].iter().product();
            return Numbering::All((0..n_moves.len()).map(stride).collect());
        }
        let first = |role: usize| n_moves[..role].iter().sum();
        let turns = passes.iter().enumerate().map(|(role, &pass)| Some((first(role), pass?)));
        turns.collect::<Option<_>>().map_or(Numbering::None, Numbering::Turns)
    }

    /// The joint moves in the order of their numbers.
    fn joint_moves(&self, n_moves: &[usize]) -> Vec<Vec<u32>> {
        match self {
            Numbering::All(strides) => {
                let joint = |number: usize| {
                    let mv = |(&stride, &n): (&usize, &usize)| (number / stride % n) as u32;
                    strides.iter().zip(n_moves).map(mv).collect()
                };
                (0..n_moves.iter().product()).map(joint).collect()
            }
            Numbering::Turns(turns) => {
                let passes: Vec<u32> = turns.iter().map(|&(_, pass)| pass).collect();
                let mut joint_moves = Vec::new();
                for (role, &n) in n_moves.iter().enumerate() {
                    for mv in 0..n as u32 {
                        let mut joint = passes.clone();
                        joint[role] = mv;
                        joint_moves.push(joint);
                    }
                }
                joint_moves
            }
            Numbering::None => Vec::new(),
        }
    }

    /// The number of a joint move, if it is prepared.
    #[inline(always)]
    fn number(&self, joint: &[u32]) -> Option<usize> {
        match self {
            Numbering::All(strides) => Some(joint.iter().zip(strides).map(|(&mv, stride)| mv as usize * stride).sum()),
            Numbering::Turns(turns) => {
                let mut found = turns[0].0 + turns[0].1 as usize;
                let mut n_active = 0;
                for (&mv, &(first, pass)) in joint.iter().zip(turns) {
                    if mv != pass {
                        found = first + mv as usize;
                        n_active += 1;
                    }
                }
                (n_active < 2).then_some(found)
            }
            Numbering::None => None,
        }
    }
}

/// The values that belong to one state and joint move.
#[derive(Clone, Debug)]
pub(super) struct Cones {
    /// The state these values belong to.
    pub state: Vec<u64>,
    /// Output bits.
    pub outputs: Vec<u64>,
    next: Vec<u64>,
    frame: Vec<u8>,
    /// Output words to be packed again, as bits.
    stale: Vec<u64>,
    is_new: bool,
}

impl ConeNet {
    /// Prepares a network; `None` if it has cycles, is too large, or the machine does not run such code. `passes` are the
    /// moves of roles that move in turn when it is not their turn.
    pub fn new(net: &Network, passes: &[Option<u32>]) -> Option<ConeNet> {
        if !net.cycles().is_empty() {
            return None;
        }
        let mut net = net.clone();
        net.keep_shape();
        let guards = Guards::split(&mut net);
        Builder::new(&net)?.build(guards, passes)
    }

    /// Operations of an average step: `changes` says how often each fluent changes.
    pub fn cost(&self, changes: &[f32]) -> f32 {
        let state: f32 = self.fluents.iter().zip(changes).map(|(cone, p)| cone.ops as f32 * p).sum();
        let made: usize = self.effects.iter().map(|effect| effect.ops as usize).sum();
        state + made as f32 / self.effects.len() as f32
    }
}

/// A [`ConeNet`] in the making.
struct Builder<'n> {
    net: &'n Network,
    words: Words,
    does: Vec<usize>,
    /// The first byte of the outputs as they are kept up to date.
    outputs: usize,
    /// The first byte of the outputs as joint moves leave them.
    computed: usize,
    /// Legal moves and terminal.
    circuit: Circuit,
    /// Where each operation's value is kept.
    home: Vec<u32>,
    /// The bytes of outputs that each wire is, beside its home.
    copies: FxHashMap<Wire, Vec<u32>>,
    readers: Vec<Vec<Wire>>,
    /// Wires of nodes that are kept up to date.
    kept: FxHashMap<NodeId, Polar>,
    blocks: BlocksBuilder,
    ops: usize,
}

impl<'n> Builder<'n> {
    fn new(net: &'n Network) -> Option<Builder<'n>> {
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
        let mut circuit = Circuit::new();
        let kept = lower_state(net, &words, outputs, &mut circuit);
        let (home, copies, end) = homes(&circuit, at as u32);
        Some(Builder {
            net,
            words,
            does,
            outputs,
            computed,
            home,
            copies,
            readers: readers(&circuit),
            kept,
            circuit,
            blocks: BlocksBuilder::new(end)?,
            ops: 0,
        })
    }

    fn build(mut self, guards: Guards, passes: &[Option<u32>]) -> Option<ConeNet> {
        let needed = self.circuit.needed();
        let all: Vec<Wire> = (0..needed.len()).filter(|&at| needed[at]).map(|at| Wire(at as u32)).collect();
        let whole = self.state_block(&all)?.0;
        let (mut fluents, mut touched) = (Vec::new(), Vec::new());
        for f in 0..self.net.n_fluents() {
            fluents.push(self.cone(f, &mut touched)?);
        }
        let n_moves = self.net.n_moves();
        let numbering = Numbering::new(&n_moves, passes);
        let mut cofactor = Cofactor::new(self.net, self.words.each_made(self.net));
        let (mut effects, mut masks, mut computed) = (Vec::new(), Vec::new(), Vec::new());
        for joint in numbering.joint_moves(&n_moves) {
            let (known, open) = cofactor.split(&joint)?;
            let first = masks.len() as u32;
            masks.extend(as_masks(&known));
            let known = first..masks.len() as u32;
            effects.push(self.effect(known, &open, Some(&joint), &mut computed)?);
        }
        let open: Vec<(usize, Signal)> = self.words.each_made(self.net);
        effects.push(self.effect(0..0, &open, None, &mut computed)?);
        Some(ConeNet {
            words: self.words,
            guards,
            code: self.blocks.finish()?,
            whole,
            fluents,
            touched,
            numbering,
            effects,
            masks,
            computed,
            does: self.does,
            outputs: self.outputs,
            n_fluents: self.net.n_fluents(),
        })
    }

    fn count(&mut self, ops: usize) -> Option<u32> {
        self.ops += ops;
        (self.ops <= MOST_OPS).then_some(ops as u32)
    }

    /// Code that recomputes these wires, in ascending order, and how many operations it takes.
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
        Some((self.blocks.add(&block)?, ops))
    }

    fn cone(&mut self, f: usize, touched: &mut Vec<u32>) -> Option<Cone> {
        let first = touched.len() as u32;
        let leaf = self.circuit.load((FIRST_FLUENT + f) as u32);
        let wires = self.fan_out(leaf);
        let mut cells: Vec<u32> = Vec::new();
        for wire in &wires {
            cells.extend(self.home.get(wire.0 as usize).filter(|&&home| home != NOWHERE));
            cells.extend(self.copies.get(wire).into_iter().flatten());
        }
        let outputs = self.outputs..self.outputs + self.words.len * 64;
        let is_output = |cell: &u32| outputs.contains(&(*cell as usize));
        let mut words: Vec<u32> = cells
            .iter()
            .filter(|cell| is_output(cell))
            .map(|cell| (cell - self.outputs as u32) / 64)
            .collect();
        words.sort_unstable();
        words.dedup();
        touched.extend(words);
        let (code, ops) = match cells.is_empty() {
            true => (None, 0),
            false => self.state_block(&wires).map(|(code, ops)| (Some(code), ops))?,
        };
        Some(Cone {
            code,
            words: first..touched.len() as u32,
            ops,
        })
    }

    /// A wire and all that depend on it, ascending.
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

    /// Code for the outputs of a joint move that are not known beforehand; without a joint move, for any.
    fn effect(
        &mut self,
        masks: Range<u32>,
        open: &[(usize, Signal)],
        joint: Option<&[u32]>,
        computed: &mut Vec<Computed>,
    ) -> Option<Effect> {
        let first = computed.len() as u32;
        let mut block = Circuit::new();
        let given = |block: &mut Circuit, node: NodeId| -> Option<Polar> {
            if let Some(&(wire, inverted)) = self.kept.get(&node) {
                return Some((outside(block, &self.circuit, &self.home, wire), inverted));
            }
            let wire = match (self.net.node(node), joint) {
                (Node::Fluent(f), _) => block.load(FIRST_FLUENT as u32 + f),
                (Node::Does { role, mv }, Some(joint)) if joint[role as usize] == mv => block.one(),
                (Node::Does { .. }, Some(_)) => block.zero(),
                (Node::Does { role, mv }, None) => block.load(self.does[role as usize] as u32 + mv),
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
            false => Some(self.blocks.add(&block)?),
        };
        Some(Effect {
            masks,
            code,
            computed: first..computed.len() as u32,
            ops,
        })
    }
}

/// The place of a value that has none.
const NOWHERE: u32 = u32::MAX;

/// A value of one circuit, read from where it is kept by another.
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
            masks.push(Masks {
                word,
                keep: !0,
                set: 0,
            });
        }
        if let Some(last) = masks.last_mut() {
            last.keep &= !(1 << (bit % 64));
            last.set |= u64::from(value) << (bit % 64);
        }
    }
    masks
}

/// Lowers legal moves and terminal, and stores them. Gives the wires of nodes that are computed.
fn lower_state(net: &Network, words: &Words, outputs: usize, circuit: &mut Circuit) -> FxHashMap<NodeId, Polar> {
    let mut lowering = Lowering::new(net, circuit, 0).balanced();
    for f in 0..net.n_fluents() {
        let wire = circuit.load((FIRST_FLUENT + f) as u32);
        lowering.set(net.fluent(f), wire);
    }
    for (bit, signal) in words.each_state(net) {
        let wire = lowering.plain(circuit, signal);
        circuit.store((outputs + bit) as u32, wire);
    }
    let used = circuit.needed();
    let ids = (0..net.len()).map(|at| NodeId(at as u32));
    ids.filter_map(|id| lowering.wire(id).map(|wire| (id, wire)))
        .filter(|(_, (wire, _))| used[wire.0 as usize])
        .collect()
}

/// Where each operation's value is kept; further bytes that a wire's value goes to; the end of it all.
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

impl Cones {
    /// Values of no state yet.
    pub fn new(net: &ConeNet) -> Cones {
        let n_words = net.n_fluents.div_ceil(64);
        let mut frame = vec![0; net.code.frame_len];
        frame[ONE as usize] = 0xff;
        Cones {
            state: vec![0; n_words],
            outputs: vec![0; net.words.len],
            next: vec![0; n_words],
            frame,
            stale: vec![0; net.words.len.div_ceil(64)],
            is_new: true,
        }
    }

    /// The fluents, one byte each.
    #[inline(always)]
    pub fn fluents(&self, n: usize) -> &[u8] {
        &self.frame[FIRST_FLUENT..FIRST_FLUENT + n]
    }

    /// Changes the state.
    #[inline(always)]
    pub fn move_to(&mut self, net: &ConeNet, state: &[u64]) {
        if std::mem::take(&mut self.is_new) {
            return self.start(net, state);
        }
        for (word, &new) in state.iter().enumerate() {
            let mut difference = self.state[word] ^ new;
            self.state[word] = new;
            while difference != 0 {
                let at = difference.trailing_zeros() as usize;
                difference &= difference - 1;
                let f = word * 64 + at;
                self.frame[FIRST_FLUENT + f] = (new >> at & 1) as u8;
                let cone = &net.fluents[f];
                if let Some(code) = cone.code {
                    net.code.run(code, &mut self.frame);
                }
                for &word in &net.touched[cone.words.start as usize..cone.words.end as usize] {
                    self.stale[word as usize / 64] |= 1 << (word % 64);
                }
            }
        }
        self.pack_stale(net);
    }

    fn start(&mut self, net: &ConeNet, state: &[u64]) {
        self.state.copy_from_slice(state);
        for f in 0..net.n_fluents {
            self.frame[FIRST_FLUENT + f] = (state[f / 64] >> (f % 64) & 1) as u8;
        }
        net.code.run(net.whole, &mut self.frame);
        (0..net.words.next).for_each(|word| self.stale[word / 64] |= 1 << (word % 64));
        self.pack_stale(net);
    }

    #[inline(always)]
    fn pack_stale(&mut self, net: &ConeNet) {
        for at in 0..self.stale.len() {
            let mut stale = std::mem::take(&mut self.stale[at]);
            while stale != 0 {
                let word = at * 64 + stale.trailing_zeros() as usize;
                stale &= stale - 1;
                let first = net.outputs + word * 64;
                self.outputs[word] = pack(&self.frame[first..first + 64]);
            }
        }
    }

    /// Makes a joint move in the present state.
    #[inline(always)]
    pub fn make(&mut self, net: &ConeNet, joint: &[u32]) {
        let effect = match net.numbering.number(joint) {
            Some(number) => &net.effects[number],
            None => {
                self.say(net, joint, 1);
                &net.effects[net.effects.len() - 1]
            }
        };
        let (next, sees) = self.outputs[net.words.next..].split_at_mut(self.state.len());
        next.copy_from_slice(&self.state);
        sees.fill(0);
        for masks in &net.masks[effect.masks.start as usize..effect.masks.end as usize] {
            let word = &mut self.outputs[masks.word as usize];
            *word = *word & masks.keep | masks.set;
        }
        if let Some(code) = effect.code {
            net.code.run(code, &mut self.frame);
            for computed in &net.computed[effect.computed.start as usize..effect.computed.end as usize] {
                let value = u64::from(self.frame[computed.cell as usize] & 1);
                let (word, at) = (computed.bit as usize / 64, computed.bit % 64);
                self.outputs[word] = self.outputs[word] & !(1 << at) | value << at;
            }
        }
        if net.numbering.number(joint).is_none() {
            self.say(net, joint, 0);
        }
    }

    /// Writes the moves of an unprepared joint move where its code reads them.
    #[cold]
    fn say(&mut self, net: &ConeNet, joint: &[u32], value: u8) {
        for (&first, &mv) in net.does.iter().zip(joint) {
            self.frame[first + mv as usize] = value;
        }
    }

    /// Moves on to the state that the joint move leads to.
    #[inline(always)]
    pub fn advance(&mut self, net: &ConeNet) {
        let mut next = std::mem::take(&mut self.next);
        next.copy_from_slice(&self.outputs[net.words.next..net.words.next + self.state.len()]);
        self.move_to(net, &next);
        self.next = next;
    }
}
