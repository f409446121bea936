//! Monte Carlo CFR on the graphs of a large game: external and outcome sampling (Lanctot, Waugh, Zinkevich and Bowling
//! 2009), for games in which one pass over all information sets takes too long.
//!
//! A walk follows states and, for both roles, the places of their views, from which the places of regrets follow: there
//! is no tree and no table of information sets. Where both roles choose in a round, the other role's move is drawn
//! before the own moves are tried. Regrets and sums of strategies are arrays by sequence, the first player's before the
//! second's. Several threads share the work as in `streams`.

use super::graph::Edge;
use super::profile::{Profile, ProfileBuilder};
use super::views::{arrival, seen};
use super::{LargeGame, Silence};
use crate::sampling::draw;
use crate::streams::{STREAMS, Stream, Streams, add_all};
use game::regret::normalise;
use game::{Rng, Seed};
use smallvec::SmallVec;

/// Which samples are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeSampling {
    /// All own moves, and one move of the other role and nature.
    External,
    /// One move of everybody.
    Outcome,
}

/// Share of uniform exploration of outcome sampling.
const EXPLORATION: f64 = 0.6;

/// Solves a large game by sampling.
pub struct LargeSampler<'g> {
    game: &'g LargeGame,
    streams: Streams<GraphStream<'g>>,
}

impl<'g> LargeSampler<'g> {
    /// A solver that has not begun. What it computes depends on seed and iterations, not on threads.
    pub fn new(game: &'g LargeGame, sampling: LargeSampling, seed: Seed, threads: usize) -> LargeSampler<'g> {
        LargeSampler {
            game,
            streams: Streams::new(threads, GraphStream::maker(game, sampling, seed)),
        }
    }

    /// Bytes that its arrays take, besides the graphs.
    pub fn bytes(game: &LargeGame) -> u64 {
        let sequences: u64 = game.views.iter().map(|views| views.root().sequences).sum();
        8 * sequences * (2 * STREAMS as u64 + 2)
    }

    /// More iterations: each updates both players.
    pub fn iterate(&mut self, n: u64) {
        self.streams.iterate(n);
    }

    /// Iterations so far.
    pub fn iterations(&self) -> u64 {
        self.streams.iterations()
    }

    /// Nodes visited so far: the measure of the work.
    pub fn visits(&self) -> u64 {
        self.streams.visits()
    }

    /// The average strategies.
    pub fn average(&self) -> Profile {
        let totals = self.streams.totals();
        let offset = self.game.views[0].root().sequences as usize;
        let mut builder = ProfileBuilder::new(self.game);
        for (player, totals) in [&totals[..offset], &totals[offset..]].into_iter().enumerate() {
            // Sums of one information set have one scale; single precision suffices for their proportions.
            builder.set_proportional(player, totals);
        }
        builder.finish().0
    }
}

/// Where a player is in its tree of views.
#[derive(Clone, Copy)]
struct ViewPlace {
    class: u32,
    /// First sequence of the class, counted over both players.
    sequence: usize,
}

/// Reach and sampling probabilities: own part, part of nature and the other player, and that of the sample.
#[derive(Clone, Copy)]
struct Reach {
    own: f64,
    others: f64,
    sample: f64,
}

type Numbers = SmallVec<[f64; 12]>;

/// One stream of samples.
struct GraphStream<'g> {
    game: &'g LargeGame,
    sampling: LargeSampling,
    middle: [f64; 2],
    regret: Vec<f64>,
    total: Vec<f64>,
    rng: Rng,
    visits: u64,
}

