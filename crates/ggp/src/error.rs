//! What can go wrong before a match is played over the wire.

use crate::BoxError;
use game::Fault;
use std::error::Error as StdError;
use std::fmt;

/// Why a match cannot be hosted or joined.
#[derive(Debug)]
pub enum Error {
    /// No variant of the protocol has this name.
    UnknownVariant(String),
    /// The variant tells every move to every role, and the game has hidden information.
    HiddenInformation,
    /// The rules of a START are not a list.
    RulesNotAList,
    /// The rules have no such role.
    UnknownRole(String),
    /// A role has no legal move in the initial state.
    NoFirstMove,
    /// The factory cannot simulate these rules.
    Simulator(BoxError),
    /// The simulator failed.
    Fault(Fault),
    /// A panic: a bug in this program.
    Panicked,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownVariant(name) => {
                write!(f, "there is no protocol `{name}`; there are gdl2b, gdl2a and gdl1")
            }
            Error::HiddenInformation => {
                f.write_str("gdl1 tells everybody every move, but this game has `sees` rules; use gdl2b")
            }
            Error::RulesNotAList => f.write_str("the rules are not a list"),
            Error::UnknownRole(role) => write!(f, "the rules have no role `{role}`"),
            Error::NoFirstMove => f.write_str("there is no legal move to begin with"),
            Error::Simulator(error) => error.fmt(f),
            Error::Fault(fault) => fault.fmt(f),
            Error::Panicked => f.write_str("reading the rules broke down; please report this"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            // The text above is that of the error itself, so its cause comes next.
            Error::Simulator(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::Fault(fault)
    }
}
