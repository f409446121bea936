//! Beliefs, reports about them, and the trait of samplers.

use crate::SamplerKind;
use game::{Batch, Budget, Fault, MoveId, RoleId, Simulator, State, View};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::fmt;

/// A move of every role, in role order.
pub type Joint = SmallVec<[MoveId; 4]>;

/// Keeps a belief about a game up to date, from one role's view of it.
pub trait Sampler: Send {
    /// Updates the belief with the whole view so far. A view that continues the last one costs only its new rounds; any
    /// other view starts afresh.
    ///
    /// The budget counts node touches of this call. A view that nothing explains is not an error: constraints are
    /// relaxed, the newest first, and the report lists the relaxed rounds.
    ///
    /// # Errors
    /// If the simulator fails, if something in the view does not exist in this game, or if the role does not exist. The
    /// belief then stays as it was.
    fn update(&mut self, world: &mut World<'_>, view: &View, now: Now, budget: &Budget) -> Result<(), BeliefError>;

    /// The belief after the last update.
    fn belief(&self) -> &Belief;

    /// Distinct states and their probabilities, in no particular order; they sum to 1. The whole layer if the sampler
    /// filters states, else the states of the models.
    fn posterior(&self) -> Vec<(State, f64)> {
        self.belief().states()
    }

    /// The whole information set, each history once with its exact probability, if the sampler knows it and it has no
    /// more than `most` histories.
    fn all(&self, _most: usize) -> Option<Vec<Model>> {
        None
    }

    /// Sets a model of the other roles in place of uniform play, from the next update on.
    ///
    /// # Errors
    /// If the sampler supports uniform play only.
    fn set_opponents(&mut self, _opponents: Box<dyn OpponentModel>) -> Result<(), BeliefError> {
        Err(BeliefError::NoOpponentModel)
    }
}

/// The rules as a sampler uses them: a simulator, and the same game for many states at a time if there is such an
/// engine. The belief is the same with and without a batch, to the bit.
pub struct World<'a> {
    /// One state at a time.
    pub sim: &'a mut dyn Simulator,
    /// Many states at a time; same ids, same states.
    pub batch: Option<&'a mut dyn Batch>,
}

impl<'a> World<'a> {
    /// A world without a batch.
    pub fn new(sim: &'a mut dyn Simulator) -> World<'a> {
        World { sim, batch: None }
    }

    /// A world with a batch of the same game.
    pub fn with_batch(sim: &'a mut dyn Simulator, batch: &'a mut dyn Batch) -> World<'a> {
        World {
            sim,
            batch: Some(batch),
        }
    }
}

/// What is known about the present state in addition to the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Now {
    /// The role was asked to move: the game is not over.
    #[default]
    Playing,
    /// The role was told to stop: the game is over.
    Over,
    /// Nothing was said.
    Unknown,
}

/// Move probabilities of the other roles. Nature always plays uniformly and is never asked about.
pub trait OpponentModel: Send {
    /// The probabilities of a role's legal moves in a state, in the same order. Replaces what is in `out`.
    fn probabilities(&self, state: &State, role: RoleId, legal: &[MoveId], out: &mut Vec<f64>);
}

/// A history that explains the view, and where it leads.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The joint moves so far.
    pub history: Vec<Joint>,
    /// The state they lead to.
    pub state: State,
    /// Log of the choice factor: over all rounds, the number of legal moves of every other role, nature included.
    pub log_choice: f64,
    /// Its share of the belief; all weights sum to 1.
    pub weight: f64,
}

/// Weighted models, and a report on their quality.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Belief {
    /// Models that explain the view.
    pub models: Vec<Model>,
    /// Report on the belief.
    pub report: BeliefReport,
}

impl Belief {
    /// The distinct states of the models with their weights, most likely first.
    pub fn states(&self) -> Vec<(State, f64)> {
        let mut at: FxHashMap<&State, usize> = FxHashMap::default();
        let mut states: Vec<(State, f64)> = Vec::new();
        for model in &self.models {
            let place = *at.entry(&model.state).or_insert(states.len());
            match states.get_mut(place) {
                Some(entry) => entry.1 += model.weight,
                None => states.push((model.state.clone(), model.weight)),
            }
        }
        states.sort_by(|a, b| b.1.total_cmp(&a.1));
        states
    }
}

