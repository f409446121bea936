//! The incremental engine: gates count their false operands, and a change walks only where it matters.
//!
//! Changes are carried level by level, so that no gate is looked at twice for one change of the state.

use super::compiled::{ByteNet, FIRST_FLUENT};
use super::net::ScalarNet;
use crate::lanes::layout::ONE;

/// The values that belong to one state.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    /// The state these values belong to.
    pub state: Vec<u64>,
    /// Per node; the lowest bit counts.
    pub values: Vec<u8>,
    /// Per gate: operands that are false, and in bit 31 whether it is queued.
    gates: Vec<u32>,
    /// Output bits.
    pub outputs: Vec<u64>,
    /// Gates that may have changed, per level.
    queues: Vec<Vec<u32>>,
    /// Levels whose queue is not empty.
    pending: Vec<u64>,
    /// Work done so far, in cycles, very roughly.
    pub work: u64,
}

const QUEUED: u32 = 1 << 31;

impl Engine {
    /// The values of the empty state.
    pub fn new(net: &ScalarNet, n_words: usize) -> Engine {
        if let Some(code) = &net.compiled {
            return Engine::compiled(code, net, n_words);
        }
        let mut engine = Engine {
            state: vec![0; n_words],
            values: vec![0; net.n_nodes],
            gates: net.missing_at_zero.iter().map(|&n| u32::from(n)).collect(),
            outputs: net.outputs_at_zero.clone(),
            queues: vec![Vec::new(); net.n_levels],
            pending: vec![0; net.n_levels.div_ceil(64)],
            work: 0,
        };
        // Gates with nothing missing are true from the start.
        for at in 0..net.n_nodes {
            if net.level[at] > 0 && engine.gates[at] == 0 {
                engine.enqueue(net, at);
            }
        }
        engine.settle(net);
        engine
    }

    fn compiled(code: &ByteNet, net: &ScalarNet, n_words: usize) -> Engine {
        let mut engine = Engine {
            state: vec![0; n_words],
            values: vec![0; code.frame_len()],
            gates: Vec::new(),
            outputs: net.outputs_at_zero.clone(),
            queues: Vec::new(),
            pending: Vec::new(),
            work: 0,
        };
        engine.values[ONE as usize] = 0xff;
        code.run(&mut engine.values, &mut engine.outputs, &engine.state);
        engine
    }

    /// Changes the state; nothing is recomputed but what depends on the difference.
    #[inline(always)]
    pub fn move_to(&mut self, net: &ScalarNet, state: &[u64]) {
        let mut changed = false;
        for (word, &new) in state.iter().enumerate() {
            let mut difference = self.state[word] ^ new;
            changed |= difference != 0;
            self.state[word] = new;
            while difference != 0 {
                let f = word * 64 + difference.trailing_zeros() as usize;
                difference &= difference - 1;
                if net.compiled.is_some() {
                    self.values[FIRST_FLUENT + f] ^= 1;
                } else {
                    self.toggle(net, net.fluents[f] as usize);
                }
            }
        }
        match &net.compiled {
            Some(code) if changed => code.run(&mut self.values, &mut self.outputs, &self.state),
            _ => self.settle(net),
        }
    }

    /// Changes a leaf that is not a fluent; [`Engine::settle`] must follow.
    #[inline]
    pub fn toggle_leaf(&mut self, net: &ScalarNet, node: u32) {
        self.toggle(net, node as usize);
    }

    #[inline(always)]
    fn toggle(&mut self, net: &ScalarNet, node: usize) {
        let value = self.values[node] ^ 1;
        self.values[node] = value;
        let outputs = &net.outputs[net.output_starts[node] as usize..net.output_starts[node + 1] as usize];
        for &bit in outputs {
            self.outputs[bit as usize / 64] ^= 1 << (bit % 64);
        }
        let readers = &net.readers[net.reader_starts[node] as usize..net.reader_starts[node + 1] as usize];
        self.work += 25 + 3 * outputs.len() as u64 + 5 * readers.len() as u64;
        for &reader in readers {
            let gate = (reader >> 1) as usize;
            let old = self.gates[gate];
            // One more operand is true, or one more is false.
            let now_true = u32::from(value) ^ (reader & 1);
            let new = old.wrapping_add(1).wrapping_sub(now_true * 2);
            self.gates[gate] = new;
            // Only a step to or from zero can change the gate; a queued gate never equals zero here.
            if old == 0 || new == 0 {
                self.enqueue(net, gate);
            }
        }
    }

    #[inline(always)]
    fn enqueue(&mut self, net: &ScalarNet, gate: usize) {
        self.gates[gate] |= QUEUED;
        let level = usize::from(net.level[gate]);
        self.queues[level].push(gate as u32);
        self.pending[level / 64] |= 1 << (level % 64);
    }

    /// Carries changes through the network.
    #[inline(always)]
    pub fn settle(&mut self, net: &ScalarNet) {
        for word in 0..self.pending.len() {
            while self.pending[word] != 0 {
                let level = word * 64 + self.pending[word].trailing_zeros() as usize;
                self.pending[word] &= self.pending[word] - 1;
                let mut queue = std::mem::take(&mut self.queues[level]);
                for &gate in &queue {
                    let gate = gate as usize;
                    self.gates[gate] &= !QUEUED;
                    if u8::from(self.gates[gate] == 0) != self.values[gate] {
                        self.toggle(net, gate);
                    }
                }
                queue.clear();
                self.queues[level] = queue;
            }
        }
    }
}
