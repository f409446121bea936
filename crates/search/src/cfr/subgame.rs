//! A subgame down to a horizon, in sequence form.
//!
//! A subgame begins in weighted histories and is extended round by round. Rounds are serialised as in `solve::Tree`,
//! and the stored form is the same sequence form: a row for each tuple of the players' last sequences, with the summed
//! values of the terminal histories behind it. So an iteration of regret matching is a pass over flat arrays,
//! independent of nature's moves and of the number of histories.
//!
//! Deepening continues where the subgame ended before: terminal rows stay, and the frontier is expanded by a round.

use crate::Tools;
use crate::atlas::{Atlas, NodeId, Places};
use crate::views::{Everyone, ViewId, Views};
use game::{Fault, MoveId, PacedStop, Rng, Seed, State, StopFlag};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// One number for each player, or a few.
pub(crate) type PerPlayer = SmallVec<[u32; 4]>;

/// A history that the subgame begins in.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub node: NodeId,
    /// The views of all roles.
    pub everyone: Everyone,
    pub weight: f64,
}

/// A view after which a role has a choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubgameInfoset {
    /// Its player, as an index among the players.
    pub player: u32,
    /// The sequence of its first move; the others follow.
    pub first: u32,
    pub n: u32,
    /// The sequence of its player that leads here.
    pub parent: u32,
    pub view: ViewId,
}

impl SubgameInfoset {
    pub(crate) fn sequences(&self) -> Range<usize> {
        self.first as usize..(self.first + self.n) as usize
    }
}

/// Terminal histories, by the last sequences of the players.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// One for each player, row after row.
    pub last: Vec<u32>,
    /// Nature's probability times value, summed over the terminal histories of the row: one for each player.
    pub worth: Vec<f64>,
    /// The same for a value of 1.
    pub weight: Vec<f64>,
    places: FxHashMap<PerPlayer, u32>,
}

impl Rows {
    fn add(&mut self, last: &PerPlayer, weight: f64, values: impl Iterator<Item = f64>) {
        let next = self.weight.len() as u32;
        let n = last.len();
        let row = match self.places.get(last) {
            Some(&row) => row as usize,
            None => {
                self.places.insert(last.clone(), next);
                self.last.extend_from_slice(last);
                self.worth.extend(std::iter::repeat_n(0.0, n));
                self.weight.push(0.0);
                next as usize
            }
        };
        self.weight[row] += weight;
        for (worth, value) in self.worth[row * n..][..n].iter_mut().zip(values) {
            *worth += weight * value;
        }
    }
}

/// A history at the frontier of the subgame.
#[derive(Clone, Debug)]
struct FrontierHistory {
    node: NodeId,
    everyone: Everyone,
    last: PerPlayer,
    weight: f64,
}

/// Limits on the growth of a subgame.
pub(crate) struct GrowthLimits<'a> {
    /// Steps that expanding may take.
    pub steps: usize,
    /// Moves of nature in one state that are all expanded; of more, a sample of this size.
    pub chance: usize,
    pub stop: &'a StopFlag,
}

/// Steps of the game between two looks at the flag.
pub(crate) const STEPS_A_LOOK: u32 = 64;
/// Rows or histories between two looks at the flag.
const ROWS_A_LOOK: u32 = 4_096;

/// Result of deepening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Another round was added.
    Done,
    /// The subgame would have become too large: it is unchanged.
    GivenUp,
    /// Time was up within the round: the subgame is of no use any more.
    Stopped,
}

/// A game from some histories on, down to a horizon.
#[derive(Clone, Debug)]
pub(crate) struct Subgame {
    /// The roles that are not nature.
    pub players: Vec<usize>,
    nature: Option<usize>,
    pub infosets: Vec<SubgameInfoset>,
    /// The move of each sequence; the first ones are the empty sequences of the players.
    pub moves: Vec<MoveId>,
    by_view: FxHashMap<ViewId, u32>,
    /// Views whose legal moves depend on hidden information, which correct rules do not allow.
    odd: FxHashMap<(ViewId, Vec<MoveId>), u32>,
    ends: Rows,
    frontier: Vec<FrontierHistory>,
    /// Rounds looked ahead.
    pub depth: usize,
    /// Whether all of nature's moves were expanded.
    pub all_chance: bool,
}

