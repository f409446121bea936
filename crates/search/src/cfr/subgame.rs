//! A subgame down to a horizon, in sequence form.
//!
//! A subgame begins in weighted histories and is extended round by round. Rounds are serialised as in `solve::Tree`,
//! and the stored form is the same sequence form: a row for each tuple of the players' last sequences, with the summed
//! values of the terminal histories behind it. So an iteration of regret matching is a pass over flat arrays,
//! independent of nature's moves and of the number of histories.
//!
//! Deepening continues where the subgame ended before: terminal rows stay, and the frontier is expanded by a round.
//!
//! A player need not know which of its moves are legal. An information set has all moves that are legal in some history
//! of it. Where one is illegal a random legal one is made, as by a referee; the player remembers which one it tried, or
//! else its sequences would not say all that it knows.

use crate::Tools;
use crate::atlas::{Atlas, NodeId, Places, SeenId};
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
    ends: Rows,
    frontier: Vec<FrontierHistory>,
    /// Rounds looked ahead.
    pub depth: usize,
    /// Whether all of nature's moves were expanded, and all that may be made in place of illegal ones.
    pub all_chance: bool,
}

/// What a player may try in a history.
#[derive(Clone, Copy, Debug)]
struct Try {
    /// The place among the legal moves of the one that is made.
    place: u32,
    /// The player's last sequence after it.
    sequence: u32,
    /// The move that was tried, if it is illegal.
    illegal: Option<MoveId>,
}

