//! The game behind the tree: expanding leaves by the rules, and valuing the new leaves all together.
//!
//! A node is a state at the start of a round with the moves that were chosen in the round so far. A leaf between two
//! decisions of one round is valued by some of the ways the round may end, which are the same for all its siblings.
//!
//! Values from random games are noisy, and a player that chooses the best of many noisy values is misled: the paper's
//! evaluation has no noise. So the estimates of siblings are shrunk towards their mean by the share of their variance
//! that is noise (James and Stein, *Estimation with Quadratic Loss*, 1961). The mean of many siblings is precise.

use super::tree::{IN_ORDER, Kind, ME, Node, OPPONENT, Tree};
use crate::Tools;
use crate::atlas::{Atlas, NodeId, Places, WideSteps};
use crate::cfr::Horizon;
use crate::views::{ViewId, Views};
use game::{Fault, MoveId, Rng, Seed, State, StopFlag};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Ways in which a round may end that value a leaf between two decisions.
const COMPLETIONS: usize = 3;
/// The order in which decisions of one round are serialised. Neither player sees the other's, so any order is the same
/// game; but only what is expanded is searched. A round has as many nodes as joint moves, from each of many roots: with
/// our own decision first, one expansion of a root values all of our moves there. With the opponent's first a search
/// could end without having looked at any.
const ORDER: [usize; 2] = [ME, OPPONENT];

/// Which role is who.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seats {
    /// Our role and the opponent's.
    pub roles: [usize; 2],
    pub nature: Option<usize>,
}

impl Seats {
    /// The seats of a game with two roles besides nature; none for other games.
    pub(crate) fn of(tools: &Tools) -> Option<Seats> {
        let nature = tools.sim.nature().map(|r| usize::from(r.0));
        let me = usize::from(tools.role.0);
        let mut others = (0..tools.sim.roles().len()).filter(|&r| r != me && Some(r) != nature);
        let opponent = others.next()?;
        let two = others.next().is_none() && nature != Some(me);
        two.then_some(Seats {
            roles: [me, opponent],
            nature,
        })
    }
}

/// Where a node is in the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The state at the start of the round.
    pub at: NodeId,
    /// Moves that the players have chosen in this round, as places among the legal ones.
    pub picks: [Option<u32>; 2],
}

impl Place {
    /// At the start of a round.
    pub(crate) fn start(at: NodeId) -> Place {
        Place { at, picks: [None; 2] }
    }
}

/// Who is to decide at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Actor {
    Player(usize),
    Nature,
    Nobody,
}

/// The visited part of the game, with the values of its states.
pub(crate) struct Grower {
    pub atlas: Atlas,
    pub views: Views<()>,
    pub seats: Seats,
    pub horizon: Box<dyn Horizon>,
    values: FxHashMap<NodeId, f32>,
    /// Playouts behind the value of a state; none if values have no noise.
    playouts: Option<u64>,
    /// Moves of nature in one state that are all expanded; of more, a sample of this size.
    pub chance: usize,
    /// Whether a sample of nature's moves stands for all of them somewhere.
    pub sampled: bool,
    wide: WideSteps,
}

/// A way in which a round ends: the moves of the players as places, and nature's.
type Ending = ([Option<u32>; 2], u32);

/// A new node before its value is known.
struct Sprout {
    place: Place,
    /// Whether the round is over with it. If not, it is valued by some ways in which the round may end.
    next_round: bool,
    endings: SmallVec<[Ending; COMPLETIONS]>,
    node: Node,
    /// The states whose mean value is the node's.
    states: SmallVec<[NodeId; 4]>,
}

/// The children of one leaf.
struct Expansion {
    leaf: u32,
    /// Where the leaf is in the game.
    place: Place,
    node: Node,
    actor: Actor,
    moves: Arc<[MoveId]>,
    sprouts: Vec<Sprout>,
}

impl Grower {
    pub(crate) fn new(tools: &Tools, seats: Seats, horizon: Box<dyn Horizon>, chance: usize) -> Grower {
        let playouts = horizon.playouts();
        Grower {
            atlas: Atlas::default(),
            views: Views::new(tools.sim.roles().len()),
            seats,
            horizon,
            values: FxHashMap::default(),
            playouts,
            chance,
            sampled: false,
            wide: WideSteps::default(),
        }
    }