/// Tries of joint moves against a round's percepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstTries {
    /// First tries made.
    pub tried: u64,
    /// Of these, how many showed what was seen.
    pub fit: u64,
}

impl FirstTries {
    /// The share that fitted: the 2017 paper's P(valid) of a round.
    pub fn share(&self) -> Option<f64> {
        (self.tried > 0).then(|| self.fit as f64 / self.tried as f64)
    }
}

/// Quality and cost of a belief.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeliefReport {
    /// The sampler.
    pub sampler: SamplerKind,
    /// Rounds explained.
    pub rounds: usize,
    /// Models that explain the view.
    pub live: usize,
    /// Models that were asked for and do not take part: off line, dead, or not found.
    pub offline: usize,
    /// Distinct histories among the models.
    pub distinct_histories: usize,
    /// Distinct states: of the last layer if the sampler filters states, else among the models.
    pub distinct_states: usize,
    /// Effective sample size of the models.
    pub ess: f64,
    /// Whether the probabilities of states are exact, and the models exact and independent samples.
    pub exact: bool,
    /// Histories in the information set, where the sampler knows.
    pub histories: Option<f64>,
    /// Nodes of the game tree touched since the sampler was made: joint moves tried, and steps back.
    pub touches: u64,
    /// Successor states computed since the sampler was made.
    pub successors: u64,
    /// Nodes touched by the last update.
    pub update_touches: u64,
    /// Successor states computed by the last update.
    pub update_successors: u64,
    /// First tries against the percepts of each round.
    pub first_tries: Vec<FirstTries>,
    /// Rounds (from 0) whose constraints had to be relaxed.
    pub relaxed: Vec<usize>,
    /// Rebuildings of the belief, from the whole view or its last rounds, because no or few models were left.
    pub rebuilt: u32,
    /// Whether the budget ran out during the last update.
    pub stopped: bool,
}

impl fmt::Display for BeliefReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = if self.exact { "exact" } else { "approximate" };
        write!(
            f,
            "{}: {} models ({} off line), {} histories, {} states, effective {:.1}, {exact}",
            self.sampler, self.live, self.offline, self.distinct_histories, self.distinct_states, self.ess
        )?;
        if !self.relaxed.is_empty() {
            let rounds: Vec<String> = self.relaxed.iter().map(|r| (r + 1).to_string()).collect();
            write!(
                f,
                "; nothing explains what was seen, so round {} is partly ignored",
                rounds.join(", ")
            )?;
        }
        Ok(())
    }
}

/// Why there is no belief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeliefError {
    /// No models were asked for.
    NoModels,
    /// More models were asked for than [`MAX_MODELS`](crate::MAX_MODELS).
    TooManyModels(usize),
    /// A limit that must be positive is zero.
    ZeroLimit(&'static str),
    /// The game has no such role.
    UnknownRole(RoleId),
    /// The sampler supports uniform play of the other roles only.
    NoOpponentModel,
    /// No history has so many rounds, whatever was seen.
    Impossible {
        /// The round (from 0) that nothing can be followed by.
        round: usize,
    },
    /// The budget ran out before there was any model.
    OutOfBudget,
    /// The simulator failed.
    Fault(Fault),
}

impl fmt::Display for BeliefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BeliefError::TooManyModels(asked) => {
                write!(f, "a belief has at most {} models, not {asked}", crate::MAX_MODELS)
            }
            BeliefError::NoModels => f.write_str("a belief needs at least one model; ask for 1 or more"),
            BeliefError::ZeroLimit(what) => write!(f, "`{what}` has to be at least 1"),
            BeliefError::UnknownRole(role) => write!(f, "the game has no role number {}", role.0),
            BeliefError::NoOpponentModel => {
                f.write_str("this sampler takes other roles to play uniformly; use `trellis` with a model of opponents")
            }
            BeliefError::Impossible { round } => {
                write!(
                    f,
                    "no game of these rules lasts beyond round {round}, so the view cannot be of this game"
                )
            }
            BeliefError::OutOfBudget => f.write_str("the budget ran out before any model was found; allow more"),
            BeliefError::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for BeliefError {}

impl From<Fault> for BeliefError {
    fn from(fault: Fault) -> Self {
        BeliefError::Fault(fault)
    }
}
