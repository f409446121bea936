//! The incremental engine: gates count their false operands, and a change walks only where it matters.
//!
//! Gates are numbered so that operands come first. One bit per gate says that its value has changed and its readers do
//! not know yet; bits are taken in ascending order, so that no gate is looked at twice for one change, and two changes
//! that cancel out before a gate's turn leave no trace. What depends on the moves is numbered last and is left pending
//! until the moves are made: then a change of the state and a change of the moves are one change.

use super::guards::Guards;
use super::prefixes::share_prefixes;
use super::words::Words;
use crate::network::{Network, Node, NodeId, Signal};
use crate::passes::needed;

/// An acyclic network in flat arrays, prepared once per game. Nodes are gates, then fluents, then moves.
#[derive(Debug)]
pub(super) struct EventNet {
    /// Where outputs are.
    pub words: Words,
    /// What is left out of them.
    pub guards: Guards,
    fans: Vec<Fan>,
    /// What [`Fan`]s are ranges of: readers and output bits.
    links: Vec<u32>,
    /// The node of the first fluent.
    fluents: usize,
    /// The node of each role's first move.
    does: Vec<usize>,
    /// Words of pending bits up to the end of each stage.
    ends: [usize; 3],
    /// Values when all leaves are false.
    start: Events,
}

/// What reads a node: ranges of `links`, each from its start to the next one's.
#[derive(Clone, Copy, Debug, Default)]
struct Fan {
    plain: u32,
    complement: u32,
    outputs: u32,
    end: u32,
}

/// How far values are brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Legal moves and terminal: a question about the state.
    Legal,
    /// The next state as well.
    Next,
    /// Percepts as well.
    Sees,
}

/// The values that belong to one state and joint move.
#[derive(Clone, Debug)]
pub(super) struct Events {
    /// The state these values belong to.
    pub state: Vec<u64>,
    /// Each role's move.
    joint: Vec<Option<u32>>,
    /// Room for the next state.
    next: Vec<u64>,
    /// Output bits.
    pub outputs: Vec<u64>,
    /// Per gate: operands that are false.
    counts: Vec<u16>,
    /// Gates whose readers do not know its value.
    pending: Vec<u64>,
    /// Words of `pending` that may not be zero.
    summary: Vec<u64>,
}

impl EventNet {
    /// Prepares a network; `None` if it has cycles or gates too wide to count. `likely` says how often each fluent holds.
    pub fn new(net: &Network, likely: &[f32]) -> Option<EventNet> {
        if !net.cycles().is_empty() {
            return None;
        }
        let mut net = net.clone();
        net.keep_shape();
        let guards = Guards::split(&mut net);
        let net = share_prefixes(&net, likely);
        let too_wide = |at: usize| net.operands(NodeId(at as u32)).len() > usize::from(u16::MAX);
        if (0..net.len()).any(too_wide) {
            return None;
        }
        let words = Words::new(&net);
        let numbers = Numbers::new(&net);
        let start = Events::all_false(&net, &words, &numbers);
        let (fans, links) = fans(&net, &words, &numbers);
        let mut events = EventNet {
            words,
            guards,
            fans,
            links,
            fluents: numbers.fluents,
            does: numbers.does,
            ends: numbers.ends,
            start: start.clone(),
        };
        events.start = start.settled(&events);
        Some(events)
    }

    /// The values of the empty state.
    pub fn start(&self) -> Events {
        self.start.clone()
    }
}

/// The new numbers of a network's nodes.
struct Numbers {
    /// Of gates that outputs need: by stage, whole words each.
    gates: Vec<Option<u32>>,
    ends: [usize; 3],
    fluents: usize,
    does: Vec<usize>,
    n_nodes: usize,
}

