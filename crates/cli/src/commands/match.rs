//! `surmise match`: matches between players, and their results.

use crate::commands::JSON_VERSION;
use crate::commands::explain::{candidate_json, candidates_text, policy_json, policy_text};
use crate::{complete, console, interrupt, open, output, progress, threads};
use anyhow::{Result, bail};
use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use surmise::game::{Decision, limits::MATCH_ROUNDS};
use surmise::referee::Clock;
use surmise::{Entrant, Game, MatchOptions, MatchResult, MatchSummary, PlayerSpec, SummaryRow, column_width};

/// Play matches between players and print their results
///
/// Name a player for each role that is not nature, in the order of the roles; a single name plays all of them. Without
/// names `auto` meets random players.
///
/// A player is `NAME:OPTIONS`, such as `hp:16,4`, `uct:500,c=1`, `strategy:FILE` `exec:python3
/// bot.py`, `remote:HOST:PORT` or `human`. `surmise players` lists them, `surmise players hp` lists the options of one.
///
/// A player that was given a number stops there; without one it uses the time that --time-per-move gives it, or else a
/// default number. Moves that come late are counted, and replaced if they are more than half a second late.
///
/// The same seed gives the same results on any number of threads, unless --time-per-move is given. With it, matches
/// begin on the slower reference simulator if the game is not compiled within a second, and players change engines when
/// it is. Ctrl-C prints the results so far.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    #[arg(add = ArgValueCompleter::new(complete::games))]
    game: String,
    /// Players, in the order of the roles
    #[arg(value_name = "PLAYER", add = ArgValueCompleter::new(complete::players))]
    players: Vec<String>,
    /// Matches to play [default: 100, or 1 if a person plays]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// Swap seats: match n is played with the players moved on by n seats
    #[arg(long)]
    swap: bool,
    /// Seed of the matches
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Matches played at a time
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = threads::parse)]
    threads: usize,
    /// Seconds for a move; players answer with what they have
    #[arg(long, value_name = "S")]
    time_per_move: Option<f64>,
    /// Write the record of every match into this folder; --force overwrites others
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Overwrite records of other matches in that folder
    #[arg(long, requires = "record", hide = true)]
    force: bool,
    /// Print what was weighed at every move of the first match
    #[arg(long)]
    explain: bool,
    /// One JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Time after which a late move is replaced: for machines that are too busy.
const GRACE: Duration = Duration::from_millis(500);

/// Time in which a program has to be ready, where a move has less.
const START: Duration = Duration::from_secs(10);

/// Level of the confidence intervals.
const LEVEL: f64 = 0.95;