impl Subgame {
    /// A subgame of no rounds.
    pub(crate) fn new(tools: &Tools, starts: &[Start]) -> Subgame {
        let nature = tools.sim.nature().map(|r| usize::from(r.0));
        let players: Vec<usize> = (0..tools.sim.roles().len()).filter(|&r| Some(r) != nature).collect();
        let empty: PerPlayer = (0..players.len() as u32).collect();
        let open = |start: &Start| FrontierHistory {
            node: start.node,
            everyone: start.everyone.clone(),
            last: empty.clone(),
            weight: start.weight,
        };
        Subgame {
            nature,
            infosets: Vec::new(),
            moves: vec![MoveId(0); players.len()],
            by_view: FxHashMap::default(),
            odd: FxHashMap::default(),
            ends: Rows::default(),
            frontier: starts.iter().map(open).collect(),
            depth: 0,
            all_chance: true,
            players,
        }
    }

    /// Whether the subgame reaches all terminal states, so that its solution holds for the rest of the game.
    pub(crate) fn is_whole(&self) -> bool {
        self.frontier.is_empty() && self.all_chance
    }

    pub(crate) fn has_horizon(&self) -> bool {
        !self.frontier.is_empty()
    }

    /// Steps that another round would take.
    pub(crate) fn next_steps(&self, atlas: &Atlas, chance: usize) -> usize {
        let steps = |open: &FrontierHistory| joint_moves(atlas, open.node, self.nature, chance);
        self.frontier.iter().map(steps).fold(0, usize::saturating_add)
    }

    /// Expands the frontier by one round.
    pub(crate) fn deepen<T: Default>(
        &mut self,
        tools: &mut Tools,
        atlas: &mut Atlas,
        views: &mut Views<T>,
        bounds: &GrowthLimits<'_>,
        seed: Seed,
    ) -> Result<Growth, Fault> {
        if self.next_steps(atlas, bounds.chance) > bounds.steps {
            return Ok(Growth::GivenUp);
        }
        let frontier = std::mem::take(&mut self.frontier);
        let mut places: FxHashMap<(NodeId, Everyone), u32> = FxHashMap::default();
        let mut rng = seed.child("chance").nth(self.depth as u64).rng();
        let mut stop = PacedStop::new(bounds.stop, STEPS_A_LOOK);
        for open in &frontier {
            if !self.expand(open, tools, atlas, views, bounds, &mut rng, &mut places, &mut stop)? {
                return Ok(Growth::Stopped);
            }
        }
        self.depth += 1;
        Ok(Growth::Done)
    }

    /// Expands a history by a round. False if time was up.
    #[allow(clippy::too_many_arguments)]
    fn expand<T: Default>(
        &mut self,
        open: &FrontierHistory,
        tools: &mut Tools,
        atlas: &mut Atlas,
        views: &mut Views<T>,
        bounds: &GrowthLimits<'_>,
        rng: &mut Rng,
        places: &mut FxHashMap<(NodeId, Everyone), u32>,
        stop: &mut PacedStop<'_>,
    ) -> Result<bool, Fault> {
        let node = atlas.node(open.node);
        if node.over {
            let points = node.points.clone();
            self.end(&open.last, open.weight, &points);
            return Ok(!stop.is_raised());
        }
        let legal = node.legal.clone();
        // The first sequence of each player's decision here; a player without a choice keeps its last sequence.
        let mut first: SmallVec<[Option<u32>; 4]> = SmallVec::new();
        for (player, &role) in self.players.clone().iter().enumerate() {
            first.push(match legal[role].len() {
                1 => None,
                _ => Some(self.decision(player, open.everyone[role], open.last[player], &legal[role])),
            });
        }
        let outcomes = self.outcomes(&legal, bounds.chance, rng);
        let n_outcomes = outcomes.as_ref().map_or(1, Vec::len);
        let mut counters: Places = SmallVec::from_elem(0, legal.len());
        loop {
            for outcome in 0..n_outcomes {
                if let (Some(nature), Some(outcomes)) = (self.nature, &outcomes) {
                    counters[nature] = outcomes[outcome];
                }
                if stop.is_raised() {
                    return Ok(false);
                }
                let edge = atlas.step(tools.sim.as_mut(), open.node, &counters)?;
                let weight = open.weight / n_outcomes as f64;
                let last: PerPlayer = first
                    .iter()
                    .enumerate()
                    .map(|(player, first)| first.map_or(open.last[player], |f| f + counters[self.players[player]]))
                    .collect();
                let to = atlas.node(edge.to);
                if to.over {
                    let points = to.points.clone();
                    self.end(&last, weight, &points);
                    continue;
                }
                let mut everyone = open.everyone.clone();
                for (role, view) in everyone.iter_mut().enumerate() {
                    if Some(role) != self.nature {
                        *view = views.after(*view, legal[role][counters[role] as usize], edge.sees[role]);
                    }
                }
                let next = self.frontier.len() as u32;
                match places.entry((edge.to, everyone.clone())) {
                    std::collections::hash_map::Entry::Occupied(known) => {
                        self.frontier[*known.get() as usize].weight += weight;
                    }
                    std::collections::hash_map::Entry::Vacant(place) => {
                        place.insert(next);
                        self.frontier.push(FrontierHistory {
                            node: edge.to,
                            everyone,
                            last,
                            weight,
                        });
                    }
                }
            }
            if !self.advance(&mut counters, &legal) {
                return Ok(true);
            }
        }
    }

