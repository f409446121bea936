//! `surmise manage`: host matches for players that speak the GGP protocol.

use crate::engine::{Engine, EngineOptions};
use crate::load::load;
use crate::players::remote::usual_variant;
use crate::players::{PLAYERS, PlayerSpec};
use crate::table::{Gate, Played, Table};
use crate::{interrupt, log, output, progress};
use anyhow::{Context, Result, bail};
use game::Seed;
use ggp::http::{Peer, exchange};
use ggp::{Clocks, Variant};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Host matches for GGP players, elsewhere and here
///
/// Name a player for each role that is not nature, in the order of the roles: HOST:PORT for one that speaks the GGP protocol, or any player of
/// `surmise match`. A single name plays all roles. A comma separates players unless what follows is an option of the player before it:
/// `--players hp:16,4,127.0.0.1:9148` is two players. Semicolons, or --players twice, say it without doubt.
///
/// Answers have an absolute deadline. A move that is illegal, missing or late is replaced by a random legal one, and the record says why:
/// IL (illegal), TO (too late), CE (no connection), PARSE, NIL, BUSY, EMPTY. Records are on disk after every round;
/// `surmise replay` checks them. Ctrl-C sends ABORT to everybody and keeps what was played.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    game: String,
    /// Players, in the order of the roles
    #[arg(long, required = true, value_name = "PLAYERS")]
    players: Vec<String>,
    /// Seconds before the first move
    #[arg(long, default_value_t = 10, value_name = "S")]
    start_clock: u64,
    /// Seconds for each move
    #[arg(long, default_value_t = 10, value_name = "S")]
    play_clock: u64,
    /// Seconds that an answer may come later and still be taken
    #[arg(long, default_value_t = 1.0, value_name = "S")]
    grace: f64,
    /// Seconds between rounds
    #[arg(long, default_value_t = 0.0, value_name = "S")]
    pause: f64,
    /// Matches to play
    #[arg(long, default_value_t = 1, value_name = "N")]
    games: u64,
    /// Matches at a time, as far as players have room
    #[arg(long, default_value_t = 1, value_name = "N")]
    parallel: usize,
    /// Matches that a player elsewhere can play at a time
    #[arg(long, default_value_t = 1, value_name = "N")]
    capacity: usize,
    /// Hide the names of the rules from players elsewhere
    #[arg(long)]
    scramble: bool,
    /// What is spoken: gdl2b (the usual for GDL-II), gdl2a or gdl1 (the usual for GDL-I)
    #[arg(long, value_name = "DIALECT")]
    protocol: Option<Variant>,
    /// Rounds after which a match is given up
    #[arg(long, default_value_t = 2_000, value_name = "N")]
    max_rounds: usize,
    /// Seed of the matches
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Write the record of every match into this folder
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// One JSON object instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    log: log::LogArgs,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    log::start(&args.log);
    let loaded = load(&args.game)?;
    let mut rules = loaded.playable()?.rules;
    let hidden = rules.gdl2;
    let variant = args.protocol.unwrap_or_else(|| usual_variant(&rules));
    rules.announce_moves();
    let engine = Engine::new(&rules, &EngineOptions::default())?;
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    }
    let mut table = Table {
        game: loaded.name.clone(),
        engine: &engine,
        players: read_players(&args.players)?,
        variant,
        clocks: Clocks {
            start: args.start_clock,
            play: args.play_clock,
            grace: seconds("--grace", args.grace)?,
        },
        scramble: args.scramble,
        record: args.record.clone(),
        max_rounds: args.max_rounds,
        pause: seconds("--pause", args.pause)?,
        stop: interrupt::flag(),
    };
    if table.players.len() == 1 {
        table.players = vec![table.players[0].clone(); table.seats().len()];
    }
    let blind = table.players.iter().find(|p| hidden && p.needs_complete_information());
    if let Some(player) = blind {
        bail!(
            "`{}` needs a game in which nothing is hidden; {} hides something",
            player.text,
            loaded.name
        );
    }
    greet(&table);
    let played = play_all(args, &table)?;
    let summary = Summary::new(args, &table, &played);
    output::print(&if args.json {
        format!("{}\n", summary.json())
    } else {
        summary.text()
    });
    let given_up = played.iter().any(|p| p.outcome.record.aborted);
    Ok(if given_up || played.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn seconds(option: &str, value: f64) -> Result<Duration> {
    match Duration::try_from_secs_f64(value) {
        Ok(time) if time <= Duration::from_secs(3_600) => Ok(time),
        _ => bail!("{option} must be a number of seconds from 0 to 3600, not {value}"),
    }
}

/// Players from the command line. What cannot begin a player's name is an option of the player before.
fn read_players(texts: &[String]) -> Result<Vec<PlayerSpec>> {
    let mut names: Vec<String> = Vec::new();
    for text in texts {
        if text.contains(';') {
            names.extend(text.split(';').map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()));
            continue;
        }
        let mut fresh = true;
        for piece in text.split(',').map(str::trim) {
            let option = piece.contains('=') || piece.bytes().all(|b| b.is_ascii_digit());
            match names.last_mut() {
                Some(last) if option && !fresh => {
                    last.push(',');
                    last.push_str(piece);
                }
                _ => names.push(piece.to_owned()),
            }
            fresh = false;
        }
    }
    names.iter().map(|name| read_player(name)).collect()
}

