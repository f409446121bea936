//! What plays: a player knows the rules and what it was told, nothing else.

use crate::{Budget, Fault, Meter};

/// One round as a role was told of it, in canonical text: the form in which it crosses from referee to player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The role's own move, as executed: the referee may have replaced the one it asked for.
    pub own: String,
    /// What it perceived, sorted. An empty set is information too.
    pub sees: Vec<String>,
}

impl Told {
    /// In place of a move, or as the only percept: not known. No ground term is written like this.
    pub const UNKNOWN: &str = "?";

    /// A round with the role's own move and its percepts.
    pub fn new<S: Into<String>>(own: impl Into<String>, sees: impl IntoIterator<Item = S>) -> Told {
        let mut sees: Vec<String> = sees.into_iter().map(Into::into).collect();
        sees.sort();
        Told { own: own.into(), sees }
    }

    /// A round of which nothing was told but, perhaps, the own move: a message got lost.
    pub fn unobserved(own: Option<String>) -> Told {
        Told {
            own: own.unwrap_or_else(|| Told::UNKNOWN.to_owned()),
            sees: vec![Told::UNKNOWN.to_owned()],
        }
    }

    /// Whether what was perceived is not known.
    pub fn is_unobserved(&self) -> bool {
        self.sees.len() == 1 && self.sees[0] == Told::UNKNOWN
    }
}

/// A move that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its canonical text.
    pub mv: String,
    /// The payoff it promises, 0..=100.
    pub mean: f64,
    /// Standard error of that.
    pub stderr: f64,
    /// Playouts it rests on.
    pub visits: u64,
}

/// A choice and what it rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The move, in canonical text.
    pub mv: String,
    /// What was considered, best first; empty for players that do not weigh moves.
    pub candidates: Vec<Candidate>,
    /// The belief it rests on, for people.
    pub belief: String,
    /// The probabilities with which the move was drawn, by move; empty for players that do not say.
    pub policy: Vec<(String, f64)>,
}

impl Decision {
    /// A move without reasons.
    pub fn plain(mv: impl Into<String>) -> Decision {
        Decision {
            mv: mv.into(),
            ..Decision::default()
        }
    }
}

/// Somebody who plays one role in one match.
pub trait Player: Send {
    /// Chooses a move, knowing everything the role was told so far. Being asked means that the game is not over.
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault>;

    /// Work done so far in this match.
    fn meter(&self) -> Meter;
}

/// Somebody who is shown the true state: for experiments only, and by a different door.
pub trait Cheat: Send {
    /// Chooses a move in a state, given as the canonical text of its fluents.
    fn choose_knowing(&mut self, fluents: &[String], budget: &Budget) -> Result<Decision, Fault>;

    /// Work done so far in this match.
    fn meter(&self) -> Meter;
}
