//! Goals as machine code over bytes: they are asked for once a game, so nothing is kept up to date for them.

use super::step::FIRST_FLUENT;
#[cfg(target_arch = "x86_64")]
use crate::circuit::Circuit;
#[cfg(target_arch = "x86_64")]
use crate::jit::NativeBytes;
#[cfg(target_arch = "x86_64")]
use crate::lower::Lowering;
use crate::network::Network;

/// Goals as machine code over a frame of their own.
#[derive(Debug)]
pub(super) struct ByteGoals {
    #[cfg(target_arch = "x86_64")]
    code: NativeBytes,
    /// The byte of each goal, per role.
    pub cells: Vec<Vec<usize>>,
}

#[cfg(target_arch = "x86_64")]
impl ByteGoals {
    /// Compiles the goals of an acyclic network.
    pub fn new(net: &Network) -> Option<ByteGoals> {
        if !net.cycles().is_empty() {
            return None;
        }
        let mut circuit = Circuit::new();
        let mut lower = Lowering::new(net, &mut circuit, 0);
        for f in 0..net.n_fluents() {
            let wire = circuit.load((FIRST_FLUENT + f) as u32);
            lower.set(net.fluent(f), wire);
        }
        let mut at = FIRST_FLUENT + net.n_fluents();
        let mut cells = Vec::new();
        for row in &net.outputs.goals {
            let mut places = Vec::new();
            for &(_, s) in row {
                let wire = lower.plain(&mut circuit, s);
                circuit.store(at as u32, wire);
                places.push(at);
                at += 1;
            }
            cells.push(places);
        }
        Some(ByteGoals {
            code: NativeBytes::new(&circuit, at as u32)?,
            cells,
        })
    }

    /// Evaluates a state that is spread out in bytes.
    #[inline(always)]
    pub fn run_bytes(&self, frame: &mut Vec<u8>, fluents: &[u8]) {
        self.prepare(frame);
        frame[FIRST_FLUENT..FIRST_FLUENT + fluents.len()].copy_from_slice(fluents);
        self.code.run(frame);
    }

    fn prepare(&self, frame: &mut Vec<u8>) {
        if frame.len() < self.code.frame_len {
            frame.resize(self.code.frame_len, 0);
            frame[crate::lanes::layout::ONE as usize] = 0xff;
        }
    }

    /// Evaluates a state.
    #[inline(always)]
    pub fn run(&self, frame: &mut Vec<u8>, state: &[u64], n_fluents: usize) {
        self.prepare(frame);
        for (f, byte) in frame[FIRST_FLUENT..FIRST_FLUENT + n_fluents].iter_mut().enumerate() {
            *byte = (state[f / 64] >> (f % 64)) as u8 & 1;
        }
        self.code.run(frame);
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl ByteGoals {
    pub fn new(_: &Network) -> Option<ByteGoals> {
        None
    }

    pub fn run(&self, _: &mut Vec<u8>, _: &[u64], _: usize) {}

    pub fn run_bytes(&self, _: &mut Vec<u8>, _: &[u8]) {}
}
