//! A report on a game: how long it is, how much choice there is, whether its seats are balanced, how much it hides, how
//! much its moves tell, what it is worth, and what its rules cost the engine.
//!
//! Every figure comes with the number of observations and, where it is an estimate, with an interval. The report is a
//! function of rules, options and seed. Work is bounded by counts; a stop ends it early, and what was done is kept.

mod html;
mod information;
mod play;
mod text;

pub use information::{HiddenRound, MoveInformation, RoleHidden};
pub use play::{Branching, GoodPlay, Lengths, RandomPlay, SeatResult};

use crate::game_tests::value_of;
use crate::{Error, Game, PlayerSpec};
use game::StopFlag;
use gdl::Information;
use ground::{Census, Limits, census};
use serde_json::{Value, json};

/// How a report is made.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Seed of all random choices.
    pub seed: u64,
    /// Random games.
    pub games: u32,
    /// Joint moves in all random games together, at most, and as many that are tried to find what moves tell.
    pub work: u64,
    /// Matches of good play; none if 0.
    pub matches: u64,
    /// The player of good play; without it, one that suits the game.
    pub player: Option<String>,
    /// Random games in which beliefs are followed; none if 0.
    pub beliefs: u32,
    /// States or models that a belief keeps.
    pub models: usize,
    /// Joint moves that the search for the value may try.
    pub histories: u64,
    /// Rounds after which a game is given up.
    pub max_rounds: usize,
    /// Matches at a time. The report does not depend on it.
    pub threads: usize,
    /// Level of the intervals.
    pub level: f64,
    /// Ends the work; what was done is kept.
    pub stop: StopFlag,
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions {
            seed: 1,
            games: 1_000,
            work: 1_000_000,
            matches: 40,
            player: None,
            beliefs: 20,
            models: 1_000,
            histories: 200_000,
            max_rounds: 500,
            threads: 1,
            level: 0.95,
            stop: StopFlag::default(),
        }
    }
}

/// A report on a game.
#[derive(Clone, Debug)]
pub struct GameReport {
    /// Name of the game.
    pub game: String,
    /// Names of the roles.
    pub roles: Vec<String>,
    /// Whether every role can follow the state.
    pub information: Information,
    /// The seed.
    pub seed: u64,
    /// Level of the intervals.
    pub level: f64,
    /// Random games.
    pub random: RandomPlay,
    /// Matches between good players, or why there are none.
    pub good: Result<GoodPlay, String>,
    /// What is hidden from each role, round by round.
    pub hidden: Vec<RoleHidden>,
    /// What moves tell, by role and name of the move.
    pub tells: Vec<MoveInformation>,
    /// The value of each player, or why it is not known.
    pub value: Result<Vec<RoleValue>, String>,
    /// What grounding costs, or why that is not known.
    pub grounding: Result<Census, String>,
    /// The rule of each clause in `grounding`: line and text.
    pub rules: Vec<(u32, String)>,
    /// Parts that a stop left out or cut short.
    pub unfinished: Vec<&'static str>,
}

/// The value of the game for a role.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleValue {
    /// The role.
    pub role: String,
    /// The value is at least this.
    pub low: f64,
    /// The value is at most this.
    pub high: f64,
}

/// A part of the report, for progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPart {
    /// Random games.
    Random,
    /// Matches between good players.
    Good,
    /// Beliefs.
    Beliefs,
    /// The value.
    Value,
    /// The cost of grounding.
    Grounding,
}

impl ReportPart {
    /// The name of the part.
    pub fn name(self) -> &'static str {
        match self {
            ReportPart::Random => "random games",
            ReportPart::Good => "good play",
            ReportPart::Beliefs => "beliefs",
            ReportPart::Value => "value",
            ReportPart::Grounding => "grounding",
        }
    }
}

/// Rule instances that the count of grounding costs may find.
const MOST_INSTANCES: usize = 1_000_000;

impl Game {
    /// Makes a report; `progress` gets the part that is being made, and how much of it is done, of how much.
    ///
    /// # Errors
    /// If the rules cannot be run, or the player of good play does not exist.
    pub fn report(
        &self,
        options: &ReportOptions,
        progress: &(dyn Fn(ReportPart, u64, u64) + Sync),
    ) -> Result<GameReport, Error> {
        let player: PlayerSpec = match &options.player {
            Some(player) => player.parse()?,
            None => match self.information() {
                Information::Open => "uct:200".parse()?,
                Information::Hidden => "hp:16,4".parse()?,
            },
        };
        self.admit(&player)?;
        let stop = &options.stop;
        let mut unfinished = Vec::new();
        let mut ended = |part: ReportPart| {
            if stop.is_raised() {
                unfinished.push(part.name());
            }
        };
        progress(ReportPart::Grounding, 0, 1);
        let grounding = self.grounding(options);
        ended(ReportPart::Grounding);
        let random = play::random(self, options, &|done| {
            progress(ReportPart::Random, done, u64::from(options.games));
        })?;
        ended(ReportPart::Random);
        progress(ReportPart::Value, 0, 1);
        let value = self.value(options);
        ended(ReportPart::Value);
        let (hidden, tells) = information::follow(self, options, &|done| {
            progress(ReportPart::Beliefs, done, u64::from(options.beliefs));
        })?;
        ended(ReportPart::Beliefs);
        let good = play::good(self, &player, options, &|done| {
            progress(ReportPart::Good, done, options.matches);
        });
        ended(ReportPart::Good);
        Ok(GameReport {
            game: self.name().to_owned(),
            roles: self.roles().to_vec(),
            information: self.information(),
            seed: options.seed,
            level: options.level,
            random,
            good,
            hidden,
            tells,
            value,
            rules: self.rule_texts(&grounding),
            grounding,
            unfinished,
        })
    }

