//! The results of a cell: means, intervals, and beliefs round by round.

use crate::error::Result;
use crate::folder::Results;
use crate::measure::RoundReport;
use crate::run::{precise_enough, score};
use crate::stats::{self, Interval, Test};
use crate::unit::{FinishedMatch, role_of};
use crate::{Cell, Measure, Spec};
use std::collections::BTreeMap;

/// A cell and its matches.
pub struct CellSummary<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// The matches that count.
    pub played: &'a [FinishedMatch],
    /// Level of confidence.
    pub level: f64,
    /// Whether no match is missing.
    pub complete: bool,
    /// Beliefs round by round, if they were measured.
    pub rounds: Vec<RoundSummary>,
}

/// Beliefs after a round, over all matches that reached it.
#[derive(Clone, Debug)]
pub struct RoundSummary {
    /// Rounds played so far.
    pub round: usize,
    /// Matches that reached the round.
    pub games: usize,
    /// The round as a share of the length of a match.
    pub completion: f64,
    /// P(valid): the share of tried joint moves that gave the percepts of this round.
    pub valid: f64,
    /// Product of P(valid) up to this round.
    pub valid_history: f64,
    /// Nodes touched per model to update the belief.
    pub touches: f64,
    /// Nodes that random games would touch to find one model, computed from P(valid).
    pub random: f64,
    /// Nodes that random games touched per model found; none if they found none.
    pub random_measured: Option<f64>,
    /// Mean share of models that are live.
    pub live: f64,
    /// Upper bound on the number of histories: the geometric mean of the choice factors.
    pub histories: f64,
    /// p of the χ² test against the uniform distribution, of every match with enough models for the test.
    pub p: Vec<f64>,
    /// p of the χ² test of the weighted bag against the posterior, likewise.
    pub p_weighted: Vec<f64>,
}

/// Summaries of all cells, in the order of the spec.
///
/// # Errors
/// If the results do not belong to the spec.
pub fn summarise<'a>(spec: &'a Spec, results: &'a Results) -> Result<Vec<CellSummary<'a>>> {
    let mut all = Vec::new();
    for cell in &spec.cells {
        let played: &[FinishedMatch] = results.get(&cell.key).map_or(&[], |p| &p[..]);
        let played = &played[..played.len().min(cell.games as usize)];
        for one in played {
            role_of(cell, one, cell.focus)?;
        }
        let scores: Vec<f64> = played
            .iter()
            .map(|p| score(cell, p, cell.focus))
            .collect::<Result<_>>()?;
        let stopped = cell
            .until
            .is_some_and(|until| precise_enough(&scores, cell.block(), until).is_some());
        all.push(CellSummary {
            cell,
            played,
            level: spec.level,
            complete: played.len() as u64 == cell.games || stopped,
            rounds: rounds(played),
        });
    }
    Ok(all)
}

fn rounds(played: &[FinishedMatch]) -> Vec<RoundSummary> {
    let longest = played
        .iter()
        .flat_map(|p| &p.beliefs)
        .map(|b| b.round)
        .max()
        .unwrap_or(0);
    let lengths: Vec<f64> = played.iter().map(|p| p.rounds as f64).collect();
    let typical = stats::quantile(&lengths, 0.5);
    let mut valid_history = 1.0;
    let mut all = Vec::new();
    for round in 1..=longest {
        let reports: Vec<&RoundReport> = played.iter().filter_map(|p| p.beliefs.get(round - 1)).collect();
        let sum = |pick: fn(&RoundReport) -> f64| reports.iter().map(|r| pick(r)).sum::<f64>();
        let n = reports.len() as f64;
        let (tried, fit, live) = (sum(|r| r.tried as f64), sum(|r| r.fit as f64), sum(|r| r.live as f64));
        let valid = if tried > 0.0 { fit / tried } else { 1.0 };
        valid_history *= valid;
        let naive: Vec<(u64, usize)> = reports.iter().filter_map(|r| r.naive).collect();
        let found: usize = naive.iter().map(|(_, found)| found).sum();
        let touched: u64 = naive.iter().map(|(touched, _)| touched).sum();
        all.push(RoundSummary {
            round,
            games: reports.len(),
            completion: round as f64 / typical,
            valid,
            valid_history,
            touches: sum(|r| r.touches as f64) / live,
            random: (round as f64 / 2.0).max(1.0) / valid_history,
            random_measured: (found > 0).then(|| touched as f64 / found as f64),
            live: sum(|r| r.live as f64 / r.models as f64) / n,
            histories: (sum(|r| r.log_choice) / n).exp(),
            p: reports.iter().filter_map(|r| r.p).collect(),
            p_weighted: reports.iter().filter_map(|r| r.p_weighted).collect(),
        });
    }
    all
}

/// Least share of matches that must reach a round for the round to count.
const REACHED: f64 = 0.5;

