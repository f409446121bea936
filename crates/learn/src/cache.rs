//! A cache of states of a game and of the steps between them.
//!
//! Self-play visits the same few thousand states of a small game millions of times. In the cache a state is a number,
//! its legal moves are a slice, and a known step is one array access. Memory is bounded: when the limit is reached,
//! nothing is added.
//!
//! A state gets its array of steps, one entry for each joint move, when it is left for the second time: most states of
//! a large game are left once.

use crate::table::mix;
use game::MoveId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The simulator's answers about a state that is not in the cache, or not yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateAnswers {
    /// The legal moves of all roles, one role after the other.
    pub moves: Vec<MoveId>,
    /// First move of each role, and the end of the last.
    pub bounds: Vec<u32>,
    /// Whether play ends here.
    pub over: bool,
    /// If so, the payoff of each player, in 0..1.
    pub values: SmallVec<[f32; 4]>,
}

/// No number.
const NONE: u32 = u32::MAX;
/// Values in place of the first step: never left, left once, and no steps for lack of memory.
const NEVER: u32 = NONE;
const ONCE: u32 = NONE - 1;
const BARRED: u32 = NONE - 2;
/// Joint moves of a state that gets an array of steps, at most.
const MOST_JOINTS: usize = 1 << 12;
/// No cache is larger, so that 32 bits are enough for every place.
const MOST_BYTES: usize = 16 << 30;

#[derive(Clone, Copy, Debug)]
struct CachedState {
    /// Index of its first step, or one of the values above.
    edges: u32,
    /// The first of its values if play ends here.
    values: u32,
}

/// The result of a joint move: the next state, and the percepts of the players.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedStep {
    pub child: u32,
    pub seen: u32,
}

/// The location of the step of a joint move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgePlace {
    /// In the array; the step may still be unknown.
    At(usize),
    /// Steps from this state are not cached.
    Nowhere,
}

/// The cache.
#[derive(Clone, Debug)]
pub(crate) struct StateCache {
    n_roles: usize,
    n_players: usize,
    /// Words of a state.
    words: usize,
    limit: usize,
    used: usize,
    nodes: Vec<CachedState>,
    states: Vec<u64>,
    bounds: Vec<u32>,
    moves: Vec<MoveId>,
    values: Vec<f32>,
    edges: Vec<CachedStep>,
    /// Percepts of steps, each distinct tuple stored once.
    seen: Vec<u64>,
    seen_ids: FxHashMap<SmallVec<[u64; 4]>, u32>,
    /// Numbers of states by the hash of the state: open addressing, a power of two of places, half of them free.
    slots: Vec<u32>,
}

impl StateCache {
    pub(crate) fn new(n_roles: usize, n_players: usize, limit: usize) -> StateCache {
        StateCache {
            n_roles,
            n_players,
            words: 0,
            limit: limit.min(MOST_BYTES),
            used: 0,
            nodes: Vec::new(),
            states: Vec::new(),
            bounds: Vec::new(),
            moves: Vec::new(),
            values: Vec::new(),
            edges: Vec::new(),
            seen: Vec::new(),
            seen_ids: FxHashMap::default(),
            slots: Vec::new(),
        }
    }

    /// How many states are in it.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Bytes used at most. Lists double when they grow, so that everything counts twice.
    pub(crate) fn bytes(&self) -> usize {
        self.used
    }

    /// Whether there is room for so many bytes more; if so, they are used.
    fn take(&mut self, bytes: usize) -> bool {
        let fits = self.used + 2 * bytes <= self.limit;
        if fits {
            self.used += 2 * bytes;
        }
        fits
    }

    /// The number of a state.
    #[inline]
    pub(crate) fn find(&self, state: &[u64]) -> Option<u32> {
        if self.slots.is_empty() || state.len() != self.words {
            return None;
        }
        match self.slots[self.slot_of(state)] {
            NONE => None,
            node => Some(node),
        }
    }

    /// Where a state is among the slots, or belongs.
    fn slot_of(&self, state: &[u64]) -> usize {
        let mask = self.slots.len() - 1;
        let hash = state.iter().fold(0, |hash, &word| mix(hash ^ word));
        let mut at = hash as usize & mask;
        while self.slots[at] != NONE && self.state(self.slots[at]) != state {
            at = (at + 1) & mask;
        }
        at
    }

