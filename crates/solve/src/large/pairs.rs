//! The positions of one role: pairs of a state and a class of its views, with their joint moves.
//!
//! A pair determines how the game goes on and where the role's strategy for it is laid out. A pass over the tree of
//! the *other* role moves entries from pair to pair; everything that it looks up is worked out here beforehand.
//!
//! Where the other role has no choice any more, nothing needs to be walked: what it gets is a sum over slots of the
//! role's plan, and such sums are worked out beforehand, too, if they are short.

use super::graph::{Edge, StateGraph};
use super::views::{ViewGraph, arrival, seen};
use super::{LargeError, LargeLimits, Silence};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A joint move from a pair after which the game goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairEdge {
    /// Slot of the next class, counted from the pair's.
    pub slot: u32,
    /// The next pair.
    pub to: u32,
    /// What happens to the other role, as in its views; 0 if it goes on waiting.
    pub event: u32,
    /// Nature's probability, as a number in [`PairGraph::chances`].
    pub chance: u32,
}

/// A payoff: a joint move from a pair ends the game, or leads to where the other role has no choice any more.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PairEnd {
    /// Slot of the probability, counted from the pair's.
    slot: u32,
    /// Nature's probability times the payoff of the other role, relative to the middle of its payoffs.
    worth: f64,
}

/// The pairs of one role. A pass spends most of its time waiting for this memory. So all that belongs to a pair is in
/// one place: slots, arrival, rank, where the block of each move of the other role begins, and the blocks: number of
/// edges, edges, ends. A pair is named by its place.
#[derive(Clone, Debug)]
pub(super) struct PairGraph {
    /// The pair at the start and the slot of its class; none if the game is over at once.
    pub root: Option<(u32, u32)>,
    words: Vec<u32>,
    /// The probabilities of nature; the first is 1.
    pub chances: Vec<f64>,
    /// What ends are worth.
    worths: Vec<f64>,
    /// Number of pairs.
    n_pairs: usize,
}

/// Places of what a pair has; the blocks of moves begin behind.
const SLOTS: usize = 0;
const ARRIVAL: usize = 1;
const RANK: usize = 2;
const MOVES: usize = 3;

/// Words of an edge.
const EDGE: usize = 4;

impl PairGraph {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.n_pairs
    }

    /// Memory.
    pub fn bytes(&self) -> u64 {
        4 * self.words.len() as u64
    }

    /// Slots of the class of a pair.
    #[inline]
    pub fn slots(&self, pair: u32) -> usize {
        self.words[pair as usize + SLOTS] as usize
    }

    /// The event that the other role gets to choose; 0 if it has no choice.
    #[inline]
    pub fn arrival(&self, pair: u32) -> u32 {
        self.words[pair as usize + ARRIVAL]
    }

    /// Rank of the state of a pair.
    #[inline]
    pub fn rank(&self, pair: u32) -> u32 {
        self.words[pair as usize + RANK]
    }

    /// What follows a move of the other role.
    #[inline]
    pub fn block(&self, pair: u32, action: usize) -> Block<'_> {
        let here = &self.words[pair as usize..];
        let block = &here[here[MOVES + action] as usize..here[MOVES + action + 1] as usize];
        let (edges, ends) = block[1..].split_at(EDGE * block[0] as usize);
        Block { edges, ends }
    }

    /// The sum of some ends in a slice of the role's plan.
    #[inline]
    pub fn worth(&self, block: &Block<'_>, slice: &[f64]) -> f64 {
        let ends = block.ends.chunks_exact(2);
        ends.map(|end| self.worths[end[1] as usize] * slice[end[0] as usize])
            .sum()
    }

    /// The pairs of the role whose views are given.
    pub fn build(
        graph: &StateGraph,
        views: &ViewGraph,
        middle: f64,
        limits: &LargeLimits,
        used: u64,
    ) -> Result<PairGraph, LargeError> {
        let mut builder = PairBuilder {
            graph,
            views,
            middle,
            chooses_later: choosing_later(graph, 1 - views.player),
            settled: FxHashMap::default(),
            numbers: FxHashMap::default(),
            chances: FxHashMap::from_iter([(1.0_f64.to_bits(), 0)]),
            worths: FxHashMap::default(),
            list: Vec::new(),
            places: Vec::new(),
            pairs: PairGraph {
                root: None,
                words: Vec::new(),
                chances: vec![1.0],
                worths: Vec::new(),
                n_pairs: 0,
            },
        };
        if !graph.is_over(graph.initial) {
            builder.pairs.root = Some(builder.place(graph.initial, views.root)?);
        }
        let mut at = 0;
        while at < builder.list.len() {
            builder.expand(at)?;
            at += 1;
            if at % 4096 == 0 {
                if limits.stop.is_raised() {
                    return Err(LargeError::Stopped);
                }
                let needed = used + builder.pairs.bytes() + 32 * builder.list.len() as u64;
                if needed > limits.bytes {
                    return Err(LargeError::Memory {
                        what: format!("the pairs of state and view ({at} of at least {})", builder.list.len()),
                        needed,
                        limit: limits.bytes,
                    });
                }
            }
        }
        Ok(builder.finish())
    }
}

