//! Incremental evaluation: changes are propagated from gate to gate, as far as values change.
//!
//! Gates are numbered so that operands come first. One pending bit per gate says that the gate has changed and its
//! readers have not been updated. Pending gates are processed in ascending order, so no gate is processed twice for one
//! change, and two changes that cancel out have no effect. Gates that depend on moves are numbered last and stay
//! pending until the moves are made: then a change of the state and a change of the moves are one change.
//!
//! Wide gates count their false operands. Gates of two operands do not: a change of one operand changes the gate
//! exactly if the other operand holds. A node tests 64 other operands at a time, so its cost is the number of other
//! operands that hold. If the other operands are not in one word and change less often than the node, they keep copies
//! of their values in one word; trial games decide where.
//!
//! The next gate is hard to predict for the processor, and large networks do not fit into its fastest caches. So data
//! that is needed soon is prefetched.

use super::evaluator::{Stage, Values};
use super::focus::focus_gates;
use super::guards::Guards;
use super::order::Numbers;
use super::prefixes::share_prefixes;
use super::split::split_gates;
use super::trial::Trial;
use super::words::Words;
use crate::jit::fetch;
use crate::network::{Network, NodeId, Signal};
use crate::tuning::{Bounds, Tuning};

/// An acyclic network in flat arrays, prepared once per game. Nodes are gates, then fluents, then moves.
#[derive(Debug)]
pub(super) struct EventNet {
    /// Places of the outputs.
    pub words: Words,
    /// Guards that are left out of legal moves and terminal.
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

/// The readers of each node.
#[derive(Debug)]
struct Fans {
    fans: Vec<Fan>,
    /// The readers of all nodes; a [`Fan`] is a range of them.
    links: Vec<u32>,
    /// The gates of all groups. Apart from `links`, because most groups are tested and no gate of them changes.
    grouped: Vec<u32>,
    /// Words of values, copies included.
    n_known: usize,
}

/// The readers of a node: consecutive ranges of `links`, by start and lengths. Aligned, so that it never crosses a
/// cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
struct Fan {
    start: u32,
    /// Gates that count false operands, as literals: the gate's number, doubled, plus 1 if it reads the complement.
    counted: u32,
    /// Gates of two operands: the literal of the other operand, and the gate.
    pairs: u16,
    /// Gates of two operands whose other operands share a word: see [`Group`].
    groups: u16,
    /// Bits of `known` that are copies of the node.
    copies: u16,
    outputs: u16,
}

/// The value of [`Fan::counted`] if the node has one reader, which counts: it is in [`Fan::start`].
const ONLY_COUNTED: u32 = u32::MAX;
/// The value of [`Fan::counted`] if the node has one reader, of two operands: the other operand is in [`Fan::start`],
/// the gate in [`Fan::pairs`] and [`Fan::groups`].
const ONLY_PAIR: u32 = u32::MAX - 1;

impl Fan {
    fn only_counted(reader: u32) -> Fan {
        Fan {
            start: reader,
            counted: ONLY_COUNTED,
            ..Fan::default()
        }
    }

    fn only_pair(other: u32, gate: u32) -> Fan {
        Fan {
            start: other,
            counted: ONLY_PAIR,
            pairs: gate as u16,
            groups: (gate >> 16) as u16,
            ..Fan::default()
        }
    }

    /// Numbers of readers that count and of readers of two operands outside of groups.
    fn n_readers(&self) -> (u32, u32) {
        match self.counted {
            ONLY_COUNTED => (1, 0),
            ONLY_PAIR => (0, 1),
            n => (n, u32::from(self.pairs / 2)),
        }
    }
}

/// Other operands in one word of `known`, and which of them are read as complements.
#[derive(Clone, Debug)]
struct Group {
    word: u32,
    /// Where the gates are in [`Fans::grouped`], in the order of the other operands.
    gates: u32,
    members: u64,
    complements: u64,
}

/// Length of a group in `links`.
const GROUP: usize = 6;

impl Group {
    fn pack(&self) -> [u32; GROUP] {
        let halves = |word: u64| (word as u32, (word >> 32) as u32);
        let ((a, b), (c, d)) = (halves(self.members), halves(self.complements));
        [self.word, self.gates, a, b, c, d]
    }

