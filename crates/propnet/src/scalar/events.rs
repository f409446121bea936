//! The incremental engine: gates count their false operands, and a change walks only where it matters.
//!
//! Gates are numbered so that operands come first. One bit per gate says that its value has changed and its readers do
//! not know yet; bits are taken in ascending order, so that no gate is looked at twice for one change, and two changes
//! that cancel out before a gate's turn leave no trace. What depends on the moves is numbered last and is left pending
//! until the moves are made: then a change of the state and a change of the moves are one change.
//!
//! A gate may have a key: an operand without which it does not listen to the others, like the watched literals of
//! satisfiability solvers (Moskewicz et al., "Chaff: engineering an efficient SAT solver", 2001), but chosen once, by
//! trial. A group of stones that reads where each move is made is then told of a move only by the stones it has.

use super::guards::Guards;
use super::keys::choose_keys;
use super::prefixes::share_prefixes;
use super::trial::Trial;
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
    fans: Fans,
    /// The node of the first fluent.
    fluents: usize,
    /// The node of each role's first move.
    does: Vec<usize>,
    /// Words of pending bits up to the end of each stage.
    ends: [usize; 3],
    /// Values when all leaves are false.
    start: Events,
}

/// What reads each node.
#[derive(Debug)]
struct Fans {
    fans: Vec<Fan>,
    /// Gates without a key, what gates with a key need, and output bits.
    links: Vec<u32>,
    /// Gates that read a node and have another as key, as literals: the gate's number, doubled, and whether the operand is
    /// complemented.
    listeners: Vec<u32>,
}

/// What reads a node: ranges of `links`, each from its start to the next one's, and a range of `listeners`.
#[derive(Clone, Copy, Debug, Default)]
struct Fan {
    plain: u32,
    complement: u32,
    /// Gates that have this node as key: the literal as in `listeners`, how many other operands there are, and for each its
    /// place in `listeners` and the literal read: the node, doubled, and whether it is complemented.
    keyed: u32,
    outputs: u32,
    end: u32,
    listeners: u32,
    listeners_end: u32,
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
    /// Per gate: operands that are false; one if the gate has a key that is.
    counts: Vec<u16>,
    /// Per node: the value that its readers know.
    pub known: Vec<u64>,
    /// Per listener: whether its key holds.
    listening: Vec<u64>,
    /// Gates whose readers do not know its value.
    pending: Vec<u64>,
    /// Words of `pending` that may not be zero.
    summary: Vec<u64>,
}

impl EventNet {
    /// Prepares a network; `None` if it has cycles or gates too wide to count. `likely` says how often each fluent holds,
    /// `initial` is the state that games begin with.
    pub fn new(net: &Network, likely: &[f32], initial: &[u64]) -> Option<EventNet> {
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
        let numbers = Numbers::new(&net);
        let without_keys = EventNet::with_keys(&net, guards, &numbers, &vec![None; numbers.fluents]);
        let keys = choose_keys(&net, &numbers, &Trial::run(&without_keys, initial));
        Some(EventNet::with_keys(&net, without_keys.guards, &numbers, &keys))
    }

    /// `keys` has the position of each gate's key among its operands.
    fn with_keys(net: &Network, guards: Guards, numbers: &Numbers, keys: &[Option<u32>]) -> EventNet {
        let words = Words::new(net);
        let fans = Fans::new(net, &words, numbers, keys);
        let start = Events::all_false(net, &words, numbers, &fans);
        let mut events = EventNet {
            words,
            guards,
            fans,
            fluents: numbers.fluents,
            does: numbers.does.clone(),
            ends: numbers.ends,
            start: start.clone(),
        };
        events.start = start.settled(&events);
        events
    }

    /// The values of the empty state.
    pub fn start(&self) -> Events {
        self.start.clone()
    }
}

/// The new numbers of a network's nodes.
pub(super) struct Numbers {
    /// Of gates that outputs need: by stage, whole words each.
    gates: Vec<Option<u32>>,
    ends: [usize; 3],
    /// The first fluent's: there are as many gates, or room for them.
    pub fluents: usize,
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

