//! What a role can believe: a belief that follows the rounds of a match, and its report.

use crate::{Error, Game};
use belief::{BeliefReport, Joint, Now, Sampler, SamplerKind, World};
use game::{Batch, Budget, RoleId, Seed, Simulator, StopFlag, Told};
use std::collections::BTreeMap;

/// How a belief is kept.
#[derive(Clone, Debug, Default)]
pub struct BeliefOptions {
    /// Sampler of histories.
    pub sampler: SamplerKind,
    /// Options of the sampler.
    pub options: belief::Options,
    /// Seed of the sampler.
    pub seed: u64,
    /// Ends an update; the belief is then an error.
    pub stop: StopFlag,
}

/// A belief of one role that follows a match. All other roles are assumed to choose uniformly.
pub struct BeliefTracker<'a> {
    pub(crate) game: &'a Game,
    pub(crate) role: RoleId,
    pub(crate) sim: Box<dyn Simulator>,
    batch: Option<Box<dyn Batch>>,
    pub(crate) sampler: Box<dyn Sampler>,
    stop: StopFlag,
}

/// A belief in words: probabilities of states, fluents and histories.
#[derive(Clone, Debug)]
pub struct NamedBelief {
    /// States held possible, likeliest first, as sorted fluents.
    pub states: Vec<(Vec<String>, f64)>,
    /// Probability of every fluent that may hold.
    pub fluents: BTreeMap<String, f64>,
    /// Histories of the models, likeliest first; each round is a joint move in role order.
    pub histories: Vec<(Vec<Vec<String>>, f64)>,
    /// Sizes, cost and whether the belief is exact.
    pub report: BeliefReport,
}

impl Game {
    /// The belief of a role at the start of a match, to be followed.
    ///
    /// # Errors
    /// If there is no such role, or the options are wrong.
    pub fn follow(&self, role: &str, options: &BeliefOptions) -> Result<BeliefTracker<'_>, Error> {
        let (role, seed) = (self.role(role)?, Seed(options.seed));
        // Asked once: a game that is being compiled may have another engine at the next question.
        let engine = self.engine();
        Ok(BeliefTracker {
            game: self,
            role,
            sim: engine.state_simulator(),
            batch: engine.batch(seed),
            sampler: belief::make(options.sampler, &options.options, role, seed)?,
            stop: options.stop.clone(),
        })
    }

    /// The belief of a role, given everything it was told.
    ///
    /// # Errors
    /// If what the role was told does not fit the rules, or the belief could not be kept.
    pub fn belief(&self, role: &str, told: &[Told], options: &BeliefOptions) -> Result<NamedBelief, Error> {
        let mut tracker = self.follow(role, options)?;
        tracker.update(told)?;
        Ok(tracker.report())
    }
}

impl BeliefTracker<'_> {
    /// Takes in what the role was told, all rounds from the first on. Rounds that are known already cost nothing.
    ///
    /// # Errors
    /// If what the role was told does not fit the rules, or the belief could not be kept.
    pub fn update(&mut self, told: &[Told]) -> Result<(), Error> {
        let view = self.game.view(self.sim.as_mut(), self.role, told)?;
        let mut world = match &mut self.batch {
            Some(batch) => World::with_batch(self.sim.as_mut(), batch.as_mut()),
            None => World::new(self.sim.as_mut()),
        };
        let budget = Budget::until(self.stop.clone());
        let updated = self.sampler.update(&mut world, &view, Now::Unknown, &budget);
        match self.stop.is_raised() {
            true => Err(Error::Stopped {
                progress: "the belief was not finished".to_owned(),
            }),
            false => Ok(updated?),
        }
    }

    pub(crate) fn world(&mut self) -> World<'_> {
        match &mut self.batch {
            Some(batch) => World::with_batch(self.sim.as_mut(), batch.as_mut()),
            None => World::new(self.sim.as_mut()),
        }
    }

    /// The belief now.
    pub fn report(&self) -> NamedBelief {
        let mut posterior = self.sampler.posterior();
        posterior.sort_by(|(a, p), (b, q)| q.total_cmp(p).then_with(|| a.cmp(b)));
        let mut fluents = BTreeMap::new();
        let mut states = Vec::with_capacity(posterior.len());
        for (state, p) in &posterior {
            let held = self.sim.fluents(state);
            for fluent in &held {
                *fluents.entry(fluent.clone()).or_insert(0.0) += p;
            }
            states.push((held, *p));
        }
        NamedBelief {
            states,
            fluents,
            histories: self.histories(),
            report: self.sampler.belief().report.clone(),
        }
    }

    fn histories(&self) -> Vec<(Vec<Vec<String>>, f64)> {
        let mut merged: BTreeMap<Vec<Vec<String>>, f64> = BTreeMap::new();
        for model in &self.sampler.belief().models {
            let history = model.history.iter().map(|joint| self.texts(joint)).collect();
            *merged.entry(history).or_insert(0.0) += model.weight;
        }
        let mut list: Vec<_> = merged.into_iter().collect();
        list.sort_by(|(_, p), (_, q)| q.total_cmp(p));
        list
    }

    fn texts(&self, joint: &Joint) -> Vec<String> {
        let text = |(role, &mv): (usize, _)| self.sim.move_text(RoleId(role as u16), mv).to_owned();
        joint.iter().enumerate().map(text).collect()
    }
}
