//! The replacement of `jit/` on processors for which no machine code is made.
//!
//! All names are those of `jit/`, so callers are the same on every processor. Constructors return `None`, and the types
//! that would hold machine code cannot be constructed.

use crate::circuit::Circuit;
use crate::lanes::cell::Mask;
use game::StopFlag;
use std::convert::Infallible;

/// Machine code over a frame of vectors.
#[derive(Debug)]
pub struct Native {
    /// Bytes of code.
    pub n_bytes: usize,
    /// Cells of a frame, scratch included.
    pub n_cells: u32,
    never: Infallible,
}

impl Native {
    /// There is no machine code for this processor.
    pub fn new(_circuit: &Circuit, _scratch: u32, _piece: usize, _stop: &StopFlag) -> Option<Native> {
        None
    }

    /// Number of pieces.
    pub fn n_pieces(&self) -> usize {
        match self.never {}
    }

    /// Runs a piece of the circuit over a frame.
    pub fn run_piece(&self, _piece: usize, _frame: &mut [Mask]) {
        match self.never {}
    }

    /// Runs the circuit once over a frame.
    pub fn run(&self, _frame: &mut [Mask]) {
        match self.never {}
    }
}

/// Pieces of machine code over one frame of bytes.
#[derive(Debug)]
pub struct NativeBlocks {
    /// Bytes of a frame, scratch included.
    pub frame_len: usize,
    never: Infallible,
}

/// A builder of [`NativeBlocks`].
#[derive(Debug)]
pub struct BlocksBuilder(Infallible);

/// A piece among [`NativeBlocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockId(Infallible);

impl BlocksBuilder {
    /// There is no machine code for this processor.
    pub fn new(_scratch: u32) -> Option<BlocksBuilder> {
        None
    }

    /// Compiles a circuit without components.
    pub fn add(&mut self, _circuit: &Circuit, _stop: &StopFlag) -> Option<BlockId> {
        match self.0 {}
    }

    /// Makes the pieces runnable.
    pub fn finish(self) -> Option<NativeBlocks> {
        match self.0 {}
    }
}

impl NativeBlocks {
    /// Runs a piece once over a frame.
    pub fn run(&self, _block: BlockId, _frame: &mut [u8]) {
        match self.never {}
    }
}

/// Whether machine code is made on this machine: never here.
pub fn makes_machine_code() -> bool {
    false
}

/// Calls `f`.
#[inline(always)]
pub fn wide<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// The lowest bit of each byte.
#[inline(always)]
pub fn low_bits(bytes: [u8; 16]) -> u16 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u16::from(byte & 1))
}

/// Does nothing: portable Rust has no prefetch.
#[inline(always)]
pub fn fetch<T>(_from: &[T], _at: usize) {}