    /// The number of a node, unless it is a constant or not needed.
    pub fn of(&self, net: &Network, node: NodeId) -> Option<usize> {
        match net.node(node) {
            Node::Fluent(f) => Some(self.fluents + f as usize),
            Node::Does { role, mv } => Some(self.does[role as usize] + mv as usize),
            Node::And => self.gates[node.0 as usize].map(|at| at as usize),
            _ => None,
        }
    }

    /// The gates with their new numbers.
    pub fn gates(&self) -> impl Iterator<Item = (NodeId, u32)> + '_ {
        let numbered = |(at, number): (usize, &Option<u32>)| number.map(|n| (NodeId(at as u32), n));
        self.gates.iter().enumerate().filter_map(numbered)
    }
}

/// The readers of one node, before they are packed.
#[derive(Clone, Debug, Default)]
struct Readers {
    plain: Vec<u32>,
    complement: Vec<u32>,
    /// Gates that have the node as key, as literals.
    keyed: Vec<(NodeId, u32)>,
    /// Gates that have another key, as literals, and the other operands' places among them.
    listeners: Vec<u32>,
    outputs: Vec<u32>,
}

/// A number and whether it stands for the complement.
fn literal(number: usize, is_complement: bool) -> u32 {
    (number as u32) << 1 | u32::from(is_complement)
}

impl Fans {
    fn new(net: &Network, words: &Words, numbers: &Numbers, keys: &[Option<u32>]) -> Fans {
        let mut rows: Vec<Readers> = vec![Readers::default(); numbers.n_nodes];
        for (id, gate) in numbers.gates() {
            for (at, s) in net.operands(id).iter().enumerate() {
                let Some(from) = numbers.of(net, s.node()) else {
                    continue;
                };
                let row = &mut rows[from];
                match keys[gate as usize] {
                    None if s.is_complement() => row.complement.push(gate),
                    None => row.plain.push(gate),
                    Some(key) if key as usize == at => row.keyed.push((id, literal(gate as usize, s.is_complement()))),
                    Some(_) => row.listeners.push(literal(gate as usize, s.is_complement())),
                }
            }
        }
        words.each_output(net, |bit, s| {
            if let Some(from) = numbers.of(net, s.node()) {
                rows[from].outputs.push(bit as u32);
            }
        });
        Fans::pack(net, numbers, rows)
    }

    fn pack(net: &Network, numbers: &Numbers, mut rows: Vec<Readers>) -> Fans {
        let mut fans = Fans {
            fans: vec![Fan::default(); rows.len()],
            links: Vec::new(),
            listeners: Vec::new(),
        };
        for (fan, row) in fans.fans.iter_mut().zip(&mut rows) {
            row.listeners.sort_unstable();
            fan.listeners = fans.listeners.len() as u32;
            fans.listeners.extend(&row.listeners);
            fan.listeners_end = fans.listeners.len() as u32;
        }
        for (node, row) in rows.into_iter().enumerate() {
            let start = fans.links.len();
            fans.fans[node].plain = start as u32;
            fans.links.extend(row.plain);
            fans.fans[node].complement = fans.links.len() as u32;
            fans.links.extend(row.complement);
            fans.fans[node].keyed = fans.links.len() as u32;
            for (id, gate) in row.keyed {
                fans.push_keyed(net, numbers, node, id, gate);
            }
            fans.fans[node].outputs = fans.links.len() as u32;
            fans.links.extend(row.outputs);
            fans.fans[node].end = fans.links.len() as u32;
        }
        fans
    }

    /// Adds what a gate needs when its key changes.
    fn push_keyed(&mut self, net: &Network, numbers: &Numbers, key: usize, id: NodeId, gate: u32) {
        let others: Vec<(usize, bool)> = net
            .operands(id)
            .iter()
            .filter_map(|s| Some((numbers.of(net, s.node())?, s.is_complement())))
            .filter(|&(node, _)| node != key)
            .collect();
        self.links.extend([gate, others.len() as u32]);
        for (node, is_complement) in others {
            let fan = self.fans[node];
            let row = &self.listeners[fan.listeners as usize..fan.listeners_end as usize];
            let listener = literal(gate as usize >> 1, is_complement);
            let place = row.partition_point(|&other| other < listener);
            self.links
                .extend([fan.listeners + place as u32, literal(node, is_complement)]);
        }
    }

