//! What is wrong with a player's name or options.

use super::options::OptionKind;
use super::registry;
use crate::Error;
use std::fmt;

/// What is wrong with a player's name or options.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlayerSpecError {
    /// There is no player of this name.
    UnknownPlayer {
        /// The name.
        name: String,
        /// A player with a similar name.
        suggestion: Option<&'static str>,
    },
    /// The player has no such option.
    UnknownOption {
        /// The player, as it was written.
        player: String,
        /// The option.
        option: String,
        /// An option with a similar name.
        suggestion: Option<&'static str>,
        /// The options that there are.
        options: Vec<&'static str>,
    },
    /// More values without a name than the player takes.
    TooMany {
        /// The player, as it was written.
        player: String,
        /// The first that is too much.
        value: String,
        /// The options that need no name.
        places: &'static [&'static str],
    },
    /// An option is given twice.
    Repeated {
        /// The player, as it was written.
        player: String,
        /// The option.
        option: &'static str,
    },
    /// A value is out of range or of the wrong kind.
    WrongValue {
        /// The player, as it was written.
        player: String,
        /// The option.
        option: &'static str,
        /// The value.
        value: String,
        /// What it must be.
        must: String,
    },
    /// Two options exclude each other.
    Conflict {
        /// The player, as it was written.
        player: String,
        /// One of them.
        option: &'static str,
        /// The other.
        with: &'static str,
    },
    /// An option that must be given is missing.
    Missing {
        /// The player, as it was written.
        player: String,
        /// The option.
        option: &'static str,
        /// What it should be.
        kind: OptionKind,
    },
    /// A file that the player needs cannot be used.
    File(Box<Error>),
}

impl fmt::Display for PlayerSpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerSpecError::UnknownPlayer { name, suggestion } => {
                write!(f, "there is no player `{name}`; ")?;
                match suggestion {
                    Some(other) => write!(f, "did you mean `{other}`? `surmise players` lists all"),
                    None => write!(f, "there are {}", registry::names().collect::<Vec<_>>().join(", ")),
                }
            }
            PlayerSpecError::UnknownOption {
                player,
                option,
                suggestion,
                options,
            } => {
                write!(f, "`{player}` does not take `{option}`; ")?;
                match (suggestion, &options[..]) {
                    (Some(other), _) => write!(f, "did you mean `{other}`?"),
                    (None, []) => f.write_str("it has no options"),
                    (None, _) => write!(f, "its options are {}", options.join(", ")),
                }
            }
            PlayerSpecError::TooMany { player, value, places } => {
                write!(f, "`{player}` does not take `{value}` without a name; ")?;
                match places {
                    [] => f.write_str("write KEY=VALUE"),
                    places => write!(f, "without names it takes {}", places.join(", ")),
                }
            }
            PlayerSpecError::Repeated { player, option } => write!(f, "`{player}` has `{option}` twice"),
            PlayerSpecError::WrongValue {
                player,
                option,
                value,
                must,
            } => write!(f, "`{player}`: {option} {must}, not `{value}`"),
            PlayerSpecError::Conflict { player, option, with } => {
                write!(f, "`{player}` does not take `{option}` together with `{with}`")
            }
            PlayerSpecError::Missing { player, option, kind } => {
                write!(f, "`{player}` needs {option}: {kind}")
            }
            PlayerSpecError::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PlayerSpecError {}