/// What follows a move of the other role.
pub(super) struct Block<'a> {
    edges: &'a [u32],
    ends: &'a [u32],
}

impl Block<'_> {
    /// Joint moves after which the other role still chooses.
    #[inline]
    pub fn edges(&self) -> impl Iterator<Item = PairEdge> {
        self.edges.chunks_exact(EDGE).map(|edge| PairEdge {
            slot: edge[0],
            to: edge[1],
            event: edge[2],
            chance: edge[3],
        })
    }

    /// Whether nothing but payoffs follows.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.edges.is_empty()
    }

    /// Whether there are payoffs.
    #[inline]
    pub fn has_ends(&self) -> bool {
        !self.ends.is_empty()
    }
}

/// For each state: whether a player chooses there or later. Edges lead to states with smaller numbers.
fn choosing_later(graph: &StateGraph, player: usize) -> Vec<bool> {
    let mut later: Vec<bool> = Vec::with_capacity(graph.states.len());
    for state in 0..graph.states.len() as u32 {
        let after = graph.edges_of(state).iter().any(|e| later[e.to as usize]);
        later.push(after || graph.chooses(state, player));
    }
    later
}

/// Slots up to which payoffs that depend on one role only are summed up beforehand.
const MOST_SLOTS: u64 = 128;

struct PairBuilder<'a> {
    graph: &'a StateGraph,
    views: &'a ViewGraph,
    middle: f64,
    /// For each state, whether the other role still chooses.
    chooses_later: Vec<bool>,
    /// Payoffs of pairs where the other role has no choice any more.
    settled: FxHashMap<(u32, u32), Rc<[PairEnd]>>,
    numbers: FxHashMap<(u32, u32), u32>,
    chances: FxHashMap<u64, u32>,
    worths: FxHashMap<u64, u32>,
    list: Vec<(u32, u32)>,
    /// The place of each pair that was expanded.
    places: Vec<u32>,
    pairs: PairGraph,
}

