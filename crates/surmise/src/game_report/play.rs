//! Random games and matches between good players: length, choice, balance, draws, dead ends.

use super::{ReportOptions, interval_json};
use crate::{Entrant, Error, Game, MatchOptions, PlayerSpec};
use game::{RoleId, Seed};
use lab::stats::{self, Interval};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Lengths of games in rounds.
#[derive(Clone, Debug)]
pub struct Lengths {
    /// Mean with its interval.
    pub mean: Interval,
    /// The shortest.
    pub shortest: usize,
    /// The median.
    pub median: f64,
    /// The longest.
    pub longest: usize,
}

impl Lengths {
    fn of(lengths: &[f64], level: f64) -> Lengths {
        Lengths {
            mean: stats::student(lengths, level),
            shortest: lengths.iter().copied().fold(f64::INFINITY, f64::min) as usize,
            median: stats::quantile(lengths, 0.5),
            longest: lengths.iter().copied().fold(0.0, f64::max) as usize,
        }
    }

    fn json(&self) -> Value {
        json!({
            "mean": interval_json(&self.mean), "shortest": self.shortest,
            "median": self.median.is_finite().then_some(self.median), "longest": self.longest,
        })
    }
}

/// How much choice a role has.
#[derive(Clone, Debug)]
pub struct Branching {
    /// The role.
    pub role: String,
    /// Legal moves in states in which the role has a choice; games are the observations.
    pub moves: Interval,
    /// Share of states in which the role has more than one legal move.
    pub share: f64,
    /// States in which the role has more than one legal move.
    pub choices: u64,
    /// Most legal moves.
    pub most: usize,
}

/// What a seat gets.
#[derive(Clone, Debug)]
pub struct SeatResult {
    /// The role.
    pub role: String,
    /// Mean payoff with its interval.
    pub payoff: Interval,
    /// Share of games in which the role got more than every other player.
    pub ahead: Interval,
}

/// Random games.
#[derive(Clone, Debug)]
pub struct RandomPlay {
    /// Games that were begun.
    pub games: u64,
    /// Games that ended.
    pub ended: u64,
    /// Games that were given up because they were too long.
    pub too_long: u64,
    /// Games in which some role had no legal move although the game was not over.
    pub dead_ends: u64,
    /// The first dead end: role, round and state.
    pub dead_end: Option<String>,
    /// Lengths of the games that ended.
    pub lengths: Lengths,
    /// Choice of each role.
    pub branching: Vec<Branching>,
    /// Payoffs of each player.
    pub seats: Vec<SeatResult>,
    /// Share of games in which all players got the same; only of games with several players.
    pub draws: Option<Interval>,
}

/// Matches between good players.
#[derive(Clone, Debug)]
pub struct GoodPlay {
    /// The player that all seats were given.
    pub player: String,
    /// Matches that ended.
    pub matches: u64,
    /// Lengths.
    pub lengths: Lengths,
    /// Payoffs of each player.
    pub seats: Vec<SeatResult>,
    /// Share of draws; only of games with several players.
    pub draws: Option<Interval>,
}

impl RandomPlay {
    pub(super) fn json(&self) -> Value {
        let branching = self.branching.iter().map(|b| {
            json!({
                "role": b.role, "moves": interval_json(&b.moves), "share": b.share, "choices": b.choices,
                "most": b.most,
            })
        });
        json!({
            "games": self.games, "ended": self.ended, "too_long": self.too_long, "dead_ends": self.dead_ends,
            "dead_end": self.dead_end, "length": self.lengths.json(), "branching": branching.collect::<Vec<_>>(),
            "seats": seats_json(&self.seats), "draws": self.draws.as_ref().map(interval_json),
        })
    }
}

impl GoodPlay {
    pub(super) fn json(&self) -> Value {
        json!({
            "player": self.player, "matches": self.matches, "length": self.lengths.json(),
            "seats": seats_json(&self.seats), "draws": self.draws.as_ref().map(interval_json),
        })
    }
}

fn seats_json(seats: &[SeatResult]) -> Value {
    let seat =
        |s: &SeatResult| json!({"role": s.role, "payoff": interval_json(&s.payoff), "ahead": interval_json(&s.ahead)});
    seats.iter().map(seat).collect()
}

/// Results of games that ended, in order.
#[derive(Default)]
struct Results {
    lengths: Vec<f64>,
    /// Payoffs of the players, game by game.
    payoffs: Vec<Vec<f64>>,
}

impl Results {
    fn seats(&self, game: &Game, level: f64) -> Vec<SeatResult> {
        let seat = |(at, &role): (usize, &usize)| {
            let payoffs: Vec<f64> = self.payoffs.iter().map(|p| p[at]).collect();
            let leads = |p: &&Vec<f64>| (0..p.len()).all(|other| other == at || p[at] > p[other]);
            let ahead = self.payoffs.iter().filter(leads).count();
            SeatResult {
                role: game.roles()[role].clone(),
                payoff: stats::of_scores(&payoffs, 1, level),
                ahead: stats::wilson(ahead, self.payoffs.len(), level),
            }
        };
        game.seating().played().iter().enumerate().map(seat).collect()
    }

