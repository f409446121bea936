//! Forward filtering over distinct states and backward sampling of histories. This sampler is ours.
//!
//! An information set of 10^25 histories may have few states. The belief is kept as layers, one per round. A layer
//! holds the distinct states in which histories that explain the view can be, each with its posterior mass (the
//! probability of the other roles' moves, summed over histories), and the steps from the layer before. A history is
//! drawn backwards: a state of the last layer by its mass, then one of the steps into that state by the mass of the
//! step, and so on to the start. These are the forward-backward recursions of hidden Markov models; for the sampling
//! see S. Godsill, A. Doucet and M. West, *Monte Carlo Smoothing for Nonlinear Time Series*, 2004. While layers stay
//! within a limit the result is exact: the posterior up to rounding, and the histories independent samples of it.
//!
//! A layer beyond the limit is resampled without bias (see [`resample`]). Later layers are then estimates, and the
//! report says so. If none or few of the kept states explain later percepts, the filter goes back some rounds and runs
//! again from there, with other random numbers and a larger limit: backtracking for whole layers. Each run is unbiased
//! given its first layer, whatever the run before found.
//!
//! Under a clock, histories of long matches are drawn along a few lines of descent: two models of a line that meet in a
//! state have the same past, so that players follow it once.
//!
//! A state without successors in the next layer is removed, and so are states that only led to it, unless resampling
//! dropped some of its successors.

mod evenly;
mod layer;
mod resample;

use crate::driver::SamplingMethod;
use crate::work::{Clue, OpenMoves, Work};
use crate::{BeliefError, BeliefReport, FirstTries, Joint, Model, OpponentModel, Options, SamplerKind};
use game::{Fault, Rng, RoleId, Seed, State};
use layer::{GrowingLayer, StateLayer};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

pub(crate) struct Trellis {
    n_models: usize,
    limit: usize,
    seed: Seed,
    again: u32,
    opponents: Option<Box<dyn OpponentModel>>,
    layers: Vec<StateLayer>,
    first_tries: Vec<FirstTries>,
    /// Rounds since the filter last went back.
    since_back: usize,
    went_back: u32,
    /// The layer up to which old layers have yet to be thinned out.
    thinning: usize,
}

/// Rounds between two runs that are made only because few states are left.
const PATIENCE: usize = 4;
/// States of a layer in a run that goes back, at most, unless the limit is larger.
const LARGEST: usize = 50_000;
/// Joint moves tried by all runs that go back together; beyond it, a percept is relaxed.
const GOING_BACK: u64 = 30_000_000;
/// A resampled layer with fewer states than this fraction of the limit has few states left.
const FEW: usize = 16;
/// Joint moves tried for one layer, about; states with more than their share of them get a sample.
const LAYER_TRIES: usize = 1 << 24;
/// Models that are drawn even if no time is left.
const FEW_MODELS: usize = 16;
/// Under a clock: rounds of all models together, about, and models at least, while there is time.
const TIMED_ROUNDS: usize = 60_000;
const TIMED_MODELS: usize = 64;
/// Under a clock: rounds from which on models share their past, and how many pasts a state has.
const LONG: usize = 32;
const LINES: u64 = 4;
/// States of all layers together, at most, unless layers are large.
const MOST_STATES: usize = 400_000;
/// Joint moves in such a sample.
const SAMPLED_TRIES: usize = 4_096;

impl Trellis {
    pub(crate) fn new(options: &Options, seed: Seed) -> Trellis {
        Trellis {
            n_models: options.models,
            limit: options.layer_limit,
            seed: seed.child("trellis"),
            again: 0,
            opponents: None,
            layers: Vec::new(),
            first_tries: Vec::new(),
            since_back: 0,
            went_back: 0,
            thinning: 0,
        }
    }

    fn is_exact(&self) -> bool {
        self.layers.last().is_none_or(|layer| layer.exact)
    }

