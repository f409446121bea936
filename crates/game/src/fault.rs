//! Why a simulator or a player could not answer.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Why a simulator or a player could not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Evaluation exceeded its limits (`E-RUN-BLOWUP`).
    Blowup {
        /// Relation being evaluated, with its number of arguments, such as `islist/1`.
        relation: String,
        /// The limit that was exceeded, for people.
        limit: String,
    },
    /// The stop flag was raised before there was an answer.
    Stopped,
    /// A role has no legal move in a state that is not terminal (`E-NO-MOVE`).
    NoMove {
        /// Name of the role, if it is known.
        role: Option<String>,
        /// Number of the round, counted from 1, if it is known.
        round: Option<usize>,
    },
    /// A relation depends on its own negation in some state (`E-NEG-CYCLE`).
    NegativeCycle {
        /// Relation with its number of arguments.
        relation: String,
    },
    /// A relation of the rules cannot be evaluated; [`Fault::Blowup`] and [`Fault::NegativeCycle`] have their own
    /// cases.
    Rules(String),
    /// A state, role, move or number that belongs to another game or another simulator: a mistake of the calling
    /// program.
    Foreign(&'static str),
    /// No state is consistent with what a role was told.
    NoState,
    /// A player that needs to know the state was asked to play a game that hides it.
    Hidden {
        /// Name of the player.
        player: String,
    },
    /// A strategy, network or other file belongs to another game; the text says which of its names is unknown here.
    OtherGame(String),
    /// A player could not decide, for a reason of its own.
    Player(PlayerError),
}

/// An error of a player's own making, as [`Fault::Player`] carries it.
#[derive(Clone, Debug)]
pub struct PlayerError(Arc<dyn Error + Send + Sync>);

impl Fault {
    /// A player's own error.
    pub fn player(error: impl Into<Box<dyn Error + Send + Sync>>) -> Fault {
        Fault::Player(PlayerError(Arc::from(error.into())))
    }

    /// A role without a legal move, in a round that is not known.
    pub fn no_move(role: Option<&str>) -> Fault {
        Fault::NoMove {
            role: role.map(str::to_owned),
            round: None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Blowup { relation, limit } => write!(f, "E-RUN-BLOWUP: evaluating {relation} exceeded {limit}"),
            Fault::Stopped => f.write_str("stopped"),
            Fault::NoMove { role, round } => {
                let role = role.as_deref().unwrap_or("a role");
                write!(f, "E-NO-MOVE: {role} has no legal move")?;
                round.map_or(Ok(()), |round| write!(f, " in round {round}"))
            }
            Fault::NegativeCycle { relation } => {
                write!(f, "E-NEG-CYCLE: {relation} depends on its own negation in this state")
            }
            Fault::Rules(what) => f.write_str(what),
            Fault::Foreign(what) => write!(f, "{what} belongs to another game"),
            Fault::NoState => f.write_str("no state is consistent with what the role was told"),
            Fault::Hidden { player } => {
                write!(f, "{player} needs a game of complete information; use hp for this one")
            }
            Fault::OtherGame(what) => write!(f, "the file is of another game: {what}"),
            Fault::Player(error) => error.0.fmt(f),
        }
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // The text of the error is this fault's own; what caused it is not.
            Fault::Player(error) => error.0.source(),
            _ => None,
        }
    }
}

impl PartialEq for PlayerError {
    fn eq(&self, other: &PlayerError) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl Eq for PlayerError {}