impl CellSummary<'_> {
    /// A measured value by name; none if there is no such value.
    ///
    /// | name | value |
    /// |---|---|
    /// | `score`, `score-N` | payoff of the focused player, of player N |
    /// | `states`, `touches` | states computed and nodes touched by the focused player in a match |
    /// | `rounds`, `seconds` | length of a match |
    /// | `cost` | late in a match, the cost of a model in percent of the cost by random sampling |
    /// | `cost-measured` | the same, with random sampling measured |
    /// | `live`, `live@R` | live models in percent, at the end and after round R |
    /// | `valid@R` | P(valid) of the history up to round R, in percent |
    /// | `p-mid`, `p-end`, `p@R` | median p of χ² tests against the uniform distribution |
    /// | `weighted-p-mid`, `weighted-p-end` | the same, of the weighted bag against the posterior |
    pub fn value(&self, name: &str) -> Option<Interval> {
        let (base, at) = name
            .split_once('@')
            .map_or((name, None), |(b, r)| (b, r.parse::<usize>().ok()));
        let found = match (base, at) {
            ("score", None) => self.score(self.cell.focus),
            ("states", None) => self.work(|p, role| p.states[role]),
            ("touches", None) => self.work(|p, role| p.touches[role]),
            ("rounds", None) => self.positive(self.played.iter().map(|p| p.rounds as f64)),
            ("seconds", None) => self.positive(self.played.iter().filter_map(|p| p.seconds)),
            ("cost", None) => self.cost(|r| Some(r.random)),
            ("cost-measured", None) => self.cost(|r| r.random_measured),
            ("live", None) => {
                let last = |p: &FinishedMatch| p.beliefs.last().map(|b| 100.0 * b.live as f64 / b.models as f64);
                self.positive(self.played.iter().filter_map(last)).within(0.0, 100.0)
            }
            ("live", Some(round)) => {
                let there = |p: &FinishedMatch| {
                    p.beliefs
                        .get(round.checked_sub(1)?)
                        .map(|b| 100.0 * b.live as f64 / b.models as f64)
                };
                self.positive(self.played.iter().filter_map(there)).within(0.0, 100.0)
            }
            ("valid", Some(round)) => {
                let summary = self.rounds.get(round.checked_sub(1)?)?;
                let p = 100.0 * summary.valid_history;
                Interval {
                    mean: p,
                    low: p,
                    high: p,
                    n: summary.games,
                    method: "pooled",
                }
            }
            ("p", Some(round)) => stats::median(&self.rounds.get(round.checked_sub(1)?)?.p, self.level),
            ("p-mid", None) => stats::median(&self.worst(false, |r| &r.p)?.p, self.level),
            ("p-end", None) => stats::median(&self.worst(true, |r| &r.p)?.p, self.level),
            ("weighted-p-mid", None) => stats::median(&self.worst(false, |r| &r.p_weighted)?.p_weighted, self.level),
            ("weighted-p-end", None) => stats::median(&self.worst(true, |r| &r.p_weighted)?.p_weighted, self.level),
            _ => {
                let player: usize = base.strip_prefix("score-")?.parse().ok()?;
                self.score(player.checked_sub(1)?)
            }
        };
        (found.n > 0).then_some(found)
    }

    /// A measured value match by match, in the order of the matches; none for values of rounds.
    fn observations(&self, name: &str) -> Option<Vec<f64>> {
        let role = |p: &FinishedMatch| role_of(self.cell, p, self.cell.focus).ok();
        let of = |player: usize| -> Option<Vec<f64>> {
            let scores = self.played.iter().map(|p| score(self.cell, p, player));
            scores.collect::<Result<_>>().ok()
        };
        match name {
            "score" => of(self.cell.focus),
            "states" => self.played.iter().map(|p| Some(p.states[role(p)?] as f64)).collect(),
            "touches" => self.played.iter().map(|p| Some(p.touches[role(p)?] as f64)).collect(),
            "rounds" => Some(self.played.iter().map(|p| p.rounds as f64).collect()),
            _ => of(name.strip_prefix("score-")?.parse::<usize>().ok()?.checked_sub(1)?),
        }
    }

    /// The value of this cell minus that of another, and whether the difference may be chance. Matches of the same
    /// number have the same seed, so they are compared in pairs. None if the values cannot be compared so.
    pub fn test_against(&self, other: &CellSummary<'_>, name: &str, level: f64) -> Option<Test> {
        let (ours, theirs) = (self.observations(name)?, other.observations(name)?);
        let (first, second) = (self.cell, other.cell);
        let block = first.block();
        let rounds = |values: &[f64]| -> Vec<f64> {
            let rounds = values.chunks_exact(block);
            rounds.map(|round| round.iter().sum::<f64>() / block as f64).collect()
        };
        let common = ours.len().min(theirs.len());
        let most = ours.len().max(theirs.len());
        // Where one has many more matches, leaving them out would cost more than pairing gains.
        if first.seed == second.seed && block == second.block() && 10 * common >= 9 * most {
            let test = stats::paired(&rounds(&ours[..common]), &rounds(&theirs[..common]), level);
            if test.is_some() {
                return test;
            }
        }
        let p = match block == second.block() {
            true => stats::welch(&rounds(&ours), &rounds(&theirs)),
            false => None,
        };
        let difference = self.value(name)?.minus(&other.value(name)?);
        Some(Test { difference, p })
    }

    /// Names of measured values, `score-N` apart.
    pub const MEASURES: &'static [&'static str] = &[
        "score",
        "states",
        "touches",
        "rounds",
        "seconds",
        "cost",
        "cost-measured",
        "live",
        "valid",
        "p",
        "p-mid",
        "p-end",
        "weighted-p-mid",
        "weighted-p-end",
    ];

    /// Whether a value of this name exists for some cells.
    pub fn knows(name: &str) -> bool {
        let base = name.split('@').next().unwrap_or_default();
        Self::MEASURES.contains(&base) || base.strip_prefix("score-").is_some_and(|n| n.parse::<usize>().is_ok())
    }

    /// The payoff of a player, from 0.
    pub fn score(&self, player: usize) -> Interval {
        let scores: Result<Vec<f64>> = self.played.iter().map(|p| score(self.cell, p, player)).collect();
        stats::of_scores(&scores.unwrap_or_default(), self.cell.block(), self.level)
    }

    /// Where players change seats: the payoff of the focused player in each role, in role order.
    pub fn by_seat(&self) -> Vec<(usize, Interval)> {
        let mut seats: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for played in self.played.iter().filter(|_| self.cell.swap) {
            let role = role_of(self.cell, played, self.cell.focus);
            if let (Ok(role), Ok(score)) = (role, score(self.cell, played, self.cell.focus)) {
                seats.entry(role).or_default().push(score);
            }
        }
        let interval = |(role, scores): (usize, Vec<f64>)| (role, stats::of_scores(&scores, 1, self.level));
        seats.into_iter().map(interval).collect()
    }

    /// The mean of values that are never negative.
    fn positive(&self, values: impl Iterator<Item = f64>) -> Interval {
        stats::student(&values.collect::<Vec<_>>(), self.level).within(0.0, f64::INFINITY)
    }

    fn work(&self, pick: fn(&FinishedMatch, usize) -> u64) -> Interval {
        let of = |p: &FinishedMatch| {
            role_of(self.cell, p, self.cell.focus)
                .ok()
                .map(|role| pick(p, role) as f64)
        };
        self.positive(self.played.iter().filter_map(of))
    }

    /// Replaced moves of the focused player, in all matches.
    pub fn illegal(&self) -> u64 {
        let of = |p: &FinishedMatch| role_of(self.cell, p, self.cell.focus).ok().map(|role| p.illegal[role]);
        self.played.iter().filter_map(of).sum()
    }

    /// Number of aborted matches.
    pub fn given_up(&self) -> usize {
        self.played.iter().filter(|p| p.goals.is_empty()).count()
    }

    /// In the last third of a match, the cost of a model in percent of its cost by random games. An observation is the
    /// mean over the rounds of one match.
    fn cost(&self, random: fn(&RoundSummary) -> Option<f64>) -> Interval {
        let of = |p: &FinishedMatch| {
            let late = p.beliefs.iter().filter(|b| 3 * b.round >= 2 * p.rounds && b.live > 0);
            let shares: Vec<f64> = late
                .filter_map(|b| Some(100.0 * b.touches as f64 / b.live as f64 / random(&self.rounds[b.round - 1])?))
                .collect();
            (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
        };
        self.positive(self.played.iter().filter_map(of))
    }

    /// The round with the smallest median p in the middle third or the last third of a match. Rounds count that can be
    /// tested in half of the matches that reached them.
    pub fn worst(&self, end: bool, p: fn(&RoundSummary) -> &Vec<f64>) -> Option<&RoundSummary> {
        let there = |r: &&RoundSummary| {
            let part = if end { 2.0 / 3.0..=1.0 } else { 1.0 / 3.0..=2.0 / 3.0 };
            let reached = r.games as f64 >= REACHED * self.played.len() as f64;
            part.contains(&r.completion) && reached && 2 * p(r).len() >= r.games
        };
        let median = |r: &RoundSummary| stats::quantile(p(r), 0.5);
        self.rounds
            .iter()
            .filter(there)
            .min_by(|a, b| median(a).total_cmp(&median(b)))
    }

    /// Whether beliefs are measured.
    pub fn has_beliefs(&self) -> bool {
        !matches!(self.cell.measure, Measure::Score)
    }
}
