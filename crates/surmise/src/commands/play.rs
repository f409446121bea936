//! `surmise match`: matches, and what they came to.

use crate::commands::explain::{candidate_json, candidates_text, policy_json, policy_text};
use crate::engine::{Engine, EngineOptions};
use crate::load::{Loaded, load};
use crate::players::{PLAYERS, PlayerSpec};
use crate::{interrupt, output, progress, threads};
use anyhow::{Context, Result, bail};
use game::{Decision, Meter, RoleId, Seed};
use referee::{Clock, Match, Outcome, Seat, Title};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Play matches between players and print how they did
///
/// Name a player for each role that is not nature, in the order of the roles; a single name plays all of them; without names
/// HyperPlay (or Monte Carlo, where nothing is hidden) meets random players. Players are
/// random, legal (the first legal move), strategy:FILE (what `surmise solve --save` wrote), hand:meier and hand:blind-tictactoe
/// (made by hand for these games), remote:HOST:PORT (a player that speaks the GGP protocol; also play=10 and start=10 seconds,
/// protocol=gdl2b|gdl2a|gdl1),
/// hp:MODELS,PLAYOUTS (HyperPlay: playouts from models that explain what the role was told; also sampler=trellis|hyperplay|
/// cached|naive, weights=proposal|choice-factor|equal, remedy=none|weight|balance, layer=20000
/// states that trellis keeps a round, opponents=mc to take the others for Monte Carlo
/// players) and cheat:PLAYOUTS (playouts from the true state, for experiments; the record says so).
///
/// Where information has a price there are hp2:MODELS,PLAYOUTS,INNER_MODELS,INNER_PLAYOUTS (HyperPlay-II: simulations in which every
/// role is a HyperPlay player that knows only its own view; also spread=even|halving, prune=none|win|discount|depth, maximum=100,
/// levels=2, cache=on|off), auto (hp, or hp2 where some moves tell more than others) and ismcts:SIMULATIONS (tree search over
/// what each role knows; also models=1000, observers=multiple|single, select=auto|ucb|rm|exp3, c=1.4, backup=best|mean,
/// rollout=random|hp, opponents=tree|random|hp with inner-models=8 and inner-playouts=16) and cfr:SAMPLES (regret minimisation some
/// rounds ahead from so many histories; also roots=view|state, depth=, iterations=300 at each depth, nodes=20000 steps of one depth,
/// chance=64 moves of nature, common=1000 histories that everybody holds possible, playouts=32 at the horizon; net=DIR for what
/// `surmise train` learned, with table=on|off, trust=100, purify=0, opponents=uniform|net, and depth=0 for no search).
///
/// Where nothing is hidden there are also mc:PLAYOUTS (flat Monte Carlo), uct:SIMULATIONS (Monte Carlo tree search; also c=0.7,
/// policy=uniform|mast, playouts=1 from each leaf, batch=, solve=on|off), minimax:DEPTH (alpha-beta or max^n; also nodes=20000,
/// playouts=32 at the horizon, simultaneous=mixed|pessimistic) and nested:LEVEL,PLAYOUTS (nested Monte Carlo). They plug into
/// HyperPlay, in place of its playouts, and into the cheat: hp:16,with=uct:500 and, with options, hp:16,with=uct:500,with.c=1.
///
/// A player that was given a number stops there; without one it uses the time that --time-per-move gives it, or else a usual
/// number. Moves that come late are counted, and replaced if they are more than half a second late.
///
/// Same seed, same results, on any number of threads, unless --time-per-move is given. Ctrl-C reports what was played.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    game: String,
    /// Players, in the order of the roles
    #[arg(value_name = "PLAYER")]
    players: Vec<String>,
    /// Matches to play
    #[arg(long, default_value_t = 100, value_name = "N")]
    games: u64,
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
    /// Write the record of every match into this folder
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Say what was weighed at every move of the first match
    #[arg(long)]
    explain: bool,
    /// One JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// How late a move may come and still be made. Late moves are counted; this is for machines that are too busy.
const GRACE: Duration = Duration::from_millis(500);

/// Rounds after which a match is given up.
const MAX_ROUNDS: usize = 2_000;

