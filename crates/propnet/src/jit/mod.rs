//! Machine code for circuits on x86-64: over vectors of 256 lanes, or over single bytes.
//!
//! The code is written to memory that is not executable. Then the memory is made executable and read-only.
#![allow(unsafe_code)]

mod avx2;
mod avx512;
mod bytes;
mod cover;
mod cpu;
mod emit;
mod order;

use crate::circuit::Circuit;
use crate::lanes::cell::Mask;
use cpu::has_avx512;
pub use cpu::{fetch, low_bits, makes_machine_code, wide};
use game::StopFlag;
use memmap2::{Mmap, MmapMut};

/// Machine code over a frame of vectors.
#[derive(Debug)]
pub struct Native {
    code: Mmap,
    /// Offset of each piece.
    entries: Vec<usize>,
    /// Bytes of code.
    pub n_bytes: usize,
    /// Cells of a frame, scratch included.
    pub n_cells: u32,
}

impl Native {
    /// Compiles a circuit in pieces of about `piece` bytes; scratch cells start at `scratch`. `None` if the machine or
    /// the system cannot, or the flag is raised.
    ///
    /// Circuits in pieces do not use AVX-512. Most of their operations read memory, where its instructions are longer,
    /// and the time goes into fetching instructions: hex and chess of others as fast in pieces, and slower without
    /// other groups of lanes (0.9 times).
    pub fn new(circuit: &Circuit, scratch: u32, piece: usize, stop: &StopFlag) -> Option<Native> {
        if !makes_machine_code() {
            return None;
        }
        match has_avx512() && piece == usize::MAX {
            true => Native::for_target(avx512::Avx512, circuit, scratch, piece, stop),
            false => Native::for_target(avx2::Avx2, circuit, scratch, piece, stop),
        }
    }

    /// The machine must have the instructions of the target.
    fn for_target<T: emit::Target>(
        target: T,
        circuit: &Circuit,
        scratch: u32,
        piece: usize,
        stop: &StopFlag,
    ) -> Option<Native> {
        let made = emit::emit(circuit, scratch, target, piece, stop)?;
        Some(Native {
            code: executable(&made.bytes)?,
            entries: made.entries,
            n_bytes: made.bytes.len(),
            n_cells: made.n_cells,
        })
    }

    /// Number of pieces.
    pub fn n_pieces(&self) -> usize {
        self.entries.len()
    }

    /// Runs the circuit once over a frame.
    #[inline]
    pub fn run(&self, frame: &mut [Mask]) {
        for piece in 0..self.entries.len() {
            self.run_piece(piece, frame);
        }
    }

    /// Runs a piece of the circuit over a frame. The pieces before it must have run over this frame.
    #[inline]
    pub fn run_piece(&self, piece: usize, frame: &mut [Mask]) {
        assert!(
            frame.len() >= self.n_cells as usize,
            "the frame is too small for this code"
        );
        // SAFETY: each entry is the start of a complete function that `emit` made for this calling convention; it ends
        // in `ret`, keeps callee-saved registers, needs features that `new` has checked, and touches only cells
        // below `n_cells` of the frame that is passed, which the line above has checked. Cells are 32-aligned.
        unsafe {
            let start = self.code.as_ptr().add(self.entries[piece]);
            let entry: unsafe extern "sysv64" fn(*mut Mask) = std::mem::transmute(start);
            entry(frame.as_mut_ptr());
        }
    }
}

/// Pieces of machine code over one frame of bytes. A byte holds one signal in its lowest bit.
#[derive(Debug)]
pub struct NativeBlocks {
    code: Mmap,
    /// Offset of each piece.
    entries: Vec<usize>,
    /// Bytes of a frame, scratch included.
    pub frame_len: usize,
}

/// A builder of [`NativeBlocks`].
#[derive(Debug)]
pub struct BlocksBuilder {
    scratch: u32,
    frame_len: usize,
    bytes: Vec<u8>,
    entries: Vec<usize>,
}

/// A piece among [`NativeBlocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockId(u32);

impl BlocksBuilder {
    /// No piece yet; scratch starts at byte `scratch`. `None` if the machine cannot run this code.
    pub fn new(scratch: u32) -> Option<BlocksBuilder> {
        let scratch = scratch.next_multiple_of(64);
        makes_machine_code().then(|| BlocksBuilder {
            scratch,
            frame_len: scratch as usize,
            bytes: Vec::new(),
            entries: Vec::new(),
        })
    }

    /// Compiles a circuit without components, unless the flag is raised.
    pub fn add(&mut self, circuit: &Circuit, stop: &StopFlag) -> Option<BlockId> {
        /// Operations from which on saving the caller's registers pays.
        const LONG: usize = 100;
        if !circuit.components.is_empty() {
            return None;
        }
        let target = bytes::Bytes {
            scratch: self.scratch,
            short: circuit.ops().len() < LONG,
        };
        let made = emit::emit(circuit, self.scratch, target, usize::MAX, stop)?;
        self.frame_len = self
            .frame_len
            .max(self.scratch as usize + (made.n_cells - self.scratch) as usize * 4);
        // Code that begins at the start of a line of the instruction cache is fetched sooner.
        self.bytes.resize(self.bytes.len().next_multiple_of(32), 0xcc);
        self.entries.push(self.bytes.len());
        self.bytes.extend(made.bytes);
        Some(BlockId(self.entries.len() as u32 - 1))
    }