impl<'g> GraphStream<'g> {
    fn maker(game: &'g LargeGame, sampling: LargeSampling, seed: Seed) -> impl FnMut(u64) -> GraphStream<'g> {
        let n: u64 = game.views.iter().map(|views| views.root().sequences).sum();
        let middle = [0, 1].map(|player| game.half_and_middle(player).1);
        let seed = seed.child(match sampling {
            LargeSampling::External => "large external",
            LargeSampling::Outcome => "large outcome",
        });
        move |number| GraphStream {
            game,
            sampling,
            middle,
            regret: vec![0.0; n as usize],
            total: vec![0.0; n as usize],
            rng: seed.nth(number).rng(),
            visits: 0,
        }
    }

    /// The places of both players at the start.
    fn start(&self) -> [ViewPlace; 2] {
        let views = &self.game.views;
        let offset = views[0].root().sequences as usize;
        [0, 1].map(|player| {
            let place = ViewPlace {
                class: views[player].root,
                sequence: player * offset,
            };
            self.settle(player, place, self.game.graph.initial)
        })
    }

    /// A role that waits and gets a choice in a state moves on to the choice.
    fn settle(&self, player: usize, mut place: ViewPlace, state: u32) -> ViewPlace {
        let (graph, views) = (&self.game.graph, &self.game.views[player]);
        if views.silence == Silence::Counted || !graph.chooses(state, player) {
            return place;
        }
        let event = arrival(graph.states[state as usize].legal[player]);
        while views.classes[place.class as usize].list.is_none() {
            let child = views.classes[place.class as usize].child(0, event);
            let Some(child) = child else { break };
            place.class = child.class;
            place.sequence += child.sequence as usize;
        }
        place
    }

    /// The place of a player after a joint move that does not end the game.
    fn after(&self, player: usize, mut place: ViewPlace, edge: &Edge) -> ViewPlace {
        let views = &self.game.views[player];
        let class = &views.classes[place.class as usize];
        let sees = edge.sees[player];
        let waits = class.list.is_none() && views.silence == Silence::Dropped;
        if !waits || sees != 0 {
            let action = if class.list.is_some() { edge.actions[player] } else { 0 };
            // What has no place of its own is the end of all choices of this role.
            if let Some(child) = class.child(action, seen(sees)) {
                place.class = child.class;
                place.sequence += child.sequence as usize;
            }
        }
        self.settle(player, place, edge.to)
    }

    /// Draws a joint move of the given actions by nature's probabilities.
    fn edge(&mut self, state: u32, actions: [u16; 2]) -> (Edge, f64) {
        let graph = &self.game.graph;
        let edges = graph.edges_of(state);
        let edges = &edges[edges.partition_point(|edge| edge.actions < actions)..];
        let outcomes = graph.states[state as usize].outcomes;
        if edges[0].count == outcomes {
            return (edges[0], 1.0);
        }
        let mut left = self.rng.below(outcomes as usize) as u32;
        let mut at = 0;
        while left >= edges[at].count {
            left -= edges[at].count;
            at += 1;
        }
        (edges[at], f64::from(edges[at].count) / f64::from(outcomes))
    }

    /// The strategy of a player that matches its regrets, if it has a choice.
    fn policy(&self, player: usize, place: ViewPlace) -> Option<Numbers> {
        let n = self.game.views[player].classes[place.class as usize].n_moves as usize;
        if n == 0 {
            return None;
        }
        let regrets = &self.regret[place.sequence..place.sequence + n];
        let mut policy: Numbers = regrets.iter().map(|r| r.max(0.0)).collect();
        normalise(&mut policy);
        Some(policy)
    }

    /// A player's payoff, if the game is over.
    fn payoff(&self, state: u32, player: usize) -> Option<f64> {
        let goals = self.game.graph.states[state as usize].goals?;
        Some(f64::from(goals[player]) - self.middle[player])
    }

    /// Draws the other player's move, and its probability.
    fn theirs(&mut self, other: usize, place: ViewPlace, counted: bool) -> (u16, f64) {
        let Some(policy) = self.policy(other, place) else {
            return (0, 1.0);
        };
        if counted {
            let totals = self.total[place.sequence..].iter_mut();
            totals.zip(&policy).for_each(|(t, p)| *t += p);
        }
        let drawn = draw(&mut self.rng, &policy);
        (drawn as u16, policy[drawn])
    }

    /// An external sample of the value of a state to a player.
    fn external(&mut self, state: u32, places: [ViewPlace; 2], player: usize) -> f64 {
        self.visits += 1;
        if let Some(payoff) = self.payoff(state, player) {
            return payoff;
        }
        let other = 1 - player;
        let (theirs, _) = self.theirs(other, places[other], true);
        let Some(policy) = self.policy(player, places[player]) else {
            return self.external_after(state, places, player, 0, theirs);
        };
        let moves = 0..policy.len() as u16;
        let values: Numbers = moves
            .map(|own| self.external_after(state, places, player, own, theirs))
            .collect();
        // Nobody else visits the information sets of a single role.
        if self.game.players().len() == 1 {
            let totals = self.total[places[player].sequence..].iter_mut();
            totals.zip(&policy).for_each(|(t, p)| *t += p);
        }
        let mean: f64 = policy.iter().zip(&values).map(|(p, v)| p * v).sum();
        let regrets = self.regret[places[player].sequence..].iter_mut();
        regrets.zip(&values).for_each(|(r, v)| *r += v - mean);
        mean
    }

    fn external_after(&mut self, state: u32, places: [ViewPlace; 2], player: usize, own: u16, theirs: u16) -> f64 {
        let (edge, _) = self.edge(state, joint(player, own, theirs));
        let places = self.next(places, &edge);
        self.external(edge.to, places, player)
    }

    /// The places after a joint move.
    fn next(&self, places: [ViewPlace; 2], edge: &Edge) -> [ViewPlace; 2] {
        match self.game.graph.is_over(edge.to) {
            true => places,
            false => [0, 1].map(|player| self.after(player, places[player], edge)),
        }
    }

    /// An outcome sample of the value of a state to a player, divided by the sampling probability of the path below it.
    fn outcome(&mut self, state: u32, places: [ViewPlace; 2], player: usize, reach: Reach) -> f64 {
        self.visits += 1;
        if let Some(payoff) = self.payoff(state, player) {
            return payoff;
        }
        let other = 1 - player;
        let (theirs, p_theirs) = self.theirs(other, places[other], false);
        let policy = self.policy(player, places[player]);
        let (own, p, sampled) = match &policy {
            None => (0, 1.0, 1.0),
            Some(policy) => {
                let n = policy.len();
                let drawn = match self.rng.unit() < EXPLORATION {
                    true => self.rng.below(n),
                    false => draw(&mut self.rng, policy),
                };
                let sampled = EXPLORATION / n as f64 + (1.0 - EXPLORATION) * policy[drawn];
                (drawn, policy[drawn], sampled)
            }
        };
        let (edge, chance) = self.edge(state, joint(player, own as u16, theirs));
        let further = Reach {
            own: reach.own * p,
            others: reach.others * p_theirs * chance,
            sample: reach.sample * p_theirs * chance * sampled,
        };
        let next = self.next(places, &edge);
        let value = self.outcome(edge.to, next, player, further) / sampled;
        let Some(policy) = policy else {
            return value;
        };
        let range = places[player].sequence..places[player].sequence + policy.len();
        let totals = self.total[range.clone()].iter_mut();
        totals
            .zip(&policy)
            .for_each(|(t, p)| *t += reach.own / reach.sample * p);
        // The other player's move is drawn in the same round: its probability is part of neither, or of both.
        let (mean, scale) = (p * value, reach.others / reach.sample);
        for (action, regret) in self.regret[range].iter_mut().enumerate() {
            let worth = if action == own { value } else { 0.0 };
            *regret += scale * (worth - mean);
        }
        mean
    }
}

/// The moves of both players.
fn joint(player: usize, own: u16, theirs: u16) -> [u16; 2] {
    match player {
        0 => [own, theirs],
        _ => [theirs, own],
    }
}

impl Stream for GraphStream<'_> {
    fn iterate(&mut self, n: u64) {
        let (initial, start) = (self.game.graph.initial, self.start());
        let root = Reach {
            own: 1.0,
            others: 1.0,
            sample: 1.0,
        };
        for _ in 0..n {
            for player in 0..self.game.players().len() {
                match self.sampling {
                    LargeSampling::External => self.external(initial, start, player),
                    LargeSampling::Outcome => self.outcome(initial, start, player, root),
                };
            }
        }
    }

    fn visits(&self) -> u64 {
        self.visits
    }

    fn sequences(&self) -> usize {
        self.regret.len()
    }

    fn add_regrets(&self, sums: &mut [f64]) {
        add_all(sums, self.regret.iter());
    }

    fn set_regrets(&mut self, regrets: &[f64]) {
        self.regret.copy_from_slice(regrets);
    }

    fn add_totals(&self, sums: &mut [f64]) {
        add_all(sums, self.total.iter());
    }
}
