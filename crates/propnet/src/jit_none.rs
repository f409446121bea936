//! In the place of machine code on machines for which none is made: there is never any.

use crate::circuit::Circuit;

/// Many pieces of machine code over one frame of bytes.
#[derive(Debug)]
pub struct NativeBlocks {
    /// Bytes of a frame, scratch included.
    pub frame_len: usize,
    never: std::convert::Infallible,
}

/// Pieces of machine code in the making.
#[derive(Debug)]
pub struct BlocksBuilder(std::convert::Infallible);

/// A piece among [`NativeBlocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockId(std::convert::Infallible);

impl BlocksBuilder {
    /// The machine cannot run such code.
    pub fn new(_scratch: u32) -> Option<BlocksBuilder> {
        None
    }

    /// Compiles a circuit without components.
    pub fn add(&mut self, _circuit: &Circuit) -> Option<BlockId> {
        match self.0 {}
    }

    /// Makes them runnable.
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