pub fn run(args: &Args) -> Result<ExitCode> {
    let loaded = load(&args.game)?;
    let mut rules = loaded.playable()?.rules;
    let hidden = rules.gdl2;
    rules.announce_moves();
    let engine = Engine::new(&rules, &EngineOptions::default())?;
    let hall = Hall::new(args, &loaded, &engine, hidden)?;
    if let Some(player) = hall.players.iter().find(|p| hidden && p.needs_complete_information()) {
        bail!(
            "`{}` needs a game in which nothing is hidden; {} hides something",
            player.text,
            loaded.name
        );
    }
    let results = hall.play_all()?;
    let summary = Summary::new(&hall, &results);
    let first = results.first().filter(|_| args.explain);
    output::print(&if args.json {
        let mut value = summary.json();
        if let Some(first) = first {
            value["explain"] = reasons_json(&hall, first);
        }
        format!("{value}\n")
    } else {
        summary.text() + &first.map(|first| reasons_text(&hall, first)).unwrap_or_default()
    });
    Ok(ExitCode::SUCCESS)
}

/// Everything that the matches share.
struct Hall<'a> {
    args: &'a Args,
    loaded: &'a Loaded,
    engine: &'a Engine,
    roles: Vec<String>,
    /// Roles that are not nature.
    played: Vec<usize>,
    players: Vec<PlayerSpec>,
    clock: Clock,
}

/// One match that was played.
struct Played {
    /// For each role that is not nature, which of the players sat there.
    seated: Vec<usize>,
    outcome: Outcome,
}

impl<'a> Hall<'a> {
    fn new(args: &'a Args, loaded: &'a Loaded, engine: &'a Engine, hidden: bool) -> Result<Hall<'a>> {
        let sim = engine.state_simulator();
        let roles = sim.roles().to_vec();
        let nature = sim.nature().map(|r| r.0 as usize);
        let played: Vec<usize> = (0..roles.len()).filter(|&r| Some(r) != nature).collect();
        let mut players: Vec<PlayerSpec> = args
            .players
            .iter()
            .map(|p| PlayerSpec::parse(p))
            .collect::<Result<_>>()?;
        if players.is_empty() {
            // Something that thinks in the first seat, and a baseline in the others.
            let thinking = if hidden { "hp:64,16" } else { "mc:100" };
            players = vec![PlayerSpec::parse("random")?; played.len()];
            if let Some(first) = players.first_mut() {
                *first = PlayerSpec::parse(thinking)?;
            }
        }
        if players.len() == 1 {
            players = vec![players[0].clone(); played.len()];
        }
        if players.len() != played.len() {
            let names: Vec<&str> = played.iter().map(|&r| roles[r].as_str()).collect();
            bail!(
                "{} needs {} players (for {}), not {}; there are {PLAYERS}",
                loaded.name,
                played.len(),
                names.join(", "),
                players.len()
            );
        }
        let clock = match args.time_per_move {
            None => Clock::None,
            Some(seconds) => match Duration::try_from_secs_f64(seconds) {
                Ok(time) if !time.is_zero() => Clock::PerMove { time, grace: GRACE },
                _ => bail!("--time-per-move must be a positive number of seconds, not {seconds}"),
            },
        };
        if let Some(folder) = &args.record {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
        }
        Ok(Hall {
            args,
            loaded,
            engine,
            roles,
            played,
            players,
            clock,
        })
    }

    /// Plays all matches; what was played before an interruption is kept.
    fn play_all(&self) -> Result<Vec<Played>> {
        let next = AtomicU64::new(0);
        let results: Mutex<Vec<(u64, Result<Played>)>> = Mutex::new(Vec::new());
        let bar = progress::bar("matches", self.args.games);
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.args.games || interrupt::flag().is_raised() {
                    return;
                }
                let played = self.play_one(number);
                let failed = played.is_err();
                results.lock().unwrap_or_else(|e| e.into_inner()).push((number, played));
                bar.inc(1);
                if failed {
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.args.threads {
                scope.spawn(work);
            }
            work();
        });
        bar.finish_and_clear();
        let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
        results.sort_by_key(|(number, _)| *number);
        let begun = results.len();
        let ended: Result<Vec<Played>> = results
            .into_iter()
            .map(|(_, played)| played)
            .filter(|p| !aborted(p))
            .collect();
        let given_up = begun - ended.as_ref().map_or(begun, Vec::len);
        if given_up > 0 && !interrupt::flag().is_raised() {
            eprintln!("surmise: {given_up} matches did not end within {MAX_ROUNDS} rounds and are left out");
        }
        ended
    }

