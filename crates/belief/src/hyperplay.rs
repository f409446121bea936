//! The bag of models of the HyperPlay papers.
//!
//! M. Schofield, T. Cerexhe and M. Thielscher, *HyperPlay: A Solution to General Game Playing with Imperfect
//! Information*, AAAI 2012, figure 2; off-line models, remedies and their names from M. Schofield and M. Thielscher,
//! *The Efficiency of the HyperPlay Technique Over Random Sampling*, AAAI 2017.
//!
//! Every model is a history with, for each of its rounds, the joint moves not yet tried there, in random order. A new
//! round extends the history by the first joint move that gives the percepts seen (`forward`). If there is none, the
//! search continues one round earlier (`backtrack`). A model that touches too many nodes in one update goes off line
//! and keeps its place; it resumes when there is budget left. The last model may search much longer than the others,
//! but not without limit.
//!
//! Differences:
//! - The sets of bad moves and the operation "choose" are one cursor for each round that never offers a move twice. The
//!   recursion of the pseudocode is a loop.
//! - The percepts of a joint move are computed once for all models ([`TrialGraph`]). Each model still pays for them:
//!   one node touched for each try.
//! - Models are weighted by 1 / (choice factor × probability with which the search produces the model). With moves in
//!   random order a model follows, at every node, the first child that leads on; so the probability is 1 / (number of
//!   children that lead on), as far as they are known. The paper's own weights are an option.

use crate::driver::SamplingMethod;
use crate::graph::{TrialGraph, TrialNodeId, TrialOutcome};
use crate::work::{Clue, Work};
use crate::{FirstTries, Joint, Model, Options, Remedy, SamplerKind, Weights};
use game::{Fault, Rng, Seed, State};
use rustc_hash::FxHashMap;

pub(crate) struct Hyperplay {
    options: Options,
    seed: Seed,
    graph: TrialGraph,
    bag: Vec<ModelSearch>,
    /// Paths of all models after the last round that some model explained.
    settled: Vec<Vec<(TrialNodeId, usize)>>,
    first_tries: Vec<FirstTries>,
    /// Rounds that the bag explains.
    rounds: usize,
    /// Number of nodes from which on unused nodes are forgotten.
    garbage_at: usize,
}

/// A model and its search.
#[derive(Clone, Debug)]
struct ModelSearch {
    path: Vec<PathNode>,
    rng: Rng,
    /// Whether the model exceeded its limit in some update and has not caught up since.
    offline: bool,
}

/// A node on a model's path, and the candidates tried there.
#[derive(Clone, Debug)]
struct PathNode {
    node: TrialNodeId,
    /// Candidates in the order of trying, as far as decided.
    order: TrialOrder,
    tried: usize,
}

/// A shuffle of the numbers below `len` that is decided place by place. It stores all numbers where they are few, and
/// else only the places that were swapped: a product of moves has no bound.
#[derive(Clone, Debug)]
struct TrialOrder {
    len: usize,
    few: Vec<u32>,
    swapped: FxHashMap<usize, usize>,
}

/// Numbers up to which a shuffle stores them all.
const FEW: usize = 1 << 16;

impl TrialOrder {
    fn new(len: usize) -> TrialOrder {
        TrialOrder {
            len,
            few: if len <= FEW {
                (0..len as u32).collect()
            } else {
                Vec::new()
            },
            swapped: FxHashMap::default(),
        }
    }

    fn at(&self, place: usize) -> usize {
        match self.few.get(place) {
            Some(&number) => number as usize,
            None => self.swapped.get(&place).copied().unwrap_or(place),
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        if self.len <= FEW {
            self.few.swap(a, b);
        } else {
            let (at_a, at_b) = (self.at(a), self.at(b));
            self.swapped.insert(a, at_b);
            self.swapped.insert(b, at_a);
        }
    }
}

impl PathNode {
    fn new(node: TrialNodeId) -> PathNode {
        PathNode {
            node,
            order: TrialOrder::new(0),
            tried: 0,
        }
    }

    /// A node at which one candidate was taken and no other tried.
    fn having_taken(node: TrialNodeId, candidate: usize, n_candidates: usize) -> PathNode {
        let mut order = TrialOrder::new(n_candidates);
        if candidate < order.len {
            order.swap(0, candidate);
        }
        PathNode { node, order, tried: 1 }
    }

    /// The next candidate of so many, in random order.
    fn draw(&mut self, n_candidates: usize, rng: &mut Rng) -> Option<usize> {
        if self.order.len == 0 {
            self.order = TrialOrder::new(n_candidates);
        }
        if self.tried >= self.order.len {
            return None;
        }
        let other = self.tried + rng.below(self.order.len - self.tried);
        self.order.swap(self.tried, other);
        self.tried += 1;
        Some(self.order.at(self.tried - 1))
    }

