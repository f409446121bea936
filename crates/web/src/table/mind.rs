//! What one seat can know: a belief that follows what its role was told, from a fixed seed. Everything here is a
//! function of the rules and of what the role was told.

use super::undo;
use crate::games::TableGame;
use std::collections::BTreeMap;
use std::sync::Arc;
use surmise::Error;
use surmise::belief::{self, BeliefReport, Now, Sampler, SamplerKind, World};
use surmise::draw::{Known, Picture};
use surmise::game::{Batch, Budget, RoleId, Seed, Simulator, State, StopFlag, Told};

/// The belief of one role.
pub struct Mind {
    game: Arc<TableGame>,
    role: RoleId,
    sim: Box<dyn Simulator>,
    batch: Option<Box<dyn Batch>>,
    sampler: Box<dyn Sampler>,
    /// What was taken in so far.
    told: Vec<Told>,
    over: bool,
    states: Vec<(State, f64)>,
    probabilities: BTreeMap<String, f64>,
    legal: Vec<String>,
    entropy: Vec<Entropy>,
    choices: Vec<usize>,
    /// Roles of the other people at the table.
    people: Vec<RoleId>,
    /// For each round, whether it may have revealed something.
    revealed: Vec<bool>,
}

/// How uncertain a role was after a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entropy {
    /// Entropy of the state.
    pub bits: f64,
    /// States held possible.
    pub states: usize,
}

/// Seed of every belief: views must not depend on a table's own seed.
const SEED: Seed = Seed(1);

/// Work of one update of a belief, in nodes of the game tree.
const MAX_TOUCHES: u64 = 2_000_000;

/// The same where the rules are evaluated directly, which is much slower.
const MAX_SLOW_TOUCHES: u64 = 20_000;

/// States per round that a belief keeps.
const LAYER: usize = 5_000;

impl Mind {
    /// The belief of a role before the first round.
    ///
    /// # Errors
    /// If the rules cannot be evaluated.
    pub fn new(game: &Arc<TableGame>, role: RoleId) -> Result<Mind, Error> {
        Mind::among(game, role, Vec::new())
    }

    /// The same at a table with other people, whom a round may reveal something to.
    ///
    /// # Errors
    /// If the rules cannot be evaluated.
    pub fn among(game: &Arc<TableGame>, role: RoleId, people: Vec<RoleId>) -> Result<Mind, Error> {
        let options = belief::Options {
            layer_limit: LAYER,
            ..belief::Options::default()
        };
        let engine = game.game.engine();
        let mut mind = Mind {
            game: game.clone(),
            role,
            sim: engine.state_simulator(),
            batch: engine.batch(SEED),
            sampler: belief::make(SamplerKind::Trellis, &options, role, SEED)?,
            told: Vec::new(),
            over: false,
            states: Vec::new(),
            probabilities: BTreeMap::new(),
            legal: Vec::new(),
            entropy: Vec::new(),
            choices: Vec::new(),
            people,
            revealed: Vec::new(),
        };
        mind.take_in(&[], Now::Playing)?;
        Ok(mind)
    }

    /// The belief after these rounds.
    ///
    /// # Errors
    /// As [`Mind::follow`].
    pub fn after(game: &Arc<TableGame>, role: RoleId, told: &[Told], over: bool) -> Result<Mind, Error> {
        let mut mind = Mind::new(game, role)?;
        mind.follow(told, over)?;
        Ok(mind)
    }

    /// Takes in all rounds from the first on, and whether the role was told that the game is over. Rounds are taken in
    /// one by one, so that the result does not depend on when this was called.
    ///
    /// # Errors
    /// If the belief could not be kept.
    pub fn follow(&mut self, told: &[Told], over: bool) -> Result<(), Error> {
        if self.over || self.told.len() > told.len() || self.told[..] != told[..self.told.len()] {
            *self = Mind::among(&self.game, self.role, std::mem::take(&mut self.people))?;
        }
        for rounds in self.told.len() + 1..=told.len() {
            let last = rounds == told.len();
            let now = if last && over { Now::Over } else { Now::Playing };
            self.take_in(&told[..rounds], now)?;
        }
        self.over = over;
        Ok(())
    }

