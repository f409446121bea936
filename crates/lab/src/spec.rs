//! What an experiment is: a TOML text, and the cells it expands to.
//!
//! A spec has sweeps; a sweep has a game, players and variables, and gives one [`Cell`] for every combination of the variables' values.
//! A value may be a table, which sets several names at once; names that begin with `_` only fill in others and are not shown. The tables `quick` and `paper` of a sweep replace its variables
//! and its number of games at these sizes. Mistakes are told with the line they are in, before anything is played.
//!
//! The key of a cell is a hash of what decides its results (game, players, seats, seed, measure, and the contents of files that those read) and of nothing else, so that changing a spec
//! leaves the other cells' results valid, and asking for more games keeps those that were played.

use crate::contents::Contents;
use crate::error::{Error, Result};
pub use crate::template::TemplateError;
use crate::template::fill;
use belief::SamplerKind;
use game::Seed;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSpec {
    name: Spanned<String>,
    title: String,
    paper: Option<String>,
    #[serde(default)]
    about: String,
    #[serde(default = "one")]
    seed: u64,
    level: Option<Spanned<f64>>,
    #[serde(default)]
    set: BTreeMap<String, String>,
    sweep: Vec<Spanned<RawSweep>>,
    #[serde(default)]
    plot: Vec<Plot>,
    #[serde(default)]
    claim: Vec<Spanned<Claim>>,
    #[serde(default)]
    reference: Vec<PaperValue>,
}

fn one() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSweep {
    game: Spanned<String>,
    players: Vec<Spanned<String>>,
    #[serde(default)]
    swap: bool,
    focus: Option<Spanned<usize>>,
    games: Spanned<u64>,
    until: Option<Spanned<f64>>,
    #[serde(default)]
    over: toml::Table,
    quick: Option<RawSize>,
    paper: Option<RawSize>,
    belief: Option<Spanned<RawBelief>>,
    needs: Option<Spanned<String>>,
    optional: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSize {
    games: Option<Spanned<u64>>,
    until: Option<Spanned<f64>>,
    #[serde(default)]
    over: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBelief {
    #[serde(default = "hyperplay")]
    sampler: String,
    models: usize,
    #[serde(default)]
    nodes: u64,
    #[serde(default)]
    naive: usize,
}

fn hyperplay() -> String {
    "hyperplay".to_owned()
}

/// More than this is a slip of the pen.
const MOST_GAMES: u64 = 10_000_000;
const MOST_CELLS: usize = 100_000;
const MOST_MODELS: usize = 1_000_000;

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
    /// A claim without `above` and `below`.
    ClaimWithoutRange,
    /// A claim with both `minus` and `over`.
    ClaimWithBoth,
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
            SpecProblem::ClaimWithoutRange => f.write_str("a claim needs `above`, `below` or both"),
            SpecProblem::ClaimWithBoth => f.write_str("a claim has `minus` or `over`, not both"),
        }
    }
}

impl std::error::Error for SpecProblem {}

impl Spec {
    /// Reads a spec at a size, with some of its names set anew.
    ///
    /// # Errors
    /// If the text is not a spec: with its line and what is wrong.
    pub fn read(origin: &str, text: &str, size: Size, set: &[(String, String)]) -> Result<Spec> {
        let raw: RawSpec = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            Error::Spec {
                origin: origin.to_owned(),
                line: Some(line),
                problem: SpecProblem::Toml(error.message().to_owned()),
            }
        })?;
        SpecReader { origin, text }.spec(raw, size, set)
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

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&b| b == b'\n').count()
}

struct SpecReader<'a> {
    origin: &'a str,
    text: &'a str,
}