    fn value(&self, options: &ReportOptions) -> Result<Vec<RoleValue>, String> {
        let mut values = Vec::new();
        for &at in self.seating().played() {
            let role = &self.roles()[at];
            let (low, high) = value_of(self, role, options.histories, &options.stop)?;
            values.push(RoleValue {
                role: role.clone(),
                low,
                high,
            });
        }
        Ok(values)
    }

    fn grounding(&self, options: &ReportOptions) -> Result<Census, String> {
        let limits = Limits {
            instances: MOST_INSTANCES,
            stop: options.stop.clone(),
            ..Limits::default()
        };
        census(&self.engine().rules, &limits).map_err(|error| error.to_string())
    }

    /// Line and text of the rules that a census speaks of.
    fn rule_texts(&self, grounding: &Result<Census, String>) -> Vec<(u32, String)> {
        let rules = &self.engine().rules;
        let source = &rules.source;
        let Ok(census) = grounding else {
            return Vec::new();
        };
        let index = gdl::source::LineIndex::new(source);
        let text = |cost: &ground::RuleCost| {
            let clause = &rules.clauses[cost.clause];
            let offset = (clause.offset as usize).min(source.len());
            let line = index.line_of(offset as u32) as u32 + 1;
            // The announcement of moves in open games stands in no text.
            match source[offset..].starts_with('(') {
                true => (line, one_line(&source[offset..])),
                false => (
                    0,
                    format!("{} (not in the text)", clause.head.canonical(&rules.symbols)),
                ),
            }
        };
        census.rules.iter().map(text).collect()
    }
}

/// The list at the beginning of a text, on one line and shortened.
fn one_line(text: &str) -> String {
    let (mut depth, mut end) = (0_usize, text.len());
    let mut remark = false;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => remark = false,
            _ if remark => {}
            ';' => remark = true,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ')' && depth == 0 {
            end = at + 1;
            break;
        }
    }
    let plain: Vec<&str> = text[..end]
        .lines()
        .map(|line| line.split(';').next().unwrap_or_default().trim())
        .collect();
    let plain = plain.join(" ");
    match plain.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", &plain[..at]),
        None => plain,
    }
}

impl GameReport {
    /// The report as text for a terminal.
    pub fn text(&self) -> String {
        text::text(self)
    }

    /// The report as an HTML page that loads nothing.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        json!({
            "game": self.game,
            "roles": self.roles,
            "information": match self.information { Information::Open => "open", Information::Hidden => "hidden" },
            "seed": self.seed,
            "level": self.level,
            "random": self.random.json(),
            "good": match &self.good { Ok(good) => good.json(), Err(why) => json!({"missing": why}) },
            "hidden": self.hidden.iter().map(RoleHidden::json).collect::<Vec<_>>(),
            "tells": self.tells.iter().map(MoveInformation::json).collect::<Vec<_>>(),
            "value": match &self.value {
                Ok(values) => values.iter().map(|v| json!({"role": v.role, "low": v.low, "high": v.high})).collect(),
                Err(why) => json!({"missing": why}),
            },
            "grounding": self.grounding_json(),
            "unfinished": self.unfinished,
        })
    }

    fn grounding_json(&self) -> Value {
        let census = match &self.grounding {
            Ok(census) => census,
            Err(why) => return json!({"missing": why}),
        };
        let rules = census.rules.iter().zip(&self.rules);
        let rules = rules.map(|(cost, (line, text))| json!({"line": line, "rule": text, "instances": cost.instances}));
        let relations = census.relations.iter();
        let relations = relations.map(|r| json!({"relation": r.relation, "atoms": r.atoms, "instances": r.instances}));
        json!({
            "rules": rules.collect::<Vec<_>>(),
            "relations": relations.collect::<Vec<_>>(),
            "ended": census.ended.as_ref().map(ToString::to_string),
        })
    }
}

/// An estimate as JSON; ends that are not known are left out.
fn interval_json(interval: &lab::stats::Interval) -> Value {
    let finite = |value: f64| value.is_finite().then_some(value);
    json!({
        "mean": finite(interval.mean), "low": finite(interval.low), "high": finite(interval.high), "n": interval.n,
    })
}