impl Numbers {
    fn new(net: &Network) -> Numbers {
        let out = &net.outputs;
        let mut legal: Vec<Signal> = out.legal.iter().flatten().copied().collect();
        legal.push(out.terminal);
        let sees: Vec<Signal> = out.sees.iter().flatten().copied().collect();
        let mut gates = vec![None; net.len()];
        let mut n = 0_u32;
        let ends = [&legal, &out.next, &sees].map(|roots| {
            let cone = needed(net, roots);
            for at in (0..net.len()).filter(|&at| cone[at] && net.node(NodeId(at as u32)) == Node::And) {
                if gates[at].is_none() {
                    gates[at] = Some(n);
                    n += 1;
                }
            }
            n = n.next_multiple_of(64);
            n as usize / 64
        });
        let fluents = n as usize;
        let mut n_nodes = fluents + net.n_fluents();
        let mut does = Vec::new();
        for n_moves in net.n_moves() {
            does.push(n_nodes);
            n_nodes += n_moves;
        }
        Numbers {
            gates,
            ends,
            fluents,
            does,
            n_nodes,
        }
    }

    fn of(&self, net: &Network, node: NodeId) -> Option<usize> {
        match net.node(node) {
            Node::Fluent(f) => Some(self.fluents + f as usize),
            Node::Does { role, mv } => Some(self.does[role as usize] + mv as usize),
            Node::And => self.gates[node.0 as usize].map(|at| at as usize),
            _ => None,
        }
    }

    /// The gates with their new numbers.
    fn gates(&self) -> impl Iterator<Item = (NodeId, u32)> + '_ {
        let numbered = |(at, number): (usize, &Option<u32>)| number.map(|n| (NodeId(at as u32), n));
        self.gates.iter().enumerate().filter_map(numbered)
    }
}

/// What reads each node.
fn fans(net: &Network, words: &Words, numbers: &Numbers) -> (Vec<Fan>, Vec<u32>) {
    let mut rows: Vec<[Vec<u32>; 3]> = vec![Default::default(); numbers.n_nodes];
    for (id, gate) in numbers.gates() {
        for s in net.operands(id) {
            if let Some(from) = numbers.of(net, s.node()) {
                rows[from][usize::from(s.is_complement())].push(gate);
            }
        }
    }
    words.each_output(net, |bit, s| {
        if let Some(from) = numbers.of(net, s.node()) {
            rows[from][2].push(bit as u32);
        }
    });
    pack_fans(rows)
}

fn pack_fans(rows: Vec<[Vec<u32>; 3]>) -> (Vec<Fan>, Vec<u32>) {
    let mut links = Vec::new();
    let fans = rows
        .into_iter()
        .map(|[plain, complement, outputs]| {
            let mut start = |row: Vec<u32>| {
                let at = links.len() as u32;
                links.extend(row);
                at
            };
            Fan {
                plain: start(plain),
                complement: start(complement),
                outputs: start(outputs),
                end: links.len() as u32,
            }
        })
        .collect();
    (fans, links)
}

impl Events {
    /// All leaves are false, and so is every gate as far as its readers know.
    fn all_false(net: &Network, words: &Words, numbers: &Numbers) -> Events {
        let n_words = net.n_fluents().div_ceil(64);
        let mut events = Events {
            state: vec![0; n_words],
            next: vec![0; n_words],
            joint: vec![None; numbers.does.len()],
            outputs: vec![0; words.len],
            counts: vec![1; numbers.fluents],
            pending: vec![0; numbers.ends[2]],
            summary: vec![0; numbers.ends[2].div_ceil(64)],
        };
        words.each_output(net, |bit, s| {
            events.outputs[bit / 64] |= u64::from(s.is_complement()) << (bit % 64)
        });
        for (id, gate) in numbers.gates() {
            // A plain operand is false, a complemented one is not.
            let n_false = net.operands(id).iter().filter(|s| !s.is_complement()).count();
            events.counts[gate as usize] = n_false as u16;
            if n_false == 0 {
                flip(&mut events.pending, &mut events.summary, gate as usize);
            }
        }
        events
    }

    /// Takes over the values of another, of the same game.
    #[inline(always)]
    pub fn copy_from(&mut self, other: &Events) {
        self.state.copy_from_slice(&other.state);
        self.joint.copy_from_slice(&other.joint);
        self.outputs.copy_from_slice(&other.outputs);
        self.counts.copy_from_slice(&other.counts);
        self.pending.copy_from_slice(&other.pending);
        self.summary.copy_from_slice(&other.summary);
    }

