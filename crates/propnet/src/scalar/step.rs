//! A whole step as machine code over bytes: state and moves in, successor, its legal moves and terminal out.
//!
//! Random games of small nets are played this way: one call per move, and the state stays spread out in bytes.

use crate::circuit::Circuit;
#[cfg(target_arch = "x86_64")]
use crate::jit::NativeBytes;
#[cfg(target_arch = "x86_64")]
use crate::lanes::layout::ONE;
#[cfg(target_arch = "x86_64")]
use crate::lanes::playouts::MAX_ROUNDS;
#[cfg(target_arch = "x86_64")]
use crate::lower::Lowering;
use crate::network::Network;
use game::Rng;

/// Code for a step, and where it reads and writes.
#[derive(Debug)]
pub(super) struct ByteStep {
    #[cfg(target_arch = "x86_64")]
    code: NativeBytes,
    /// The first byte of each role's moves.
    does: Vec<usize>,
    /// The first byte of each role's legal moves, and how many bytes, in multiples of eight.
    legal: Vec<(usize, usize)>,
    terminal: usize,
}

/// The byte of the first fluent.
pub(super) const FIRST_FLUENT: usize = 8;

#[cfg(target_arch = "x86_64")]
impl ByteStep {
    /// Compiles a step of an acyclic network, with every role's percepts if asked for.
    pub fn new(net: &Network, percepts: bool) -> Option<ByteStep> {
        if !net.cycles().is_empty() {
            return None;
        }
        let mut circuit = Circuit::new();
        let mut at = FIRST_FLUENT + net.n_fluents();
        let mut room = |n: usize| {
            let first = at.next_multiple_of(8);
            at = first + n.next_multiple_of(8);
            first
        };
        let n_moves = net.n_moves();
        let does: Vec<usize> = n_moves.iter().map(|&n| room(n)).collect();
        let legal: Vec<(usize, usize)> = n_moves.iter().map(|&n| (room(n), n.next_multiple_of(8))).collect();
        let terminal = room(1);
        let sees: Vec<usize> = net.outputs.sees.iter().map(|row| room(row.len())).collect();
        let mut now = Lowering::new(net, &mut circuit, 0);
        for f in 0..net.n_fluents() {
            let wire = circuit.load((FIRST_FLUENT + f) as u32);
            now.set(net.fluent(f), wire);
        }
        for (role, &n) in n_moves.iter().enumerate() {
            for mv in 0..n {
                let wire = circuit.load((does[role] + mv) as u32);
                now.set(net.does(role, mv), wire);
            }
        }
        let mut after = Lowering::new(net, &mut circuit, 0);
        now.ensure(&mut circuit, &net.outputs.next);
        for (f, &next) in net.outputs.next.iter().enumerate() {
            let wire = now.plain(&mut circuit, next);
            circuit.store((FIRST_FLUENT + f) as u32, wire);
            after.set(net.fluent(f), wire);
        }
        for (role, row) in net.outputs.legal.iter().enumerate() {
            after.ensure(&mut circuit, row);
            for (mv, &s) in row.iter().enumerate() {
                let wire = after.plain(&mut circuit, s);
                circuit.store((legal[role].0 + mv) as u32, wire);
            }
        }
        let wire = after.plain(&mut circuit, net.outputs.terminal);
        circuit.store(terminal as u32, wire);
        for (role, row) in net.outputs.sees.iter().enumerate().filter(|_| percepts) {
            for (p, &s) in row.iter().enumerate() {
                let wire = now.plain(&mut circuit, s);
                circuit.store((sees[role] + p) as u32, wire);
            }
        }
        Some(ByteStep {
            code: NativeBytes::new(&circuit, at as u32)?,
            does,
            legal,
            terminal,
        })
    }

    /// Plays random moves until the game is over, from a state whose legal moves are given as packed words per role.
    /// Gives the number of moves and whether a role had none; the last state is in the frame.
    #[inline(always)]
    pub fn play(
        &self,
        frame: &mut Vec<u8>,
        state: &[u64],
        n_fluents: usize,
        legal: &[&[u64]],
        rng: &mut Rng,
    ) -> (u32, bool) {
        if frame.len() < self.code.frame_len {
            frame.resize(self.code.frame_len, 0);
            frame[ONE as usize] = 0xff;
        }
        for (f, byte) in frame[FIRST_FLUENT..FIRST_FLUENT + n_fluents].iter_mut().enumerate() {
            *byte = (state[f / 64] >> (f % 64)) as u8 & 1;
        }
        for (row, &(first, n)) in legal.iter().zip(&self.legal) {
            for (m, byte) in frame[first..first + n].iter_mut().enumerate() {
                *byte = (row[m / 64] >> (m % 64)) as u8 & 1;
            }
        }
        frame[self.terminal] = 0;
        let mut moves = 0;
        loop {
            let mut made = [0_usize; 8];
            for (role, &(first, n)) in self.legal.iter().enumerate() {
                let Some(mv) = pick(&frame[first..first + n], rng) else {
                    return (moves, true);
                };
                let cell = self.does[role] + mv;
                frame[cell] = 1;
                if role < made.len() {
                    made[role] = cell;
                }
            }
            self.code.run(frame);
            moves += 1;
            for (role, &cell) in made.iter().enumerate().take(self.does.len()) {
                if role < made.len() {
                    frame[cell] = 0;
                }
            }
            if self.does.len() > made.len() {
                self.clear_moves(frame);
            }
            if frame[self.terminal] & 1 == 1 {
                return (moves, false);
            }
            if moves >= MAX_ROUNDS {
                return (moves, true);
            }
        }
    }

    /// For games with very many roles.
    #[cold]
    fn clear_moves(&self, frame: &mut [u8]) {
        for (&first, &(_, n)) in self.does.iter().zip(&self.legal) {
            frame[first..first + n].fill(0);
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl ByteStep {
    pub fn new(_: &Network, _: bool) -> Option<ByteStep> {
        None
    }

    pub fn play(&self, _: &mut Vec<u8>, _: &[u64], _: usize, _: &[&[u64]], _: &mut Rng) -> (u32, bool) {
        (0, false)
    }
}

/// A random one of the bytes whose lowest bit is set.
#[inline(always)]
fn pick(bytes: &[u8], rng: &mut Rng) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let words = |bytes: &[u8]| {
        let mut eight = [0; 8];
        eight.copy_from_slice(bytes);
        u64::from_le_bytes(eight) & LOW
    };
    let count: u32 = bytes.chunks_exact(8).map(|c| words(c).count_ones()).sum();
    if count == 0 {
        return None;
    }
    let mut rank = if count == 1 {
        0
    } else {
        rng.below(count as usize) as u32
    };
    for (at, chunk) in bytes.chunks_exact(8).enumerate() {
        let mut word = words(chunk);
        let here = word.count_ones();
        if rank < here {
            for _ in 0..rank {
                word &= word - 1;
            }
            return Some(at * 8 + word.trailing_zeros() as usize / 8);
        }
        rank -= here;
    }
    None
}