    #[inline(always)]
    fn unpack([word, gates, a, b, c, d]: [u32; GROUP]) -> Group {
        let whole = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        Group {
            word,
            gates,
            members: whole(a, b),
            complements: whole(c, d),
        }
    }
}

/// The values that belong to one state and joint move.
#[derive(Clone, Debug)]
pub(super) struct Events {
    /// The state these values belong to.
    state: Vec<u64>,
    /// Each role's move.
    joint: Vec<Option<u32>>,
    /// Room for the next state.
    next: Vec<u64>,
    /// Output bits.
    outputs: Vec<u64>,
    /// Per gate of other than two operands: the number of false operands.
    counts: Vec<u16>,
    /// Per node: the value that its readers have been updated with. Copies follow.
    pub known: Vec<u64>,
    /// Gates whose readers have not been updated.
    pending: Vec<u64>,
    /// Words of `pending` that may not be zero.
    summary: Vec<u64>,
}

/// Words of a state that are compared at a time.
const COMPARED: usize = 8;

impl EventNet {
    /// Prepares a network; `None` if it has cycles, gates or fans that are too wide, or the work was stopped. `likely`
    /// is the frequency of each fluent, `initial` the initial state.
    pub fn new(net: &Network, likely: &[f32], initial: &[u64], bounds: &Bounds) -> Option<EventNet> {
        if !net.cycles().is_empty() {
            return None;
        }
        let mut net = net.clone();
        net.keep_shape();
        let guards = Guards::split(&mut net, bounds);
        let (net, whole, trial) = EventNet::cheaper(net, guards, likely, initial, bounds)?;
        let net = split_gates(&net, &Numbers::new(&net), &trial, bounds.tuning);
        bounds.go_on()?;
        let split = EventNet::of(&net, whole.guards, None, bounds)?;
        let trial = Trial::run(&split, initial, bounds);
        bounds.go_on()?;
        EventNet::of(&net, split.guards, Some(&trial), bounds)
    }

    /// The network with or without rare conditions in its disjunctions, whichever does less work in a trial.
    fn cheaper(
        net: Network,
        guards: Guards,
        likely: &[f32],
        initial: &[u64],
        bounds: &Bounds,
    ) -> Option<(Network, EventNet, Trial)> {
        let tried = |net: &Network, guards: Guards| {
            let (net, whole) = EventNet::shared(net, guards, likely, bounds)?;
            let trial = Trial::run(&whole, initial, bounds);
            bounds.go_on()?;
            Some((net, whole, trial))
        };
        let (plain, focused) = std::thread::scope(|scope| {
            let guards_too = guards.clone();
            let focused = scope.spawn(|| match focus_gates(&net, likely, bounds) {
                Some(net) => tried(&net, guards_too).map(Some),
                None => Some(None),
            });
            let plain = tried(&net, guards);
            let focused = focused.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Some((plain?, focused?))
        })?;
        let cost = |(_, whole, trial): &(Network, EventNet, Trial)| whole.fans.cost(trial, bounds.tuning);
        let is_better = |focused: &_| cost(focused) < bounds.tuning.worth_focus * cost(&plain);
        Some(focused.filter(is_better).unwrap_or(plain))
    }

    /// The network with shared prefixes, prepared for a trial.
    fn shared(net: &Network, guards: Guards, likely: &[f32], bounds: &Bounds) -> Option<(Network, EventNet)> {
        let net = share_prefixes(net, likely, bounds)?;
        let too_wide = |at: usize| net.operands(NodeId(at as u32)).len() > usize::from(u16::MAX);
        if (0..net.len()).any(too_wide) {
            return None;
        }
        bounds.go_on()?;
        let whole = EventNet::of(&net, guards, None, bounds)?;
        Some((net, whole))
    }

