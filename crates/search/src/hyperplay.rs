//! HyperPlay: models of the hidden state, and a perfect-information player on each of them.
//!
//! Schofield, Cerexhe and Thielscher, *HyperPlay: A Solution to General Game Playing with Imperfect Information* (AAAI
//! 2012). A sampler keeps models of the game that explain the role's view. Each legal move is valued in every model,
//! and the values are averaged by the models' weights. A move that is illegal in a model counts zero there. The player
//! treats each model as a fact, so it assigns no value to information.
//!
//! Moves are valued by random games from all models together, or by any other [`Insight`], one model after the other.
//!
//! Where we differ: models come from any sampler of [`belief`], by default the exact one. Models that lead to the same
//! state are merged. Where the sampler holds fewer states possible than there would be models, all of these states are
//! used with their exact probabilities. The full playout budget is spent even when all models agree.

use crate::Tools;
use crate::believer::Believer;
use crate::flat::{Guess, PlayoutPlan, repeats, weigh};
use crate::perfect::{Insight, Worth, decision};
use crate::value_table::{best_first, by_mean};
use crate::view_opponents::ViewOpponents;
use belief::{BeliefError, OpponentModel, Options, SamplerKind};
use game::{Budget, Decision, Fault, Meter, MoveId, Player, Seed, State, Told};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Plays the move with the best expected value over sampled models.
pub struct HyperPlay {
    believer: Believer,
    models: usize,
    by: By,
}

/// How moves are valued in models.
pub enum By {
    /// Random games: so many for each legal move in each model; if not given, as many as there is time for.
    Playouts(Option<u64>),
    /// An insight into each model.
    Insight(Box<dyn Insight>),
}

/// Playouts for each legal move in each model if neither a number nor a time is given.
const USUAL_PLAYOUTS: u64 = 16;

impl HyperPlay {
    /// A player with this sampler.
    ///
    /// # Errors
    /// If the options make no sense, such as no models at all.
    pub fn new(tools: Tools, kind: SamplerKind, options: &Options, by: By) -> Result<HyperPlay, BeliefError> {
        Ok(HyperPlay {
            believer: Believer::new(tools, kind, options)?,
            models: options.models,
            by,
        })
    }

    /// Sets models of the other roles, in place of uniform play: for the past (in beliefs) and for the future (in
    /// playouts).
    ///
    /// # Errors
    /// If the sampler supports uniform play only.
    pub fn set_opponents(
        &mut self,
        past: Option<Box<dyn OpponentModel>>,
        future: Option<Box<dyn OpponentModel>>,
    ) -> Result<(), BeliefError> {
        self.believer.tools.others = future;
        past.map_or(Ok(()), |past| self.believer.set_opponents(past))
    }

    /// Sets strategies of the other roles, by which models are weighed.
    pub fn set_views(&mut self, views: ViewOpponents) {
        self.believer.set_views(views);
    }

    fn guesses(&self) -> Vec<Guess> {
        if let Some(states) = self.believer.few_states(self.models) {
            return merge(states.into_iter());
        }
        let models = self.believer.histories(0);
        merge(models.into_iter().map(|m| (m.state, m.weight)))
    }
}

impl Player for HyperPlay {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        self.believer.update(told, budget)?;
        let guesses = self.guesses();
        let tools = &mut self.believer.tools;
        let seed = tools.seed.child("hp").nth(told.len() as u64);
        let mut decision = match &mut self.by {
            By::Playouts(playouts) => {
                let each = budget.count(*playouts, USUAL_PLAYOUTS);
                let playouts = each.saturating_mul(repeats(self.models, guesses.len()));
                weigh(tools, &guesses, PlayoutPlan { playouts, seed }, budget)?
            }
            By::Insight(insight) => {
                let worths = average(insight.as_mut(), tools, &guesses, seed, budget)?;
                decision(tools, worths)
            }
        };
        decision.belief = self.believer.belief().report.to_string();
        Ok(decision)
    }

    fn meter(&self) -> Meter {
        let mut meter = self.believer.meter();
        if let By::Insight(insight) = &self.by {
            meter.touches += insight.remembered();
        }
        meter
    }
}

/// Every state once, in the order of first appearance, with all of its weight.
fn merge(states: impl Iterator<Item = (State, f64)>) -> Vec<Guess> {
    let mut places: FxHashMap<State, usize> = FxHashMap::default();
    let mut guesses: Vec<Guess> = Vec::new();
    for (state, weight) in states.filter(|(_, weight)| *weight > 0.0) {
        match places.get(&state) {
            Some(&at) => guesses[at].weight += weight,
            None => {
                places.insert(state.clone(), guesses.len());
                guesses.push(Guess { state, weight });
            }
        }
    }
    guesses
}

