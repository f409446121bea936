//! What can be wrong in a spec.

use crate::template::TemplateError;
use belief::SamplerKind;
use std::fmt;

/// Most games of a cell, most cells of a spec, most models of a belief: a larger number is a slip of the pen.
pub(super) const MOST_GAMES: u64 = 10_000_000;
pub(super) const MOST_CELLS: usize = 100_000;
pub(super) const MOST_MODELS: usize = 1_000_000;
/// Seconds for a move: at least, and at most.
pub(super) const LEAST_SECONDS: f64 = 0.01;
pub(super) const MOST_SECONDS: f64 = 3_600.0;

/// What is wrong in a spec.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecProblem {
    /// The text is not TOML, or has unknown or missing fields: what the reader of TOML says.
    Toml(String),
    /// A name that cannot name a folder.
    Name(String),
    /// A level of confidence that is none.
    Level(f64),
    /// A name that was set and is not under `[set]`.
    UnknownSetting {
        /// The name.
        name: String,
        /// Names that are there.
        known: Vec<String>,
    },
    /// No sweep, so nothing to play.
    NoSweep,
    /// A name in `needs` that is not under `[set]`.
    UnknownNeed(String),
    /// A variable that only a size has.
    UnknownVariable(String),
    /// A variable without a list of values.
    NotAList(String),
    /// A variable with an empty list of values.
    NoValues(String),
    /// More cells than anybody means to play.
    TooManyCells,
    /// A text that cannot be filled.
    Template(TemplateError),
    /// A number of games that cannot be played.
    Games(u64),
    /// An `until` that is not a positive number.
    Until,
    /// A sweep without players.
    NoPlayers,
    /// `swap` with a single player.
    SwapWithOnePlayer,
    /// `swap` with games that are not a multiple of the seats.
    SwapGames {
        /// Games.
        games: u64,
        /// Seats.
        seats: usize,
    },
    /// A `focus` that is not a player.
    Focus {
        /// Number of players.
        seats: usize,
    },
    /// A sampler that does not exist.
    UnknownSampler(String),
    /// A number of models that a belief cannot have.
    Models(usize),
    /// `pairs` with fewer than two players, or beside a variable of that name.
    Pairs,
    /// A time for a move that is none.
    Seconds(String),
    /// A measured value that does not exist.
    UnknownMeasure {
        /// Its name.
        name: String,
        /// A value with a similar name.
        suggestion: Option<&'static str>,
    },
    /// A name that is no variable of any sweep.
    NotAVariable {
        /// The name.
        name: String,
        /// The variables that there are.
        known: Vec<String>,
        /// Whether a measured value would do as well.
        measures: bool,
    },
    /// Variables and values that no cell has, at no size.
    NoCell {
        /// The field that asks for them.
        field: &'static str,
        /// They, as texts.
        wanted: String,
    },
    /// A claim that compares cells, and no cell of `of` has a partner.
    NoPartner {
        /// `minus` or `over`.
        field: &'static str,
    },
    /// A claim without `above` and `below`.
    ClaimWithoutRange,
    /// A claim with both `minus` and `over`.
    ClaimWithBoth,
    /// A margin that is not positive, or leaves nothing of the range.
    Margin(f64),
}

impl From<TemplateError> for SpecProblem {
    fn from(error: TemplateError) -> SpecProblem {
        SpecProblem::Template(error)
    }
}

impl fmt::Display for SpecProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecProblem::Toml(message) => f.write_str(message),
            SpecProblem::Name(name) => write!(
                f,
                "the name `{name}` is to name a folder: use letters, digits, `-`, `_` and `.`"
            ),
            SpecProblem::Level(level) => write!(f, "the level {level} is not between 0.5 and 1"),
            SpecProblem::UnknownSetting { name, known } => {
                write!(f, "`{name}` cannot be set; it has: {}", known.join(", "))
            }
            SpecProblem::NoSweep => f.write_str("there is no `[[sweep]]`, so there is nothing to play"),
            SpecProblem::UnknownNeed(name) => write!(f, "nothing called `{name}` is under `[set]`"),
            SpecProblem::UnknownVariable(name) => write!(f, "`{name}` is not a variable of the sweep"),
            SpecProblem::NotAList(name) => write!(f, "`{name}` needs a list of values"),
            SpecProblem::NoValues(name) => write!(f, "`{name}` has no values"),
            SpecProblem::TooManyCells => write!(f, "this makes more than {MOST_CELLS} cells"),
            SpecProblem::Template(error) => error.fmt(f),
            SpecProblem::Games(games) => write!(f, "{games} games cannot be played; choose 1 to {MOST_GAMES}"),
            SpecProblem::Until => f.write_str("`until` is half the width of an interval and has to be positive"),
            SpecProblem::NoPlayers => f.write_str("there are no players"),
            SpecProblem::SwapWithOnePlayer => f.write_str("with `swap` every seat needs a player of its own"),
            SpecProblem::SwapGames { games, seats } => write!(
                f,
                "with `swap` the games ({games}) have to be a multiple of the seats ({seats})"
            ),
            SpecProblem::Focus { seats } => write!(f, "`focus` is a player from 1 to {seats}"),
            SpecProblem::UnknownSampler(name) => {
                let names = SamplerKind::ALL.map(|kind| kind.to_string());
                write!(f, "there is no sampler `{name}`; choose one of {}", names.join(", "))
            }
            SpecProblem::Models(models) => {
                write!(
                    f,
                    "a belief of {models} models cannot be kept; choose 1 to {MOST_MODELS}"
                )
            }
            SpecProblem::Pairs => f.write_str("`pairs` needs two players at least, and no variable `pairs` beside it"),
            SpecProblem::Seconds(text) => write!(
                f,
                "`seconds` is the time for a move, from {LEAST_SECONDS} to {MOST_SECONDS}, not `{text}`"
            ),
            SpecProblem::UnknownMeasure { name, suggestion } => {
                write!(f, "nothing called `{name}` is measured; ")?;
                match suggestion {
                    Some(other) => write!(f, "did you mean `{other}`?"),
                    None => f.write_str("docs/lab.md lists the measured values"),
                }
            }
            SpecProblem::NotAVariable { name, known, measures } => {
                let or = if *measures { " and no measured value" } else { "" };
                write!(
                    f,
                    "`{name}` is no variable of a sweep{or}; there are: {}",
                    known.join(", ")
                )
            }
            SpecProblem::NoCell { field, wanted } => {
                write!(f, "no cell has what `{field}` asks for ({wanted}), at no size")
            }
            SpecProblem::NoPartner { field } => write!(
                f,
                "no cell of `of` has a cell to compare with: one that has the values of `{field}` and is the same in \
                 all other variables"
            ),
            SpecProblem::ClaimWithoutRange => f.write_str("a claim needs `above`, `below` or both"),
            SpecProblem::ClaimWithBoth => f.write_str("a claim has `minus` or `over`, not both"),
            SpecProblem::Margin(margin) => write!(
                f,
                "the margin {margin} is not above 0, or leaves nothing between `above` and `below`"
            ),
        }
    }
}

impl std::error::Error for SpecProblem {}
