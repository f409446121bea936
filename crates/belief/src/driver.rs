//! The part that all samplers share: following a view, and relaxing constraints when nothing explains the view.
//!
//! When no model explains a percept, the sampling method is first given the whole view again, from the start and with
//! other random numbers. If that fails too, the constraints of the newest round are relaxed: first one or two of its
//! percepts may differ, then all of them, then the own move. Constraints of older rounds stay.

use crate::work::{Clue, Level, Work};
use crate::{Belief, BeliefError, BeliefReport, FirstTries, Joint, Model, Now, OpponentModel, Options, Sampler};
use crate::{SamplerKind, World};
use game::{Budget, Fault, RoleId, State, StopFlag, View};
use rustc_hash::FxHashSet;

/// An algorithm that finds models, without the bookkeeping that all of them share.
pub(crate) trait SamplingMethod: Send {
    fn kind(&self) -> SamplerKind;

    /// Starts again in the initial state; `again` selects the random numbers.
    fn reset(&mut self, start: &State, again: u32);

    /// Explains one more round: the last of these clues. Returns how many models explain it. If none does, the method
    /// stays where it was. `work.now` says what is known about the state after the round.
    fn advance(&mut self, work: &mut Work, clues: &[Clue]) -> Result<usize, Fault>;

    /// The models, weights in any scale.
    fn models(&mut self, work: &mut Work, clues: &[Clue]) -> Result<Vec<Model>, Fault>;

    /// Tries of each round so far.
    fn first_tries(&self) -> &[FirstTries];

    /// Whether another attempt at the whole view may find models that this one missed.
    fn may_do_better_again(&self) -> bool;

    /// Adds what only this method knows.
    fn describe(&self, _report: &mut BeliefReport) {}

    /// The whole posterior over states, if the method has one.
    fn posterior(&self) -> Option<Vec<(State, f64)>> {
        None
    }

    /// Every history with its probability, if the method knows them and there are no more than `most`.
    fn all(&self, _most: usize) -> Option<Vec<Model>> {
        None
    }

    fn set_opponents(&mut self, _opponents: Box<dyn OpponentModel>) -> Result<(), BeliefError> {
        Err(BeliefError::NoOpponentModel)
    }
}

/// Limit on the rebuildings of one belief.
const MAX_REBUILDS: u32 = 3;

/// A sampling method that follows a view.
pub(crate) struct Driven<E> {
    engine: E,
    role: RoleId,
    n_models: usize,
    /// The rounds that the method explains; none before the first update.
    clues: Vec<Clue>,
    started: bool,
    /// [`Now`] when the last clue was explained.
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
            // The game was not over before a later round.
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

    /// Explains the last clue, relaxing it if necessary.
    fn explain(&mut self, work: &mut Work) -> Result<(), BeliefError> {
        if self.engine.advance(work, &self.clues)? > 0 || self.rebuild(work)? {
            return Ok(());
        }
        // The relaxed search must give an answer. The flag does not stop it; it only makes it stop at the first answer.
        work.relaxing = true;
        let budget = std::mem::replace(&mut work.budget, Budget::until(StopFlag::default()));
        let relaxed = self.relax(work);
        work.budget = budget;
        work.relaxing = false;
        work.renew_grace(Level::Full);
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

    /// After a failed rebuilding: explains the remaining rounds up to the last one, ignoring their percepts.
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
        // What was not told constrains nothing.
        let some_known = self.clues[last].level == Level::Full;
        for (level, now) in [
            (Level::Near(1), now),
            (Level::Near(2), now),
            (Level::OwnMove, now),
            (Level::Nothing, now),
            (Level::OwnMove, Now::Unknown),
            (Level::Nothing, Now::Unknown),
        ] {
            if matches!(level, Level::Near(_)) && !some_known {
                continue;
            }
            self.clues[last].level = level;
            work.now = now;
            work.renew_grace(level);
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
