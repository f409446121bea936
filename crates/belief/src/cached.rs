//! Random games that avoid states known to be dead, with importance weights.
//!
//! The evaluation sampler of Partridge and Thielscher (2022), section 3.2: naive sampling with a cache of dead states,
//! keyed by round and state. A state is dead if no history that explains the view passes through it; a state all of
//! whose successors are dead is dead. Avoiding dead states changes the probability of a draw, so every draw has as
//! weight the product, over all rounds, of (children not known to be dead) / (all children). That is posterior over
//! proposal; the choice factor is contained in it.
//!
//! Differences: the paper walks a shuffled list of children at each node and updates probabilities when the list is
//! used up; here the first visit tries all children against the percepts at once, in one pass of the lanes. A game that
//! meets a dead end is begun again from the start and not continued one step back: otherwise the weight would be wrong.
//! Games are begun in waves.

use crate::driver::SamplingMethod;
use crate::graph::{TrialGraph, TrialNodeId};
use crate::work::{Clue, Work};
use crate::{BeliefReport, FirstTries, Model, Options, SamplerKind};
use game::{Fault, Rng, Seed, State};

pub(crate) struct Cached {
    n_models: usize,
    attempts: u64,
    seed: Seed,
    again: u32,
    graph: TrialGraph,
    root: TrialNodeId,
    start: State,
    found: Vec<Draw>,
    first_tries: Vec<FirstTries>,
}

/// A game being drawn.
#[derive(Clone, Debug)]
struct Draw {
    /// Nodes and candidates taken.
    path: Vec<(TrialNodeId, usize)>,
    at: TrialNodeId,
    log_weight: f64,
    rng: Rng,
}

/// Games drawn side by side. The number changes the samples: a game avoids what was known when it drew.
const WAVE: u64 = 64;
/// Candidates that a draw tries at a node with too many to try all.
const TRIES_OF_MANY: usize = 16;
/// Nodes beyond which the cache is emptied between updates.
const MAX_NODES: usize = 2_000_000;

impl Cached {
    pub(crate) fn new(options: &Options, seed: Seed) -> Cached {
        Cached {
            n_models: options.models,
            attempts: options.attempts,
            seed: seed.child("cached"),
            again: 0,
            graph: TrialGraph::default(),
            root: 0,
            start: State::default(),
            found: Vec::new(),
            first_tries: Vec::new(),
        }
    }

    /// Moves draws on by one round. Draws at a dead end are dropped, and the dead end is recorded.
    fn step(&mut self, work: &mut Work, clue: &Clue, draws: Vec<Draw>) -> Result<Vec<Draw>, Fault> {
        let nodes: Vec<TrialNodeId> = draws.iter().map(|draw| draw.at).collect();
        self.graph.open(work, clue, &nodes)?;
        work.touches += self.graph.try_whole(work, clue, &nodes)? as u64;
        let mut left = Vec::with_capacity(draws.len());
        for mut draw in draws {
            let is_large = !self.graph.is_tried_whole(draw.at);
            if is_large {
                let n = self.graph.n_candidates(draw.at);
                for _ in 0..TRIES_OF_MANY {
                    work.touches += 1;
                    let candidate = draw.rng.below(n);
                    self.graph.try_one(work, clue, draw.at, candidate)?;
                }
            }
            let live: Vec<(usize, TrialNodeId)> = self.graph.live(draw.at).collect();
            if live.is_empty() {
                if !is_large {
                    self.graph.bury(draw.at);
                }
                continue;
            }
            work.touches += 1;
            let (candidate, child) = *draw.rng.pick(&live);
            let n_live = if is_large {
                self.graph.n_live(draw.at)
            } else {
                live.len() as f64
            };
            draw.log_weight += n_live.ln() - self.graph.log_choice(draw.at);
            draw.path.push((draw.at, candidate));
            draw.at = child;
            left.push(draw);
        }
        Ok(left)
    }

    /// Keeps the draws that agree with [`Now`](crate::Now).
    fn at_the_end(&mut self, work: &mut Work, draws: Vec<Draw>) -> Result<Vec<Draw>, Fault> {
        let nodes: Vec<TrialNodeId> = draws.iter().map(|draw| draw.at).collect();
        self.graph.check_now(work, &nodes)?;
        let mut left = Vec::with_capacity(draws.len());
        for draw in draws {
            if self.graph.fits(work, draw.at)? {
                left.push(draw);
            } else {
                self.graph.bury(draw.at);
            }
        }
        Ok(left)
    }