    /// Expands some leaves. Returns the number of new nodes; none if time was up, and then nothing has changed.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn expand(
        &mut self,
        tools: &mut Tools,
        tree: &mut Tree,
        places: &mut Vec<Place>,
        leaves: &[u32],
        frozen: bool,
        seed: Seed,
        stop: &StopFlag,
    ) -> Result<Option<usize>, Fault> {
        let mut rng = seed.child("completions").rng();
        let mut expansions = Vec::with_capacity(leaves.len());
        for &leaf in leaves {
            expansions.push(self.plan(leaf, tree.nodes[leaf as usize], places[leaf as usize], &mut rng));
        }
        let mut wanted = Vec::new();
        for expansion in &expansions {
            let endings = expansion.sprouts.iter().flat_map(|s| &s.endings);
            let at = expansion.place.at;
            wanted.extend(endings.map(|ending| (at, self.joint(at, ending))));
        }
        if !self.atlas.prepare(tools, &wanted, &mut self.wide, stop)? {
            return Ok(None);
        }
        for expansion in &mut expansions {
            self.sprout(tools, expansion)?;
        }
        let states = expansions.iter().flat_map(|e| &e.sprouts).flat_map(|s| &s.states);
        let states: Vec<NodeId> = states.copied().collect();
        if !self.value_states(tools, &states, seed.child("values"), stop)? {
            return Ok(None);
        }
        let before = tree.nodes.len();
        for expansion in expansions {
            self.commit(tree, places, expansion, frozen);
        }
        Ok(Some(tree.nodes.len() - before))
    }

    /// Our value of a state: the mean of its horizon, or the points if the game is over.
    pub(crate) fn value(&self, at: NodeId) -> f32 {
        let node = self.atlas.node(at);
        match node.over {
            true => {
                let [mine, theirs] = self.seats.roles.map(|r| f32::from(node.points[r]));
                (mine - theirs) / 100.0
            }
            false => self.values.get(&at).copied().unwrap_or(0.0),
        }
    }

    /// Values all states that were not valued before, in one batch. False if time was up.
    pub(crate) fn value_states(
        &mut self,
        tools: &mut Tools,
        states: &[NodeId],
        seed: Seed,
        stop: &StopFlag,
    ) -> Result<bool, Fault> {
        let mut new: Vec<NodeId> = Vec::new();
        for &at in states {
            if !self.atlas.node(at).over && !self.values.contains_key(&at) {
                self.values.insert(at, 0.0);
                new.push(at);
            }
        }
        if new.is_empty() {
            return Ok(true);
        }
        let texts: Vec<State> = new.iter().map(|&at| self.atlas.node(at).state.clone()).collect();
        let n_roles = tools.sim.roles().len();
        let rows = self.horizon.values(tools, &texts, seed, stop)?;
        if rows.len() < new.len() * n_roles || stop.is_raised() {
            for at in new {
                self.values.remove(&at);
            }
            return Ok(false);
        }
        for (at, row) in new.into_iter().zip(rows.chunks(n_roles)) {
            let [mine, theirs] = self.seats.roles.map(|r| row[r]);
            self.values.insert(at, mine - theirs);
        }
        Ok(true)
    }

    fn actor(&self, place: &Place) -> Actor {
        let legal = &self.atlas.node(place.at).legal;
        let open = |&player: &usize| place.picks[player].is_none() && legal[self.seats.roles[player]].len() > 1;
        match ORDER.into_iter().find(open) {
            Some(player) => Actor::Player(player),
            None if self.seats.nature.is_some_and(|n| legal[n].len() > 1) => Actor::Nature,
            None => Actor::Nobody,
        }
    }

    /// The children that a leaf will have, and the ways in which the round may end.
    fn plan(&mut self, leaf: u32, node: Node, place: Place, rng: &mut Rng) -> Expansion {
        let actor = self.actor(&place);
        let legal = self.atlas.node(place.at).legal.clone();
        let completions: [[f64; 3]; COMPLETIONS] = std::array::from_fn(|_| std::array::from_fn(|_| rng.unit()));
        let sprout = |place, next_round, endings| Sprout {
            place,
            next_round,
            endings,
            node,
            states: SmallVec::new(),
        };
        let (mut moves, mut sprouts): (Arc<[MoveId]>, _) = (Arc::default(), Vec::new());
        match actor {
            Actor::Player(player) => {
                moves = legal[self.seats.roles[player]].clone();
                for pick in 0..moves.len() as u32 {
                    let mut next = place;
                    next.picks[player] = Some(pick);
                    sprouts.push(match self.actor(&next) {
                        Actor::Nobody => sprout(Place::start(place.at), true, SmallVec::from_elem((next.picks, 0), 1)),
                        _ => sprout(next, false, self.endings(&next, &completions)),
                    });
                }
            }
            Actor::Nature | Actor::Nobody => {
                let endings = self.outcomes(&legal, rng).into_iter();
                let ends = endings.map(|outcome| SmallVec::from_elem((place.picks, outcome), 1));
                sprouts.extend(ends.map(|ending| sprout(Place::start(place.at), true, ending)));
            }
        }
        Expansion {
            leaf,
            place,
            node,
            actor,
            moves,
            sprouts,
        }
    }

    /// Some ways in which the round of a place ends: numbers from 0 to 1 for both players and nature.
    fn endings(&self, place: &Place, completions: &[[f64; 3]]) -> SmallVec<[Ending; COMPLETIONS]> {
        let legal = &self.atlas.node(place.at).legal;
        let pick = |part: f64, role: usize| (part * legal[role].len() as f64) as u32;
        let end = |parts: &[f64; 3]| {
            let roles = self.seats.roles;
            let picks = [ME, OPPONENT].map(|p| place.picks[p].or_else(|| Some(pick(parts[p], roles[p]))));
            (picks, self.seats.nature.map_or(0, |nature| pick(parts[2], nature)))
        };
        completions.iter().map(end).collect()
    }

    /// Computes the children of a leaf.
    fn sprout(&mut self, tools: &mut Tools, expansion: &mut Expansion) -> Result<(), Fault> {
        let (at, node) = (expansion.place.at, expansion.node);
        for sprout in &mut expansion.sprouts {
            for ending in &sprout.endings {
                let (to, views) = self.step(tools, node.views, at, ending)?;
                sprout.states.push(to);
                if sprout.next_round {
                    sprout.place = Place::start(to);
                    sprout.node = Node::leaf(views, node.round + 1, 0.0);
                    if self.atlas.node(to).over {
                        sprout.node.kind = Kind::Over;
                    }
                }
            }
            if !sprout.next_round {
                sprout.node = Node::leaf(node.views, node.round, 0.0);
            }
        }
        Ok(())
    }

    /// Nature's moves to expand, as places.
    fn outcomes(&mut self, legal: &[Arc<[MoveId]>], rng: &mut Rng) -> Vec<u32> {
        let n = self.seats.nature.map_or(1, |nature| legal[nature].len());
        let mut all: Vec<u32> = (0..n as u32).collect();
        if n > self.chance {
            self.sampled = true;
            for at in 0..self.chance {
                all.swap(at, at + rng.below(n - at));
            }
            all.truncate(self.chance);
        }
        all
    }

    /// The moves of all roles.
    fn joint(&self, at: NodeId, (picks, outcome): &Ending) -> Places {
        let mut joint: Places = SmallVec::from_elem(0, self.atlas.node(at).legal.len());
        for player in [ME, OPPONENT] {
            joint[self.seats.roles[player]] = picks[player].unwrap_or(0);
        }
        if let Some(nature) = self.seats.nature {
            joint[nature] = *outcome;
        }
        joint
    }

    /// Finishes a round.
    fn step(
        &mut self,
        tools: &mut Tools,
        views: [ViewId; 2],
        at: NodeId,
        ending: &Ending,
    ) -> Result<(NodeId, [ViewId; 2]), Fault> {
        let joint = self.joint(at, ending);
        let edge = self.atlas.step(tools.sim.as_mut(), at, &joint)?;
        let mut after = views;
        for player in [ME, OPPONENT] {
            let role = self.seats.roles[player];
            let own = self.atlas.node(at).legal[role][joint[role] as usize];
            after[player] = self.views.after(views[player], own, edge.sees[role]);
        }
        Ok((edge.to, after))
    }

    /// Adds the children of a leaf to the tree.
    fn commit(&mut self, tree: &mut Tree, places: &mut Vec<Place>, mut expansion: Expansion, frozen: bool) {
        for sprout in &mut expansion.sprouts {
            let sum: f32 = sprout.states.iter().map(|&s| self.value(s)).sum();
            sprout.node.value = sum / sprout.states.len().max(1) as f32;
        }
        if let Some(playouts) = self.playouts {
            let noisy = |s: &&mut Sprout| s.node.kind == Kind::Leaf;
            let mut values: Vec<(&mut f32, u64)> = expansion
                .sprouts
                .iter_mut()
                .filter(noisy)
                .map(|s| (&mut s.node.value, playouts * s.states.len() as u64))
                .collect();
            shrink(&mut values);
        }
        let leaf = tree.nodes[expansion.leaf as usize];
        let (kind, map) = match expansion.actor {
            Actor::Player(player) => {
                let sign = if player == ME { 1.0 } else { -1.0 };
                let mut best = (0, f32::NEG_INFINITY);
                for (at, sprout) in expansion.sprouts.iter().enumerate() {
                    let value = sign * sprout.node.value;
                    if value > best.1 {
                        best = (at, value);
                    }
                }
                let frozen = frozen && player == ME && leaf.aside;
                let (set, map) = tree.decide(player, leaf.views[player], &expansion.moves, best.0, frozen);
                (Kind::Choice(set), map)
            }
            _ => (Kind::Chance, IN_ORDER),
        };
        places.extend(expansion.sprouts.iter().map(|s| s.place));
        tree.expand(expansion.leaf, kind, map, expansion.sprouts.into_iter().map(|s| s.node));
    }

    /// Follows a history. Returns its state, the views of both players, and nature's probability; none if the history
    /// cannot be played, is over, or is not done when the flag is raised.
    pub(crate) fn follow(
        &mut self,
        tools: &mut Tools,
        history: &[belief::Joint],
        enough: Option<&StopFlag>,
    ) -> Result<Option<FollowedHistory>, Fault> {
        let mut at = self.atlas.start(tools.sim.as_mut())?;
        let start = self.views.start();
        let mut views = self.seats.roles.map(|r| start[r]);
        let mut nature = 1.0;
        for joint in history {
            if enough.is_some_and(StopFlag::is_raised) {
                return Ok(None);
            }
            let Some(places) = self.atlas.places(at, joint) else {
                return Ok(None);
            };
            if let Some(role) = self.seats.nature {
                nature /= self.atlas.node(at).legal[role].len() as f64;
            }
            let picks = self.seats.roles.map(|r| Some(places[r]));
            let outcome = self.seats.nature.map_or(0, |n| places[n]);
            (at, views) = self.step(tools, views, at, &(picks, outcome))?;
        }
        let over = self.atlas.node(at).over;
        Ok((!over).then_some(FollowedHistory {
            at,
            views,
            nature,
            likely: None,
        }))
    }

    /// Keeps only the states and views of these nodes, and renames them in the tree.
    pub(crate) fn forget(&mut self, tree: &mut Tree, places: &mut [Place], mine: &mut ViewId) {
        let kept: Vec<NodeId> = places.iter().map(|p| p.at).collect();
        let renamed = self.atlas.retain(&kept);
        let values = std::mem::take(&mut self.values);
        let kept = values.into_iter().filter_map(|(at, v)| Some((*renamed.get(&at)?, v)));
        self.values = kept.collect();
        for place in places {
            place.at = renamed[&place.at];
        }
        let mut views = Views::new(self.views.start().len());
        let mut known: FxHashMap<ViewId, ViewId> = FxHashMap::default();
        let old = std::mem::replace(&mut self.views, Views::new(0));
        let mut name = |view| old.transfer(view, &mut views, &mut known);
        tree.rename_views(&mut name);
        *mine = name(*mine);
        self.views = views;
    }
}