    /// Without a trial no copies are kept.
    fn of(net: &Network, guards: Guards, trial: Option<&Trial>, bounds: &Bounds) -> Option<EventNet> {
        let words = Words::new(net);
        let (numbers, trial) = match trial.map(|trial| Numbers::by_heat(net, trial)) {
            Some((numbers, trial)) => (numbers, Some(trial)),
            None => (Numbers::new(net), None),
        };
        let fans = Fans::new(net, &words, &numbers, trial.as_ref(), bounds.tuning)?;
        let start = Events::all_false(net, &words, &numbers, fans.n_known);
        let mut events = EventNet {
            words,
            guards,
            fans,
            fluents: numbers.fluents,
            does: numbers.does,
            ends: numbers.ends,
            start: start.clone(),
        };
        events.start = start.settled(&events);
        Some(events)
    }
}

/// The readers of one node, before they are packed.
#[derive(Clone, Debug, Default)]
struct Readers {
    counted: Vec<u32>,
    /// The literal that is the other operand, and the gate.
    pairs: Vec<(u32, u32)>,
    groups: Vec<(Group, Vec<u32>)>,
    copies: Vec<u32>,
    outputs: Vec<u32>,
}

impl Readers {
    /// The fan of a node with one reader.
    fn only_reader(&self) -> Option<Fan> {
        if !(self.groups.is_empty() && self.copies.is_empty() && self.outputs.is_empty()) {
            return None;
        }
        match (&self.counted[..], &self.pairs[..]) {
            (&[reader], []) => Some(Fan::only_counted(reader)),
            ([], &[(other, gate)]) => Some(Fan::only_pair(other, gate)),
            _ => None,
        }
    }
}

/// A number and whether it stands for the complement.
fn literal(number: usize, is_complement: bool) -> u32 {
    (number as u32) << 1 | u32::from(is_complement)
}

impl Fans {
    fn new(net: &Network, words: &Words, numbers: &Numbers, trial: Option<&Trial>, tuning: &Tuning) -> Option<Fans> {
        let mut rows: Vec<Readers> = vec![Readers::default(); numbers.n_nodes];
        let mut n_readers = vec![0; numbers.n_nodes];
        for (id, _) in numbers.gates() {
            let operands = net.operands(id).iter().filter_map(|s| numbers.of(net, s.node()));
            operands.for_each(|node| n_readers[node] += 1);
        }
        let number = |s: Signal| Some(literal(numbers.of(net, s.node())?, s.is_complement()));
        for (id, gate) in numbers.gates() {
            let operands: Vec<Option<u32>> = net.operands(id).iter().take(3).map(|&s| number(s)).collect();
            if let [Some(a), Some(b)] = operands[..]
                && a >> 1 != b >> 1
                && [a, b].iter().all(|&s| n_readers[s as usize >> 1] <= tuning.most_paired)
            {
                rows[a as usize >> 1].pairs.push((b, gate));
                rows[b as usize >> 1].pairs.push((a, gate));
                continue;
            }
            for operand in net.operands(id).iter().filter_map(|&s| number(s)) {
                rows[operand as usize >> 1].counted.push(gate << 1 | operand & 1);
            }
        }
        words.each_output(net, |bit, s| {
            if let Some(from) = numbers.of(net, s.node()) {
                rows[from].outputs.push(bit as u32);
            }
        });
        let mut n_known = numbers.n_nodes.div_ceil(64);
        for row in &mut rows {
            let groups = take_groups(&mut row.pairs, tuning.fewest_grouped);
            row.groups = groups;
        }
        if let Some(trial) = trial {
            for node in 0..rows.len() {
                n_known += copy_others(&mut rows, node, trial, n_known, tuning);
            }
        }
        Fans::pack(rows, n_known)
    }

    /// The work of a trial, where updating a gate of more than two operands costs 1.
    fn cost(&self, trial: &Trial, tuning: &Tuning) -> f32 {
        let of = |fan: &Fan| {
            let (counted, pairs) = fan.n_readers();
            tuning.change_cost + counted as f32 + tuning.pair_cost * pairs as f32
        };
        let changes = self.fans.iter().zip(&trial.changes);
        changes.map(|(fan, &n)| n as f32 * of(fan)).sum::<f32>() / trial.looks.max(1) as f32
    }