    fn settled(mut self, net: &EventNet) -> Events {
        self.settle(net, Stage::Sees);
        self
    }

    /// Changes the state; what depends on the moves stays behind.
    #[inline(always)]
    pub fn move_to(&mut self, net: &EventNet, state: &[u64]) {
        for (word, &new) in state.iter().enumerate() {
            self.change_word(net, word, new);
        }
        self.settle(net, Stage::Legal);
    }

    /// Moves on to the state that the joint move leads to; the stage of `next` must have been reached.
    #[inline(always)]
    pub fn advance(&mut self, net: &EventNet) {
        // Copied first: what is read below changes with the state.
        let mut next = std::mem::take(&mut self.next);
        next.copy_from_slice(&self.outputs[net.words.next..net.words.next + self.state.len()]);
        self.move_to(net, &next);
        self.next = next;
    }

    #[inline(always)]
    fn change_word(&mut self, net: &EventNet, word: usize, new: u64) {
        let mut difference = self.state[word] ^ new;
        self.state[word] = new;
        while difference != 0 {
            let at = difference.trailing_zeros();
            difference &= difference - 1;
            let node = net.fluents + word * 64 + at as usize;
            self.toggle(net, node, new >> at & 1 == 1);
        }
    }

    /// Makes a joint move in the present state, and brings what depends on it up to date.
    #[inline(always)]
    pub fn make(&mut self, net: &EventNet, joint: &[u32], stage: Stage) {
        for (role, &mv) in joint.iter().enumerate() {
            let before = self.joint[role].replace(mv);
            if before == Some(mv) {
                continue;
            }
            if let Some(before) = before {
                self.toggle(net, net.does[role] + before as usize, false);
            }
            self.toggle(net, net.does[role] + mv as usize, true);
        }
        self.settle(net, stage);
    }

    /// Tells everybody who reads a node its new value.
    #[inline(always)]
    fn toggle(&mut self, net: &EventNet, node: usize, value: bool) {
        // As slices: the compiler then keeps them in registers.
        let (counts, outputs) = (&mut self.counts[..], &mut self.outputs[..]);
        let (pending, summary) = (&mut self.pending[..], &mut self.summary[..]);
        let fan = net.fans[node];
        let plain = &net.links[fan.plain as usize..fan.complement as usize];
        let complement = &net.links[fan.complement as usize..fan.outputs as usize];
        let (better, worse) = if value {
            (plain, complement)
        } else {
            (complement, plain)
        };
        for &gate in better {
            let count = &mut counts[gate as usize];
            *count -= 1;
            if *count == 0 {
                flip(pending, summary, gate as usize);
            }
        }
        for &gate in worse {
            let count = &mut counts[gate as usize];
            *count += 1;
            if *count == 1 {
                flip(pending, summary, gate as usize);
            }
        }
        for &bit in &net.links[fan.outputs as usize..fan.end as usize] {
            outputs[bit as usize / 64] ^= 1 << (bit % 64);
        }
    }

    /// Carries changes through the network, up to a stage.
    #[inline(always)]
    fn settle(&mut self, net: &EventNet, stage: Stage) {
        let end = net.ends[stage as usize];
        for at in 0..end.div_ceil(64) {
            let within = u64::MAX >> (64 - (end - at * 64).min(64));
            while self.summary[at] & within != 0 {
                let word = at * 64 + self.summary[at].trailing_zeros() as usize;
                self.summary[at] &= self.summary[at] - 1;
                while self.pending[word] != 0 {
                    let gate = word * 64 + self.pending[word].trailing_zeros() as usize;
                    self.pending[word] &= self.pending[word] - 1;
                    self.toggle(net, gate, self.counts[gate] == 0);
                }
            }
        }
    }
}

/// Notes that a gate has changed, or has changed back.
#[inline(always)]
fn flip(pending: &mut [u64], summary: &mut [u64], gate: usize) {
    pending[gate / 64] ^= 1 << (gate % 64);
    summary[gate / 4096] |= 1 << (gate / 64 % 64);
}