    fn wave(&mut self, work: &mut Work, clues: &[Clue], seed: Seed, first: u64) -> Result<Vec<Draw>, Fault> {
        let begin = |n: u64| Draw {
            path: Vec::with_capacity(clues.len()),
            at: self.root,
            log_weight: 0.0,
            rng: seed.nth(n).rng(),
        };
        let mut draws: Vec<Draw> = (first..first + WAVE).map(begin).collect();
        for (round, clue) in clues.iter().enumerate() {
            let tries = &mut self.first_tries[round];
            tries.tried += draws.len() as u64;
            draws = self.step(work, clue, draws)?;
            self.first_tries[round].fit += draws.len() as u64;
        }
        self.at_the_end(work, draws)
    }

    /// Moves the draws of the round before on by one step: the last resort when no game from the start got so far.
    fn one_step_on(&mut self, work: &mut Work, clues: &[Clue]) -> Result<Vec<Draw>, Fault> {
        let Some(clue) = clues.last() else {
            return Ok(Vec::new());
        };
        let before = self.found.iter().filter(|draw| draw.path.len() + 1 == clues.len());
        let before = before.cloned().collect();
        let moved = self.step(work, clue, before)?;
        self.at_the_end(work, moved)
    }

    /// Empties the cache.
    fn empty_cache(&mut self) {
        (self.graph, self.root) = TrialGraph::new(&self.start);
        self.found.clear();
    }
}

impl SamplingMethod for Cached {
    fn kind(&self) -> SamplerKind {
        SamplerKind::Cached
    }

    fn reset(&mut self, start: &State, again: u32) {
        self.start = start.clone();
        self.again = again;
        self.first_tries.clear();
        self.empty_cache();
        let seed = self.seed.nth(u64::from(again));
        let draw = Draw {
            path: Vec::new(),
            at: self.root,
            log_weight: 0.0,
            rng: seed.rng(),
        };
        self.found = vec![draw; self.n_models];
    }

    fn advance(&mut self, work: &mut Work, clues: &[Clue]) -> Result<usize, Fault> {
        if self.graph.len() > MAX_NODES {
            self.empty_cache();
        }
        self.graph.read_as(clues);
        self.first_tries = vec![FirstTries::default(); clues.len()];
        let seed = self.seed.nth(u64::from(self.again)).nth(clues.len() as u64);
        let mut found: Vec<Draw> = Vec::new();
        let mut begun = 0;
        while found.len() < self.n_models && begun < self.attempts && !(work.is_out() && begun > 0) {
            found.extend(self.wave(work, clues, seed, begun)?);
            begun += WAVE;
            if self.graph.is_dead(self.root) {
                break;
            }
        }
        found.truncate(self.n_models);
        if found.is_empty() && !self.graph.is_dead(self.root) {
            found = self.one_step_on(work, clues)?;
        }
        if found.is_empty() {
            self.graph.raise_the_dead();
            return Ok(0);
        }
        self.found = found;
        Ok(self.found.len())
    }

    fn models(&mut self, _work: &mut Work, _clues: &[Clue]) -> Result<Vec<Model>, Fault> {
        let largest = self
            .found
            .iter()
            .map(|d| d.log_weight)
            .fold(f64::NEG_INFINITY, f64::max);
        let model = |draw: &Draw| Model {
            history: draw
                .path
                .iter()
                .map(|&(node, candidate)| self.graph.joint(node, candidate))
                .collect(),
            state: self.graph.state(draw.at).clone(),
            log_choice: draw.path.iter().map(|&(node, _)| self.graph.log_choice(node)).sum(),
            weight: (draw.log_weight - largest).exp(),
        };
        Ok(self.found.iter().map(model).collect())
    }

    fn may_do_better_again(&self) -> bool {
        false
    }

    fn first_tries(&self) -> &[FirstTries] {
        &self.first_tries
    }

    fn describe(&self, _report: &mut BeliefReport) {}
}