    /// The gates that have a node as key, each as a literal, with its other operands as pairs of place and literal.
    fn keyed(&self, node: usize) -> impl Iterator<Item = (u32, &[[u32; 2]])> {
        let fan = self.fans[node];
        let mut links = &self.links[fan.keyed as usize..fan.outputs as usize];
        std::iter::from_fn(move || {
            let (&[gate, n], rest) = links.split_first_chunk()?;
            let (others, rest) = rest.split_at(2 * n as usize);
            links = rest;
            Some((gate, others.as_chunks().0))
        })
    }
}

impl Events {
    /// All leaves are false, and so is every gate as far as its readers know.
    fn all_false(net: &Network, words: &Words, numbers: &Numbers, fans: &Fans) -> Events {
        let n_words = net.n_fluents().div_ceil(64);
        let mut events = Events {
            state: vec![0; n_words],
            next: vec![0; n_words],
            joint: vec![None; numbers.does.len()],
            outputs: vec![0; words.len],
            counts: vec![1; numbers.fluents],
            known: vec![0; numbers.n_nodes.div_ceil(64)],
            listening: vec![0; fans.listeners.len().div_ceil(64)],
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
        }
        for (gate, others) in (0..numbers.n_nodes).flat_map(|node| fans.keyed(node)) {
            let is_open = gate & 1 == 1;
            if !is_open {
                events.counts[gate as usize >> 1] = 1;
            }
            for &[place, _] in others.iter().filter(|_| is_open) {
                events.listening[place as usize / 64] |= 1 << (place % 64);
            }
        }
        for gate in (0..numbers.fluents).filter(|&gate| events.counts[gate] == 0) {
            flip(&mut events.pending, &mut events.summary, gate);
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
        self.known.copy_from_slice(&other.known);
        self.listening.copy_from_slice(&other.listening);
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
        self.known[node / 64] ^= 1 << (node % 64);
        let fan = net.fans.fans[node];
        let links = &net.fans.links[..];
        let plain = &links[fan.plain as usize..fan.complement as usize];
        let complement = &links[fan.complement as usize..fan.keyed as usize];
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
        for (gate, others) in net.fans.keyed(node) {
            let (gate, is_open) = (gate as usize >> 1, value != (gate & 1 == 1));
            let mut n_false = u16::from(!is_open);
            for &[place, literal] in others {
                self.listening[place as usize / 64] ^= 1 << (place % 64);
                let other = literal as usize >> 1;
                let holds = self.known[other / 64] >> (other % 64) & 1 != u64::from(literal & 1);
                n_false += u16::from(is_open && !holds);
            }
            let count = &mut counts[gate];
            if (*count == 0) != (n_false == 0) {
                flip(pending, summary, gate);
            }
            *count = n_false;
        }
        if fan.listeners < fan.listeners_end {
            let (first, end) = (fan.listeners as usize, fan.listeners_end as usize);
            for word in first / 64..end.div_ceil(64) {
                let from = u64::MAX << first.saturating_sub(word * 64);
                let upto = u64::MAX >> (word * 64 + 64).saturating_sub(end);
                for bit in super::set_bits(self.listening[word] & from & upto) {
                    let listener = net.fans.listeners[word * 64 + bit as usize];
                    let count = &mut counts[listener as usize >> 1];
                    let is_better = value != (listener & 1 == 1);
                    let before = *count;
                    *count = if is_better { before - 1 } else { before + 1 };
                    if before == u16::from(is_better) {
                        flip(pending, summary, listener as usize >> 1);
                    }
                }
            }
        }
        for &bit in &links[fan.outputs as usize..fan.end as usize] {
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
