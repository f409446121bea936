//! What all samplers share: following a view, and what to do when nothing explains it.
//!
//! A percept that no model explains is not a crash (decision 8). The engine is given the whole view once more, from the
//! start and with fresh luck; if that fails too, the constraints of the newest round are relaxed: first its percepts, then
//! the own move. What is older stays, so that what is still known longest is given up last.

use crate::work::{Clue, Level, Work};
use crate::{Belief, BeliefError, BeliefReport, FirstTries, Joint, Model, Now, OpponentModel, Options, Sampler};
use crate::{SamplerKind, World};
use game::{Budget, Fault, RoleId, State, StopFlag, View};
use rustc_hash::FxHashSet;

/// The part of a sampler that differs.
pub(crate) trait SamplingMethod: Send {
    fn kind(&self) -> SamplerKind;

    /// Starts again in the initial state, with different luck each time.
    fn reset(&mut self, start: &State, again: u32);

    /// Explains one round more: the last of these clues. Returns how many models do; if none, the engine stays
    /// where it was. `work.now` tells about the state after it.
    fn advance(&mut self, work: &mut Work, clues: &[Clue]) -> Result<usize, Fault>;

    /// The models, weights in any scale.
    fn models(&mut self, work: &mut Work, clues: &[Clue]) -> Result<Vec<Model>, Fault>;

    /// Tries of each round so far.
    fn first_tries(&self) -> &[FirstTries];

    /// Whether trying the whole view again from the start may find what was missed.
    fn may_do_better_again(&self) -> bool;

    /// Adds what only this engine knows.
    fn describe(&self, _report: &mut BeliefReport) {}

    /// The whole posterior over states, if the engine has one.
    fn posterior(&self) -> Option<Vec<(State, f64)>> {
        None
    }

    /// Every history with its probability, if the engine knows them and there are no more than `most`.
    fn all(&self, _most: usize) -> Option<Vec<Model>> {
        None
    }

    fn set_opponents(&mut self, _opponents: Box<dyn OpponentModel>) -> Result<(), BeliefError> {
        Err(BeliefError::NoOpponentModel)
    }
}

/// Rebuildings of one belief: what failed so often will fail again.
const MAX_REBUILDS: u32 = 3;

/// An engine following a view.
pub(crate) struct Driven<E> {
    engine: E,
    role: RoleId,
    n_models: usize,
    /// The rounds that the engine explains; none before the first update.
    clues: Vec<Clue>,
    started: bool,
    /// What was known about now when the last clue was explained.
    now: Now,
    rebuilt: u32,
    touches: u64,
    successors: u64,
    belief: Belief,
}

impl<E: SamplingMethod> Driven<E> {
    pub(crate) fn new(engine: E, role: RoleId, options: &Options) -> Self {
        Driven {
            engine,
            role,
            n_models: options.models,
            clues: Vec::new(),
            started: false,
            now: Now::Playing,
            rebuilt: 0,
            touches: 0,
            successors: 0,
            belief: Belief::default(),
        }
    }

    fn follow(&mut self, work: &mut Work, view: &View) -> Result<(), BeliefError> {
        if !self.goes_on(view, work.now) {
            self.start(work)?;
        }
        let (last, now) = (view.rounds.len(), work.now);
        for (number, round) in view.rounds.iter().enumerate().skip(self.clues.len()) {
            // Whoever lived through another round was not at the end.
            work.now = if number + 1 == last { now } else { Now::Playing };
            self.clues.push(Clue::new(round));
            self.explain(work)?;
            self.now = work.now;
        }
        Ok(())
    }

    /// Whether a view begins with what is already explained.
    fn goes_on(&self, view: &View, now: Now) -> bool {
        let known = self.clues.len();
        let same_now = view.rounds.len() > known || now == self.now;
        let came_to_an_end = self.now == Now::Over && view.rounds.len() > known;
        let rounds = self.clues.iter().zip(&view.rounds);
        self.started
            && same_now
            && !came_to_an_end
            && known <= view.rounds.len()
            && rounds.into_iter().all(|(clue, round)| clue.is_of(round))
    }

    fn start(&mut self, work: &mut Work) -> Result<(), Fault> {
        let start = work.sim().initial()?;
        self.engine.reset(&start, 0);
        self.clues.clear();
        self.started = true;
        self.rebuilt = 0;
        self.now = work.now;
        Ok(())
    }

    /// Explains the last clue, whatever it takes.
    fn explain(&mut self, work: &mut Work) -> Result<(), BeliefError> {
        if self.engine.advance(work, &self.clues)? > 0 || self.rebuild(work)? {
            return Ok(());
        }
        // What is left costs a step each, and there has to be an answer: no flag stops it, but one may hurry it.
        work.late = work.is_late();
        let budget = std::mem::replace(&mut work.budget, Budget::until(StopFlag::default()));
        let relaxed = self.relax(work);
        work.budget = budget;
        relaxed
    }

