//! Why a game of the catalogue could not be opened.

use crate::{Parameter, Requirement};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

/// Why a game of the catalogue could not be opened. The messages say what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogueError {
    /// There is no game of this name.
    UnknownGame {
        /// Name that was asked for.
        name: String,
        /// Names of games that are spelled similarly.
        close: Vec<&'static str>,
    },
    /// A setting is not of the form `name=value`.
    NotASetting {
        /// Name of the game.
        game: &'static str,
        /// Setting as written.
        setting: String,
        /// Parameters of the game, for people.
        takes: String,
    },
    /// The game has no parameter of this name.
    UnknownParameter {
        /// Name of the game.
        game: &'static str,
        /// Name of the parameter as written.
        parameter: String,
        /// Parameters of the game, for people.
        takes: String,
    },
    /// A parameter is given twice.
    GivenTwice {
        /// Name of the game.
        game: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
    },
    /// A value is no number, or not in the range of its parameter.
    OutOfRange {
        /// Name of the game.
        game: &'static str,
        /// The parameter.
        parameter: Parameter,
        /// Value as written.
        value: String,
    },
    /// The parameters do not fit each other.
    Requirement {
        /// Name of the game.
        game: &'static str,
        /// Requirement that does not hold.
        requirement: Requirement,
        /// Values of all parameters.
        values: BTreeMap<&'static str, i64>,
    },
    /// A template of the catalogue is broken; the tests of the catalogue exclude this.
    Template {
        /// Name of the game.
        game: String,
        /// Message of the template engine.
        message: String,
    },
}

impl fmt::Display for CatalogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CatalogueError::UnknownGame { name, close } => {
                write!(f, "no game is called `{name}`; ")?;
                match close.as_slice() {
                    [] => f.write_str("`surmise games` lists them"),
                    names => write!(f, "did you mean {}?", names.join(" or ")),
                }
            }
            CatalogueError::NotASetting { game, setting, takes } => {
                write!(f, "`{setting}` is not a parameter; write `{game}:name=value` ({takes})")
            }
            CatalogueError::UnknownParameter { game, parameter, takes } => {
                write!(f, "{game} has no parameter `{parameter}`; {takes}")
            }
            CatalogueError::GivenTwice { game, parameter } => write!(f, "`{parameter}` is given twice for {game}"),
            CatalogueError::OutOfRange { game, parameter, value } => {
                let Parameter {
                    name,
                    min,
                    max,
                    description,
                    ..
                } = parameter;
                write!(
                    f,
                    "{game}: `{name}` must be a number in {min}..{max} ({description}), not `{value}`"
                )
            }
            CatalogueError::Requirement {
                game,
                requirement,
                values,
            } => {
                let given: Vec<String> = values.iter().map(|(k, v)| format!("{k}={v}")).collect();
                let Requirement { expression, reason } = requirement;
                write!(f, "{game} needs {expression}: {reason} (here {})", given.join(", "))
            }
            CatalogueError::Template { game, message } => write!(f, "{game}: {message}"),
        }
    }
}

impl Error for CatalogueError {}