    /// The next layer, resampled to a limit; none if nothing explains the clue.
    fn grow(
        &self,
        work: &mut Work,
        from: &mut StateLayer,
        clue: &Clue,
        limit: usize,
        rng: &mut Rng,
    ) -> Result<Option<(StateLayer, FirstTries)>, Fault> {
        let mut growing = self.expand(work, from, clue)?;
        growing.check_all(work)?;
        growing.retain_fitting();
        if growing.states.is_empty() {
            return Ok(None);
        }
        let tries = growing.tries;
        if growing.states.len() > limit {
            let dropped = resample::resample(&mut growing.mass, limit, rng);
            growing.drop_unless_kept(&dropped, from);
        }
        Ok(Some((growing.finish(from), tries)))
    }

    /// All successors of a layer that agree with a clue. Once time has run out, only the successors of the states done
    /// so far; the layer is then not exact. If there are none, a bounded number of further states is tried.
    fn expand(&self, work: &mut Work, from: &mut StateLayer, clue: &Clue) -> Result<GrowingLayer, Fault> {
        from.log_choice.clear();
        let states = std::mem::take(&mut from.states);
        // A model of the opponents may take long for a state, so states are then finished one by one.
        let grown = match work.budget.timed && states.len() > 1 && self.opponents.is_none() {
            true => self.expand_evenly(work, &states, from, clue),
            false => self.expand_states(work, &states, from, clue),
        };
        from.states = states;
        grown
    }

    fn expand_states(
        &self,
        work: &mut Work,
        states: &[State],
        from: &mut StateLayer,
        clue: &Clue,
    ) -> Result<GrowingLayer, Fault> {
        let mut growing = GrowingLayer::new();
        let parents: Vec<&State> = states.iter().collect();
        let portion = work.portion();
        let mut tests: Vec<(u32, Joint)> = Vec::with_capacity(portion);
        let mut steps: Vec<f64> = Vec::with_capacity(portion);
        let mut probabilities = Vec::new();
        let whole = self.whole(parents.len());
        for (group, states) in parents.chunks(256).enumerate() {
            if work.must_end(!growing.states.is_empty()) {
                let tried = tests.first().map_or(group * 256, |(parent, _)| *parent as usize);
                growing.cut_short(tried, from);
                return Ok(growing);
            }
            let fans = work.fans(states, clue)?;
            for (at, fan) in fans.iter().enumerate() {
                let parent = group * 256 + at;
                from.log_choice.push(fan.log_choice);
                self.step_probabilities(work, parents[parent], fan, &mut probabilities);
                // A product of moves has no bound. Of too many joint moves a sample stands for all.
                let sampled = fan.len() > whole;
                if sampled {
                    growing.sampled(parent, from);
                }
                let n = if sampled { SAMPLED_TRIES } else { fan.len() };
                let share = if sampled { fan.len() as f64 / n as f64 } else { 1.0 };
                let mut rng = sampled.then(|| self.seed.child("joint moves").nth(parent as u64).rng());
                for number in 0..n {
                    let number = rng.as_mut().map_or(number, |rng| rng.below(fan.len()));
                    let p = if probabilities.is_empty() {
                        (-fan.log_choice).exp()
                    } else {
                        probability(fan, number, &probabilities)
                    };
                    let p = p * share;
                    if p > 0.0 {
                        tests.push((parent as u32, fan.joint(number)));
                        steps.push(p);
                    }
                    if tests.len() == portion {
                        growing.add(work, &parents, &from.mass, &from.count, &tests, &steps, clue)?;
                        tests.clear();
                        steps.clear();
                        if work.must_end(!growing.states.is_empty()) {
                            growing.cut_short(parent, from);
                            return Ok(growing);
                        }
                    }
                }
            }
        }
        growing.add(work, &parents, &from.mass, &from.count, &tests, &steps, clue)?;
        Ok(growing)
    }