    /// The candidate that was tried last.
    fn taken(&self) -> Option<usize> {
        let last = self.tried.checked_sub(1)?;
        (last < self.order.len).then(|| self.order.at(last))
    }
}

/// Where a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchEnd {
    /// The model explains everything.
    Live,
    /// The model touched too many nodes, or the budget is used up.
    Offline,
    /// No history is left for the model.
    Dead,
}

/// The last model may touch this many times the nodes after which others go off line. (In the papers the last model
/// searches without limit.) If it finds nothing, percepts are relaxed.
const LAST_RESORT: u64 = 20;

/// Nodes that a search with relaxed constraints touches after the end of the time.
const LATE_TRIES: u64 = 32;

/// Number of nodes below which no node is forgotten.
const MAX_NODES: usize = 400_000;

impl Hyperplay {
    pub(crate) fn new(options: &Options, seed: Seed) -> Hyperplay {
        Hyperplay {
            options: options.clone(),
            seed: seed.child("hyperplay"),
            graph: TrialGraph::default(),
            bag: Vec::new(),
            settled: Vec::new(),
            first_tries: Vec::new(),
            rounds: 0,
            garbage_at: MAX_NODES,
        }
    }

    fn live(&self) -> impl Iterator<Item = &ModelSearch> {
        self.bag.iter().filter(|model| model.path.len() == self.rounds + 1)
    }

    /// Computes at once what all models will ask first.
    fn look_ahead(&mut self, work: &mut Work, clues: &[Clue]) -> Result<(), Fault> {
        let Some(clue) = clues.last() else { return Ok(()) };
        let fronts = self.bag.iter().filter(|m| m.path.len() == clues.len());
        let fronts: Vec<TrialNodeId> = fronts.filter_map(|m| m.path.last()).map(|p| p.node).collect();
        self.graph.open(work, clue, &fronts)?;
        if work.on_lanes() {
            self.graph.try_whole(work, clue, &fronts)?;
            let children: Vec<TrialNodeId> = fronts
                .iter()
                .flat_map(|&id| self.graph.live(id))
                .map(|(_, c)| c)
                .collect();
            self.graph.check_now(work, &children)?;
        }
        Ok(())
    }

    /// Searches on until a model explains all clues, or may not go on.
    fn search(&mut self, work: &mut Work, clues: &[Clue], number: usize, limit: u64) -> Result<SearchEnd, Fault> {
        let mut model = std::mem::replace(
            &mut self.bag[number],
            ModelSearch {
                path: Vec::new(),
                rng: self.seed.rng(),
                offline: false,
            },
        );
        let end = self.forward(work, clues, &mut model, limit);
        model.offline = matches!(end, Ok(SearchEnd::Offline));
        self.bag[number] = model;
        self.collect_garbage();
        end
    }

    fn forward(
        &mut self,
        work: &mut Work,
        clues: &[Clue],
        model: &mut ModelSearch,
        limit: u64,
    ) -> Result<SearchEnd, Fault> {
        let mut upto = work.touches.saturating_add(limit);
        let mut hurried = false;
        loop {
            // The flag does not stop a search with relaxed constraints, but it makes it short: the next level allows
            // more.
            if work.relaxing && !hurried && work.is_late() {
                upto = upto.min(work.touches.saturating_add(LATE_TRIES));
                hurried = true;
            }
            let depth = model.path.len();
            let Some(place) = model.path.last_mut() else {
                return Ok(SearchEnd::Dead);
            };
            let node = place.node;
            if depth == clues.len() + 1 {
                if self.graph.fits(work, node)? {
                    return Ok(SearchEnd::Live);
                }
                self.backtrack(work, model);
                continue;
            }
            if work.touches >= upto || work.is_out() {
                return Ok(SearchEnd::Offline);
            }
            let clue = &clues[depth - 1];
            if self.graph.is_closed(node) {
                self.graph.open(work, clue, &[node])?;
            }
            let is_first = place.tried == 0;
            let Some(candidate) = place.draw(self.graph.n_candidates(node), &mut model.rng) else {
                self.backtrack(work, model);
                continue;
            };
            work.touches += 1;
            let outcome = self.graph.try_one(work, clue, node, candidate)?;
            if is_first {
                self.count_first_try(depth - 1, outcome);
            }
            match outcome {
                TrialOutcome::To(child) if !(self.options.share_dead && self.graph.is_dead(child)) => {
                    model.path.push(PathNode::new(child));
                }
                _ => {}
            }
        }
    }

    fn backtrack(&mut self, work: &mut Work, model: &mut ModelSearch) {
        if let Some(place) = model.path.pop() {
            // All candidates failed, and later rounds only add constraints.
            self.graph.bury(place.node);
            work.touches += 1;
        }
    }

