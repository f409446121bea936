//! What the matches of a cell came to.

use crate::error::Result;
use crate::folder::Results;
use crate::measure::RoundReport;
use crate::run::{precise_enough, score};
use crate::stats::{self, Interval};
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
    /// Whether nothing is missing.
    pub complete: bool,
    /// Where there are beliefs: round by round.
    pub rounds: Vec<RoundSummary>,
}

/// Beliefs after a round, over all matches that lasted so long.
#[derive(Clone, Debug)]
pub struct RoundSummary {
    /// Rounds played so far.
    pub round: usize,
    /// Matches that lasted so long.
    pub games: usize,
    /// The round as a share of the length of a match.
    pub completion: f64,
    /// Share of first tries that fitted this round: P(valid).
    pub valid: f64,
    /// The product of these so far.
    pub valid_history: f64,
    /// Nodes touched to bring one model up to date.
    pub touches: f64,
    /// Nodes that random games would touch to find one, by P(valid).
    pub random: f64,
    /// The same, measured by playing random games; nothing if too few were found.
    pub random_measured: Option<f64>,
    /// Mean share of models that are live.
    pub live: f64,
    /// Bound on the number of histories: the geometric mean of choice factors.
    pub histories: f64,
    /// p of χ² against uniform, of every match in which the test means something.
    pub p: Vec<f64>,
    /// p of χ² of the weighted bag against the posterior.
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

/// Rounds that fewer matches than this share reached say little and are not looked at.
const REACHED: f64 = 0.5;

impl CellSummary<'_> {
    /// A measured value by name: `score`, `score-N` of player N, `states` and `touches` a match, `rounds`, `seconds`; for beliefs `cost` (percent of
    /// random sampling's, late in the game), `cost-measured`, `live` (percent at the end), `live@R`, `valid@R` (percent, of histories), `p-mid`,
    /// `p-end`, `p@R` and the same with `weighted-` before them (medians).
    pub fn value(&self, name: &str) -> Option<Interval> {
        let (base, at) = name
            .split_once('@')
            .map_or((name, None), |(b, r)| (b, r.parse::<usize>().ok()));
        let found = match (base, at) {
            ("score", None) => self.score(self.cell.focus),
            ("states", None) => self.work(|p, role| p.states[role]),
            ("touches", None) => self.work(|p, role| p.touches[role]),
            ("rounds", None) => stats::student(
                &self.played.iter().map(|p| p.rounds as f64).collect::<Vec<_>>(),
                self.level,
            ),
            ("seconds", None) => stats::student(
                &self.played.iter().filter_map(|p| p.seconds).collect::<Vec<_>>(),
                self.level,
            ),
            ("cost", None) => self.cost(|r| Some(r.random)),
            ("cost-measured", None) => self.cost(|r| r.random_measured),
            ("live", None) => {
                let last = |p: &FinishedMatch| p.beliefs.last().map(|b| 100.0 * b.live as f64 / b.models as f64);
                stats::student(&self.played.iter().filter_map(last).collect::<Vec<_>>(), self.level)
            }
            ("live", Some(round)) => {
                let there = |p: &FinishedMatch| {
                    p.beliefs
                        .get(round.checked_sub(1)?)
                        .map(|b| 100.0 * b.live as f64 / b.models as f64)
                };
                stats::student(&self.played.iter().filter_map(there).collect::<Vec<_>>(), self.level)
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

    /// Whether a name means something.
    pub fn knows(name: &str) -> bool {
        let base = name.split('@').next().unwrap_or_default();
        let names = [
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
        names.contains(&base) || base.strip_prefix("score-").is_some_and(|n| n.parse::<usize>().is_ok())
    }

    /// A player's payoff.
    pub fn score(&self, player: usize) -> Interval {
        let scores: Result<Vec<f64>> = self.played.iter().map(|p| score(self.cell, p, player)).collect();
        stats::of_scores(&scores.unwrap_or_default(), self.cell.block(), self.level)
    }

    /// Where players change seats: the focused player's payoff in each role's place, in the order of the roles.
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

    fn work(&self, pick: fn(&FinishedMatch, usize) -> u64) -> Interval {
        let of = |p: &FinishedMatch| {
            role_of(self.cell, p, self.cell.focus)
                .ok()
                .map(|role| pick(p, role) as f64)
        };
        stats::student(&self.played.iter().filter_map(of).collect::<Vec<_>>(), self.level)
    }

    /// Moves of the focused player that had to be replaced, in all.
    pub fn illegal(&self) -> u64 {
        let of = |p: &FinishedMatch| role_of(self.cell, p, self.cell.focus).ok().map(|role| p.illegal[role]);
        self.played.iter().filter_map(of).sum()
    }

    /// Matches that were given up.
    pub fn given_up(&self) -> usize {
        self.played.iter().filter(|p| p.goals.is_empty()).count()
    }

    /// In the last third of a match, the cost of a model in percent of what random games cost: for each match its mean over rounds.
    fn cost(&self, random: fn(&RoundSummary) -> Option<f64>) -> Interval {
        let of = |p: &FinishedMatch| {
            let late = p.beliefs.iter().filter(|b| 3 * b.round >= 2 * p.rounds && b.live > 0);
            let shares: Vec<f64> = late
                .filter_map(|b| Some(100.0 * b.touches as f64 / b.live as f64 / random(&self.rounds[b.round - 1])?))
                .collect();
            (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
        };
        stats::student(&self.played.iter().filter_map(of).collect::<Vec<_>>(), self.level)
    }

    /// Of the rounds in the middle third, or the last, the one with the smallest median p, if it can be tested in half of the matches that got there.
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

    /// Whether beliefs were measured.
    pub fn has_beliefs(&self) -> bool {
        !matches!(self.cell.measure, Measure::Score)
    }
}
