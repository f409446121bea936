//! Machine code for circuits on x86-64: over vectors of 256 lanes, or over single bytes.
//!
//! The code is written to memory that is not executable. Then the memory is made executable and read-only.
#![allow(unsafe_code)]

mod avx2;
mod bytes;
mod cpu;
mod emit;
mod order;

use crate::circuit::Circuit;
use crate::lanes::cell::Mask;
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
    pub fn new(circuit: &Circuit, scratch: u32, piece: usize, stop: &StopFlag) -> Option<Native> {
        if !makes_machine_code() {
            return None;
        }
        let made = emit::emit(circuit, scratch, avx2::Avx2, piece, stop)?;
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
        // in `ret`, keeps callee-saved registers, needs AVX2, which `new` has checked, and touches only cells
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