impl SpecReader<'_> {
    /// A problem at a place of the text.
    fn wrong<T>(&self, place: &Spanned<T>, problem: SpecProblem) -> Error {
        self.at(Some(line_of(self.text, place.span().start)), problem)
    }

    fn at(&self, line: Option<usize>, problem: SpecProblem) -> Error {
        Error::Spec {
            origin: self.origin.to_owned(),
            line,
            problem,
        }
    }

    fn spec(&self, raw: RawSpec, size: Size, overrides: &[(String, String)]) -> Result<Spec> {
        let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let name = raw.name.get_ref().clone();
        if name.is_empty() || name.starts_with('.') || !name.chars().all(good) {
            return Err(self.wrong(&raw.name, SpecProblem::Name(name)));
        }
        let level = raw.level.as_ref().map_or(0.95, |l| *l.get_ref());
        if let Some(place) = raw.level.as_ref().filter(|_| !(0.5..1.0).contains(&level)) {
            return Err(self.wrong(place, SpecProblem::Level(level)));
        }
        let mut set = raw.set.clone();
        for (key, value) in overrides {
            if !set.contains_key(key) {
                let problem = SpecProblem::UnknownSetting {
                    name: key.clone(),
                    known: set.into_keys().collect(),
                };
                return Err(self.at(None, problem));
            }
            set.insert(key.clone(), value.clone());
        }
        let set: Vec<(String, String)> = set.into_iter().collect();
        let mut spec = Spec {
            origin: self.origin.to_owned(),
            text: self.text.to_owned(),
            name,
            title: raw.title,
            paper: raw.paper,
            about: raw.about,
            level,
            set,
            cells: Vec::new(),
            left_out: Vec::new(),
            plots: raw.plot,
            claims: Vec::new(),
            references: raw.reference,
        };
        if raw.sweep.is_empty() {
            return Err(self.at(Some(1), SpecProblem::NoSweep));
        }
        for sweep in &raw.sweep {
            self.sweep(sweep, size, raw.seed, &mut spec)?;
        }
        for claim in raw.claim {
            if claim.get_ref().above.is_none() && claim.get_ref().below.is_none() {
                return Err(self.wrong(&claim, SpecProblem::ClaimWithoutRange));
            }
            if claim.get_ref().minus.is_some() && claim.get_ref().over.is_some() {
                return Err(self.wrong(&claim, SpecProblem::ClaimWithBoth));
            }
            spec.claims.push(claim.into_inner());
        }
        Ok(spec)
    }

    fn sweep(&self, place: &Spanned<RawSweep>, size: Size, seed: u64, spec: &mut Spec) -> Result<()> {
        let sweep = place.get_ref();
        if let Some(needs) = &sweep.needs {
            match spec.set.iter().find(|(n, _)| n == needs.get_ref()) {
                None => return Err(self.wrong(needs, SpecProblem::UnknownNeed(needs.get_ref().clone()))),
                Some((name, value)) if value.is_empty() => {
                    let line = line_of(self.text, place.span().start);
                    let what = format!("the sweep in line {line} is left out: give it `--set {name}=…`");
                    spec.left_out.push(what);
                    return Ok(());
                }
                Some(_) => {}
            }
        }
        let at_size = match size {
            Size::Plain => None,
            Size::Quick => sweep.quick.as_ref(),
            Size::Paper => sweep.paper.as_ref(),
        };
        let games = at_size.and_then(|s| s.games.as_ref()).unwrap_or(&sweep.games);
        let until = at_size.and_then(|s| s.until.as_ref()).or(sweep.until.as_ref());
        self.check_sizes(sweep, games, until)?;
        let mut variables = sweep.over.clone();
        for (name, values) in at_size.map(|s| &s.over).into_iter().flatten() {
            if variables.insert(name.clone(), values.clone()).is_none() {
                return Err(self.wrong(place, SpecProblem::UnknownVariable(name.clone())));
            }
        }
        let combinations = combinations(&variables).map_err(|e| self.wrong(place, e))?;
        for combination in combinations {
            let (groups, vars): (Vec<usize>, Vec<(String, String)>) = combination.into_iter().unzip();
            if spec.cells.len() >= MOST_CELLS {
                return Err(self.wrong(place, SpecProblem::TooManyCells));
            }
            let mut known = spec.set.clone();
            known.extend(vars.iter().cloned());
            let game = fill(sweep.game.get_ref(), &known).map_err(|e| self.wrong(&sweep.game, e.into()))?;
            let mut players = Vec::new();
            for player in &sweep.players {
                players.push(fill(player.get_ref(), &known).map_err(|e| self.wrong(player, e.into()))?);
            }
            let focus = sweep.focus.as_ref().map_or(0, |f| f.get_ref().saturating_sub(1));
            let measure = match &sweep.belief {
                None => Measure::Score,
                Some(raw) => raw.get_ref().measure().map_err(|e| self.wrong(raw, e))?,
            };
            let at = |offset| line_of(self.text, offset);
            let mut lines = vec![at(sweep.game.span().start)];
            lines.extend(sweep.players.iter().map(|p| at(p.span().start)));
            let mut cell = Cell {
                key: String::new(),
                game,
                players,
                swap: sweep.swap,
                focus,
                games: *games.get_ref(),
                until: until.map(|u| *u.get_ref()),
                seed,
                measure,
                vars,
                groups,
                lines,
                optional: sweep.optional.clone(),
                contents: Vec::new(),
            };
            cell.key = cell.hash();
            spec.cells.push(cell);
        }
        Ok(())
    }

    fn check_sizes(&self, sweep: &RawSweep, games: &Spanned<u64>, until: Option<&Spanned<f64>>) -> Result<()> {
        let n = *games.get_ref();
        if n == 0 || n > MOST_GAMES {
            return Err(self.wrong(games, SpecProblem::Games(n)));
        }
        if let Some(until) = until.filter(|u| !(u.get_ref() > &0.0 && u.get_ref().is_finite())) {
            return Err(self.wrong(until, SpecProblem::Until));
        }
        let seats = sweep.players.len();
        match sweep.players.first() {
            None => return Err(self.wrong(&sweep.game, SpecProblem::NoPlayers)),
            Some(first) if sweep.swap && seats < 2 => {
                return Err(self.wrong(first, SpecProblem::SwapWithOnePlayer));
            }
            Some(_) => {}
        }
        if sweep.swap && !n.is_multiple_of(seats as u64) {
            return Err(self.wrong(games, SpecProblem::SwapGames { games: n, seats }));
        }
        match &sweep.focus {
            Some(focus) if *focus.get_ref() == 0 || *focus.get_ref() > seats => {
                Err(self.wrong(focus, SpecProblem::Focus { seats }))
            }
            _ => Ok(()),
        }
    }
}

