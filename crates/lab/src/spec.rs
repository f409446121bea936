//! What an experiment is: a TOML text, and the cells that it expands to.
//!
//! A spec has sweeps. A sweep has a game, players and variables, and gives one [`Cell`] for every combination of the
//! values of its variables. A value may be a table, which sets several names at once. Names that begin with `_` only
//! fill in other texts and are not shown. The tables `quick` and `paper` of a sweep replace its variables and its
//! number of games at these sizes. A mistake is told with its line before anything is played.
//!
//! `raw` reads the TOML, `expand` makes the cells, `scope` checks names against them, `key` says what a cell is known
//! by, `problem` what can be wrong.

mod expand;
mod key;
mod problem;
mod raw;
mod scope;
#[cfg(test)]
mod tests;

use crate::contents::{Contents, NOT_REPEATABLE};
use crate::error::{Error, Result};
pub use crate::template::TemplateError;
use belief::SamplerKind;
pub use problem::SpecProblem;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The size of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// A size that takes minutes on two cores.
    Quick,
    /// The games and variables of the sweeps themselves.
    Plain,
    /// The size of the paper.
    Paper,
}

impl Size {
    /// The name of the size.
    pub fn name(self) -> &'static str {
        match self {
            Size::Plain => "plain",
            Size::Quick => "quick",
            Size::Paper => "paper",
        }
    }

    /// The size of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn parse(name: &str) -> Result<Size> {
        let all = [Size::Plain, Size::Quick, Size::Paper];
        let found = all.into_iter().find(|s| s.name() == name);
        found.ok_or_else(|| Error::UnknownSize(name.to_owned()))
    }
}

/// An experiment.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Name of the file or preset, for messages.
    pub origin: String,
    /// The TOML text.
    pub text: String,
    /// Name of the spec and of its folder.
    pub name: String,
    /// Title of the report.
    pub title: String,
    /// Paper and figure that the spec repeats.
    pub paper: Option<String>,
    /// Introduction of the report.
    pub about: String,
    /// Level of confidence of all intervals.
    pub level: f64,
    /// Names set for the whole spec, as overridden.
    pub set: Vec<(String, String)>,
    /// Cells at the wanted size.
    pub cells: Vec<Cell>,
    /// Parts that are left out, with reasons.
    pub left_out: Vec<String>,
    /// Whether the report has ratings, and of what.
    pub ladder: Option<Ladder>,
    /// Plots of the report.
    pub plots: Vec<Plot>,
    /// Claims of the paper.
    pub claims: Vec<Claim>,
    /// Numbers of the paper.
    pub references: Vec<PaperValue>,
    /// Entry of the paper for a bibliography.
    pub bibtex: Option<String>,
    /// The size at which the spec was read.
    pub size: Size,
}

/// Matches that differ in nothing but their number.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Key of the results: a hash of what decides them.
    pub key: String,
    /// The game.
    pub game: String,
    /// The players, in the order of the roles. A single player plays all roles.
    pub players: Vec<String>,
    /// Whether players change seats from match to match.
    pub swap: bool,
    /// The player whose results are reported first, from 0.
    pub focus: usize,
    /// Number of matches.
    pub games: u64,
    /// Half-width of the interval at which the cell is precise enough.
    pub until: Option<f64>,
    /// Seconds for a move; without it players stop by their own counts.
    pub seconds: Option<f64>,
    /// Seed of the matches.
    pub seed: u64,
    /// What is measured.
    pub measure: Measure,
    /// The values of the variables.
    pub vars: Vec<(String, String)>,
    /// For each variable, its entry in the sweep's `over`. Variables of one entry change together.
    pub groups: Vec<usize>,
    /// Lines of the game and of each player in the spec.
    pub lines: Vec<usize>,
    /// Why the cell may be left out if its players cannot be seated; none if it may not.
    pub optional: Option<String>,
    /// Fingerprints of the files that game and players read.
    pub contents: Vec<String>,
}

/// What is measured in a match.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Payoffs and work.
    Score,
    /// Payoffs, work, and a belief of the focused player's role, updated round by round (the 2017 study).
    Belief {
        /// The sampler.
        sampler: SamplerKind,
        /// Number of models.
        models: usize,
        /// Nodes that enumerating an information set may take; 0 enumerates none.
        nodes: u64,
        /// Models found by random games for comparison; 0 plays none.
        naive: usize,
    },
}

