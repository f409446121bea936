//! The positions of one role: pairs of a state and a class of its views, with their joint moves.
//!
//! A pair determines how the game goes on and where the role's strategy for it is laid out. A pass over the tree of
//! the *other* role moves entries from pair to pair; everything that it looks up is worked out here beforehand.

use super::graph::StateGraph;
use super::views::{ViewGraph, arrival, seen};
use super::{LargeError, LargeLimits, Silence};
use rustc_hash::FxHashMap;

/// A joint move from a pair after which the game goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairEdge {
    /// Slot of the next class, counted from the pair's.
    pub slot: u32,
    /// The next pair.
    pub to: u32,
    /// What the other role perceives.
    pub sees: u32,
    /// Nature's probability, as a number in [`PairGraph::chances`].
    pub chance: u32,
}

/// A joint move from a pair that ends the game.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairEnd {
    /// Slot of the probability, counted from the pair's.
    pub slot: u32,
    /// Nature's probability times the payoff of the other role, relative to the middle of its payoffs.
    pub worth: f64,
}

/// The pairs of one role.
#[derive(Clone, Debug)]
pub(super) struct PairGraph {
    /// The pair at the start and the slot of its class; none if the game is over at once.
    pub root: Option<(u32, u32)>,
    /// For each pair: its first place in `moves`.
    first: Vec<u32>,
    /// For each pair and move of the other role: first edge and first end; one more at the end.
    moves: Vec<(u32, u32)>,
    edges: Vec<PairEdge>,
    ends: Vec<PairEnd>,
    /// The probabilities of nature; the first is 1.
    pub chances: Vec<f64>,
    /// Slots of the class of each pair.
    pub slots: Vec<u32>,
    /// For each pair: the event that the other role gets to choose; 0 if it has no choice.
    pub arrival: Vec<u32>,
    /// Rank of the state of each pair.
    pub rank: Vec<u32>,
}

impl PairGraph {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Memory.
    pub fn bytes(&self) -> u64 {
        (self.len() * 16
            + self.moves.len() * 8
            + self.edges.len() * size_of::<PairEdge>()
            + self.ends.len() * size_of::<PairEnd>()) as u64
    }

    /// Edges and ends of a pair for a move of the other role.
    #[inline]
    pub fn moves(&self, pair: u32, action: usize) -> (&[PairEdge], &[PairEnd]) {
        let at = self.first[pair as usize] as usize + action;
        let ((edge, end), (last_edge, last_end)) = (self.moves[at], self.moves[at + 1]);
        (
            &self.edges[edge as usize..last_edge as usize],
            &self.ends[end as usize..last_end as usize],
        )
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
            numbers: FxHashMap::default(),
            chances: FxHashMap::from_iter([(1.0_f64.to_bits(), 0)]),
            list: Vec::new(),
            pairs: PairGraph {
                root: None,
                first: Vec::new(),
                moves: Vec::new(),
                edges: Vec::new(),
                ends: Vec::new(),
                chances: vec![1.0],
                slots: Vec::new(),
                arrival: Vec::new(),
                rank: Vec::new(),
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
        let (edge, end) = (builder.pairs.edges.len() as u32, builder.pairs.ends.len() as u32);
        builder.pairs.moves.push((edge, end));
        Ok(builder.pairs)
    }
}

struct PairBuilder<'a> {
    graph: &'a StateGraph,
    views: &'a ViewGraph,
    middle: f64,
    numbers: FxHashMap<(u32, u32), u32>,
    chances: FxHashMap<u64, u32>,
    list: Vec<(u32, u32)>,
    pairs: PairGraph,
}

impl PairBuilder<'_> {
    /// The pair of a state and a class, and the slot of its class counted from that of the class given: a role that
    /// waits and gets a choice in this state moves on to the class of the choice.
    fn place(&mut self, state: u32, class: u32) -> Result<(u32, u32), LargeError> {
        let (mut class, mut slot) = (class, 0);
        while self.graph.chooses(state, self.views.player) && self.views.classes[class as usize].list.is_none() {
            let event = arrival(self.graph.states[state as usize].legal[self.views.player]);
            let child = self.views.classes[class as usize].child(0, event);
            let child = child.ok_or(LargeError::Unclear {
                player: self.views.player,
            })?;
            (class, slot) = (child.class, slot + child.slot);
        }
        let next = self.list.len() as u32;
        let number = *self.numbers.entry((state, class)).or_insert(next);
        if number == next {
            if next == u32::MAX {
                return Err(LargeError::TooLarge("pairs of state and view"));
            }
            self.list.push((state, class));
            let other = 1 - self.views.player;
            let event = match self.graph.chooses(state, other) {
                true => arrival(self.graph.states[state as usize].legal[other]),
                false => 0,
            };
            self.pairs.arrival.push(event);
            self.pairs.rank.push(self.graph.rank[state as usize]);
            self.pairs.slots.push(self.views.classes[class as usize].slots as u32);
        }
        Ok((number, slot))
    }

    fn chance(&mut self, chance: f64) -> u32 {
        let all = &mut self.pairs.chances;
        let number = *self.chances.entry(chance.to_bits()).or_insert(all.len() as u32);
        if number as usize == all.len() {
            all.push(chance);
        }
        number
    }

    fn expand(&mut self, at: usize) -> Result<(), LargeError> {
        let (state, class) = self.list[at];
        let (player, other) = (self.views.player, 1 - self.views.player);
        let graph = self.graph;
        self.pairs.first.push(self.pairs.moves.len() as u32);
        let mut edges: Vec<_> = graph.edges_of(state).iter().collect();
        edges.sort_by_key(|e| (e.actions[other], e.actions[player]));
        let here = &self.views.classes[class as usize];
        let mut rest = edges.as_slice();
        for action in 0..graph.n_moves(state, other) as u16 {
            let (edge, end) = (self.pairs.edges.len() as u32, self.pairs.ends.len() as u32);
            self.pairs.moves.push((edge, end));
            let n = rest.iter().take_while(|e| e.actions[other] == action).count();
            let (now, later) = rest.split_at(n);
            rest = later;
            for e in now {
                let chance = graph.chance(state, e);
                let unclear = LargeError::Unclear { player };
                let own = e.actions[player];
                if let Some(goals) = graph.states[e.to as usize].goals {
                    let slot = match here.list {
                        Some(_) => here.first_child(own).ok_or(unclear)?.slot,
                        None => 0,
                    };
                    let worth = chance * (f64::from(goals[other]) - self.middle);
                    let ends = &mut self.pairs.ends;
                    let same = ends[end as usize..].iter_mut().find(|e| e.slot == slot);
                    match same {
                        _ if worth == 0.0 => {}
                        Some(same) => same.worth += worth,
                        None => ends.push(PairEnd { slot, worth }),
                    }
                    continue;
                }
                let (next, slot) = match here.list {
                    None if self.views.silence == Silence::Dropped && e.sees[player] == 0 => (class, 0),
                    _ => {
                        let child = here.child(own, seen(e.sees[player])).ok_or(unclear)?;
                        (child.class, child.slot)
                    }
                };
                let (to, further) = self.place(e.to, next)?;
                let edge = PairEdge {
                    slot: slot + further,
                    to,
                    sees: e.sees[other],
                    chance: self.chance(chance),
                };
                self.pairs.edges.push(edge);
            }
        }
        Ok(())
    }
}