    /// Prefetches the readers of a node.
    #[inline(always)]
    fn fetch(&self, node: usize) {
        fetch(&self.links, self.fans[node].start as usize);
    }

    /// Prefetches where the readers of a gate are, if the gate has changed. Without a branch: else it prefetches what
    /// is there already.
    #[inline(always)]
    fn fetch_fan(&self, gate: usize, has_changed: bool) {
        fetch(&self.fans, gate * usize::from(has_changed));
    }

    fn pack(rows: Vec<Readers>, n_known: usize) -> Option<Fans> {
        let (mut fans, mut links, mut grouped) = (Vec::with_capacity(rows.len()), Vec::new(), Vec::new());
        for row in rows {
            if let Some(fan) = row.only_reader() {
                fans.push(fan);
                continue;
            }
            let start = links.len();
            links.extend(row.counted);
            let pairs = links.len();
            links.extend(row.pairs.into_iter().flat_map(|(other, gate)| [other, gate]));
            let groups = links.len();
            for (mut group, gates) in row.groups {
                group.gates = u32::try_from(grouped.len()).ok()?;
                links.extend(group.pack());
                grouped.extend(gates);
            }
            let copies = links.len();
            links.extend(row.copies);
            let outputs = links.len();
            links.extend(row.outputs);
            fans.push(Fan {
                start: u32::try_from(start).ok()?,
                counted: (pairs - start) as u32,
                pairs: u16::try_from(groups - pairs).ok()?,
                groups: u16::try_from(copies - groups).ok()?,
                copies: u16::try_from(outputs - copies).ok()?,
                outputs: u16::try_from(links.len() - outputs).ok()?,
            });
        }
        Some(Fans {
            fans,
            links,
            grouped,
            n_known,
        })
    }
}

/// Groups pairs whose other operands share a word, if there are enough of them.
fn take_groups(pairs: &mut Vec<(u32, u32)>, fewest: usize) -> Vec<(Group, Vec<u32>)> {
    let (mut alone, mut groups) = (Vec::new(), Vec::new());
    pairs.sort_unstable();
    while !pairs.is_empty() {
        // A node may be the other operand of several gates: each of them is in another group.
        let (mut again, mut last) = (Vec::new(), None);
        pairs.retain(|&pair| {
            let is_first = last.replace(pair.0 >> 1) != Some(pair.0 >> 1);
            if !is_first {
                again.push(pair);
            }
            is_first
        });
        for row in pairs.chunk_by(|a, b| a.0 >> 7 == b.0 >> 7) {
            if row.len() < fewest {
                alone.extend(row);
            } else {
                let places = row.iter().map(|&(other, _)| other >> 1 & 63);
                groups.push(make_group(row[0].0 >> 7, row, places));
            }
        }
        *pairs = again;
    }
    *pairs = alone;
    groups
}

/// A group of pairs whose other operands have these places in a word, ascending; packing places the gates.
fn make_group(word: u32, pairs: &[(u32, u32)], places: impl Iterator<Item = u32>) -> (Group, Vec<u32>) {
    let mut group = Group {
        word,
        gates: 0,
        members: 0,
        complements: 0,
    };
    for (&(other, _), place) in pairs.iter().zip(places) {
        group.members |= 1 << place;
        group.complements |= u64::from(other & 1) << place;
    }
    (group, pairs.iter().map(|&(_, gate)| gate).collect())
}

/// Groups a node's pairs by copies of the other operands, if these change less often than the node. Copies are in words
/// from `first` on; returns the number of words.
fn copy_others(rows: &mut [Readers], node: usize, trial: &Trial, first: usize, tuning: &Tuning) -> usize {
    let is_quiet = |&(other, _): &(u32, u32)| {
        let changes = trial.changes[other as usize >> 1];
        tuning.copy_worth * changes < trial.changes[node]
    };
    let (quiet, rest): (Vec<_>, Vec<_>) = rows[node].pairs.iter().copied().partition(is_quiet);
    if quiet.len() < tuning.fewest_grouped {
        return 0;
    }
    rows[node].pairs = rest;
    for (word, row) in (first..).zip(quiet.chunks(64)) {
        let group = make_group(word as u32, row, 0..64);
        rows[node].groups.push(group);
        for (place, &(other, _)) in row.iter().enumerate() {
            rows[other as usize >> 1].copies.push((word * 64 + place) as u32);
        }
    }
    quiet.len().div_ceil(64)
}

impl Values for Events {
    type Net = EventNet;