/// A player of ours if it is called like one, else HOST:PORT.
fn read_player(text: &str) -> Result<PlayerSpec> {
    let word = text.split(':').next().unwrap_or_default();
    let ours = PLAYERS.split(", ").any(|p| p.split(':').next() == Some(word));
    if !ours && Peer::parse(text).is_some() {
        return PlayerSpec::parse(&format!("remote:{text}"));
    }
    PlayerSpec::parse(text).with_context(|| format!("`{text}` is neither HOST:PORT nor a player"))
}

/// Asks players elsewhere who they are. That they do not answer is worth a word, and no reason not to begin.
fn greet(table: &Table<'_>) {
    let seats = table.seats();
    for (player, (_, role)) in table.players.iter().zip(&seats) {
        let Some(peer) = player.remote() else {
            continue;
        };
        match exchange(peer, "(INFO)", Duration::from_secs(1), &table.stop) {
            Ok(reply) => {
                tracing::info!(role, %peer, "{role} says it is {}", reply.chars().take(200).collect::<String>())
            }
            Err(none) => tracing::warn!(role, %peer, "{role} does not answer to INFO: {none}"),
        }
    }
}

fn play_all(args: &Args, table: &Table<'_>) -> Result<Vec<Played>> {
    let next = AtomicU64::new(0);
    let gate = Gate::new(args.capacity);
    let results: Mutex<Vec<(u64, Result<Played>)>> = Mutex::default();
    let bar = progress::bar("matches", args.games);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= args.games {
                return;
            }
            let Some(_places) = gate.enter(&table.players, &table.stop) else {
                return;
            };
            let played = table.play(Seed(args.seed).child("match").nth(number));
            let failed = played.is_err();
            results.lock().unwrap_or_else(|e| e.into_inner()).push((number, played));
            bar.inc(1);
            if failed {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..args.parallel.clamp(1, 256) {
            scope.spawn(work);
        }
        work();
    });
    bar.finish_and_clear();
    let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, played)| played).collect()
}

/// What the matches came to.
struct Summary<'a> {
    args: &'a Args,
    table: &'a Table<'a>,
    complete: usize,
    aborted: usize,
    rows: Vec<Row>,
}

#[derive(Default)]
struct Row {
    role: String,
    player: String,
    goals: Vec<u8>,
    moves: u64,
    longest_ms: u64,
    errors: BTreeMap<&'static str, u64>,
}