    fn take_in(&mut self, told: &[Told], now: Now) -> Result<(), Error> {
        if !told.is_empty() && !self.people.is_empty() {
            let people = self.people.clone();
            let revealed = undo::reveals(self, &people)?;
            self.revealed.push(revealed);
        }
        let view = self.game.game.view(self.sim.as_mut(), self.role, told)?;
        let most = match self.batch {
            Some(_) => MAX_TOUCHES,
            None => MAX_SLOW_TOUCHES,
        };
        let mut rules = world(&mut self.sim, &mut self.batch);
        let budget = Budget {
            iterations: most,
            ..Budget::until(StopFlag::default())
        };
        self.sampler.update(&mut rules, &view, now, &budget)?;
        self.states = self.sampler.posterior();
        self.states
            .sort_by(|(a, p), (b, q)| q.total_cmp(p).then_with(|| a.cmp(b)));
        self.legal = match now {
            Now::Over => Vec::new(),
            _ => belief::possible_moves(&mut rules, self.role, &self.states)?,
        };
        self.probabilities = self.sim.marginals(&self.states);
        let bits = self
            .states
            .iter()
            .map(|(_, p)| if *p > 0.0 { -p * p.log2() } else { 0.0 });
        self.entropy.push(Entropy {
            bits: bits.sum::<f64>().max(0.0),
            states: self.states.len(),
        });
        self.choices.push(self.legal.len());
        self.told = told.to_vec();
        Ok(())
    }

    /// The role.
    pub fn role(&self) -> RoleId {
        self.role
    }

    /// Name of the role.
    pub fn role_name(&self) -> &str {
        &self.game.game.roles()[usize::from(self.role.0)]
    }

    /// What the belief has taken in.
    pub fn told(&self) -> &[Told] {
        &self.told
    }

    /// Moves that are legal in some state held possible, in canonical order.
    pub fn legal(&self) -> &[String] {
        &self.legal
    }

    /// Whether the role had a decision to make in a round, counted from 0: more than one move that it held possible.
    pub fn had_choice(&self, round: usize) -> bool {
        self.choices.get(round).is_some_and(|&moves| moves > 1)
    }

    /// Whether a round, counted from 0, may have revealed something, at a table with other people.
    pub fn may_have_revealed(&self, round: usize) -> bool {
        self.revealed.get(round).copied().unwrap_or(true)
    }

    /// States held possible, likeliest first.
    pub fn states(&self) -> &[(State, f64)] {
        &self.states
    }

    /// The simulator to which the states belong.
    pub fn simulator(&mut self) -> &mut dyn Simulator {
        self.sim.as_mut()
    }

    /// Uncertainty after every round, before the first one included.
    pub fn entropy(&self) -> &[Entropy] {
        &self.entropy
    }

    /// Sizes of the belief, and whether it is exact.
    pub fn report(&self) -> &BeliefReport {
        &self.sampler.belief().report
    }

    /// Fluents of a state.
    pub fn fluents(&self, state: &State) -> Vec<String> {
        self.sim.fluents(state)
    }

    /// Probabilities of fluents.
    pub fn probabilities(&self) -> &BTreeMap<String, f64> {
        &self.probabilities
    }

    /// What the role is certain of, with these moves.
    pub fn certain_picture(&self, legal: &[String]) -> Picture {
        let known = Known::certain(self.role_name(), self.probabilities());
        self.game.layout.seat_picture(&known, legal)
    }

    /// Everything that may be, with probabilities.
    pub fn believed_picture(&self) -> Picture {
        let known = Known::believed(self.role_name(), self.probabilities());
        self.game.layout.seat_picture(&known, &self.legal)
    }

    /// A state held possible, as if it were certain.
    pub fn state_picture(&self, state: &State) -> Picture {
        let certain = self
            .sim
            .fluents(state)
            .into_iter()
            .map(|fluent| (fluent, 1.0))
            .collect();
        self.game
            .layout
            .seat_picture(&Known::certain(self.role_name(), &certain), &[])
    }
}

fn world<'a>(sim: &'a mut Box<dyn Simulator>, batch: &'a mut Option<Box<dyn Batch>>) -> World<'a> {
    match batch {
        Some(batch) => World::with_batch(sim.as_mut(), batch.as_mut()),
        None => World::new(sim.as_mut()),
    }
}