pub fn run(args: &Args) -> Result<ExitCode> {
    let mut players = args
        .players
        .iter()
        .map(|p| PlayerSpec::parse(p))
        .collect::<Result<Vec<_>, _>>()?;
    let people = console::seat_people(&players);
    let games = args.games.unwrap_or(if people { 1 } else { 100 });
    let options = MatchOptions {
        games,
        swap: args.swap,
        seed: args.seed,
        threads: if people { 1 } else { args.threads },
        clock: clock(args.time_per_move)?,
        record: args.record.clone(),
        overwrite: args.force,
        stop: interrupt::flag(),
        ..MatchOptions::default()
    };
    let waits = options.clock == Clock::None || !players.iter().all(PlayerSpec::may_change_engine);
    let game = match waits {
        true => open::game(&args.game)?,
        false => open::starting(&args.game)?,
    };
    if players.is_empty() {
        players = default_players(&game)?;
    }
    players.iter().try_for_each(|player| game.admit(player))?;
    let mut players = game.fill(players)?;
    if let Clock::PerMove { time, .. } = options.clock {
        let clocked = players
            .into_iter()
            .map(|player| player.with_clocks(START.max(time), time));
        players = clocked.collect();
    }
    let entrants: Vec<&dyn Entrant> = players.iter().map(|player| player as &dyn Entrant).collect();
    let summary = Mutex::new(MatchSummary::new(&game, &entrants, args.swap));
    let first = Mutex::new(None);
    let failures = Mutex::new(Failures::default());
    let bar = match people {
        true => progress::none(),
        false => progress::bar("matches", games),
    };
    game.play_each(&entrants, &options, &|result| {
        summary.lock().unwrap_or_else(PoisonError::into_inner).add(&result);
        failures.lock().unwrap_or_else(PoisonError::into_inner).add(&result);
        bar.inc();
        if result.number == 0 && args.explain {
            *first.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    })?;
    bar.finish();
    let summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    let report = Report {
        args,
        game: &game,
        games,
        summary: &summary,
        first: first.filter(|result| !result.outcome.record.aborted),
    };
    report.warn();
    failures.into_inner().unwrap_or_else(PoisonError::into_inner).warn();
    output::print(&match args.json {
        true => format!("{}\n", report.json()),
        false => report.text(),
    });
    Ok(interrupt::exit_code())
}

/// The first failure of each program that plays, by player.
#[derive(Default)]
struct Failures(BTreeMap<String, String>);

impl Failures {
    fn add(&mut self, result: &MatchResult) {
        let outcome = &result.outcome;
        for (role, seat) in outcome.seats.iter().enumerate() {
            let player = &outcome.record.players[role];
            if seat.illegal == 0 || self.0.contains_key(player) || !player.starts_with("exec:") {
                continue;
            }
            let rounds = outcome.record.rounds.iter();
            let whys = rounds.filter_map(|round| round.substitutions.get(role)?.as_ref());
            let why = whys.map(ToString::to_string).next().unwrap_or_default();
            let mut text = format!("{player}, match {}: {why}", result.number);
            let lines: Vec<&str> = seat.remarks.lines().collect();
            if !lines.is_empty() {
                text += "; the end of its standard error:";
                lines[lines.len().saturating_sub(10)..]
                    .iter()
                    .for_each(|line| text += &format!("\n  {line}"));
            }
            self.0.insert(player.clone(), text);
        }
    }

    fn warn(&self) {
        self.0.values().for_each(|text| output::note(text));
    }
}

fn clock(seconds: Option<f64>) -> Result<Clock> {
    let Some(seconds) = seconds else {
        return Ok(Clock::None);
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(Clock::PerMove { time, grace: GRACE }),
        _ => bail!("--time-per-move must be a positive number of seconds, not {seconds}"),
    }
}

/// A player that thinks in the first seat, and a baseline in the others.
fn default_players(game: &Game) -> Result<Vec<PlayerSpec>> {
    let mut players = vec![PlayerSpec::parse("random")?; game.seating().played().len()];
    if let Some(first) = players.first_mut() {
        *first = PlayerSpec::parse("auto")?;
    }
    Ok(players)
}

struct Report<'a> {
    args: &'a Args,
    game: &'a Game,
    games: u64,
    summary: &'a MatchSummary,
    /// The match to explain.
    first: Option<MatchResult>,
}