    /// Adds a state that is not there, if there is room.
    pub(crate) fn add(&mut self, state: &[u64], told: &StateAnswers) -> Option<u32> {
        if self.nodes.is_empty() {
            self.words = state.len();
        }
        if state.len() != self.words || self.nodes.len() >= BARRED as usize {
            return None;
        }
        let lists = size_of_val(state) + size_of_val(&told.moves[..]) + size_of_val(&told.bounds[..]);
        // Slots: twice as many as states, or four times just after growing.
        if !self.take(lists + 4 * told.values.len() + size_of::<CachedState>() + 8) {
            return None;
        }
        if self.slots.len() < 2 * (self.nodes.len() + 1) {
            self.grow_slots();
        }
        let (node, slot) = (self.nodes.len() as u32, self.slot_of(state));
        self.slots[slot] = node;
        self.nodes.push(CachedState {
            edges: NEVER,
            values: if told.over { self.values.len() as u32 } else { NONE },
        });
        self.values.extend_from_slice(&told.values);
        self.states.extend_from_slice(state);
        let first = self.moves.len() as u32;
        self.bounds.extend(told.bounds.iter().map(|b| first + b));
        self.moves.extend_from_slice(&told.moves);
        Some(node)
    }

    fn grow_slots(&mut self) {
        self.slots = vec![NONE; (2 * self.slots.len()).max(64)];
        for node in 0..self.nodes.len() as u32 {
            let slot = self.slot_of(self.state(node));
            self.slots[slot] = node;
        }
    }

    pub(crate) fn state(&self, node: u32) -> &[u64] {
        &self.states[node as usize * self.words..][..self.words]
    }

    #[inline]
    pub(crate) fn is_over(&self, node: u32) -> bool {
        self.nodes[node as usize].values != NONE
    }

    /// The payoff of each player; none if play goes on.
    pub(crate) fn values(&self, node: u32) -> Option<&[f32]> {
        let first = self.nodes[node as usize].values;
        (first != NONE).then(|| &self.values[first as usize..][..self.n_players])
    }

    #[inline]
    pub(crate) fn legal(&self, node: u32, role: usize) -> &[MoveId] {
        let at = node as usize * (self.n_roles + 1) + role;
        &self.moves[self.bounds[at] as usize..self.bounds[at + 1] as usize]
    }

    /// The location of the step of a joint move, given as indices into the legal moves of each role.
    #[inline]
    pub(crate) fn place(&mut self, node: u32, choice: &[u32]) -> EdgePlace {
        let first = match self.nodes[node as usize].edges {
            BARRED => return EdgePlace::Nowhere,
            NEVER => {
                self.nodes[node as usize].edges = ONCE;
                return EdgePlace::Nowhere;
            }
            ONCE => match self.make_edges(node) {
                Some(first) => first,
                None => return EdgePlace::Nowhere,
            },
            first => first,
        };
        let bounds = &self.bounds[node as usize * (self.n_roles + 1)..][..self.n_roles + 1];
        let sizes = bounds.windows(2).map(|pair| pair[1] - pair[0]);
        let joint = choice.iter().zip(sizes).fold(0, |joint, (at, n)| joint * n + at);
        EdgePlace::At(first as usize + joint as usize)
    }

    /// An array of steps for a state, none of them known.
    #[cold]
    fn make_edges(&mut self, node: u32) -> Option<u32> {
        let sizes = (0..self.n_roles).map(|role| self.legal(node, role).len());
        let joints = sizes.fold(1_usize, usize::saturating_mul);
        let first = self.edges.len();
        if joints > MOST_JOINTS || first + joints >= BARRED as usize || !self.take(joints * size_of::<CachedStep>()) {
            self.nodes[node as usize].edges = BARRED;
            return None;
        }
        let unknown = CachedStep {
            child: NONE,
            seen: NONE,
        };
        self.edges.resize(first + joints, unknown);
        self.nodes[node as usize].edges = first as u32;
        Some(first as u32)
    }

    /// The step at a place, if it is known.
    #[inline]
    pub(crate) fn edge(&self, place: usize) -> Option<CachedStep> {
        Some(self.edges[place]).filter(|edge| edge.child != NONE)
    }

    /// Stores a step, if there is memory for its percepts.
    pub(crate) fn set_edge(&mut self, place: usize, child: u32, seen: &[u64]) {
        let id = match self.seen_ids.get(seen) {
            Some(&id) => id,
            None => {
                let id = self.seen_ids.len() as u32;
                if !self.take(size_of_val(seen) + 64) {
                    return;
                }
                self.seen_ids.insert(seen.into(), id);
                self.seen.extend_from_slice(seen);
                id
            }
        };
        self.edges[place] = CachedStep { child, seen: id };
    }

    /// The percepts of a step.
    #[inline]
    pub(crate) fn seen(&self, id: u32) -> &[u64] {
        &self.seen[id as usize * self.n_players..][..self.n_players]
    }
}