/// The values of the moves of one guess.
struct Valued {
    weight: f64,
    worths: Vec<Worth>,
}

impl Valued {
    /// Whether every legal move was looked at.
    fn is_complete(&self) -> bool {
        self.worths.iter().all(|worth| worth.visits > 0)
    }
}

/// The values of moves over all guesses. The time is divided evenly; where it does not suffice, the likeliest guesses
/// count.
fn average(
    insight: &mut dyn Insight,
    tools: &mut Tools,
    guesses: &[Guess],
    seed: Seed,
    budget: &Budget,
) -> Result<Vec<Worth>, Fault> {
    let mut order: Vec<usize> = (0..guesses.len()).collect();
    order.sort_by(|&a, &b| guesses[b].weight.total_cmp(&guesses[a].weight));
    let mut valued: Vec<Valued> = Vec::with_capacity(order.len());
    for (number, &at) in order.iter().enumerate() {
        if !valued.is_empty() && budget.stop.is_raised() {
            break;
        }
        let guess = &guesses[at];
        let share = budget.part(1.0 / (order.len() - number) as f64);
        let legal = tools.legal(&guess.state, tools.role)?;
        if !legal.is_empty() {
            let worths = insight.value(tools, &guess.state, seed.nth(number as u64), &share)?;
            let weight = guess.weight;
            valued.push(Valued { weight, worths });
        }
    }
    if budget.timed && valued.iter().any(Valued::is_complete) {
        valued.retain(Valued::is_complete);
    }
    if valued.iter().all(|valued| valued.worths.is_empty()) {
        return Err(Fault::no_move(None));
    }
    Ok(ranked(&valued, seed))
}

/// Expected values, the best move first. A move counts zero in guesses in which it is illegal.
fn ranked(valued: &[Valued], seed: Seed) -> Vec<Worth> {
    let total: f64 = valued.iter().map(|valued| valued.weight).sum();
    let mut sums: BTreeMap<MoveId, Worth> = BTreeMap::new();
    for Valued { weight, worths } in valued {
        for worth in worths {
            let sum = sums.entry(worth.mv).or_insert(Worth {
                mean: 0.0,
                stderr: 0.0,
                visits: 0,
                ..*worth
            });
            sum.mean += weight * worth.mean;
            sum.stderr += (weight * worth.stderr).powi(2);
            sum.visits += worth.visits;
        }
    }
    let finish = |sum: Worth| Worth {
        mean: sum.mean / total,
        stderr: sum.stderr.sqrt() / total,
        ..sum
    };
    best_first(sums.into_values().map(finish), &mut seed.child("ties").rng(), by_mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::{RoleId, StopFlag};

    /// Values two moves in the first guess; there is no time for the second move in any other.
    struct Hurried {
        asked: usize,
    }

    impl Insight for Hurried {
        fn value(&mut self, tools: &mut Tools, state: &State, _: Seed, _: &Budget) -> Result<Vec<Worth>, Fault> {
            self.asked += 1;
            let legal = tools.legal(state, tools.role)?;
            let worth = |(number, &mv): (usize, &MoveId)| Worth {
                mv,
                mean: if self.asked == 1 {
                    [40.0, 60.0][number]
                } else {
                    [40.0, 0.0][number]
                },
                stderr: 0.0,
                visits: u64::from(self.asked == 1 || number == 0),
            };
            Ok(legal.iter().enumerate().map(worth).collect())
        }

        fn name(&self) -> &'static str {
            "hurried"
        }
    }

    #[test]
    fn moves_that_there_was_no_time_for_are_not_losses() {
        let text = "(role r) (legal r left) (legal r right) (init start) (goal r 0)
            (<= (next over) (does r ?m)) (<= terminal (true over))";
        let rules = gdl::read(text, &gdl::Options::default()).rules;
        let mut tools = Tools {
            sim: Box::new(ground::Reference::new(&rules).unwrap()),
            batch: None,
            playouts: None,
            others: None,
            role: RoleId(0),
            seed: Seed(1),
        };
        let state = tools.sim.initial().unwrap();
        let guesses = [0.5, 0.5].map(|weight| Guess {
            state: state.clone(),
            weight,
        });
        let budget = Budget::timed(StopFlag::default());
        let worths = average(&mut Hurried { asked: 0 }, &mut tools, &guesses, Seed(1), &budget).unwrap();
        let means: Vec<(&str, f64)> = worths.iter().map(|w| (tools.text(w.mv), w.mean)).collect();
        assert_eq!(means, [("right", 60.0), ("left", 40.0)]);
    }
}