    /// Makes them runnable.
    pub fn finish(self) -> Option<NativeBlocks> {
        Some(NativeBlocks {
            code: executable(&self.bytes)?,
            entries: self.entries,
            frame_len: self.frame_len,
        })
    }
}

impl NativeBlocks {
    /// Runs a piece once over a frame.
    #[inline(always)]
    pub fn run(&self, block: BlockId, frame: &mut [u8]) {
        assert!(frame.len() >= self.frame_len, "the frame is too small for this code");
        // SAFETY: as above. Every entry is the start of a complete function that touches only the first `frame_len`
        // bytes and needs BMI1, which `BlocksBuilder::new` has checked.
        unsafe {
            let start = self.code.as_ptr().add(self.entries[block.0 as usize]);
            let entry: unsafe extern "sysv64" fn(*mut u8) = std::mem::transmute(start);
            entry(frame.as_mut_ptr());
        }
    }
}

fn executable(bytes: &[u8]) -> Option<Mmap> {
    let mut memory = MmapMut::map_anon(bytes.len()).ok()?;
    memory.copy_from_slice(bytes);
    memory.make_exec().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Wire;
    use crate::lanes::interp::Interpreted;
    use crate::lanes::layout::{ONE, ZERO};
    use crate::lanes::rng::LaneRng;
    use game::{Rng, Seed};

    /// Cells that circuits load from and store to.
    const CELLS: u32 = 40;

    fn random_circuit(rng: &mut Rng) -> Circuit {
        let mut circuit = Circuit::new();
        let mut wires: Vec<Wire> = (2..2 + CELLS).map(|cell| circuit.load(cell)).collect();
        let recent = 2 + rng.below(60);
        for _ in 0..400 {
            // Mostly recent values, so that cones are deep and some values live long.
            let pick = |rng: &mut Rng| match rng.below(4) {
                0 => wires[rng.below(wires.len())],
                _ => wires[wires.len() - 1 - rng.below(recent.min(wires.len()))],
            };
            let (a, b) = (pick(rng), pick(rng));
            let wire = match rng.below(5) {
                0 => circuit.and_not(a, b),
                1 => circuit.or(a, b),
                2 => circuit.xor(a, b),
                3 => circuit.not(a),
                _ => circuit.and(a, b),
            };
            wires.push(wire);
        }
        for cell in 2..2 + CELLS {
            if rng.below(2) == 0 {
                circuit.store(cell, wires[rng.below(wires.len())]);
            }
        }
        circuit
    }

    fn run(circuit: &Circuit, n_cells: usize, seed: u64, run: impl Fn(&mut [Mask])) -> Vec<Mask> {
        let mut frame = vec![Mask::ZERO; n_cells];
        LaneRng::new(Seed(seed)).fill(&mut frame);
        (frame[ZERO as usize], frame[ONE as usize]) = (Mask::ZERO, Mask::ONE);
        run(&mut frame);
        circuit.stores.iter().map(|&(cell, _)| frame[cell as usize]).collect()
    }

    #[test]
    fn every_target_and_any_pieces_compute_what_the_interpreter_does() {
        if !makes_machine_code() {
            return surmise_testing::skip("every_target", "machine code needs AVX2");
        }
        let (mut rng, stop) = (Seed(7).rng(), StopFlag::default());
        let mut tables = 0;
        for case in 0..60 {
            let circuit = random_circuit(&mut rng);
            let scratch = 2 + CELLS;
            let interpreted = Interpreted::new(&circuit, scratch, &stop).expect("nobody stops it");
            let n_cells = 2_000;
            let expected = run(&circuit, n_cells, case, |frame| interpreted.run(frame));
            for piece in [0, 100, usize::MAX] {
                let mut natives = vec![Native::for_target(avx2::Avx2, &circuit, scratch, piece, &stop)];
                if has_avx512() {
                    natives.push(Native::for_target(avx512::Avx512, &circuit, scratch, piece, &stop));
                    let gates = cover::threes(&circuit, &stop).expect("nobody stops it");
                    let is_table = |gate: &&cover::Gate| matches!(gate, cover::Gate::Table(..));
                    tables += gates.iter().flatten().filter(is_table).count();
                }
                for native in natives {
                    let native = native.expect("nobody stops it");
                    assert_eq!(native.n_pieces() > 1, piece < usize::MAX);
                    assert_eq!(
                        run(&circuit, n_cells, case, |frame| native.run(frame)),
                        expected,
                        "case {case}, pieces of {piece} bytes"
                    );
                }
            }
        }
        assert_eq!(tables > 0, has_avx512());
    }
}