impl RawBelief {
    fn measure(&self) -> Result<Measure, SpecProblem> {
        let sampler = self.sampler.parse();
        let sampler = sampler.map_err(|_| SpecProblem::UnknownSampler(self.sampler.clone()))?;
        if self.models == 0 || self.models > MOST_MODELS {
            return Err(SpecProblem::Models(self.models));
        }
        Ok(Measure::Belief {
            sampler,
            models: self.models,
            nodes: self.nodes,
            naive: self.naive,
        })
    }
}

impl Cell {
    fn hash(&self) -> String {
        let measure = match &self.measure {
            Measure::Score => json!("score"),
            Measure::Belief {
                sampler,
                models,
                nodes,
                naive,
            } => json!([sampler.to_string(), models, nodes, naive, self.focus]),
        };
        let content = json!([self.game, self.players, self.swap, self.seed, measure]);
        let key = Seed(0).child(&content.to_string());
        let key = self.contents.iter().fold(key, |key, print| key.child(print));
        format!("{:016x}", key.0)
    }

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

    /// The seed of a match, and by how many seats the players are moved on in it. Matches that differ only in the seats share a seed.
    pub fn unit(&self, n: u64) -> (Seed, usize) {
        let seats = if self.swap { self.players.len() as u64 } else { 1 };
        let seed = Seed(self.seed).child("match").nth(n / seats);
        (seed, (n % seats) as usize)
    }