impl<'a> Summary<'a> {
    fn new(args: &'a Args, table: &'a Table<'a>, played: &[Played]) -> Summary<'a> {
        let seats = table.seats();
        let row = |(player, (role, name)): (&PlayerSpec, &(usize, String))| Row::new(name, &player.text, *role, played);
        Summary {
            args,
            table,
            complete: played.iter().filter(|p| p.outcome.record.complete).count(),
            aborted: played.iter().filter(|p| p.outcome.record.aborted).count(),
            rows: table.players.iter().zip(&seats).map(row).collect(),
        }
    }

    fn json(&self) -> Value {
        let row = |r: &Row| {
            json!({
                "role": r.role, "player": r.player, "mean": r.mean(), "moves": r.moves,
                "longest_ms": r.longest_ms, "errors": r.errors,
            })
        };
        json!({
            "game": self.table.game,
            "protocol": self.table.variant.to_string(),
            "seed": self.args.seed,
            "complete": self.complete,
            "aborted": self.aborted,
            "players": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let Summary { complete, aborted, .. } = self;
        let plural = if *complete == 1 { "" } else { "es" };
        let _ = write!(out, "{}: {complete} match{plural} played", self.table.game);
        if *aborted > 0 {
            let _ = write!(out, ", {aborted} given up");
        }
        let _ = writeln!(out, ", {}, seed {}", self.table.variant, self.args.seed);
        let seat = self.rows.iter().map(|r| r.role.len()).max().unwrap_or(4).max(4);
        let width = self.rows.iter().map(|r| r.player.len()).max().unwrap_or(6).max(6);
        let _ = writeln!(
            out,
            "  {:seat$}  {:width$}  {:>6}  {:>5}  {:>10}  errors",
            "seat", "player", "mean", "moves", "longest ms"
        );
        for row in &self.rows {
            let errors: Vec<String> = row.errors.iter().map(|(code, n)| format!("{n} {code}")).collect();
            let errors = if errors.is_empty() {
                "none".to_owned()
            } else {
                errors.join(", ")
            };
            let _ = writeln!(
                out,
                "  {:seat$}  {:width$}  {:>6.2}  {:>5}  {:>10}  {errors}",
                row.role,
                row.player,
                row.mean(),
                row.moves,
                row.longest_ms
            );
        }
        out
    }
}

impl Row {
    fn new(name: &str, player: &str, role: usize, played: &[Played]) -> Row {
        let mut row = Row {
            role: name.to_owned(),
            player: player.to_owned(),
            ..Row::default()
        };
        for played in played {
            let record = &played.outcome.record;
            row.goals.extend(record.goals.get(role));
            row.moves += record.rounds.len() as u64;
            let times = &played.outcome.seats[role].times;
            let longest = times.iter().max().map_or(0, |t| t.as_millis() as u64);
            row.longest_ms = row.longest_ms.max(longest);
            for substitution in record.rounds.iter().filter_map(|r| r.substitutions[role].as_ref()) {
                *row.errors.entry(substitution.code()).or_default() += 1;
            }
        }
        row
    }

    fn mean(&self) -> f64 {
        self.goals.iter().map(|&g| f64::from(g)).sum::<f64>() / self.goals.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_players_and_options() {
        let read = |texts: &[&str]| -> Vec<String> {
            let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
            read_players(&texts).unwrap().into_iter().map(|p| p.text).collect()
        };
        assert_eq!(read(&["hp:16,4,127.0.0.1:9148"]), ["hp:16,4", "remote:127.0.0.1:9148"]);
        assert_eq!(
            read(&["localhost:1,localhost:2"]),
            ["remote:localhost:1", "remote:localhost:2"]
        );
        assert_eq!(
            read(&["random,hp:16,with=uct:50,legal"]),
            ["random", "hp:16,with=uct:50", "legal"]
        );
        assert_eq!(read(&["uct:50; a.b:9"]), ["uct:50", "remote:a.b:9"]);
        assert_eq!(read(&["hp:16", "a:9"]), ["hp:16", "remote:a:9"]);
        assert!(read_players(&["nobody".to_owned()]).is_err());
    }
}
