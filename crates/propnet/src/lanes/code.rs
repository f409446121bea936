//! A circuit ready to run: as machine code where possible, otherwise interpreted.

use super::cell::Mask;
use super::interp::Interpreted;
use crate::circuit::Circuit;
use crate::jit::Native;
use game::StopFlag;

/// Options for running circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneOptions {
    /// Emit machine code where the machine can run it; otherwise interpret.
    pub native: bool,
    /// Circuits with more operations than this are interpreted: their code would not fit any cache.
    pub native_limit: usize,
    /// Bytes of machine code, beyond which a circuit is cut into pieces, which run over several groups of lanes while
    /// they are in the cache. Measured with 1 MiB of cache for each core: pieces of 460 kB are 0.9 to 1 times as fast
    /// (speedChess, amazons), of 1 MB 1.4 times (hex).
    pub most_whole: usize,
    /// Bytes of a piece.
    pub piece: usize,
    /// Groups of lanes over which pieces run in turn, at most.
    pub most_groups: usize,
}

impl Default for LaneOptions {
    fn default() -> Self {
        LaneOptions {
            native: true,
            native_limit: 1_000_000,
            most_whole: 700_000,
            piece: 24_000,
            most_groups: 4,
        }
    }
}

impl LaneOptions {
    /// Bytes of a piece of a circuit with so many operations.
    fn piece_of(self, ops: usize) -> usize {
        /// Bytes of machine code of an operation, with its loads and stores.
        const BYTES: usize = 9;
        match ops * BYTES > self.most_whole {
            true => self.piece,
            false => usize::MAX,
        }
    }
}

/// A circuit ready to run.
#[derive(Debug)]
pub struct Runnable {
    form: Form,
    /// Two-input operations.
    pub ops: usize,
}

#[derive(Debug)]
enum Form {
    Interpreted(Interpreted),
    Native(Native),
}

impl Runnable {
    /// Prepares a circuit whose scratch cells start at `scratch`; `None` if the flag is raised.
    pub fn new(circuit: &Circuit, scratch: u32, options: LaneOptions, stop: &StopFlag) -> Option<Runnable> {
        let ops = circuit.cost();
        if options.native
            && ops <= options.native_limit
            && let Some(native) = Native::new(circuit, scratch, options.piece_of(ops), stop)
        {
            if cfg!(debug_assertions) {
                check(&native, circuit, scratch);
            }
            return Some(Runnable {
                form: Form::Native(native),
                ops,
            });
        }
        Some(Runnable {
            form: Form::Interpreted(Interpreted::new(circuit, scratch, stop)?),
            ops,
        })
    }

    /// Runs the circuit once.
    #[inline]
    pub fn run(&self, frame: &mut [Mask]) {
        match &self.form {
            Form::Interpreted(code) => code.run(frame),
            Form::Native(code) => code.run(frame),
        }
    }

    /// Runs the circuit once over each of several frames.
    pub fn run_all(&self, frames: &mut [&mut [Mask]]) {
        match &self.form {
            Form::Interpreted(code) => frames.iter_mut().for_each(|frame| code.run(frame)),
            Form::Native(code) => {
                for piece in 0..code.n_pieces() {
                    frames.iter_mut().for_each(|frame| code.run_piece(piece, frame));
                }
            }
        }
    }

    /// Whether the code is in pieces, each of which should run over several frames before the next.
    pub fn is_in_pieces(&self) -> bool {
        matches!(&self.form, Form::Native(code) if code.n_pieces() > 1)
    }

    /// Number of cells that a frame needs.
    pub fn n_cells(&self) -> usize {
        match &self.form {
            Form::Interpreted(code) => code.n_cells as usize,
            Form::Native(code) => code.n_cells as usize,
        }
    }

    /// Bytes of machine code; 0 if interpreted.
    pub fn code_bytes(&self) -> usize {
        match &self.form {
            Form::Interpreted(_) => 0,
            Form::Native(code) => code.n_bytes,
        }
    }
}

/// Asserts that machine code and interpreter agree on random frames.
fn check(native: &Native, circuit: &Circuit, scratch: u32) {
    use super::rng::LaneRng;
    let Some(interpreted) = Interpreted::new(circuit, scratch, &StopFlag::default()) else {
        return;
    };
    let n = native.n_cells.max(interpreted.n_cells) as usize;
    let mut rng = LaneRng::new(game::Seed(n as u64));
    for _ in 0..2 {
        let mut a = vec![Mask::ZERO; n];
        rng.fill(&mut a);
        a[super::layout::ZERO as usize] = Mask::ZERO;
        a[super::layout::ONE as usize] = Mask::ONE;
        let mut b = a.clone();
        native.run(&mut a);
        interpreted.run(&mut b);
        for &(cell, _) in &circuit.stores {
            let at = cell as usize;
            assert_eq!(a[at], b[at], "machine code and interpreter differ in cell {cell}");
        }
    }
}
