//! Reasons for a decision if the strategies of all roles are known: what the role should believe, what each of its
//! moves is worth, and what would have to be different for another move to be best.
//!
//! The histories that explain the view of the role are followed from the start: the own moves as they were made, the
//! moves of the others with the probabilities of their strategies, and nature's moves equally likely. From each of them
//! the game is played to its end by the strategies of all roles. Both are exact while they stay within limits; beyond,
//! the values are estimated by sampled games, and a belief that is too large is an error.

mod flips;
mod values;
mod world;

use crate::strategy::Strategy;
use crate::{Error, Game};
use flips::{flips, marginals};
use game::{RoleId, Seed, StopFlag, Told};
use search::Line;
use std::collections::BTreeMap;
use world::World;

/// Reasons for a decision under the strategies of all roles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// The file of the strategies.
    pub strategy: String,
    /// Whether the strategy knows this situation. If not, its player moves at random here.
    pub known: bool,
    /// Whether the others' strategies lead here at all. If not, the belief assumes small mistakes of theirs.
    pub expected: bool,
    /// Histories that explain the view, those of equal state and equal views of all roles counted once.
    pub histories: usize,
    /// The moves, the best first.
    pub moves: Vec<MoveReason>,
    /// Facts of which another probability would make another move the best, the closest first.
    pub flips: Vec<Flip>,
}

/// A move under the strategies.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveReason {
    /// The move.
    pub mv: String,
    /// How often the strategy makes it here.
    pub frequency: f64,
    /// Expected points if the role makes it and keeps to its strategy later.
    pub value: f64,
    /// Standard error of `value`; 0 if it is exact.
    pub stderr: f64,
}

/// A fact whose probability decides between the best move and another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Flip {
    /// The fact.
    pub fluent: String,
    /// Its probability.
    pub now: f64,
    /// The probability at which both moves are worth the same.
    pub at: f64,
    /// The move that is better beyond.
    pub mv: String,
}

/// A possible state with how the game is likely to go on.
pub(crate) struct Possible {
    pub p: f64,
    pub fluents: Vec<String>,
    pub line: Line,
}

/// What [`explain`] found.
pub(crate) struct Found {
    pub reasons: Reasons,
    pub possible: Vec<Possible>,
    pub uncertain: BTreeMap<String, f64>,
}

/// Probability of a random move, where the others' strategies never lead to a view.
const MISTAKE: f64 = 1e-3;

/// What is asked.
pub(crate) struct Question<'q> {
    pub role: RoleId,
    pub told: &'q [Told],
    /// The move that is made.
    pub chosen: &'q str,
    pub top: usize,
    pub ahead: usize,
    pub seed: Seed,
    pub stop: StopFlag,
}

/// Explains a decision by the strategies of all roles.
pub(crate) fn explain(game: &Game, strategy: &Strategy, question: &Question<'_>) -> Result<Found, Error> {
    let mut world = World::new(game, strategy, question.stop.clone())?;
    let mut belief = world.belief(question, 0.0)?;
    let expected = !belief.is_empty();
    if !expected {
        belief = world.belief(question, MISTAKE)?;
    }
    if belief.is_empty() {
        return Err(Error::OtherMatch(
            "no history explains what the role was told".to_owned(),
        ));
    }
    let total: f64 = belief.iter().map(|(_, p)| p).sum();
    belief.iter_mut().for_each(|(_, p)| *p /= total);
    let own = world.policy(question.role, &belief[0].0)?;
    let known = world.knows(question.role, &belief[0].0);
    let (moves, values) = world.moves(question, &belief, &own)?;
    let fluents: Vec<Vec<String>> = belief.iter().map(|(at, _)| world.sim.fluents(&at.state)).collect();
    let uncertain = marginals(&fluents, &belief);
    let flips = match &values {
        Some(values) => flips(&fluents, &belief, &uncertain, &own, values, &world, question.role),
        None => Vec::new(),
    };
    let possible = world.possible(question, &belief)?;
    Ok(Found {
        reasons: Reasons {
            strategy: strategy.path().display().to_string(),
            known,
            expected,
            histories: belief.len(),
            moves,
            flips,
        },
        possible,
        uncertain,
    })
}