impl PairBuilder<'_> {
    /// The class of a role in a state, and its slot counted from that of the class given: a role that waits and gets a
    /// choice in this state moves on to the class of the choice.
    fn settle(&self, state: u32, class: u32) -> Result<(u32, u32), LargeError> {
        let (mut class, mut slot) = (class, 0);
        while self.graph.chooses(state, self.views.player) && self.views.classes[class as usize].list.is_none() {
            let event = arrival(self.graph.states[state as usize].legal[self.views.player]);
            let child = self.views.classes[class as usize].child(0, event);
            let child = child.ok_or(LargeError::Unclear {
                player: self.views.player,
            })?;
            (class, slot) = (child.class, slot + child.slot);
        }
        Ok((class, slot))
    }

    /// The pair of a state and a class, and the slot of its class counted from that of the class given.
    fn place(&mut self, state: u32, class: u32) -> Result<(u32, u32), LargeError> {
        let (class, slot) = self.settle(state, class)?;
        let next = self.list.len() as u32;
        let number = *self.numbers.entry((state, class)).or_insert(next);
        if number == next {
            if next == u32::MAX {
                return Err(LargeError::TooLarge("pairs of state and view"));
            }
            self.list.push((state, class));
        }
        Ok((number, slot))
    }

    /// Pairs are named by their places from now on.
    fn finish(mut self) -> PairGraph {
        let words = &mut self.pairs.words;
        for (number, &start) in self.places.iter().enumerate() {
            let start = start as usize;
            let end = self.places.get(number + 1).map_or(words.len(), |&next| next as usize);
            let here = &mut words[start..end];
            // The first block begins behind the beginnings of all blocks and the end of the last.
            let n_moves = here[MOVES] as usize - MOVES - 1;
            for action in 0..n_moves {
                let block = here[MOVES + action] as usize;
                for edge in 0..here[block] as usize {
                    let to = &mut here[block + 2 + EDGE * edge];
                    *to = self.places[*to as usize];
                }
            }
        }
        self.pairs.n_pairs = self.list.len();
        self.pairs
    }

    /// The event that the other role gets to choose in a state; 0 if it has no choice.
    fn arrival(&self, state: u32) -> u32 {
        let other = 1 - self.views.player;
        match self.graph.chooses(state, other) {
            true => arrival(self.graph.states[state as usize].legal[other]),
            false => 0,
        }
    }

    fn expand(&mut self, at: usize) -> Result<(), LargeError> {
        let (state, class) = self.list[at];
        let (player, other) = (self.views.player, 1 - self.views.player);
        let graph = self.graph;
        let mut edges: Vec<_> = graph.edges_of(state).iter().collect();
        edges.sort_by_key(|e| (e.actions[other], e.actions[player]));
        let n_moves = graph.n_moves(state, other);
        let here = self.arrival(state);
        let mut words = vec![0; MOVES + n_moves + 1];
        words[SLOTS] = self.views.classes[class as usize].slots as u32;
        words[ARRIVAL] = here;
        words[RANK] = graph.rank[state as usize];
        let waits = self.views.silence == Silence::Dropped && here == 0;
        let mut rest = edges.as_slice();
        for action in 0..n_moves {
            let n = rest
                .iter()
                .take_while(|e| usize::from(e.actions[other]) == action)
                .count();
            let (now, later) = rest.split_at(n);
            rest = later;
            let block = words.len();
            words[MOVES + action] = block as u32;
            words.push(0);
            let mut ends = Vec::new();
            for e in now {
                let chance = graph.chance(state, e);
                if self.payoffs(e, class, chance, &mut ends)? {
                    continue;
                }
                let (next, slot) = self.next(e, class)?;
                let (to, further) = self.place(e.to, next)?;
                let event = match e.sees[other] {
                    0 if waits => self.arrival(e.to),
                    sees => seen(sees),
                };
                let chance = number(chance, &mut self.chances, &mut self.pairs.chances);
                words.extend([slot + further, to, event, chance]);
                words[block] += 1;
            }
            for end in summed(ends) {
                words.extend([end.slot, number(end.worth, &mut self.worths, &mut self.pairs.worths)]);
            }
            words[MOVES + action + 1] = words.len() as u32;
        }
        let place = self.pairs.words.len();
        if place + words.len() > u32::MAX as usize {
            return Err(LargeError::TooLarge("pairs of state and view"));
        }
        self.places.push(place as u32);
        self.pairs.words.append(&mut words);
        Ok(())
    }

    /// The class after a joint move of a state from which the game goes on, and its slot counted from that of the class
    /// given.
    fn next(&self, e: &Edge, class: u32) -> Result<(u32, u32), LargeError> {
        let player = self.views.player;
        let here = &self.views.classes[class as usize];
        match here.list {
            None if self.views.silence == Silence::Dropped && e.sees[player] == 0 => Ok((class, 0)),
            _ => {
                let child = here.child(e.actions[player], seen(e.sees[player]));
                let child = child.ok_or(LargeError::Unclear { player })?;
                Ok((child.class, child.slot))
            }
        }
    }

    /// Adds the payoffs after a joint move; false if they still depend on the other role, or are too many.
    fn payoffs(&mut self, e: &Edge, class: u32, chance: f64, ends: &mut Vec<PairEnd>) -> Result<bool, LargeError> {
        let (player, other) = (self.views.player, 1 - self.views.player);
        if let Some(goals) = self.graph.states[e.to as usize].goals {
            let here = &self.views.classes[class as usize];
            let slot = match here.list {
                Some(_) => {
                    let child = here.first_child(e.actions[player]);
                    child.ok_or(LargeError::Unclear { player })?.slot
                }
                None => 0,
            };
            let worth = chance * (f64::from(goals[other]) - self.middle);
            ends.push(PairEnd { slot, worth });
            return Ok(true);
        }
        if self.chooses_later[e.to as usize] {
            return Ok(false);
        }
        let (next, slot) = self.next(e, class)?;
        let (next, further) = self.settle(e.to, next)?;
        if self.views.classes[next as usize].slots > MOST_SLOTS {
            return Ok(false);
        }
        let after = self.settled(e.to, next)?;
        ends.extend(after.iter().map(|end| PairEnd {
            slot: slot + further + end.slot,
            worth: chance * end.worth,
        }));
        Ok(true)
    }

    /// The payoffs of a pair from which on the other role has no choice.
    fn settled(&mut self, state: u32, class: u32) -> Result<Rc<[PairEnd]>, LargeError> {
        if let Some(known) = self.settled.get(&(state, class)) {
            return Ok(known.clone());
        }
        let mut ends = Vec::new();
        let graph = self.graph;
        for e in graph.edges_of(state) {
            self.payoffs(e, class, graph.chance(state, e), &mut ends)?;
        }
        let ends: Rc<[PairEnd]> = summed(ends).into();
        self.settled.insert((state, class), ends.clone());
        Ok(ends)
    }
}

/// The number of a value in a list, which is extended if it is new.
fn number(value: f64, numbers: &mut FxHashMap<u64, u32>, all: &mut Vec<f64>) -> u32 {
    let number = *numbers.entry(value.to_bits()).or_insert(all.len() as u32);
    if number as usize == all.len() {
        all.push(value);
    }
    number
}

/// One payoff for each slot, without those that are 0.
fn summed(mut ends: Vec<PairEnd>) -> Vec<PairEnd> {
    ends.sort_by_key(|e| e.slot);
    ends.dedup_by(|later, kept| {
        let same = later.slot == kept.slot;
        if same {
            kept.worth += later.worth;
        }
        same
    });
    ends.retain(|e| e.worth != 0.0);
    ends
}
