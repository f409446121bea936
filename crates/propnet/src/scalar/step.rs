//! A whole step as machine code over bytes. Input: state and moves. Output: successor, its legal moves, terminal.
//!
//! Random games of small networks are played this way: one call per joint move, and the state stays in bytes. If there
//! are few joint moves, each has its own code, in which the moves are constants.

use super::evaluator::ScalarPlayout;
use super::numbering::Numbering;
use crate::circuit::{Circuit, Op};

use crate::jit::{BlockId, BlocksBuilder, NativeBlocks, low_bits};
use crate::lanes::layout::ONE;
use crate::lower::Lowering;
use crate::network::Network;
use crate::tuning::Bounds;
use game::Rng;
use game::limits::PLAYOUT_ROUNDS;
use std::sync::Arc;

/// Code for a step, and the bytes that it reads and writes.
#[derive(Debug)]
pub(super) struct ByteStep {
    code: NativeBlocks,
    /// Code for any joint move.
    any: BlockId,
    /// Code for the joint moves that are numbered.
    special: Vec<BlockId>,
    numbering: Numbering,
    /// The first byte of each role's moves.
    does: Vec<usize>,
    /// The first byte of each role's legal moves, and how many bytes, in multiples of eight.
    legal: Vec<(usize, usize)>,
    terminal: usize,
    /// Bytes that a step reads or writes, apart from scratch.
    inputs: usize,
}

/// Random games by whole steps: the code, and the values of the present state.
#[derive(Debug)]
pub(super) struct StepRun {
    step: Arc<ByteStep>,
    bytes: Vec<u8>,
    /// The state that games begin with.
    root_state: Vec<u64>,
    /// The first bytes of the frame when a game begins.
    root: Vec<u8>,
    joint: Vec<u32>,
}

impl StepRun {
    /// Games that begin with this state, whose legal moves are given as packed words per role.
    pub fn new(step: Arc<ByteStep>, state: &[u64], n_fluents: usize, legal: &[Vec<u64>]) -> StepRun {
        let mut run = StepRun {
            bytes: step.frame(),
            step,
            root_state: Vec::new(),
            root: Vec::new(),
            joint: Vec::new(),
        };
        run.set_root(state, n_fluents, legal);
        run
    }

    /// Whether games begin with this state.
    #[inline(always)]
    pub fn is_root(&self, state: &[u64]) -> bool {
        // Word by word: states are short, and comparing them is part of every playout.
        self.root_state.iter().zip(state).all(|(a, b)| a == b)
    }

    /// Makes another state the one that games begin with.
    pub fn set_root(&mut self, state: &[u64], n_fluents: usize, legal: &[Vec<u64>]) {
        self.step.spread(&mut self.bytes, state, n_fluents, legal);
        self.root_state = state.to_vec();
        self.root = self.bytes[..self.step.inputs].to_vec();
    }

    /// Plays random moves from the root until the game is over; the last state is left in the frame.
    #[inline(always)]
    pub fn play(&mut self, rng: &mut Rng) -> ScalarPlayout {
        let StepRun {
            step,
            bytes,
            root,
            joint,
            ..
        } = self;
        bytes[..root.len()].copy_from_slice(root);
        let mut moves = 0;
        loop {
            joint.clear();
            for &(first, n) in &step.legal {
                match pick(&bytes[first..first + n], rng) {
                    Some(mv) => joint.push(mv as u32),
                    None => return ScalarPlayout { moves, stuck: true },
                }
            }
            step.make(bytes, joint);
            moves += 1;
            if bytes[step.terminal] & 1 == 1 {
                return ScalarPlayout { moves, stuck: false };
            }
            if moves >= PLAYOUT_ROUNDS as u32 {
                return ScalarPlayout { moves, stuck: true };
            }
        }
    }

    /// The fluents of the state in the frame.
    #[inline(always)]
    pub fn fluents(&self, n: usize) -> &[u8] {
        &self.bytes[FIRST_FLUENT..FIRST_FLUENT + n]
    }
}

/// The lowest bit of every byte.
const LOW: u64 = 0x0101_0101_0101_0101;

/// The byte of the first fluent.
pub(super) const FIRST_FLUENT: usize = 8;