    fn start(net: &EventNet) -> Events {
        net.start.clone()
    }

    #[inline(always)]
    fn words(net: &EventNet) -> &Words {
        &net.words
    }

    #[inline(always)]
    fn guards(net: &EventNet) -> Option<&Guards> {
        Some(&net.guards)
    }

    #[inline(always)]
    fn state(&self) -> &[u64] {
        &self.state
    }

    #[inline(always)]
    fn outputs(&self) -> &[u64] {
        &self.outputs
    }

    fn fluent_bytes(&self, _: &EventNet) -> Option<&[u8]> {
        None
    }

    /// Values that depend on the moves are not updated.
    #[inline(always)]
    fn move_to(&mut self, net: &EventNet, state: &[u64]) {
        // Most words of a large state do not change: many are compared at a time.
        for (at, chunk) in state.chunks(COMPARED).enumerate() {
            let first = at * COMPARED;
            let here = &self.state[first..first + chunk.len()];
            let difference = here.iter().zip(chunk).fold(0, |all, (a, b)| all | (a ^ b));
            if difference != 0 {
                for (word, &new) in chunk.iter().enumerate() {
                    self.change_word(net, first + word, new);
                }
            }
        }
        self.settle(net, Stage::Legal);
    }

    #[inline(always)]
    fn make(&mut self, net: &EventNet, joint: &[u32], stage: Stage) {
        for (role, &mv) in joint.iter().enumerate() {
            let before = self.joint[role].replace(mv);
            if before == Some(mv) {
                continue;
            }
            if let Some(before) = before {
                self.toggle(net, net.does[role] + before as usize);
            }
            self.toggle(net, net.does[role] + mv as usize);
        }
        self.settle(net, stage);
    }

    #[inline(always)]
    fn advance(&mut self, net: &EventNet) {
        // Copied first: what is read below changes with the state.
        let mut next = std::mem::take(&mut self.next);
        next.copy_from_slice(&self.outputs[net.words.next..net.words.next + self.state.len()]);
        self.move_to(net, &next);
        self.next = next;
    }

    #[inline(always)]
    fn copy_from(&mut self, other: &Events) {
        self.state.copy_from_slice(&other.state);
        self.joint.copy_from_slice(&other.joint);
        self.outputs.copy_from_slice(&other.outputs);
        self.counts.copy_from_slice(&other.counts);
        self.known.copy_from_slice(&other.known);
        self.pending.copy_from_slice(&other.pending);
        self.summary.copy_from_slice(&other.summary);
    }
}

impl Events {
    /// Values with all leaves false, and all gates false as far as their readers know.
    fn all_false(net: &Network, words: &Words, numbers: &Numbers, n_known: usize) -> Events {
        let n_words = net.n_fluents().div_ceil(64);
        let mut events = Events {
            state: vec![0; n_words],
            next: vec![0; n_words],
            joint: vec![None; numbers.does.len()],
            outputs: vec![0; words.len],
            counts: vec![1; numbers.fluents],
            known: vec![0; n_known],
            pending: vec![0; numbers.ends[2]],
            summary: vec![0; numbers.ends[2].div_ceil(64)],
        };
        words.each_output(net, |bit, s| {
            events.outputs[bit / 64] |= u64::from(s.is_complement()) << (bit % 64)
        });
        for (id, gate) in numbers.gates() {
            // Plain operands are false, complemented operands are true.
            let n_false = net.operands(id).iter().filter(|s| !s.is_complement()).count();
            events.counts[gate as usize] = n_false as u16;
            flip_if(&mut events.pending, &mut events.summary, gate as usize, n_false == 0);
        }
        events
    }

    fn settled(mut self, net: &EventNet) -> Events {
        self.settle(net, Stage::Sees);
        self
    }

