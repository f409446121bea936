//! Players without search: the baseline of every experiment.
//!
//! They too know only what they were told, and the legal moves may depend on what they were not told. They keep one
//! model of the game and play a move that is legal in it. If that move is illegal in the true state, the referee
//! replaces it.

use crate::Tools;
use crate::believer::Believer;
use belief::{BeliefError, Options, SamplerKind};
use game::{Budget, Decision, Fault, Meter, Player, Told};

/// Plays a uniformly random legal move.
pub struct Random(Believer);

/// Plays the first legal move, in the order of canonical text.
pub struct First(Believer);

/// Nodes that the search for the model may touch at first.
const SEARCH: u64 = 5_000;

fn one_model(tools: Tools) -> Result<Believer, BeliefError> {
    let options = Options {
        models: 1,
        offline_after: SEARCH,
        ..Options::default()
    };
    Believer::new(tools, SamplerKind::Hyperplay, &options)
}

impl Random {
    /// A player with these tools.
    ///
    /// # Errors
    /// None in practice: one model is always allowed.
    pub fn new(tools: Tools) -> Result<Random, BeliefError> {
        one_model(tools).map(Random)
    }
}

impl First {
    /// A player with these tools.
    ///
    /// # Errors
    /// None in practice: one model is always allowed.
    pub fn new(tools: Tools) -> Result<First, BeliefError> {
        one_model(tools).map(First)
    }
}

impl Player for Random {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.0.update(told, budget)?;
        let legal = self.0.legal()?;
        let mut rng = self.0.tools.seed.child("choose").nth(told.len() as u64).rng();
        let mv = *rng.pick(&legal);
        Ok(Decision::plain(self.0.tools.text(mv)))
    }

    fn meter(&self) -> Meter {
        self.0.meter()
    }
}

impl Player for First {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.0.update(told, budget)?;
        let legal = self.0.legal()?;
        Ok(Decision::plain(self.0.tools.text(legal[0])))
    }

    fn meter(&self) -> Meter {
        self.0.meter()
    }
}