    fn play_one(&self, number: u64) -> Result<Played> {
        let seed = Seed(self.args.seed).child("match").nth(number);
        let shift = if self.args.swap {
            number as usize % self.players.len()
        } else {
            0
        };
        let seated: Vec<usize> = (0..self.played.len())
            .map(|p| (p + shift) % self.players.len())
            .collect();
        let mut seats: Vec<Seat> = Vec::new();
        let mut names = Vec::new();
        for role in 0..self.roles.len() {
            let (seat, name) = match self.played.iter().position(|&r| r == role) {
                None => (Seat::Nature, "nature"),
                Some(at) => {
                    let player = &self.players[seated[at]];
                    let seed = seed.child("player").nth(role as u64);
                    (
                        player.seat(self.engine, RoleId(role as u16), seed)?,
                        player.text.as_str(),
                    )
                }
            };
            seats.push(seat);
            names.push(name.to_owned());
        }
        let mut sim = self.engine.state_simulator();
        let table = Match {
            sim: sim.as_mut(),
            seats,
            names,
            seed,
            clock: self.clock,
            max_rounds: MAX_ROUNDS,
            stop: interrupt::flag(),
            title: Title::default(),
            pause: Duration::ZERO,
            wire: None,
        };
        let mut outcome = table.play().with_context(|| format!("match {}", number + 1))?;
        outcome.record.game = self.loaded.name.clone();
        outcome.record.rules = String::from_utf8_lossy(&self.loaded.bytes).into_owned();
        self.write_record(number, &outcome)?;
        Ok(Played { seated, outcome })
    }

    fn write_record(&self, number: u64, outcome: &Outcome) -> Result<()> {
        let Some(folder) = &self.args.record else {
            return Ok(());
        };
        let path = folder.join(format!("match-{number:06}.json"));
        let text = format!("{}\n", outcome.record.to_json());
        std::fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))
    }
}

/// Every decision of a match: its round, role and reasons.
fn reasons<'a>(hall: &'a Hall<'_>, played: &'a Played) -> impl Iterator<Item = (usize, &'a str, &'a Decision)> {
    let longest = played.outcome.record.rounds.len();
    (0..longest).flat_map(move |round| {
        hall.played.iter().filter_map(move |&role| {
            let decision = played.outcome.seats[role].decisions.get(round)?;
            Some((round + 1, hall.roles[role].as_str(), decision))
        })
    })
}

fn reasons_json(hall: &Hall<'_>, played: &Played) -> Value {
    let reason = |(round, role, d): (usize, &str, &Decision)| {
        let candidates: Vec<Value> = d.candidates.iter().map(candidate_json).collect();
        let policy = policy_json(d);
        json!({"round": round, "role": role, "move": d.mv, "candidates": candidates, "policy": policy, "belief": d.belief})
    };
    reasons(hall, played).map(reason).collect()
}