    /// Nature's moves to expand, as indices.
    fn outcomes(&mut self, legal: &[Arc<[MoveId]>], cap: usize, rng: &mut Rng) -> Option<Vec<u32>> {
        let n = legal[self.nature?].len();
        let mut all: Vec<u32> = (0..n as u32).collect();
        if n > cap {
            self.all_chance = false;
            for at in 0..cap {
                all.swap(at, at + rng.below(n - at));
            }
            all.truncate(cap);
        }
        Some(all)
    }

    /// The next joint move of the players, nature excluded.
    fn advance(&self, counters: &mut Places, legal: &[Arc<[MoveId]>]) -> bool {
        for &role in self.players.iter().rev() {
            counters[role] += 1;
            if (counters[role] as usize) < legal[role].len() {
                return true;
            }
            counters[role] = 0;
        }
        false
    }

    /// The first sequence of a player's decision after a view.
    fn decision(&mut self, player: usize, view: ViewId, parent: u32, legal: &[MoveId]) -> u32 {
        let next = self.infosets.len() as u32;
        let known = *self.by_view.entry(view).or_insert(next);
        let mut set = known;
        if let Some(found) = self.infosets.get(known as usize) {
            if self.moves[found.sequences()] == *legal {
                return found.first;
            }
            set = *self.odd.entry((view, legal.to_vec())).or_insert(next);
            if let Some(found) = self.infosets.get(set as usize) {
                return found.first;
            }
        }
        debug_assert_eq!(set, next);
        let first = self.moves.len() as u32;
        self.moves.extend_from_slice(legal);
        self.infosets.push(SubgameInfoset {
            player: player as u32,
            first,
            n: legal.len() as u32,
            parent,
            view,
        });
        first
    }

    fn end(&mut self, last: &PerPlayer, weight: f64, points: &[u8]) {
        let values = self.players.iter().map(|&role| f64::from(points[role]) / 100.0);
        self.ends.add(last, weight, values);
    }

    /// The states at the horizon, each once; none if time was up.
    pub(crate) fn horizon(&self, atlas: &Atlas, stop: &StopFlag) -> Option<(Vec<State>, Vec<u32>)> {
        let mut stop = PacedStop::new(stop, ROWS_A_LOOK);
        let mut numbers: FxHashMap<NodeId, u32> = FxHashMap::default();
        let mut states = Vec::new();
        let number = |open: &FrontierHistory| {
            let number = *numbers.entry(open.node).or_insert_with(|| {
                states.push(atlas.node(open.node).state.clone());
                states.len() as u32 - 1
            });
            (!stop.is_raised()).then_some(number)
        };
        let of_open: Option<Vec<u32>> = self.frontier.iter().map(number).collect();
        Some((states, of_open?))
    }

    /// All rows: the terminal rows, and the horizon with the values of its states (one row for each state, in role
    /// order). None if time was up.
    pub(crate) fn rows(&self, of_open: &[u32], values: &[f32], n_roles: usize, stop: &StopFlag) -> Option<Rows> {
        let mut stop = PacedStop::new(stop, ROWS_A_LOOK);
        let mut rows = self.ends.clone();
        for (open, &state) in self.frontier.iter().zip(of_open) {
            if stop.is_raised() {
                return None;
            }
            let row = &values[state as usize * n_roles..][..n_roles];
            let own = self.players.iter().map(|&role| f64::from(row[role]));
            rows.add(&open.last, open.weight, own);
        }
        Some(rows)
    }
}

/// How many joint moves there are in a state, nature's counted up to a cap.
pub(crate) fn joint_moves(atlas: &Atlas, node: NodeId, nature: Option<usize>, chance: usize) -> usize {
    let of_role = |(role, n): (usize, usize)| match Some(role) == nature {
        true => n.min(chance),
        false => n,
    };
    let legal = atlas.node(node).legal.iter().map(|legal| legal.len());
    legal.enumerate().map(of_role).fold(1, usize::saturating_mul)
}