impl ByteStep {
    /// Compiles a step of an acyclic network, with every role's percepts if asked for. `noop_moves` are the moves that
    /// roles make out of turn.
    pub fn new(net: &Network, percepts: bool, noop_moves: &[Option<u32>], bounds: &Bounds) -> Option<ByteStep> {
        if !net.cycles().is_empty() {
            return None;
        }
        let places = Places::new(net);
        let mut blocks = BlocksBuilder::new(places.end as u32)?;
        let any = places.circuit(net, percepts, None);
        let any = blocks.add(&any, bounds.stop)?;
        let (mut numbering, mut special) = (
            Numbering::new(&places.n_moves, noop_moves, bounds.tuning.step_joint_moves),
            Vec::new(),
        );
        match special_circuits(net, &places, percepts, &numbering, bounds) {
            Some(circuits) => {
                for circuit in circuits {
                    special.push(blocks.add(&circuit, bounds.stop)?);
                }
            }
            None => numbering = Numbering::None,
        }
        Some(ByteStep {
            code: blocks.finish()?,
            any,
            special,
            numbering,
            does: places.does,
            legal: places.legal,
            terminal: places.terminal,
            inputs: places.end,
        })
    }

    /// A frame with its constants.
    fn frame(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.code.frame_len];
        bytes[ONE as usize] = 0xff;
        bytes
    }

    /// Writes a state that is not terminal to a frame, with its legal moves, which are given as packed words per role.
    fn spread(&self, bytes: &mut [u8], state: &[u64], n_fluents: usize, legal: &[Vec<u64>]) {
        let spread = |to: &mut [u8], words: &[u64]| {
            to.iter_mut()
                .enumerate()
                .for_each(|(at, byte)| *byte = (words[at / 64] >> (at % 64)) as u8 & 1);
        };
        spread(&mut bytes[FIRST_FLUENT..FIRST_FLUENT + n_fluents], state);
        for (row, &(first, n)) in legal.iter().zip(&self.legal) {
            spread(&mut bytes[first..first + n], row);
        }
        bytes[self.terminal] = 0;
    }

    /// Makes a joint move in the state that is in a frame.
    #[inline(always)]
    fn make(&self, bytes: &mut [u8], joint: &[u32]) {
        match self.numbering.number(joint) {
            Some(number) => self.code.run(self.special[number], bytes),
            None => {
                let cells = || self.does.iter().zip(joint).map(|(&first, &mv)| first + mv as usize);
                cells().for_each(|cell| bytes[cell] = 1);
                self.code.run(self.any, bytes);
                cells().for_each(|cell| bytes[cell] = 0);
            }
        }
    }
}

/// Circuits for the numbered joint moves, if they are not too large.
fn special_circuits(
    net: &Network,
    places: &Places,
    percepts: bool,
    numbering: &Numbering,
    bounds: &Bounds,
) -> Option<Vec<Circuit>> {
    let mut ops = 0;
    let circuit = |joint: Vec<u32>| {
        let circuit = places.circuit(net, percepts, Some(&joint));
        ops += circuit.cost();
        (ops <= bounds.tuning.step_special_ops && !bounds.is_stopped()).then_some(circuit)
    };
    numbering
        .joint_moves(&places.n_moves)
        .into_iter()
        .map(circuit)
        .collect()
}

/// The bytes that a step reads and writes.
struct Places {
    n_moves: Vec<usize>,
    does: Vec<usize>,
    legal: Vec<(usize, usize)>,
    terminal: usize,
    sees: Vec<usize>,
    end: usize,
}

impl Places {
    fn new(net: &Network) -> Places {
        let mut at = FIRST_FLUENT + net.n_fluents();
        let mut room = |n: usize| {
            let first = at.next_multiple_of(8);
            at = first + n.next_multiple_of(8);
            first
        };
        let n_moves = net.n_moves();
        Places {
            does: n_moves.iter().map(|&n| room(n)).collect(),
            legal: n_moves.iter().map(|&n| (room(n), n.next_multiple_of(8))).collect(),
            terminal: room(1),
            sees: net.outputs.sees.iter().map(|row| room(row.len())).collect(),
            end: at,
            n_moves,
        }
    }