fn reasons_text(hall: &Hall<'_>, played: &Played) -> String {
    let mut out = String::from("\nThe first match, move by move:\n");
    for (round, role, decision) in reasons(hall, played) {
        if decision.candidates.len() < 2 {
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

fn aborted(played: &Result<Played>) -> bool {
    played.as_ref().is_ok_and(|p| p.outcome.record.aborted)
}

/// What the matches came to, a line for each player in each seat it sat in.
struct Summary<'a> {
    hall: &'a Hall<'a>,
    games: usize,
    rows: Vec<Row>,
}

#[derive(Default)]
struct Row {
    role: String,
    player: String,
    goals: Vec<f64>,
    meter: Meter,
    moves: u64,
    illegal: u64,
    late: u64,
    times: Vec<Duration>,
}

impl<'a> Summary<'a> {
    fn new(hall: &'a Hall<'a>, results: &[Played]) -> Summary<'a> {
        let mut rows: Vec<Row> = Vec::new();
        for result in results {
            for (at, &role) in hall.played.iter().enumerate() {
                let (role_name, player) = (&hall.roles[role], &hall.players[result.seated[at]].text);
                let found = rows.iter().position(|r| r.role == *role_name && r.player == *player);
                let row = match found {
                    Some(i) => &mut rows[i],
                    None => {
                        rows.push(Row {
                            role: role_name.clone(),
                            player: player.clone(),
                            ..Row::default()
                        });
                        rows.last_mut().expect("just pushed")
                    }
                };
                row.add(&result.outcome, role);
            }
        }
        Summary {
            hall,
            games: results.len(),
            rows,
        }
    }

    fn json(&self) -> Value {
        let timed = self.hall.clock != Clock::None;
        json!({
            "game": self.hall.loaded.name,
            "seed": self.hall.args.seed,
            "games": self.games,
            "players": self.rows.iter().map(|r| r.json(timed)).collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{}: {} matches, seed {}",
            self.hall.loaded.name, self.games, self.hall.args.seed
        );
        let timed = self.hall.clock != Clock::None;
        let width = self.rows.iter().map(|r| r.player.len()).max().unwrap_or(6).max(6);
        let seat = self.rows.iter().map(|r| r.role.len()).max().unwrap_or(4).max(4);
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
            if timed { "  late" } else { "" }
        );
        for row in &self.rows {
            let (mean, stderr) = row.mean();
            let _ = writeln!(
                out,
                "  {:seat$}  {:width$}  {:>7.2}  {:>6.2} ..{:>6.2}  {:>12.0}  {:>12.0}  {:>9.3}  {:>7}{}",
                row.role,
                row.player,
                mean,
                mean - 1.96 * stderr,
                mean + 1.96 * stderr,
                row.states_per_game(),
                row.touches_per_game(),
                row.ms_per_move(),
                row.illegal,
                if timed {
                    format!("  {:>4}", row.late)
                } else {
                    String::new()
                }
            );
        }
        out
    }
}

impl Row {
    fn add(&mut self, outcome: &Outcome, role: usize) {
        let seat = &outcome.seats[role];
        self.goals.push(f64::from(outcome.record.goals[role]));
        self.meter.add(seat.meter);
        self.moves += seat.moves;
        self.illegal += seat.illegal;
        self.late += seat.late;
        self.times.extend(&seat.times);
    }

    /// Mean goal and its standard error.
    fn mean(&self) -> (f64, f64) {
        let n = self.goals.len().max(1) as f64;
        let mean = self.goals.iter().sum::<f64>() / n;
        let squares: f64 = self.goals.iter().map(|g| (g - mean).powi(2)).sum();
        (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
    }

    fn states_per_game(&self) -> f64 {
        self.meter.states as f64 / self.goals.len().max(1) as f64
    }

    fn touches_per_game(&self) -> f64 {
        self.meter.touches as f64 / self.goals.len().max(1) as f64
    }

    fn ms_per_move(&self) -> f64 {
        self.times.iter().sum::<Duration>().as_secs_f64() * 1e3 / self.moves.max(1) as f64
    }

    /// The time that this share of the moves did not exceed.
    fn ms_at(&self, share: f64) -> f64 {
        let mut times = self.times.clone();
        times.sort();
        let at = (share * times.len() as f64).ceil() as usize;
        times.get(at.max(1) - 1).map_or(0.0, |t| t.as_secs_f64() * 1e3)
    }

    fn json(&self, timed: bool) -> Value {
        let (mean, stderr) = self.mean();
        let mut row = json!({
            "role": self.role,
            "player": self.player,
            "mean": mean,
            "stderr": stderr,
            "ci95": [mean - 1.96 * stderr, mean + 1.96 * stderr],
            "states_per_game": self.states_per_game(),
            "touches_per_game": self.touches_per_game(),
            "moves": self.moves,
            "illegal": self.illegal,
        });
        // Times differ from run to run: the same seed gives the same bytes unless time was part of the question.
        row["ms_per_move"] = if timed { json!(self.ms_per_move()) } else { Value::Null };
        if timed {
            row["late"] = json!(self.late);
            row["p99_ms"] = json!(self.ms_at(0.99));
            row["max_ms"] = json!(self.ms_at(1.0));
        }
        row
    }
}
