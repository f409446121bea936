//! The state-only part as machine code over bytes: every gate, every time, a third of a cycle each.
//!
//! For nets of a few thousand gates this beats finding out which gates change.

use super::net::{Ref, reference};
pub(super) use super::step::FIRST_FLUENT;
use crate::circuit::Circuit;
#[cfg(target_arch = "x86_64")]
use crate::jit::NativeBytes;
use crate::lower::Lowering;
use crate::network::{Network, Signal};
use rustc_hash::FxHashMap;

/// Code, and where it reads and writes.
#[derive(Debug)]
pub(super) struct ByteNet {
    #[cfg(target_arch = "x86_64")]
    code: NativeBytes,
    /// Regions of bytes that become output words: first byte, how many, first word.
    regions: Vec<(usize, usize, usize)>,
    /// Next bits whose base is the present bit: state words are masked with these.
    pub keeps: Vec<u64>,
    /// The first word of the base of the next state.
    next_word: usize,
    /// Two-input operations.
    pub ops: usize,
}

#[cfg(target_arch = "x86_64")]
impl ByteNet {
    /// Compiles a state network; also gives the byte of every node that transitions read.
    pub fn new(state_net: &Network, image: &[Option<Signal>]) -> Option<(ByteNet, Vec<Option<Ref>>)> {
        let mut circuit = Circuit::new();
        let n = state_net.n_fluents();
        let mut lower = Lowering::new(state_net, &mut circuit, 0);
        for f in 0..n {
            let wire = circuit.load((FIRST_FLUENT + f) as u32);
            lower.set(state_net.fluent(f), wire);
        }
        let mut cells = Cells {
            at: FIRST_FLUENT + n,
            words: 0,
            regions: Vec::new(),
        };
        let out = &state_net.outputs;
        for row in &out.legal {
            let first = cells.region(row.len());
            lower.ensure(&mut circuit, row);
            for (at, &s) in row.iter().enumerate() {
                let wire = lower.plain(&mut circuit, s);
                circuit.store((first + at) as u32, wire);
            }
        }
        let next_word = cells.words;
        let first = cells.region(n);
        let mut keeps = vec![0; n.div_ceil(64).max(1)];
        for (f, &s) in out.next.iter().enumerate() {
            if s == state_net.fluent(f) {
                keeps[f / 64] |= 1 << (f % 64);
            } else {
                let wire = lower.plain(&mut circuit, s);
                circuit.store((first + f) as u32, wire);
            }
        }
        let first = cells.region(1);
        let wire = lower.plain(&mut circuit, out.terminal);
        circuit.store(first as u32, wire);
        let kept = store_kept(&mut circuit, &mut lower, state_net, &mut cells);
        let refs = image
            .iter()
            .map(|s| s.and_then(|s| byte_reference(state_net, &kept, s)))
            .collect();
        let code = NativeBytes::new(&circuit, cells.at as u32)?;
        let ops = circuit.cost();
        Some((
            ByteNet {
                code,
                regions: cells.regions,
                keeps,
                next_word,
                ops,
            },
            refs,
        ))
    }

    /// Bytes of a frame.
    pub fn frame_len(&self) -> usize {
        self.code.frame_len
    }

    /// Evaluates the state whose bits are in the frame; `outputs` are the packed output words.
    #[inline(always)]
    pub fn run(&self, frame: &mut [u8], outputs: &mut [u64], state: &[u64]) {
        self.code.run(frame);
        for &(first, n, word) in &self.regions {
            pack(&frame[first..first + n], &mut outputs[word..]);
        }
        for (at, keep) in self.keeps.iter().enumerate().take(state.len()) {
            outputs[self.next_word + at] |= state[at] & keep;
        }
    }
}

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

#[cfg(not(target_arch = "x86_64"))]
impl ByteNet {
    pub fn new(_: &Network, _: &[Option<Signal>]) -> Option<(ByteNet, Vec<Option<Ref>>)> {
        None
    }

    pub fn frame_len(&self) -> usize {
        0
    }

    pub fn run(&self, _: &mut [u8], _: &mut [u64], _: &[u64]) {}
}

struct Cells {
    at: usize,
    words: usize,
    regions: Vec<(usize, usize, usize)>,
}

impl Cells {
    /// Room for so many bytes, a multiple of eight, that become whole words.
    fn region(&mut self, n: usize) -> usize {
        let first = self.at.next_multiple_of(8);
        let len = n.next_multiple_of(8);
        self.regions.push((first, len, self.words));
        self.words += n.div_ceil(64).max(1);
        self.at = first + len;
        first
    }
}

/// Stores the gates that transitions read: byte and whether it holds the complement, per node.
#[cfg(target_arch = "x86_64")]
fn store_kept(
    circuit: &mut Circuit,
    lower: &mut Lowering,
    state_net: &Network,
    cells: &mut Cells,
) -> FxHashMap<u32, Ref> {
    let mut kept = FxHashMap::default();
    for &s in state_net.outputs.sees.iter().flatten() {
        let node = s.node();
        if s.is_constant() || state_net.operands(node).is_empty() || kept.contains_key(&node.0) {
            continue;
        }
        let (wire, inverted) = lower.signal(circuit, Signal::new(node, false));
        circuit.store(cells.at as u32, wire);
        kept.insert(node.0, (cells.at as u32) << 1 | u32::from(inverted));
        cells.at += 1;
    }
    kept
}

#[cfg(target_arch = "x86_64")]
fn byte_reference(state_net: &Network, kept: &FxHashMap<u32, Ref>, s: Signal) -> Option<Ref> {
    use crate::network::Node;
    if s.is_constant() {
        return Some(reference(s));
    }
    let complement = u32::from(s.is_complement());
    match state_net.node(s.node()) {
        Node::Fluent(f) => Some(((FIRST_FLUENT + f as usize) as u32) << 1 | complement),
        _ => kept.get(&s.node().0).map(|r| r ^ complement),
    }
}

/// The lowest bits of bytes, eight at a time.
#[inline(always)]
fn pack(bytes: &[u8], words: &mut [u64]) {
    for (chunks, word) in bytes.chunks(64).zip(words) {
        let mut packed = 0;
        for (at, chunk) in chunks.chunks_exact(8).enumerate() {
            let mut eight = [0; 8];
            eight.copy_from_slice(chunk);
            let low = u64::from_le_bytes(eight) & 0x0101_0101_0101_0101;
            packed |= (low.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (at * 8);
        }
        *word = packed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_takes_the_lowest_bits_in_order() {
        let bytes: Vec<u8> = (0..80).map(|at| if at % 3 == 0 { 0xff } else { 0xfe }).collect();
        let mut words = [0; 2];
        pack(&bytes, &mut words);
        let expected: u128 = (0..80).filter(|at| at % 3 == 0).map(|at| 1_u128 << at).sum();
        assert_eq!(u128::from(words[1]) << 64 | u128::from(words[0]), expected);
    }
}