    /// Tries the whole view again from the start.
    fn rebuild(&mut self, work: &mut Work) -> Result<bool, Fault> {
        let here = self.clues.len();
        if here < 2 || work.is_out() || self.rebuilt >= MAX_REBUILDS || !self.engine.may_do_better_again() {
            return Ok(false);
        }
        self.rebuilt += 1;
        let start = work.sim().initial()?;
        let now = std::mem::replace(&mut work.now, Now::Playing);
        self.engine.reset(&start, self.rebuilt);
        for upto in 1..=here {
            if upto == here {
                work.now = now;
            }
            if self.engine.advance(work, &self.clues[..upto])? == 0 {
                work.now = now;
                return self.back_to_before(work, upto);
            }
        }
        Ok(true)
    }

    /// After a failed rebuilding: goes where it failed, ignoring percepts from there to the round before the last.
    fn back_to_before(&mut self, work: &mut Work, failed: usize) -> Result<bool, Fault> {
        let here = self.clues.len();
        let now = std::mem::replace(&mut work.now, Now::Playing);
        let budget = std::mem::replace(&mut work.budget, Budget::until(StopFlag::default()));
        for upto in failed..here {
            for level in [Level::OwnMove, Level::Nothing] {
                self.clues[upto - 1].level = level;
                if self.engine.advance(work, &self.clues[..upto])? > 0 {
                    break;
                }
            }
        }
        work.now = now;
        work.budget = budget;
        Ok(false)
    }

    fn relax(&mut self, work: &mut Work) -> Result<(), BeliefError> {
        let last = self.clues.len() - 1;
        let now = work.now;
        for (level, now) in [
            (Level::OwnMove, now),
            (Level::Nothing, now),
            (Level::OwnMove, Now::Unknown),
            (Level::Nothing, Now::Unknown),
        ] {
            self.clues[last].level = level;
            work.now = now;
            if self.engine.advance(work, &self.clues)? > 0 {
                return Ok(());
            }
        }
        work.now = now;
        self.clues.pop();
        Err(BeliefError::Impossible { round: last })
    }

    fn report(&self, models: &[Model], stopped: bool) -> BeliefReport {
        let histories: FxHashSet<&[Joint]> = models.iter().map(|m| &m.history[..]).collect();
        let states: FxHashSet<&State> = models.iter().map(|m| &m.state).collect();
        let relaxed = self.clues.iter().enumerate();
        let mut report = BeliefReport {
            sampler: self.engine.kind(),
            rounds: self.clues.len(),
            live: models.len(),
            offline: self.n_models.saturating_sub(models.len()),
            distinct_histories: histories.len(),
            distinct_states: states.len(),
            ess: effective(models),
            first_tries: self.engine.first_tries().to_vec(),
            relaxed: relaxed
                .filter(|(_, clue)| clue.level != Level::Full)
                .map(|(n, _)| n)
                .collect(),
            rebuilt: self.rebuilt,
            stopped,
            ..BeliefReport::default()
        };
        self.engine.describe(&mut report);
        report.exact &= report.relaxed.is_empty();
        report
    }
}

impl<E: SamplingMethod> Sampler for Driven<E> {
    fn update(&mut self, world: &mut World<'_>, view: &View, now: Now, budget: &Budget) -> Result<(), BeliefError> {
        if usize::from(self.role.0) >= world.sim.roles().len() {
            return Err(BeliefError::UnknownRole(self.role));
        }
        let mut work = Work::new(world, self.role, now, budget);
        let before = work.successors();
        let followed = self.follow(&mut work, view);
        let stopped = work.is_out();
        let models = match followed {
            Ok(()) => self.engine.models(&mut work, &self.clues).map_err(BeliefError::from),
            Err(error) => Err(error),
        };
        let successors = work.successors() - before;
        self.touches += work.touches;
        self.successors += successors;
        let mut models = models?;
        if models.is_empty() {
            return Err(BeliefError::OutOfBudget);
        }
        normalise(&mut models);
        let mut report = self.report(&models, stopped);
        (report.touches, report.successors) = (self.touches, self.successors);
        (report.update_touches, report.update_successors) = (work.touches, successors);
        self.belief = Belief { models, report };
        Ok(())
    }

    fn belief(&self) -> &Belief {
        &self.belief
    }

    fn posterior(&self) -> Vec<(State, f64)> {
        self.engine.posterior().unwrap_or_else(|| self.belief.states())
    }

    fn all(&self, most: usize) -> Option<Vec<Model>> {
        self.engine.all(most)
    }

    fn set_opponents(&mut self, opponents: Box<dyn OpponentModel>) -> Result<(), BeliefError> {
        self.engine.set_opponents(opponents)?;
        self.started = false;
        Ok(())
    }
}

fn normalise(models: &mut [Model]) {
    let total: f64 = models.iter().map(|m| m.weight).sum();
    let even = 1.0 / models.len() as f64;
    for model in models {
        model.weight = if total > 0.0 { model.weight / total } else { even };
    }
}

/// Kish's effective sample size.
fn effective(models: &[Model]) -> f64 {
    let total: f64 = models.iter().map(|m| m.weight).sum();
    let squares: f64 = models.iter().map(|m| m.weight * m.weight).sum();
    if squares > 0.0 { total * total / squares } else { 0.0 }
}