    /// Joint moves of one state, beyond which a sample of them stands for all, in a layer of so many states.
    fn whole(&self, states: usize) -> usize {
        SAMPLED_TRIES.max(LAYER_TRIES / states.max(1))
    }

    /// The probabilities of each role's moves by the model of the opponents; empty for uniform play.
    fn step_probabilities(&self, work: &mut Work, state: &State, fan: &OpenMoves, out: &mut Vec<Vec<f64>>) {
        out.clear();
        let Some(opponents) = &self.opponents else { return };
        if fan.len() == 0 {
            return;
        }
        let nature = work.sim().nature();
        let n_roles = work.sim().roles().len();
        for role in (0..n_roles).map(|r| RoleId(r as u16)) {
            let moves = fan.of(role);
            let mut row = Vec::new();
            if role == work.role {
                // Our own moves are the same in every history, so they are no evidence.
                row = vec![1.0; moves.len()];
            } else if Some(role) == nature {
                row = vec![1.0 / moves.len() as f64; moves.len()];
            } else {
                opponents.probabilities(state, role, moves, &mut row);
                row.resize(moves.len(), 0.0);
            }
            out.push(row);
        }
    }

    /// Goes back some rounds and filters again from there: further back each time, and with more states a layer, until
    /// a state is left.
    fn go_back(&mut self, work: &mut Work, clues: &[Clue]) -> Result<bool, Fault> {
        self.since_back = 0;
        self.went_back += 1;
        let last = self.layers.len() - 1;
        let now = work.now;
        let (mut back, mut limit) = (2, self.limit);
        let largest = LARGEST.max(self.limit.saturating_mul(4));
        let enough = work.touches.saturating_add(GOING_BACK);
        loop {
            let from = last.saturating_sub(back);
            limit = limit.saturating_mul(4).min(largest);
            self.again += 1;
            let grown = self.run_again(work, clues, from, limit, enough);
            work.now = now;
            if let Some(layers) = grown? {
                self.layers.truncate(from);
                self.layers.extend(layers);
                layer::prune(&mut self.layers, from);
                return Ok(true);
            }
            if (from == 0 && limit == largest) || work.is_out() || work.touches >= enough {
                return Ok(false);
            }
            back *= 2;
        }
    }

    /// Filters again from an old layer on, with other random numbers and a larger limit. Returns that layer and the
    /// later ones.
    fn run_again(
        &self,
        work: &mut Work,
        clues: &[Clue],
        from: usize,
        limit: usize,
        enough: u64,
    ) -> Result<Option<Vec<StateLayer>>, Fault> {
        let mut layers = vec![self.layers[from].clone()];
        let now = work.now;
        for (round, clue) in clues.iter().enumerate().skip(from) {
            let is_last = round + 1 == clues.len();
            work.now = if is_last { now } else { crate::Now::Playing };
            let limit = if is_last { self.limit } else { limit };
            let mut rng = self.luck(round);
            let Some(previous) = layers.last_mut() else { break };
            let Some((layer, _)) = self.grow(work, previous, clue, limit, &mut rng)? else {
                return Ok(None);
            };
            layers.push(layer);
            if (work.is_out() || work.touches >= enough) && !is_last {
                return Ok(None);
            }
        }
        Ok(Some(layers))
    }

    fn luck(&self, round: usize) -> Rng {
        self.seed.nth(u64::from(self.again)).nth(round as u64).rng()
    }