    /// Matches that make one observation: as many as there are seats to change.
    pub fn block(&self) -> usize {
        if self.swap { self.players.len() } else { 1 }
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

/// A value of a variable, and which entry of `over` it came from.
type Binding = (usize, (String, String));

/// Every combination of the values of variables, the last varying fastest.
fn combinations(variables: &toml::Table) -> Result<Vec<Vec<Binding>>, SpecProblem> {
    let mut rows: Vec<Vec<Binding>> = vec![Vec::new()];
    for (group, (name, values)) in variables.iter().enumerate() {
        let values = values.as_array().ok_or_else(|| SpecProblem::NotAList(name.clone()))?;
        if values.is_empty() {
            return Err(SpecProblem::NoValues(name.clone()));
        }
        let mut longer = Vec::new();
        for row in &rows {
            for value in values {
                let mut row = row.clone();
                match value {
                    toml::Value::Table(several) => {
                        row.extend(several.iter().map(|(n, v)| (group, (n.clone(), plain(v)))))
                    }
                    one => row.push((group, (name.clone(), plain(one)))),
                }
                longer.push(row);
            }
        }
        if longer.len() > MOST_CELLS {
            return Err(SpecProblem::TooManyCells);
        }
        rows = longer;
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
name = "doors"
title = "Monty Hall"
level = 0.99

[[sweep]]
game = "monty-hall:doors={doors}"
players = ["hp:{r},{r}"]
games = 100
quick = { games = 10, over = { r = [1, 16] } }
[sweep.over]
doors = [3, 4]
r = [1, 4, 16]
"#;

    fn read(text: &str, size: Size) -> Result<Spec> {
        Spec::read("doors.toml", text, size, &[])
    }

    #[test]
    fn sweeps_expand_in_order() {
        let spec = read(GOOD, Size::Plain).unwrap();
        assert_eq!(spec.cells.len(), 6);
        assert_eq!(spec.cells[1].game, "monty-hall:doors=3");
        assert_eq!(spec.cells[1].players, ["hp:4,4"]);
        assert_eq!(spec.cells[1].games, 100);
        let quick = read(GOOD, Size::Quick).unwrap();
        assert_eq!(quick.cells.len(), 4);
        assert_eq!(quick.cells[1].games, 10);
        assert_eq!(quick.cells[1].key, spec.cells[2].key, "the size is not part of the key");
    }

    #[test]
    fn a_change_leaves_other_cells_alone() {
        let keys = |text: &str| -> Vec<String> {
            read(text, Size::Plain)
                .unwrap()
                .cells
                .into_iter()
                .map(|c| c.key)
                .collect()
        };
        let before = keys(GOOD);
        let more = keys(&GOOD.replace("r = [1, 4, 16]", "r = [1, 5, 16]"));
        let same: Vec<bool> = before.iter().zip(&more).map(|(a, b)| a == b).collect();
        assert_eq!(same, [true, false, true, true, false, true]);
        assert_eq!(
            before,
            keys(
                &GOOD
                    .replace("games = 100", "games = 500")
                    .replace("Monty Hall", "Doors")
            )
        );
        assert_ne!(before[0], keys(&GOOD.replace("level", "seed = 2\nlevel"))[0]);
    }

    #[track_caller]
    fn refused(from: &str, to: &str, line: usize, why: &str) {
        let text = GOOD.replace(from, to);
        assert_ne!(text, GOOD);
        let error = read(&text, Size::Quick).expect_err("refused").to_string();
        let place = format!("doors.toml:{line}: ");
        assert!(error.starts_with(&place), "{error}");
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        refused("title =", "titel =", 3, "unknown field `titel`");
        refused("games = 10,", "games = 0,", 10, "0 games");
        refused("level = 0.99", "level = 99", 4, "between 0.5 and 1");
        refused("{doors}", "{door}", 7, "asks for `door`");
        refused("r = [1, 16]", "q = [1, 16]", 6, "not a variable");
        refused("doors = [3, 4]", "doors = 3", 6, "list of values");
        refused("\"doors\"", "\"a/b\"", 2, "folder");
        refused("games = 100", "swap = true\ngames = 100", 8, "seat");
        refused("[[sweep]]", "[[sweep]", 6, "");
        refused("games = 100", "focus = 2\ngames = 100", 9, "from 1 to 1");
    }

    #[test]
    fn the_spec_of_the_guide_is_one() {
        let page = include_str!("../../../docs/lab.md");
        let block = page
            .split_once("```toml\n")
            .and_then(|(_, rest)| rest.split_once("```"))
            .expect("a block")
            .0;
        let spec = Spec::read("lab.md", block, Size::Quick, &[]).unwrap();
        assert_eq!((spec.cells.len(), spec.plots.len(), spec.claims.len()), (6, 1, 1));
    }

    #[test]
    fn values_may_come_together() {
        let text = GOOD
            .replace("r = [1, 4, 16]", "r = [{ r = 1, name = \"one\" }, 2]")
            .replace(", over = { r = [1, 16] }", "");
        let spec = read(&text, Size::Quick).unwrap();
        assert_eq!(spec.cells[0].var("name"), Some("one"));
        assert_eq!(spec.cells[1].players, ["hp:2,2"]);
    }
}