    /// The circuit of a step with any joint move, or with this one.
    fn circuit(&self, net: &Network, percepts: bool, joint: Option<&[u32]>) -> Circuit {
        let mut circuit = Circuit::new();
        let mut now = Lowering::new(net, &mut circuit, 0);
        for f in 0..net.n_fluents() {
            let wire = circuit.load((FIRST_FLUENT + f) as u32);
            now.set(net.fluent(f), wire);
        }
        for (role, &n) in self.n_moves.iter().enumerate() {
            for mv in 0..n {
                let wire = match joint {
                    None => circuit.load((self.does[role] + mv) as u32),
                    Some(joint) if joint[role] as usize == mv => circuit.one(),
                    Some(_) => circuit.zero(),
                };
                now.set(net.does(role, mv), wire);
            }
        }
        let mut after = Lowering::new(net, &mut circuit, 0);
        now.ensure(&mut circuit, &net.outputs.next);
        for (f, &next) in net.outputs.next.iter().enumerate() {
            let cell = (FIRST_FLUENT + f) as u32;
            let wire = now.plain(&mut circuit, next);
            after.set(net.fluent(f), wire);
            if circuit.op(wire) != Op::Load(cell) {
                circuit.store(cell, wire);
            }
        }
        for (role, row) in net.outputs.legal.iter().enumerate() {
            after.ensure(&mut circuit, row);
            for (mv, &s) in row.iter().enumerate() {
                let wire = after.plain(&mut circuit, s);
                circuit.store((self.legal[role].0 + mv) as u32, wire);
            }
        }
        let wire = after.plain(&mut circuit, net.outputs.terminal);
        circuit.store(self.terminal as u32, wire);
        for (role, row) in net.outputs.sees.iter().enumerate().filter(|_| percepts) {
            for (p, &s) in row.iter().enumerate() {
                let wire = now.plain(&mut circuit, s);
                circuit.store((self.sees[role] + p) as u32, wire);
            }
        }
        circuit
    }
}

/// A random byte among those whose lowest bit is set. Without branches on the bytes, because those would be hard to
/// predict.
#[inline(always)]
fn pick(bytes: &[u8], rng: &mut Rng) -> Option<usize> {
    if let [a, b, c, d, e, f, g, h] = *bytes {
        let low = u64::from_le_bytes([a, b, c, d, e, f, g, h]) & LOW;
        let rank = random_rank(low.count_ones(), rng)?;
        return Some(nth_byte(low, rank));
    }
    if bytes.len() <= 64 {
        let word = pack(bytes);
        let rank = random_rank(word.count_ones(), rng)?;
        return Some(nth_set(word, rank) as usize);
    }
    let count = bytes.chunks(64).map(|chunk| pack(chunk).count_ones()).sum();
    let rank = random_rank(count, rng)?;
    let (mut before, mut found) = (0, (0, 0, 0));
    for (at, chunk) in bytes.chunks(64).enumerate() {
        let word = pack(chunk);
        if before <= rank {
            found = (at, word, rank - before);
        }
        before += word.count_ones();
    }
    let (at, word, rank) = found;
    Some(at * 64 + nth_set(word, rank) as usize)
}

/// The lowest bits of up to 64 bytes, eight at a time.
#[inline(always)]
pub(super) fn pack(bytes: &[u8]) -> u64 {
    let mut packed = 0;
    let (pairs, rest) = bytes.as_chunks::<16>();
    for (at, pair) in pairs.iter().enumerate() {
        packed |= u64::from(low_bits(*pair)) << (at * 16);
    }
    let done = pairs.len() * 16;
    for (at, chunk) in rest.chunks_exact(8).enumerate() {
        let mut pair = [0; 16];
        pair[..8].copy_from_slice(chunk);
        packed |= u64::from(low_bits(pair)) << (done + at * 8);
    }
    packed
}

/// The byte of this rank among those that are one; the others are zero.
#[inline(always)]
fn nth_byte(bytes: u64, rank: u32) -> usize {
    // Each byte counts the ones up to it. The first byte that exceeds the rank is the first with its highest bit set.
    let upto = bytes.wrapping_mul(LOW);
    let beyond = (upto + u64::from(0x7f - rank) * LOW) & (LOW << 7);
    beyond.trailing_zeros() as usize / 8
}

/// A random number below this, if there is one.
#[inline(always)]
pub(super) fn random_rank(count: u32, rng: &mut Rng) -> Option<u32> {
    match count {
        0 => None,
        1 => Some(0),
        _ => Some(rng.below(count as usize) as u32),
    }
}

