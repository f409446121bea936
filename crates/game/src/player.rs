//! Players: a player knows the rules and what its role was told, nothing else.

use crate::{Budget, Fault, Meter, StopFlag};

/// One round as a role was told of it, in canonical text: the form in which the referee hands it to a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The role's own move, as executed: the referee may have replaced the move that the player chose.
    pub own: String,
    /// The role's percepts, sorted. An empty set is information too.
    pub sees: Vec<String>,
}

impl Told {
    /// Stands for a move, or for all percepts, that are not known. No ground term is written like this.
    pub const UNKNOWN: &str = "?";

    /// A round with the role's own move and its percepts.
    pub fn new<S: Into<String>>(own: impl Into<String>, sees: impl IntoIterator<Item = S>) -> Told {
        let mut sees: Vec<String> = sees.into_iter().map(Into::into).collect();
        sees.sort();
        Told { own: own.into(), sees }
    }

    /// A round whose message was lost: the percepts are not known, and perhaps the own move is not either.
    pub fn unobserved(own: Option<String>) -> Told {
        Told {
            own: own.unwrap_or_else(|| Told::UNKNOWN.to_owned()),
            sees: vec![Told::UNKNOWN.to_owned()],
        }
    }

    /// Whether the percepts are not known.
    pub fn is_unobserved(&self) -> bool {
        self.sees.len() == 1 && self.sees[0] == Told::UNKNOWN
    }
}

/// A move that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The move, in canonical text.
    pub mv: String,
    /// Estimated payoff, 0..=100.
    pub mean: f64,
    /// Standard error of the estimate.
    pub stderr: f64,
    /// Playouts behind the estimate.
    pub visits: u64,
}

/// A chosen move and its reasons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The move, in canonical text.
    pub mv: String,
    /// The candidates, best first; empty for players that do not weigh moves.
    pub candidates: Vec<Candidate>,
    /// The belief behind the choice, for people.
    pub belief: String,
    /// The probabilities with which the move was drawn, by move; empty for players that do not tell them.
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

/// A player of one role in one match.
pub trait Player: Send {
    /// Work before the first move, until it is done or the flag is raised. A match without it is valid.
    fn prepare(&mut self, stop: &StopFlag) -> Result<(), Fault> {
        let _ = stop;
        Ok(())
    }

    /// Chooses a move, given everything the role was told so far. The game is not over when this is called.
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault>;

    /// Tells the player that the game is over, with everything the role was told, the last round included. Nothing else
    /// is revealed. A match that was broken off does not end like this.
    fn over(&mut self, told: &[Told]) {
        let _ = told;
    }

    /// Work done so far in this match.
    fn meter(&self) -> Meter;
}

/// A player that is shown the true state: for experiments only, and by a trait of its own.
pub trait Cheat: Send {
    /// Chooses a move in a state, given as the canonical text of its fluents.
    fn choose_knowing(&mut self, fluents: &[String], budget: &Budget) -> Result<Decision, Fault>;

    /// Work done so far in this match.
    fn meter(&self) -> Meter;
}