    fn draws(&self, game: &Game, level: f64) -> Option<Interval> {
        let even = |payoffs: &&Vec<f64>| payoffs.iter().all(|p| *p == payoffs[0]);
        let draws = self.payoffs.iter().filter(even).count();
        (game.seating().played().len() > 1).then(|| stats::wilson(draws, self.payoffs.len(), level))
    }
}

/// Choice of a role, as it is counted.
#[derive(Clone, Default)]
struct Choice {
    /// Mean number of moves in each game that had a choice.
    means: Vec<f64>,
    states: u64,
    choices: u64,
    most: usize,
}

/// Plays random games on one simulator, so that they are the same on any number of threads.
pub(super) fn random(game: &Game, options: &ReportOptions, progress: &dyn Fn(u64)) -> Result<RandomPlay, Error> {
    let mut sim = game.simulator();
    let n_roles = game.roles().len();
    let mut results = Results::default();
    let mut choice = vec![Choice::default(); n_roles];
    let (mut games, mut too_long, mut dead_ends, mut dead_end, mut work) = (0, 0, 0, None, 0);
    'games: for number in 0..u64::from(options.games) {
        if options.stop.is_raised() || work >= options.work {
            break;
        }
        games += 1;
        progress(number);
        let mut rng = Seed(options.seed).child("report").nth(number).rng();
        let mut state = sim.initial()?;
        let mut round = 0;
        let mut sums = vec![(0_u64, 0_u64); n_roles];
        while !sim.terminal(&state)? {
            if round == options.max_rounds {
                too_long += 1;
                continue 'games;
            }
            let mut joint = Vec::with_capacity(n_roles);
            let mut legal = Vec::new();
            for (role, choice) in choice.iter_mut().enumerate() {
                sim.legal(&state, RoleId(role as u16), &mut legal)?;
                if legal.is_empty() {
                    dead_ends += 1;
                    let state = gdl::source::short(&sim.fluents(&state).join(" "));
                    let name = &game.roles()[role];
                    dead_end.get_or_insert(format!("{name} in round {}, state {state}", round + 1));
                    continue 'games;
                }
                choice.states += 1;
                if legal.len() > 1 {
                    choice.choices += 1;
                    choice.most = choice.most.max(legal.len());
                    sums[role].0 += legal.len() as u64;
                    sums[role].1 += 1;
                }
                joint.push(*rng.pick(&legal));
            }
            state = sim.next(&state, &joint)?;
            (round, work) = (round + 1, work + 1);
            if options.stop.is_raised() {
                games -= 1;
                break 'games;
            }
        }
        for (choice, (sum, n)) in choice.iter_mut().zip(sums) {
            if n > 0 {
                choice.means.push(sum as f64 / n as f64);
            }
        }
        let mut payoffs = Vec::new();
        for &role in game.seating().played() {
            payoffs.push(f64::from(sim.goal(&state, RoleId(role as u16))?.points()));
        }
        results.lengths.push(round as f64);
        results.payoffs.push(payoffs);
    }
    let branching = choice.iter().enumerate().map(|(role, choice)| Branching {
        role: game.roles()[role].clone(),
        moves: stats::student(&choice.means, options.level),
        share: choice.choices as f64 / choice.states.max(1) as f64,
        choices: choice.choices,
        most: choice.most,
    });
    Ok(RandomPlay {
        games,
        ended: results.lengths.len() as u64,
        too_long,
        dead_ends,
        dead_end,
        lengths: Lengths::of(&results.lengths, options.level),
        branching: branching.collect(),
        seats: results.seats(game, options.level),
        draws: results.draws(game, options.level),
    })
}

/// Plays matches in which all seats have the same player.
pub(super) fn good(
    game: &Game,
    player: &PlayerSpec,
    options: &ReportOptions,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<GoodPlay, String> {
    if options.matches == 0 {
        return Err("no matches were asked for".to_owned());
    }
    let players: Vec<&dyn Entrant> = vec![player; game.seating().played().len()];
    if players.is_empty() {
        return Err("the game has no players".to_owned());
    }
    let matches = MatchOptions {
        games: options.matches,
        seed: options.seed,
        threads: options.threads,
        max_rounds: options.max_rounds,
        stop: options.stop.clone(),
        ..MatchOptions::default()
    };
    let done = AtomicU64::new(0);
    let played = std::sync::Mutex::new(Vec::new());
    let keep = |result: crate::MatchResult| {
        let mut played = played.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let record = &result.outcome.record;
        if record.complete && !record.aborted {
            played.push((result.number, record.rounds.len(), record.goals.clone()));
        }
        progress(done.fetch_add(1, Ordering::Relaxed) + 1);
    };
    let outcome = game.play_each(&players, &matches, &keep);
    let mut played = played.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Err(error) = outcome
        && (played.is_empty() || !error.is_stop())
    {
        return Err(error.to_string());
    }
    played.sort();
    let mut results = Results::default();
    for (_, rounds, goals) in &played {
        results.lengths.push(*rounds as f64);
        let seats = game.seating().played().iter();
        results
            .payoffs
            .push(seats.map(|&role| f64::from(goals[role])).collect());
    }
    if played.is_empty() {
        return Err("no match ended".to_owned());
    }
    Ok(GoodPlay {
        player: player.text().to_owned(),
        matches: played.len() as u64,
        lengths: Lengths::of(&results.lengths, options.level),
        seats: results.seats(game, options.level),
        draws: results.draws(game, options.level),
    })
}