/// The position of the set bit of this rank, without branches.
#[inline(always)]
pub(super) fn nth_set(word: u64, mut rank: u32) -> u32 {
    let mut at = 0;
    for width in [32, 16, 8, 4, 2, 1] {
        let below = (word >> at & ((1 << width) - 1)).count_ones();
        let beyond = u32::from(rank >= below);
        at += beyond * width;
        rank -= beyond * below;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompileOptions, Scalar, compile, lanes::bit, random_program::random_program};
    use game::Seed;
    use game::{MoveId, PerceptId, RoleId, Simulator, StopFlag};

    #[test]
    fn packing_takes_the_lowest_bits_in_order() {
        let bytes: Vec<u8> = (0..64).map(|at| if at % 3 == 0 { 0xff } else { 0xfe }).collect();
        let expected: u64 = (0..64).filter(|at| at % 3 == 0).map(|at| 1 << at).sum();
        assert_eq!(pack(&bytes), expected);
        assert_eq!(pack(&bytes[..24]), expected & 0xff_ffff);
    }

    #[test]
    fn set_bits_are_found_by_rank() {
        for word in [1, 0x8000_0000_0000_0000, 0x8421_0842_1084_2108, u64::MAX] {
            let places: Vec<u32> = (0..64).filter(|at| word >> at & 1 == 1).collect();
            let found: Vec<u32> = (0..word.count_ones()).map(|rank| nth_set(word, rank)).collect();
            assert_eq!(found, places);
        }
    }

    #[test]
    fn every_set_byte_is_picked_and_no_other() {
        let mut rng = Seed(1).rng();
        for n in [8, 64, 72, 200] {
            let bytes: Vec<u8> = (0..n).map(|at| u8::from(at % 7 == 3)).collect();
            let mut picked = vec![0; n];
            (0..2_000).for_each(|_| picked[pick(&bytes, &mut rng).expect("some are set")] += 1);
            assert!((0..n).all(|at| (picked[at] > 0) == (bytes[at] == 1)), "{picked:?}");
            assert_eq!(pick(&vec![0xfe; n], &mut rng), None);
        }
    }

    fn no_legal_moves(places: &Places) -> Vec<Vec<u64>> {
        places.n_moves.iter().map(|n| vec![0; n.div_ceil(64)]).collect()
    }

    /// The percepts that a step leaves in the frame are those that the simulator answers with, with code for this joint
    /// move and with code for any.
    #[test]
    fn steps_leave_the_percepts_of_every_role() {
        let mut rng = Seed(41).rng();
        let (mut n_special, mut n_any, mut n_seen) = (0, 0, 0);
        for case in 0..600 {
            let game = compile(&random_program(&mut rng), &CompileOptions::default());
            let net = game.network();
            let Some(mut step) = ByteStep::new(net, true, game.noop_moves(), &game.bounds(&StopFlag::default())) else {
                continue;
            };
            if case % 2 == 0 {
                step.numbering = Numbering::None;
            }
            let (places, mut sim) = (Places::new(net), Scalar::new(&game));
            let (step, legal) = (Arc::new(step), no_legal_moves(&places));
            let mut run = StepRun::new(step, &game.initial_state().0, net.n_fluents(), &legal);
            let mut state = game.initial_state();
            for _ in 0..8 {
                run.set_root(&state.0, net.n_fluents(), &legal);
                let joint: Vec<u32> = places.n_moves.iter().map(|&n| rng.below(n) as u32).collect();
                let is_special = run.step.numbering.number(&joint).is_some();
                n_special += usize::from(is_special);
                n_any += usize::from(!is_special);
                run.step.make(&mut run.bytes, &joint);
                let moves: Vec<MoveId> = joint.iter().map(|&mv| MoveId(mv)).collect();
                for (role, &first) in places.sees.iter().enumerate() {
                    let mut expected = Vec::new();
                    sim.percepts(&state, &moves, RoleId(role as u16), &mut expected)
                        .expect("percepts");
                    let n = net.outputs.sees[role].len() as u32;
                    let is_seen = |p: &PerceptId| run.bytes[first + p.0 as usize] & 1 == 1;
                    let seen: Vec<PerceptId> = (0..n).map(PerceptId).filter(is_seen).collect();
                    assert_eq!(seen, expected, "case {case} {joint:?}");
                    n_seen += seen.len();
                }
                state = sim.next(&state, &moves).expect("a state");
                assert!((0..net.n_fluents()).all(|f| (run.fluents(f + 1)[f] & 1 == 1) == bit(&state, f)));
            }
        }
        let counts = [n_special, n_any, n_seen];
        assert!(
            !crate::jit::makes_machine_code() || counts.iter().all(|&n| n >= 50),
            "{counts:?}"
        );
    }
}