    /// A history drawn by its probability; `upto` holds the cumulative masses of the last layer. Models of one line of
    /// descent have the same past if they meet in a state, now and at later moves. Each is drawn by its probability all
    /// the same, but they are not independent; what was computed about the past of one is known of the others.
    fn draw(&self, upto: &[f64], rng: &mut Rng, line: Option<Seed>) -> Option<Model> {
        let last = self.layers.last()?;
        let point = rng.unit() * upto.last()?;
        let mut at = upto.partition_point(|&sum| sum <= point).min(upto.len() - 1);
        let mut model = Model {
            history: Vec::with_capacity(self.layers.len() - 1),
            state: last.states[at].clone(),
            log_choice: 0.0,
            weight: 1.0,
        };
        for (round, pair) in self.layers.windows(2).enumerate().rev() {
            let steps = pair[1].steps_into(at);
            let masses = steps.iter().map(|s| s.mass);
            let step = match line {
                _ if steps.len() == 1 => 0,
                Some(line) => {
                    let state = FxBuildHasher.hash_one(&pair[1].states[at]);
                    pick(&mut line.nth(round as u64).nth(state).rng(), masses)?
                }
                None => pick(rng, masses)?,
            };
            let step = &steps[step];
            at = step.parent as usize;
            model.history.push(pair[1].joints[step.joint as usize].clone());
            model.log_choice += pair[0].log_choice[at];
        }
        model.history.reverse();
        Some(model)
    }

    /// Lists every history that leads to a state of layer `round`, backwards; `tail` is the later part, latest first.
    fn list(&self, round: usize, at: usize, tail: &mut Model, found: &mut Vec<Model>) {
        if round == 0 {
            let mut model = tail.clone();
            model.history.reverse();
            found.push(model);
            return;
        }
        let layer = &self.layers[round];
        let into: f64 = layer.steps_into(at).iter().map(|s| s.mass).sum();
        for step in layer.steps_into(at) {
            let (weight, log_choice) = (tail.weight, tail.log_choice);
            let parent = step.parent as usize;
            tail.weight *= step.mass / into;
            tail.log_choice += self.layers[round - 1].log_choice[parent];
            tail.history.push(layer.joints[step.joint as usize].clone());
            self.list(round - 1, parent, tail, found);
            tail.history.pop();
            (tail.weight, tail.log_choice) = (weight, log_choice);
        }
    }
}

/// A place drawn in proportion to the masses.
fn pick(rng: &mut Rng, masses: impl Iterator<Item = f64> + Clone) -> Option<usize> {
    let total: f64 = masses.clone().sum();
    let mut left = rng.unit() * total;
    let mut last = None;
    for (at, mass) in masses.enumerate().filter(|(_, mass)| *mass > 0.0) {
        last = Some(at);
        left -= mass;
        if left < 0.0 {
            break;
        }
    }
    last
}

impl SamplingMethod for Trellis {
    fn kind(&self) -> SamplerKind {
        SamplerKind::Trellis
    }

    fn reset(&mut self, start: &State, again: u32) {
        self.layers = vec![StateLayer::start(start)];
        self.again = again << 16;
        self.first_tries.clear();
        (self.since_back, self.went_back, self.thinning) = (0, 0, 0);
    }

    fn advance(&mut self, work: &mut Work, clues: &[Clue]) -> Result<usize, Fault> {
        let round = clues.len() - 1;
        self.since_back += 1;
        let Some(mut previous) = self.layers.pop() else {
            return Ok(0);
        };
        let grown = self.grow(work, &mut previous, &clues[round], self.limit, &mut self.luck(round));
        let was_exact = previous.exact;
        self.layers.push(previous);
        let few = match grown? {
            None => {
                // An exact layer without successors proves that nothing explains the clue.
                if was_exact || work.is_out() || !self.go_back(work, clues)? {
                    return Ok(0);
                }
                self.first_tries.truncate(round);
                self.first_tries.push(FirstTries::default());
                false
            }
            Some((layer, tries)) => {
                let few = !was_exact && layer.states.len() <= self.limit / FEW;
                self.layers.push(layer);
                self.first_tries.truncate(round);
                self.first_tries.push(tries);
                few
            }
        };
        if few && self.since_back > PATIENCE && !work.is_out() && !work.is_late() {
            let kept = self.layers.pop();
            if !self.go_back(work, clues)? {
                self.layers.extend(kept);
            }
        }
        let settled = self.layers.len() - 1;
        layer::prune(&mut self.layers, settled);
        let most = MOST_STATES.max(self.limit.saturating_mul(8));
        self.thinning = layer::thin_out(&mut self.layers, most, self.thinning);
        Ok(self.n_models)
    }