/// A history that explains what we were told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowedHistory {
    pub at: NodeId,
    pub views: [ViewId; 2],
    /// Nature's probability of it.
    pub nature: f64,
    /// Its probability by a model of the opponent, if there is one.
    pub likely: Option<f64>,
}

/// Shrinks estimates towards their mean: values in -1..1, and the playouts behind each.
fn shrink(values: &mut [(&mut f32, u64)]) {
    let n = values.len() as f32;
    if n < 3.0 {
        return;
    }
    let mean = values.iter().map(|(v, _)| **v).sum::<f32>() / n;
    let spread = values.iter().map(|(v, _)| (**v - mean).powi(2)).sum::<f32>() / (n - 1.0);
    // The variance of a mean of results is largest if all are wins and losses.
    let noise = values
        .iter()
        .map(|(v, games)| (1.0 - **v * **v).max(0.0) / *games as f32)
        .sum::<f32>()
        / n;
    let kept = if spread > 0.0 {
        (1.0 - noise / spread).max(0.0)
    } else {
        0.0
    };
    for (value, _) in values {
        **value = mean + kept * (**value - mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shrunk(mut values: [f32; 4], games: u64) -> [f32; 4] {
        let [a, b, c, d] = &mut values;
        shrink(&mut [(a, games), (b, games), (c, games), (d, games)]);
        values
    }

    #[test]
    fn noise_is_taken_out() {
        // The mean is 0 and the spread (0.25 + 0.25) * 2 / 3 = 1/3. Four wins or losses of 12 games would have a
        // variance of (1 - 0.25) / 12 = 1/16: the rest, 1 - 3/16 = 13/16, is kept.
        let kept = 0.5 * 13.0 / 16.0;
        for (value, known) in shrunk([0.5, 0.5, -0.5, -0.5], 12)
            .iter()
            .zip([kept, kept, -kept, -kept])
        {
            assert!((value - known).abs() < 1e-6, "{value} {known}");
        }
        // With two games a move all differences may be noise.
        assert_eq!(shrunk([0.5, 0.5, -0.5, -0.5], 2), [0.0; 4]);
        assert_eq!(shrunk([0.25; 4], 32), [0.25; 4]);
        let [exact, ..] = shrunk([0.5, 0.5, -0.5, -0.5], 1_000_000);
        assert!((exact - 0.5).abs() < 1e-5);
    }
}