    fn count_first_try(&mut self, round: usize, outcome: TrialOutcome) {
        if self.first_tries.len() <= round {
            self.first_tries.resize(round + 1, FirstTries::default());
        }
        self.first_tries[round].tried += 1;
        self.first_tries[round].fit += u64::from(matches!(outcome, TrialOutcome::To(_)));
    }

    /// Forgets nodes that are on no model's path, once there are too many nodes.
    fn collect_garbage(&mut self) {
        if self.graph.len() < self.garbage_at {
            return;
        }
        let paths = self
            .bag
            .iter()
            .flat_map(|model| model.path.iter().map(|place| place.node));
        let settled = self.settled.iter().flatten().map(|(node, _)| *node);
        let mut needed: Vec<TrialNodeId> = paths.chain(settled).collect();
        needed.sort_unstable();
        needed.dedup();
        let renumbered = self.graph.keep_only(&needed);
        let places = self.bag.iter_mut().flat_map(|model| &mut model.path);
        places.for_each(|place| place.node = renumbered[&place.node]);
        self.settled
            .iter_mut()
            .flatten()
            .for_each(|(node, _)| *node = renumbered[node]);
        self.garbage_at = MAX_NODES.max(2 * self.graph.len());
    }

    /// Searches with every model that is on line, then with the others as far as there is budget to bring them back.
    fn search_all(&mut self, work: &mut Work, clues: &[Clue]) -> Result<(), Fault> {
        let (offline, online): (Vec<usize>, Vec<usize>) = (0..self.bag.len()).partition(|&n| self.bag[n].offline);
        let limit = self.options.offline_after;
        let mut ends = Vec::new();
        for number in online {
            ends.push(self.search(work, clues, number, limit)?);
        }
        let allowed = work.touches.saturating_add(self.options.resume);
        for &number in &offline {
            let left = allowed.saturating_sub(work.touches);
            if left > 0 {
                ends.push(self.search(work, clues, number, left.min(limit))?);
            }
        }
        // At least one model should stay on line: the one that got furthest gets a larger limit.
        if !ends.contains(&SearchEnd::Live) && !ends.contains(&SearchEnd::Dead) {
            let furthest = (0..self.bag.len()).max_by_key(|&n| (self.bag[n].path.len(), usize::MAX - n));
            if let Some(number) = furthest {
                self.search(work, clues, number, limit.saturating_mul(LAST_RESORT))?;
            }
        }
        Ok(())
    }

    /// Resets every model to its path after the last round that was explained.
    fn put_back(&mut self) {
        self.graph.raise_the_dead();
        let graph = &self.graph;
        for (model, path) in self.bag.iter_mut().zip(&self.settled) {
            let last = path.len().saturating_sub(1);
            let place = |(at, &(node, taken)): (usize, &(TrialNodeId, usize))| {
                if at == last {
                    PathNode::new(node)
                } else {
                    PathNode::having_taken(node, taken, graph.n_candidates(node))
                }
            };
            model.path = path.iter().enumerate().map(place).collect();
            model.offline = path.len() != self.rounds + 1;
        }
    }

    fn settle(&mut self) {
        let path_of = |model: &ModelSearch| -> Vec<(TrialNodeId, usize)> {
            let places = model.path.iter();
            places.map(|place| (place.node, place.taken().unwrap_or(0))).collect()
        };
        self.settled = self.bag.iter().map(path_of).collect();
    }

    /// Overwrites surplus copies by the least frequent histories, until counts differ by at most one.
    fn balance(&mut self) {
        let mut copies: FxHashMap<Vec<(TrialNodeId, usize)>, Vec<usize>> = FxHashMap::default();
        let mut order: Vec<Vec<(TrialNodeId, usize)>> = Vec::new();
        for (number, model) in self.bag.iter().enumerate() {
            if model.path.len() == self.rounds + 1 {
                let key = self.footprint(model);
                let entry = copies.entry(key.clone()).or_default();
                if entry.is_empty() {
                    order.push(key);
                }
                entry.push(number);
            }
        }
        let mut groups: Vec<Vec<usize>> = order.iter().filter_map(|key| copies.remove(key)).collect();
        loop {
            let Some(most) = (0..groups.len()).max_by_key(|&g| (groups[g].len(), groups.len() - g)) else {
                return;
            };
            let Some(least) = (0..groups.len()).min_by_key(|&g| (groups[g].len(), g)) else {
                return;
            };
            if groups[most].len() <= groups[least].len() + 1 {
                return;
            }
            let (Some(surplus), Some(&source)) = (groups[most].pop(), groups[least].first()) else {
                return;
            };
            self.bag[surplus].path = self.bag[source].path.clone();
            groups[least].push(surplus);
        }
    }

