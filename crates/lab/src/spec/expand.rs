//! From the text of a spec to its cells: sizes, variables, and what is filled in.

use super::problem::{LEAST_SECONDS, MOST_CELLS, MOST_GAMES, MOST_SECONDS, SpecProblem};
use super::raw::{RawSpec, RawSweep, line_of};
use super::scope::Scope;
use super::{Cell, Claim, Measure, Size, Spec, plain};
use crate::error::{Error, Result};
use crate::template::fill;
use toml::Spanned;

/// The variable that `pairs` stands for.
const PAIRS: &str = "pairs";

/// Expands the text of a spec.
pub(super) struct Expander<'a> {
    /// Name of the file or preset.
    pub origin: &'a str,
    /// The text, to find lines in.
    pub text: &'a str,
}

impl Expander<'_> {
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

    /// The spec at a size, with some of its names set anew.
    pub fn spec(&self, raw: RawSpec, size: Size, overrides: &[(String, String)]) -> Result<Spec> {
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
            title: raw.title.clone(),
            paper: raw.paper.clone(),
            about: raw.about.clone(),
            level,
            set,
            cells: Vec::new(),
            left_out: Vec::new(),
            ladder: raw.ladder.clone(),
            plots: Vec::new(),
            claims: Vec::new(),
            references: Vec::new(),
            bibtex: raw.bibtex.clone(),
            size,
        };
        if raw.sweep.is_empty() {
            return Err(self.at(Some(1), SpecProblem::NoSweep));
        }
        for sweep in &raw.sweep {
            self.sweep(sweep, size, raw.seed, &mut spec)?;
        }
        for claim in &raw.claim {
            if claim.get_ref().above.is_none() && claim.get_ref().below.is_none() {
                return Err(self.wrong(claim, SpecProblem::ClaimWithoutRange));
            }
            if claim.get_ref().minus.is_some() && claim.get_ref().over.is_some() {
                return Err(self.wrong(claim, SpecProblem::ClaimWithBoth));
            }
            let Claim {
                above, below, margin, ..
            } = claim.get_ref();
            let room = below.unwrap_or(f64::INFINITY) - above.unwrap_or(f64::NEG_INFINITY);
            if let Some(margin) = *margin
                && !(margin > 0.0 && 2.0 * margin < room)
            {
                return Err(self.wrong(claim, SpecProblem::Margin(margin)));
            }
        }
        let scope = Scope::new(self, &raw, &spec)?;
        for plot in &raw.plot {
            scope.plot(plot.get_ref()).map_err(|e| self.wrong(plot, e))?;
        }
        for claim in &raw.claim {
            scope.claim(claim.get_ref()).map_err(|e| self.wrong(claim, e))?;
        }
        for reference in &raw.reference {
            scope
                .reference(reference.get_ref())
                .map_err(|e| self.wrong(reference, e))?;
        }
        spec.plots = raw.plot.into_iter().map(Spanned::into_inner).collect();
        spec.claims = raw.claim.into_iter().map(Spanned::into_inner).collect();
        spec.references = raw.reference.into_iter().map(Spanned::into_inner).collect();
        Ok(spec)
    }

    pub(super) fn sweep(&self, place: &Spanned<RawSweep>, size: Size, seed: u64, spec: &mut Spec) -> Result<()> {
        let sweep = place.get_ref();
        if let Some(needs) = &sweep.needs {
            match spec.set.iter().find(|(n, _)| n == needs.get_ref()) {
                None => return Err(self.wrong(needs, SpecProblem::UnknownNeed(needs.get_ref().clone()))),
                Some((name, value)) if value.is_empty() => {
                    let line = line_of(self.text, place.span().start);
                    spec.left_out.push(format!(
                        "`{}` with `{}` is left out: `--set {name}=…` brings it in (line {line} of the spec)",
                        sweep.game.get_ref(),
                        sweep
                            .players
                            .iter()
                            .map(|p| p.get_ref().as_str())
                            .collect::<Vec<_>>()
                            .join(" | ")
                    ));
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
        let pairs = at_size.and_then(|s| s.pairs.as_ref()).or(sweep.pairs.as_ref());
        if let Some(pairs) = pairs {
            let values = self.pairs(pairs, &spec.set)?;
            if variables.insert(PAIRS.to_owned(), values).is_some() {
                return Err(self.wrong(pairs, SpecProblem::Pairs));
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
            let seconds = match &sweep.seconds {
                Some(text) => Some(self.seconds(text, &known)?),
                None => None,
            };
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
                seconds,
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

    /// Every two of some players, as values of a variable that sets `first` and `second`. Empty names are left out.
    fn pairs(&self, pairs: &Spanned<Vec<String>>, set: &[(String, String)]) -> Result<toml::Value> {
        let mut players: Vec<String> = Vec::new();
        for text in pairs.get_ref() {
            let player = fill(text, set).map_err(|e| self.wrong(pairs, e.into()))?;
            if !player.is_empty() && !players.contains(&player) {
                players.push(player);
            }
        }
        if players.len() < 2 {
            return Err(self.wrong(pairs, SpecProblem::Pairs));
        }
        let mut all = Vec::new();
        for (at, first) in players.iter().enumerate() {
            for second in &players[at + 1..] {
                let mut pair = toml::Table::new();
                pair.insert("first".to_owned(), toml::Value::String(first.clone()));
                pair.insert("second".to_owned(), toml::Value::String(second.clone()));
                all.push(toml::Value::Table(pair));
            }
        }
        Ok(toml::Value::Array(all))
    }

    /// The time for a move.
    fn seconds(&self, text: &Spanned<toml::Value>, known: &[(String, String)]) -> Result<f64> {
        let filled = fill(&plain(text.get_ref()), known).map_err(|e| self.wrong(text, e.into()))?;
        let seconds: Option<f64> = filled.parse().ok();
        let good = seconds.filter(|s| (LEAST_SECONDS..=MOST_SECONDS).contains(s));
        good.ok_or_else(|| self.wrong(text, SpecProblem::Seconds(filled)))
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
