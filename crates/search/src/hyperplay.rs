//! HyperPlay: guesses at the hidden state, and a perfect-information player on each of them.
//!
//! Schofield, Cerexhe and Thielscher, *HyperPlay: A Solution to General Game Playing with Imperfect Information* (AAAI
//! 2012). Models of the game that explain the role's view are kept by a sampler; each legal move is valued by random
//! games in every model, and the values are averaged by the models' weights. A move that is illegal in a model counts
//! zero there. The player treats each guess as a fact, so it never pays for information.
//!
//! Where we differ: models come from any sampler of [`belief`], by default the exact one, and where that holds fewer
//! states possible than there would be models, all of them are used with their exact probabilities.

use crate::Tools;
use crate::believer::Believer;
use crate::flat::{Guess, Plan, weigh};
use belief::{BeliefError, Options, SamplerKind};
use game::{Budget, Decision, Fault, Meter, Player, Told};

/// Plays by playouts from sampled models.
pub struct HyperPlay {
    believer: Believer,
    models: usize,
    playouts: u64,
}

impl HyperPlay {
    /// So many playouts for each legal move in each model.
    ///
    /// # Errors
    /// If the options make no sense, such as no models at all.
    pub fn new(tools: Tools, kind: SamplerKind, options: &Options, playouts: u64) -> Result<HyperPlay, BeliefError> {
        Ok(HyperPlay {
            believer: Believer::new(tools, kind, options)?,
            models: options.models,
            playouts,
        })
    }

    fn guesses(&self) -> Vec<Guess> {
        if let Some(states) = self.believer.few_states(self.models) {
            let guess = |(state, weight)| Guess { state, weight };
            return states.into_iter().map(guess).collect();
        }
        let models = &self.believer.belief().models;
        models
            .iter()
            .filter(|m| m.weight > 0.0)
            .map(|m| Guess {
                state: m.state.clone(),
                weight: m.weight,
            })
            .collect()
    }
}

impl Player for HyperPlay {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.believer.update(told, budget)?;
        let guesses = self.guesses();
        let plan = Plan {
            playouts: self.playouts,
            seed: self.believer.tools.seed.child("hp").nth(told.len() as u64),
        };
        let mut decision = weigh(&mut self.believer.tools, &guesses, plan, budget)?;
        decision.belief = self.believer.belief().report.to_string();
        Ok(decision)
    }

    fn meter(&self) -> Meter {
        self.believer.meter()
    }
}
