//! The incremental engine: gates count their false operands, and a change walks only where it matters.
//!
//! Changes are carried level by level, so that no gate is looked at twice for one change of the state.

use super::compiled::{ByteNet, FIRST_FLUENT};
use super::net::{OUTPUT, ScalarNet};
use crate::lanes::layout::ONE;

/// The values that belong to one state.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    /// The state these values belong to.
    pub state: Vec<u64>,
    /// Per node.
    pub values: Vec<u8>,
    /// Per gate: operands that are false.
    missing: Vec<u16>,
    /// Output bits.
    pub outputs: Vec<u64>,
    /// Gates that may have changed, per level.
    queues: Vec<Vec<u32>>,
    queued: Vec<bool>,
}

impl Engine {
    /// The values of the empty state.
    pub fn new(net: &ScalarNet, n_words: usize) -> Engine {
        if let Some(code) = &net.compiled {
            return Engine::compiled(code, net, n_words);
        }
        let mut engine = Engine {
            state: vec![0; n_words],
            values: vec![0; net.n_nodes],
            missing: net.missing_at_zero.clone(),
            outputs: net.outputs_at_zero.clone(),
            queues: vec![Vec::new(); net.n_levels],
            queued: vec![false; net.n_nodes],
        };
        // Gates with nothing missing are true from the start.
        for at in 0..net.n_nodes {
            let is_gate = net.level[at] > 0;
            if is_gate && engine.missing[at] == 0 {
                engine.queues[usize::from(net.level[at])].push(at as u32);
                engine.queued[at] = true;
            }
        }
        engine.settle(net);
        engine
    }

    fn compiled(code: &ByteNet, net: &ScalarNet, n_words: usize) -> Engine {
        let mut engine = Engine {
            state: vec![0; n_words],
            values: vec![0; code.frame_len()],
            missing: Vec::new(),
            outputs: net.outputs_at_zero.clone(),
            queues: Vec::new(),
            queued: Vec::new(),
        };
        engine.values[ONE as usize] = 0xff;
        code.run(&mut engine.values, &mut engine.outputs, &engine.state);
        engine
    }

    /// Changes the state; nothing is recomputed but what depends on the difference.
    #[inline]
    pub fn move_to(&mut self, net: &ScalarNet, state: &[u64]) {
        if let Some(code) = &net.compiled {
            return self.move_compiled(code, state);
        }
        let mut changed = false;
        for word in 0..self.state.len() {
            let mut difference = self.state[word] ^ state[word];
            changed |= difference != 0;
            while difference != 0 {
                let f = word * 64 + difference.trailing_zeros() as usize;
                difference &= difference - 1;
                self.toggle(net, net.fluents[f] as usize);
            }
            self.state[word] = state[word];
        }
        if changed {
            self.settle(net);
        }
    }

    #[inline(always)]
    fn move_compiled(&mut self, code: &ByteNet, state: &[u64]) {
        let mut changed = false;
        for word in 0..self.state.len() {
            let mut difference = self.state[word] ^ state[word];
            changed |= difference != 0;
            while difference != 0 {
                let f = word * 64 + difference.trailing_zeros() as usize;
                difference &= difference - 1;
                self.values[FIRST_FLUENT + f] ^= 1;
            }
            self.state[word] = state[word];
        }
        if changed {
            code.run(&mut self.values, &mut self.outputs, &self.state);
        }
    }

    #[inline(always)]
    fn toggle(&mut self, net: &ScalarNet, node: usize) {
        let value = self.values[node] ^ 1;
        self.values[node] = value;
        let readers = &net.readers[net.reader_starts[node] as usize..net.reader_starts[node + 1] as usize];
        for &reader in readers {
            if reader & OUTPUT != 0 {
                let bit = (reader & !OUTPUT) as usize;
                self.outputs[bit / 64] ^= 1 << (bit % 64);
                continue;
            }
            let gate = (reader >> 1) as usize;
            let now_true = u32::from(value) != (reader & 1);
            let old = self.missing[gate];
            let new = if now_true { old.wrapping_sub(1) } else { old + 1 };
            self.missing[gate] = new;
            // Only a step to or from zero can change the gate.
            if (old == 0 || new == 0) && !self.queued[gate] {
                self.queued[gate] = true;
                self.queues[usize::from(net.level[gate])].push(gate as u32);
            }
        }
    }

    #[inline(always)]
    fn settle(&mut self, net: &ScalarNet) {
        for level in 1..net.n_levels {
            while let Some(gate) = self.queues[level].pop() {
                let gate = gate as usize;
                self.queued[gate] = false;
                if (self.missing[gate] == 0) != (self.values[gate] == 1) {
                    self.toggle(net, gate);
                }
            }
        }
    }
}