    #[inline(always)]
    fn change_word(&mut self, net: &EventNet, word: usize, new: u64) {
        let mut difference = self.state[word] ^ new;
        self.state[word] = new;
        while difference != 0 {
            let at = difference.trailing_zeros() as usize;
            difference &= difference - 1;
            self.toggle(net, net.fluents + word * 64 + at);
        }
    }

    /// Changes the value of a node and updates its readers.
    #[inline(always)]
    fn toggle(&mut self, net: &EventNet, node: usize) {
        // As slices: the compiler then keeps them in registers.
        let (counts, outputs, known) = (&mut self.counts[..], &mut self.outputs[..], &mut self.known[..]);
        let (pending, summary) = (&mut self.pending[..], &mut self.summary[..]);
        known[node / 64] ^= 1 << (node % 64);
        let value = (known[node / 64] >> (node % 64) & 1) as u32;
        let fan = net.fans.fans[node];
        let mut update_count = |reader: u32| {
            let gate = reader as usize >> 1;
            let is_better = u32::from(reader & 1 != value) as u16;
            // One false operand more or less. The gate changes if there is none now, or was none before.
            let before = counts[gate];
            let after = before.wrapping_add(1).wrapping_sub(2 * is_better);
            counts[gate] = after;
            let has_changed = before == 0 || after == 0;
            net.fans.fetch_fan(gate, has_changed);
            flip_if(pending, summary, gate, has_changed);
        };
        // Most gates have one reader.
        if fan.counted == ONLY_COUNTED {
            return update_count(fan.start);
        }
        let holds = |known: &[u64], other: u32| {
            let node = other as usize >> 1;
            (known[node / 64] >> (node % 64) ^ u64::from(other)) & 1 == 1
        };
        if fan.counted == ONLY_PAIR {
            let gate = u32::from(fan.pairs) | u32::from(fan.groups) << 16;
            let has_changed = holds(known, fan.start);
            net.fans.fetch_fan(gate as usize, has_changed);
            return flip_if(pending, summary, gate as usize, has_changed);
        }
        let (counted, links) = net.fans.links[fan.start as usize..].split_at(fan.counted as usize);
        let (pairs, links) = links.split_at(fan.pairs as usize);
        let (groups, links) = links.split_at(fan.groups as usize);
        let (copies, links) = links.split_at(fan.copies as usize);
        counted.iter().for_each(|&reader| update_count(reader));
        for &[other, gate] in pairs.as_chunks().0 {
            let has_changed = holds(known, other);
            net.fans.fetch_fan(gate as usize, has_changed);
            flip_if(pending, summary, gate as usize, has_changed);
        }
        for &group in groups.as_chunks().0 {
            let Group {
                word,
                gates,
                members,
                complements,
            } = Group::unpack(group);
            let mut hold = (known[word as usize] ^ complements) & members;
            while hold != 0 {
                let below = (hold & hold.wrapping_neg()) - 1;
                hold &= hold - 1;
                let gate = net.fans.grouped[gates as usize + (members & below).count_ones() as usize];
                net.fans.fetch_fan(gate as usize, true);
                flip_if(pending, summary, gate as usize, true);
            }
        }
        for &bit in copies {
            known[bit as usize / 64] ^= 1 << (bit % 64);
        }
        for &bit in &links[..fan.outputs as usize] {
            outputs[bit as usize / 64] ^= 1 << (bit % 64);
        }
    }

    /// Propagates changes through the network, up to a stage.
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
                    // The next pending gate; the first gate of the word if there is none.
                    net.fans
                        .fetch(word * 64 + (self.pending[word].trailing_zeros() as usize & 63));
                    self.toggle(net, gate);
                }
            }
        }
    }
}

/// Flips the pending bit of a gate if it has changed. Without a branch, because the branch would be hard to predict.
#[inline(always)]
fn flip_if(pending: &mut [u64], summary: &mut [u64], gate: usize, has_changed: bool) {
    let bit = u64::from(has_changed);
    pending[gate / 64] ^= bit << (gate % 64);
    summary[gate / 4096] |= bit << (gate / 64 % 64);
}