    fn models(&mut self, work: &mut Work, clues: &[Clue]) -> Result<Vec<Model>, Fault> {
        let seed = self.seed.child("models").nth(clues.len() as u64);
        let masses = self.layers.last().map_or(&[][..], |layer| &layer.mass);
        let sum = |sum: &mut f64, mass: &f64| {
            *sum += mass;
            Some(*sum)
        };
        let upto: Vec<f64> = masses.iter().scan(0.0, sum).collect();
        let rounds = self.layers.len() - 1;
        let timed = work.budget.timed;
        let lines = (timed && rounds >= LONG).then(|| self.seed.child("lines"));
        let draw = |n: usize| {
            let line = lines.map(|lines| lines.nth(n as u64 % LINES));
            self.draw(&upto, &mut seed.nth(n as u64).rng(), line)
        };
        // A draw walks through all rounds, and so do the searches that begin with the histories.
        let n_models = match timed {
            true => self.n_models.min(TIMED_MODELS.max(TIMED_ROUNDS / rounds.max(1))),
            false => self.n_models,
        };
        let in_time = |n: &usize| *n < FEW_MODELS || !work.budget.latest.is_raised();
        Ok((0..n_models).take_while(in_time).filter_map(draw).collect())
    }

    fn may_do_better_again(&self) -> bool {
        // An exact layer is complete, and any other has gone back to the start already.
        false
    }

    fn first_tries(&self) -> &[FirstTries] {
        &self.first_tries
    }

    fn describe(&self, report: &mut BeliefReport) {
        let Some(last) = self.layers.last() else { return };
        report.exact = self.is_exact();
        report.rebuilt += self.went_back;
        report.distinct_states = last.states.len();
        report.histories = last.exact.then(|| last.count.iter().sum());
        if !last.exact {
            // The effective sample size of draws from an estimate is bounded by that of the estimate.
            let squares: f64 = last.mass.iter().map(|m| m * m).sum();
            let total: f64 = last.mass.iter().sum();
            report.ess = report.ess.min(total * total / squares);
        }
    }

    fn posterior(&self) -> Option<Vec<(State, f64)>> {
        let last = self.layers.last()?;
        let total: f64 = last.mass.iter().sum();
        Some(
            last.states
                .iter()
                .cloned()
                .zip(last.mass.iter().map(|m| m / total))
                .collect(),
        )
    }

    fn all(&self, most: usize) -> Option<Vec<Model>> {
        let last = self.layers.last()?;
        if !last.exact || last.count.iter().sum::<f64>() > most as f64 {
            return None;
        }
        let total: f64 = last.mass.iter().sum();
        let mut found = Vec::new();
        for (at, state) in last.states.iter().enumerate() {
            let mut end = Model {
                history: Vec::with_capacity(self.layers.len() - 1),
                state: state.clone(),
                log_choice: 0.0,
                weight: last.mass[at] / total,
            };
            self.list(self.layers.len() - 1, at, &mut end, &mut found);
        }
        Some(found)
    }

    fn set_opponents(&mut self, opponents: Box<dyn OpponentModel>) -> Result<(), BeliefError> {
        self.opponents = Some(opponents);
        Ok(())
    }
}
/// The probability of a joint move, given those of each role's moves.
fn probability(fan: &OpenMoves, number: usize, rows: &[Vec<f64>]) -> f64 {
    let places = fan.places(number);
    let each = rows.iter().zip(places);
    each.fold(1.0, |p, (row, at)| p * row[at as usize].max(0.0))
}