/// Ratings of players from the cells in which two of them change seats.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// Variable whose values have ratings of their own, such as the time for a move.
    pub by: Option<String>,
    /// Variable that names the game.
    #[serde(default = "game")]
    pub game: String,
}

fn game() -> String {
    "game".to_owned()
}

/// A plot.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// Title above the plot.
    pub title: String,
    /// Variable or measured value of the x axis.
    pub x: String,
    /// Measured value of the y axis.
    #[serde(default = "score")]
    pub y: String,
    /// Label of the x axis.
    #[serde(default)]
    pub x_label: String,
    /// Label of the y axis.
    #[serde(default)]
    pub y_label: String,
    /// Whether x is logarithmic.
    #[serde(default)]
    pub log_x: bool,
    /// Whether y is logarithmic.
    #[serde(default)]
    pub log_y: bool,
    /// Name of each curve, filled from variables.
    pub series: String,
    /// Variables and values of the cells to plot.
    #[serde(default, rename = "where")]
    pub only: BTreeMap<String, toml::Value>,
    /// Horizontal lines: labels and heights.
    #[serde(default)]
    pub lines: BTreeMap<String, f64>,
}

fn score() -> String {
    "score".to_owned()
}

/// A claim of a paper: a range for a measured quantity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim in words.
    pub says: String,
    /// Name of the measured value.
    #[serde(default = "score")]
    pub measure: String,
    /// Variables and values of the cells that the claim is about.
    #[serde(default)]
    pub of: BTreeMap<String, toml::Value>,
    /// Variables and values of the cells to subtract; in other variables they agree with the cells of `of`.
    pub minus: Option<BTreeMap<String, toml::Value>>,
    /// Variables and values of the cells to divide by, likewise.
    pub over: Option<BTreeMap<String, toml::Value>>,
    /// Lower end of the range.
    pub above: Option<f64>,
    /// Upper end of the range.
    pub below: Option<f64>,
    /// How far within the range, from each of its ends, a value is as good as none.
    pub margin: Option<f64>,
}

/// A number of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperValue {
    /// Variables and values of the cells that the number belongs to.
    #[serde(rename = "where")]
    pub only: BTreeMap<String, toml::Value>,
    /// The value.
    pub value: Option<f64>,
    /// Name of the measured value.
    #[serde(default = "score")]
    pub measure: String,
    /// Half-width of the paper's interval.
    pub pm: Option<f64>,
    /// States visited, as the paper counts them.
    pub states: Option<f64>,
    /// The paper's words, where it has no number.
    pub says: Option<String>,
}

impl Spec {
    /// Reads a spec at a size, with some of its names set anew.
    ///
    /// # Errors
    /// If the text is not a spec: with its line and what is wrong.
    pub fn read(origin: &str, text: &str, size: Size, set: &[(String, String)]) -> Result<Spec> {
        let raw = raw::read(origin, text)?;
        expand::Expander { origin, text }.spec(raw, size, set)
    }

    /// Makes the contents of files part of the keys of the cells that use them.
    pub fn seal(&mut self, contents: &Contents) {
        for cell in &mut self.cells {
            let names = std::iter::once(&cell.game).chain(&cell.players);
            cell.contents = names.filter_map(|name| contents.get(name).cloned()).collect();
            cell.key = cell.hash();
        }
    }

    /// The cell of this key.
    pub fn cell(&self, key: &str) -> Option<&Cell> {
        self.cells.iter().find(|c| c.key == key)
    }
}

impl Cell {
    /// The line of a player in the spec. A player that is repeated for several roles has one line.
    pub(crate) fn line_of_player(&self, player: usize) -> usize {
        self.lines[1 + player.min(self.players.len() - 1)]
    }

    /// Whether another run of the cell comes to the same results: no player lives elsewhere.
    pub fn is_repeatable(&self) -> bool {
        !self.contents.iter().any(|print| print == NOT_REPEATABLE)
    }

    /// The value of a variable.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Whether the variables have these values.
    pub fn matches(&self, only: &BTreeMap<String, toml::Value>) -> bool {
        only.iter().all(|(name, value)| match value {
            toml::Value::Array(several) => several.iter().any(|v| self.var(name) == Some(&plain(v))),
            one => self.var(name) == Some(&plain(one)),
        })
    }
}

/// A value as text, as it is filled into names.
pub fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(truth) => truth.to_string(),
        other => format!("{other:?}"),
    }
}