    fn footprint(&self, model: &ModelSearch) -> Vec<(TrialNodeId, usize)> {
        let places = model.path.iter().take(self.rounds);
        places.map(|place| (place.node, place.taken().unwrap_or(0))).collect()
    }

    fn model(&self, search: &ModelSearch) -> Model {
        let rounds = search.path.iter().take(self.rounds);
        let joint = |place: &PathNode| self.graph.joint(place.node, place.taken().unwrap_or(0));
        Model {
            history: rounds.clone().map(joint).collect(),
            state: self.graph.state(search.path[self.rounds].node).clone(),
            log_choice: rounds.map(|place| self.graph.log_choice(place.node)).sum(),
            weight: 1.0,
        }
    }

    /// Log of the number of children that lead on, over all nodes on the path: minus the log of the probability of
    /// producing it.
    fn log_alternatives(&self, search: &ModelSearch) -> f64 {
        let rounds = search.path.iter().take(self.rounds);
        rounds.map(|place| self.graph.n_live(place.node).ln()).sum()
    }

    fn weigh(&self, models: &mut [Model], searches: &[&ModelSearch]) {
        let weights = match (self.options.remedy, self.options.weights) {
            (Remedy::None, weights) => weights,
            // A remedy changes how often a model occurs, so the probability of producing it is unknown.
            (_, Weights::Proposal) => Weights::ChoiceFactor,
            (_, weights) => weights,
        };
        let mut logs: Vec<f64> = models
            .iter()
            .zip(searches)
            .map(|(model, search)| match weights {
                Weights::Equal => 0.0,
                Weights::ChoiceFactor => -model.log_choice,
                Weights::Proposal => self.log_alternatives(search) - model.log_choice,
            })
            .collect();
        if self.options.remedy == Remedy::Weight {
            let mut copies: FxHashMap<&[Joint], f64> = FxHashMap::default();
            models
                .iter()
                .for_each(|m| *copies.entry(&m.history).or_default() += 1.0);
            let counts: Vec<f64> = models.iter().map(|m| copies[&m.history[..]]).collect();
            logs.iter_mut().zip(counts).for_each(|(log, n)| *log -= n.ln());
        }
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (model, log) in models.iter_mut().zip(logs) {
            model.weight = (log - largest).exp();
        }
    }

    /// Tries the remaining candidates of all nodes on the paths: the weights need the numbers of children that lead on.
    fn complete(&mut self, work: &mut Work, clues: &[Clue]) -> Result<(), Fault> {
        for (round, clue) in clues.iter().enumerate().take(self.rounds) {
            let nodes: Vec<TrialNodeId> = self.live().map(|model| model.path[round].node).collect();
            self.graph.try_whole(work, clue, &nodes)?;
            work.touches += self.graph.pay(&nodes);
        }
        Ok(())
    }
}

impl SamplingMethod for Hyperplay {
    fn kind(&self) -> SamplerKind {
        SamplerKind::Hyperplay
    }

    fn reset(&mut self, start: &State, again: u32) {
        let (graph, root) = TrialGraph::new(start);
        self.graph = graph;
        let seed = self.seed.nth(u64::from(again));
        self.bag = (0..self.options.models)
            .map(|n| ModelSearch {
                path: vec![PathNode::new(root)],
                rng: seed.nth(n as u64).rng(),
                offline: false,
            })
            .collect();
        self.rounds = 0;
        self.first_tries.clear();
        self.settle();
    }

    fn advance(&mut self, work: &mut Work, clues: &[Clue]) -> Result<usize, Fault> {
        self.graph.read_as(clues);
        self.look_ahead(work, clues)?;
        self.search_all(work, clues)?;
        let explained = self.rounds;
        self.rounds = clues.len();
        let live = self.live().count();
        if live == 0 {
            self.rounds = explained;
            self.put_back();
            return Ok(0);
        }
        if self.options.remedy == Remedy::Balance {
            self.balance();
        }
        self.settle();
        Ok(live)
    }

    fn models(&mut self, work: &mut Work, clues: &[Clue]) -> Result<Vec<Model>, Fault> {
        if self.options.weights == Weights::Proposal && self.options.remedy == Remedy::None {
            self.complete(work, clues)?;
        }
        let live: Vec<&ModelSearch> = self.live().collect();
        let mut models: Vec<Model> = live.iter().map(|search| self.model(search)).collect();
        self.weigh(&mut models, &live);
        Ok(models)
    }

    fn may_do_better_again(&self) -> bool {
        // A complete search found everything; a search that ended by its budget may have missed something.
        self.bag.iter().any(|model| model.offline)
    }

    fn first_tries(&self) -> &[FirstTries] {
        &self.first_tries
    }
}