/// The moves that are legal in some history of a view.
type PossibleMoves = FxHashMap<ViewId, Arc<[MoveId]>>;

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
        let Some(possible) = self.possible_moves(&frontier, atlas, bounds.stop) else {
            return Ok(Growth::Stopped);
        };
        let mut stop = PacedStop::new(bounds.stop, STEPS_A_LOOK);
        for open in &frontier {
            if !self.expand(
                open,
                &possible,
                tools,
                atlas,
                views,
                bounds,
                &mut rng,
                &mut places,
                &mut stop,
            )? {
                return Ok(Growth::Stopped);
            }
        }
        self.depth += 1;
        Ok(Growth::Done)
    }

    /// The moves of all views of the players at the frontier. None if time was up.
    fn possible_moves(&self, frontier: &[FrontierHistory], atlas: &Atlas, stop: &StopFlag) -> Option<PossibleMoves> {
        let mut stop = PacedStop::new(stop, ROWS_A_LOOK);
        let mut possible = PossibleMoves::default();
        for open in frontier {
            if stop.is_raised() {
                return None;
            }
            let node = atlas.node(open.node);
            for &role in self.players.iter().filter(|_| !node.over) {
                let legal = &node.legal[role];
                let known = possible.entry(open.everyone[role]).or_insert_with(|| legal.clone());
                if *known != *legal && legal.iter().any(|mv| !known.contains(mv)) {
                    *known = super::union(known, legal);
                }
            }
        }
        Some(possible)
    }

    /// What a player may try in a history of the frontier, where these moves are legal.
    fn tries(
        &mut self,
        player: usize,
        open: &FrontierHistory,
        possible: &[MoveId],
        legal: &[MoveId],
        rng: &mut Rng,
    ) -> SmallVec<[Try; 8]> {
        let parent = open.last[player];
        if possible.len() == 1 {
            // A player without a choice keeps its last sequence.
            return SmallVec::from_elem(
                Try {
                    place: 0,
                    sequence: parent,
                    illegal: None,
                },
                1,
            );
        }
        let first = self.decision(player, open.everyone[self.players[player]], parent, possible);
        let mut try_one = |(at, &mv): (usize, &MoveId)| {
            let here = legal.get(at) == Some(&mv);
            let place = if here {
                Some(at)
            } else {
                legal.iter().position(|&l| l == mv)
            };
            let place_made = place.unwrap_or_else(|| {
                self.all_chance &= legal.len() == 1;
                rng.below(legal.len())
            });
            Try {
                place: place_made as u32,
                sequence: first + at as u32,
                illegal: place.is_none().then_some(mv),
            }
        };
        possible.iter().enumerate().map(&mut try_one).collect()
    }

    /// Expands a history by a round. False if time was up.
    #[allow(clippy::too_many_arguments)]
    fn expand<T: Default>(
        &mut self,
        open: &FrontierHistory,
        possible: &PossibleMoves,
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
        let mut tries: SmallVec<[SmallVec<[Try; 8]>; 4]> = SmallVec::new();
        for (player, &role) in self.players.clone().iter().enumerate() {
            let moves = &possible[&open.everyone[role]];
            tries.push(self.tries(player, open, moves, &legal[role], rng));
        }
        let outcomes = self.outcomes(&legal, bounds.chance, rng);
        let n_outcomes = outcomes.as_ref().map_or(1, Vec::len);
        let mut counters: Places = SmallVec::from_elem(0, legal.len());
        let mut picks: SmallVec<[usize; 4]> = SmallVec::from_elem(0, tries.len());
        loop {
            let tried = tries.iter().zip(&picks).map(|(tries, &pick)| tries[pick]);
            let tried: SmallVec<[Try; 4]> = tried.collect();
            let last: PerPlayer = tried.iter().map(|t| t.sequence).collect();
            for (&role, t) in self.players.iter().zip(&tried) {
                counters[role] = t.place;
            }
            for outcome in 0..n_outcomes {
                if let (Some(nature), Some(outcomes)) = (self.nature, &outcomes) {
                    counters[nature] = outcomes[outcome];
                }
                if stop.is_raised() {
                    return Ok(false);
                }
                let edge = atlas.step(tools.sim.as_mut(), open.node, &counters)?;
                let weight = open.weight / n_outcomes as f64;
                let to = atlas.node(edge.to);
                if to.over {
                    let points = to.points.clone();
                    self.end(&last, weight, &points);
                    continue;
                }
                let mut everyone = open.everyone.clone();
                for (&role, t) in self.players.iter().zip(&tried) {
                    let mut view = views.after(everyone[role], legal[role][t.place as usize], edge.sees[role]);
                    if let Some(mv) = t.illegal {
                        view = views.after(view, mv, SeenId::TRIED);
                    }
                    everyone[role] = view;
                }
                self.reach(edge.to, everyone, &last, weight, places);
            }
            // The next joint move of the players, nature excluded.
            let Some(player) = (0..picks.len()).rev().find(|&p| picks[p] + 1 < tries[p].len()) else {
                return Ok(true);
            };
            picks[player] += 1;
            picks[player + 1..].fill(0);
        }
    }

    /// Adds a history to the frontier.
    fn reach(
        &mut self,
        node: NodeId,
        everyone: Everyone,
        last: &PerPlayer,
        weight: f64,
        places: &mut FxHashMap<(NodeId, Everyone), u32>,
    ) {
        let next = self.frontier.len() as u32;
        match places.entry((node, everyone.clone())) {
            std::collections::hash_map::Entry::Occupied(known) => {
                self.frontier[*known.get() as usize].weight += weight;
            }
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(next);
                self.frontier.push(FrontierHistory {
                    node,
                    everyone,
                    last: last.clone(),
                    weight,
                });
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

    /// The first sequence of a player's decision after a view.
    fn decision(&mut self, player: usize, view: ViewId, parent: u32, moves: &[MoveId]) -> u32 {
        let next = self.infosets.len() as u32;
        let set = *self.by_view.entry(view).or_insert(next);
        if let Some(found) = self.infosets.get(set as usize) {
            return found.first;
        }
        let first = self.moves.len() as u32;
        self.moves.extend_from_slice(moves);
        self.infosets.push(SubgameInfoset {
            player: player as u32,
            first,
            n: moves.len() as u32,
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