impl Report<'_> {
    fn timed(&self) -> bool {
        self.args.time_per_move.is_some()
    }

    /// Says on standard error what is missing from the results.
    fn warn(&self) {
        let (played, all) = (self.summary.games(), self.games);
        if interrupt::is_raised() {
            output::note(&format!("stopped after {played} of {all} matches"));
        } else if self.summary.aborted() > 0 {
            let aborted = self.summary.aborted();
            output::note(&format!(
                "{aborted} of {all} matches did not end within {MATCH_ROUNDS} rounds and are left out"
            ));
        }
    }

    fn json(&self) -> Value {
        let rows = |rows: Vec<SummaryRow>| rows.iter().map(|r| row_json(r, self.timed())).collect::<Vec<_>>();
        let mut value = json!({
            "version": JSON_VERSION,
            "game": self.game.name(),
            "seed": self.args.seed,
            "games": self.summary.games(),
            "asked": self.games,
            "aborted": self.summary.aborted(),
            "players": rows(self.summary.rows(LEVEL)),
        });
        let totals = self.summary.totals(LEVEL);
        if !totals.is_empty() {
            value["totals"] = rows(totals).into();
        }
        if let Some(first) = &self.first {
            value["explain"] = reasons_json(self.game, first);
        }
        value
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let (name, games, seed) = (self.game.name(), self.summary.games(), self.args.seed);
        let _ = writeln!(out, "{name}: {games} matches, seed {seed}");
        let mut rows = self.summary.rows(LEVEL);
        rows.extend(self.summary.totals(LEVEL));
        let role = |row: &SummaryRow| row.role.clone().unwrap_or_else(|| "all".to_owned());
        let width = column_width(rows.iter().map(|r| r.player.as_str())).max(6);
        let seat = column_width(rows.iter().map(|r| r.role.as_deref().unwrap_or("all"))).max(4);
        let _ = writeln!(
            out,
            "  {:seat$}  {:width$}  {:>7}  {:>15}  {:>12}  {:>12}  {:>9}  {:>7}{}",
            "seat",
            "player",
            "mean",
            "95 % interval",
            "states/game",
            "touches/game",
            "ms/move",
            "illegal",
            if self.timed() { "  late" } else { "" }
        );
        for row in &rows {
            let late = format!("  {:>4}", row.late);
            let _ = writeln!(
                out,
                "  {:seat$}  {:width$}  {:>7.2}  {:>6.2} ..{:>6.2}  {:>12.0}  {:>12.0}  {:>9.3}  {:>7}{}",
                role(row),
                row.player,
                row.score.mean,
                row.score.low.max(0.0),
                row.score.high.min(100.0),
                row.states_per_game(),
                row.touches_per_game(),
                row.ms_per_move(),
                row.illegal,
                if self.timed() { late.as_str() } else { "" }
            );
        }
        if let Some(first) = &self.first {
            out += &reasons_text(self.game, first);
        }
        out
    }
}

fn row_json(row: &SummaryRow, timed: bool) -> Value {
    let mut value = json!({
        "role": row.role,
        "player": row.player,
        "mean": row.score.mean,
        "stderr": row.stderr,
        "ci95": [row.score.low.max(0.0), row.score.high.min(100.0)],
        "interval": row.score.method,
        "states_per_game": row.states_per_game(),
        "touches_per_game": row.touches_per_game(),
        "moves": row.moves,
        "illegal": row.illegal,
    });
    // Times differ from run to run: the same seed gives the same bytes unless time was part of the question.
    value["ms_per_move"] = if timed { json!(row.ms_per_move()) } else { Value::Null };
    if timed {
        value["late"] = json!(row.late);
        value["p99_ms"] = json!(row.ms_at(0.99));
        value["max_ms"] = json!(row.ms_at(1.0));
    }
    value
}

/// Every decision of a match: its round, role and reasons.
fn reasons<'a>(game: &'a Game, result: &'a MatchResult) -> impl Iterator<Item = (usize, &'a str, &'a Decision)> {
    let outcome = &result.outcome;
    (0..outcome.record.rounds.len()).flat_map(move |round| {
        game.seating().played().iter().filter_map(move |&role| {
            let decision = outcome.seats[role].decisions.get(round)?;
            Some((round + 1, game.roles()[role].as_str(), decision))
        })
    })
}

fn reasons_json(game: &Game, result: &MatchResult) -> Value {
    let reason = |(round, role, d): (usize, &str, &Decision)| {
        let candidates: Vec<Value> = d.candidates.iter().map(candidate_json).collect();
        json!({
            "round": round, "role": role, "move": d.mv, "candidates": candidates, "policy": policy_json(d),
            "belief": d.belief,
        })
    };
    reasons(game, result).map(reason).collect()
}

fn reasons_text(game: &Game, result: &MatchResult) -> String {
    let mut out = String::from("\nThe first match, move by move:\n");
    for (round, role, decision) in reasons(game, result) {
        if decision.candidates.len() < 2 && decision.policy.len() < 2 {
            continue;
        }
        let _ = writeln!(out, "\nround {round}: {role} chooses {}", decision.mv);
        out += &candidates_text(&decision.candidates, 5);
        out += &policy_text(decision);
        if !decision.belief.is_empty() {
            let _ = writeln!(out, "  belief: {}", decision.belief);
        }
    }
    out
}
