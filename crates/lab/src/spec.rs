//! What an experiment is: a TOML text, and the cells that it expands to.
//!
//! A spec has sweeps. A sweep has a game, players and variables, and gives one [`Cell`] for every combination of the values
//! of its variables. A value may be a table, which sets several names at once. Names that begin with `_` only fill in
//! other texts and are not shown. The tables `quick` and `paper` of a sweep replace its variables and its number of games at
//! these sizes. A mistake is told with its line before anything is played.
//!
//! `raw` reads the TOML, `expand` makes the cells, `key` says what a cell is known by, `problem` what can be wrong.

mod expand;
mod key;
mod problem;
mod raw;
#[cfg(test)]
mod tests;

use crate::contents::Contents;
use crate::error::{Error, Result};
pub use crate::template::TemplateError;
use belief::SamplerKind;
pub use problem::SpecProblem;
use serde::Deserialize;
use std::collections::BTreeMap;

/// How large an experiment is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As the sweeps themselves say.
    Plain,
    /// Minutes on two cores.
    Quick,
    /// As large as in the paper.
    Paper,
}

impl Size {
    /// Its name.
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
    /// Where it was read from, for messages.
    pub origin: String,
    /// The text.
    pub text: String,
    /// Its name, and that of its folder.
    pub name: String,
    /// A line that says what it is.
    pub title: String,
    /// The paper and figure that it repeats.
    pub paper: Option<String>,
    /// What to know when reading the report.
    pub about: String,
    /// Level of confidence of all intervals.
    pub level: f64,
    /// Names set for the whole spec, as overridden.
    pub set: Vec<(String, String)>,
    /// The cells at the size asked for.
    pub cells: Vec<Cell>,
    /// Parts left out, and why.
    pub left_out: Vec<String>,
    /// What to draw.
    pub plots: Vec<Plot>,
    /// What the paper says, to be checked.
    pub claims: Vec<Claim>,
    /// The paper's numbers.
    pub references: Vec<PaperValue>,
}

/// Matches that differ in nothing but their number.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Names its results for ever.
    pub key: String,
    /// The game.
    pub game: String,
    /// The players, in the order of the roles; a single one plays them all.
    pub players: Vec<String>,
    /// Whether players change seats from match to match.
    pub swap: bool,
    /// The player whose results are reported first, from 0.
    pub focus: usize,
    /// Matches.
    pub games: u64,
    /// Half-width of the interval at which the cell is precise enough.
    pub until: Option<f64>,
    /// Where randomness starts.
    pub seed: u64,
    /// What is measured.
    pub measure: Measure,
    /// The values of the variables.
    pub vars: Vec<(String, String)>,
    /// For each of them, which entry of the sweep's `over` it came from: those of one entry change together.
    pub groups: Vec<usize>,
    /// Lines of the game and of each player in the spec.
    pub lines: Vec<usize>,
    /// If a player of that kind does not exist: why it does not matter.
    pub optional: Option<String>,
    /// Fingerprints of the files that its game and its players read, if they read any.
    pub contents: Vec<String>,
}

/// What is measured in a match besides its result.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Goals and work.
    Score,
    /// Also a belief of the focused player's role, brought up to date round by round (the 2017 study).
    Belief {
        /// The sampler.
        sampler: SamplerKind,
        /// Its models.
        models: usize,
        /// Nodes that listing an information set may take; 0 lists none.
        nodes: u64,
        /// Models drawn by random games for comparison; 0 draws none.
        naive: usize,
    },
}

/// A plot.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// Above it.
    pub title: String,
    /// A variable, or a measured value.
    pub x: String,
    /// A measured value.
    #[serde(default = "score")]
    pub y: String,
    /// Under the x axis.
    #[serde(default)]
    pub x_label: String,
    /// Beside the y axis.
    #[serde(default)]
    pub y_label: String,
    /// Whether x is logarithmic.
    #[serde(default)]
    pub log_x: bool,
    /// Whether y is logarithmic.
    #[serde(default)]
    pub log_y: bool,
    /// What the lines are called, filled from variables.
    pub series: String,
    /// Only cells with these values.
    #[serde(default, rename = "where")]
    pub only: BTreeMap<String, toml::Value>,
    /// Horizontal lines: label and height.
    #[serde(default)]
    pub lines: BTreeMap<String, f64>,
}

fn score() -> String {
    "score".to_owned()
}

/// Something that a paper says, as a range in which a measured quantity should lie.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// In words.
    pub says: String,
    /// The measured value.
    #[serde(default = "score")]
    pub measure: String,
    /// The cells it is about.
    #[serde(default)]
    pub of: BTreeMap<String, toml::Value>,
    /// What is subtracted: cells that agree with those of `of` in everything that `minus` does not say.
    pub minus: Option<BTreeMap<String, toml::Value>>,
    /// What it is divided by, likewise.
    pub over: Option<BTreeMap<String, toml::Value>>,
    /// Less than this does not agree.
    pub above: Option<f64>,
    /// More than this does not agree.
    pub below: Option<f64>,
}

/// Numbers of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperValue {
    /// The cells they belong to.
    #[serde(rename = "where")]
    pub only: BTreeMap<String, toml::Value>,
    /// The value.
    pub value: Option<f64>,
    /// What it is a value of.
    #[serde(default = "score")]
    pub measure: String,
    /// Half-width of the paper's interval.
    pub pm: Option<f64>,
    /// States visited.
    pub states: Option<f64>,
    /// In words, where there is no number.
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

    /// Makes what is in files part of the keys of the cells that use them.
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
    /// The line of a player in the spec; the last player's for those that repeat it.
    pub(crate) fn line_of_player(&self, player: usize) -> usize {
        self.lines[1 + player.min(self.players.len() - 1)]
    }

    /// The value of a variable.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Whether it has these values.
    pub fn matches(&self, only: &BTreeMap<String, toml::Value>) -> bool {
        only.iter().all(|(name, value)| match value {
            toml::Value::Array(several) => several.iter().any(|v| self.var(name) == Some(&plain(v))),
            one => self.var(name) == Some(&plain(one)),
        })
    }
}

/// A value as it is written into names.
pub fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(truth) => truth.to_string(),
        other => format!("{other:?}"),
    }
}
