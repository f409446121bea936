//! `surmise manage`: matches for players that speak the GGP protocol.

use crate::commands::JSON_VERSION;
use crate::{complete, console, interrupt, log, open, output, progress};
use anyhow::{Context, Result, bail};
use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use surmise::ggp::http::{Peer, exchange, printable};
use surmise::ggp::{Clocks, Variant};
use surmise::hosting::{HostedMatch, MatchHost};
use surmise::lab::stats::{self, Interval};
use surmise::players::registry;
use surmise::players::remote::usual_variant;
use surmise::referee::System;
use surmise::{PlayerSpec, column_width};

/// Host matches for GGP players, elsewhere and here
///
/// Name a player for each role that is not nature, in the order of the roles: HOST:PORT for one that speaks the GGP
/// protocol, or any player of `surmise players`. A single name plays all roles. A comma separates players unless what
/// follows is an option of the player before it: `--players hp:16,4,127.0.0.1:9148` is two players. Semicolons, or
/// --players twice, are unambiguous.
///
/// Answers have an absolute deadline. A move that is illegal, missing or late is replaced by a random legal one, and
/// the record says why: IL (illegal), TO (too late), CE (no connection), PARSE, NIL, BUSY, EMPTY. Records are on disk
/// after every round; `surmise replay` checks them. Ctrl-C sends ABORT to all players and keeps what was played.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    #[arg(add = ArgValueCompleter::new(complete::games))]
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
    /// Rounds after which a match is aborted
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
    let players = read_players(&args.players)?;
    let (grace, pause) = (seconds("--grace", args.grace)?, seconds("--pause", args.pause)?);
    let game = open::game(&args.game)?;
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    }
    let host = MatchHost {
        players: game.fill(players)?,
        variant: args.protocol.unwrap_or_else(|| usual_variant(&game.engine().rules)),
        game: &game,
        clocks: Clocks {
            start: args.start_clock,
            play: args.play_clock,
            grace,
        },
        scramble: args.scramble,
        record: args.record.clone(),
        max_rounds: args.max_rounds,
        pause,
        stop: interrupt::flag(),
        network: Arc::new(System),
    };
    host.admit()?;
    greet(&host);
    let bar = match console::seat_people(&host.players) {
        true => progress::none(),
        false => progress::bar("matches", args.games),
    };
    let played = host.play_all(args.games, args.parallel, args.capacity, args.seed, &|| bar.inc())?;
    bar.finish();
    let summary = Summary::new(args, &host, &played);
    output::print(&match args.json {
        true => format!("{}\n", summary.json()),
        false => summary.text(),
    });
    if interrupt::is_raised() {
        output::note(&format!("stopped after {} of {} matches", summary.complete, args.games));
        return Ok(interrupt::exit_code());
    }
    let absent: Vec<&Row> = summary.rows.iter().filter(|row| row.is_absent()).collect();
    for row in &absent {
        output::error(&format!(
            "{} took no part: every move of {} was made for it",
            row.player, row.role
        ));
    }
    let failed = summary.aborted > 0 || played.is_empty() || !absent.is_empty();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn seconds(option: &str, value: f64) -> Result<Duration> {
    match Duration::try_from_secs_f64(value) {
        Ok(time) if time <= Duration::from_secs(3_600) => Ok(time),
        _ => bail!("{option} must be a number of seconds from 0 to 3600, not {value}"),
    }
}

/// Players from the command line. A piece that cannot begin a player's name is an option of the player before.
fn read_players(texts: &[String]) -> Result<Vec<PlayerSpec>> {
    let mut names: Vec<String> = Vec::new();
    for text in texts {
        if text.contains(';') {
            names.extend(text.split(';').map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()));
            continue;
        }
        let mut fresh = true;
        for piece in text.split(',').map(str::trim) {
            let player = registry::find(piece.split(':').next().unwrap_or_default()).is_some();
            let option = !player && (piece.contains('=') || piece.bytes().all(|b| b.is_ascii_digit()));
            let option = option || names.last().is_some_and(|last| wants_command(last));
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

/// Whether a text is `exec:` with options and no command yet.
fn wants_command(text: &str) -> bool {
    let options = text.strip_prefix("exec:").map(|rest| rest.split(','));
    let known = |part: &str| {
        let key = part.split('=').next().unwrap_or_default().trim();
        part.contains('=') && registry::find("exec").is_some_and(|exec| exec.option(key).is_some())
    };
    options.is_some_and(|mut parts| parts.all(known))
}

/// A player of ours if it is called like one, else HOST:PORT.
fn read_player(text: &str) -> Result<PlayerSpec> {
    let word = text.split(':').next().unwrap_or_default();
    if registry::find(word).is_none() && Peer::parse(text).is_some() {
        return Ok(PlayerSpec::parse(&format!("remote:{text}"))?);
    }
    PlayerSpec::parse(text).with_context(|| format!("`{text}` is neither HOST:PORT nor a player"))
}

/// Asks players elsewhere who they are. No answer is worth a warning, and no reason not to begin.
fn greet(host: &MatchHost<'_>) {
    let seating = host.game.seating();
    for (player, &role) in host.players.iter().zip(seating.played()) {
        let (Some(peer), role) = (player.remote(), &seating.roles()[role]) else {
            continue;
        };
        match exchange(peer, "(INFO)", Duration::from_secs(1), &host.stop) {
            Ok(reply) => {
                let name: String = reply.chars().take(200).collect();
                tracing::info!(role, %peer, "{role} says it is {}", printable(&name))
            }
            Err(none) => tracing::warn!(role, %peer, "{role} does not answer to INFO: {none}"),
        }
    }
}

/// Results of the matches.
struct Summary<'a> {
    args: &'a Args,
    host: &'a MatchHost<'a>,
    complete: usize,
    aborted: usize,
    rows: Vec<Row>,
}

#[derive(Default)]
struct Row {
    role: String,
    player: String,
    goals: Vec<f64>,
    moves: u64,
    longest_ms: u64,
    errors: BTreeMap<&'static str, u64>,
}

impl<'a> Summary<'a> {
    fn new(args: &'a Args, host: &'a MatchHost<'a>, played: &[HostedMatch]) -> Summary<'a> {
        let seating = host.game.seating();
        let row =
            |(player, &role): (&PlayerSpec, &usize)| Row::new(&seating.roles()[role], player.text(), role, played);
        Summary {
            args,
            host,
            complete: played.iter().filter(|p| p.outcome.record.complete).count(),
            aborted: played.iter().filter(|p| p.outcome.record.aborted).count(),
            rows: host.players.iter().zip(seating.played()).map(row).collect(),
        }
    }

    fn json(&self) -> Value {
        let row = |r: &Row| {
            json!({
                "role": r.role, "player": r.player, "mean": r.score().mean,
                "ci95": [r.score().low.max(0.0), r.score().high.min(100.0)], "moves": r.moves,
                "longest_ms": r.longest_ms, "errors": r.errors,
            })
        };
        json!({
            "version": JSON_VERSION,
            "game": self.host.game.name(),
            "protocol": self.host.variant.to_string(),
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
        let _ = write!(out, "{}: {complete} match{plural} played", self.host.game.name());
        if *aborted > 0 {
            let _ = write!(out, ", {aborted} aborted");
        }
        let _ = writeln!(out, ", {}, seed {}", self.host.variant, self.args.seed);
        let seat = column_width(self.rows.iter().map(|r| r.role.as_str())).max(4);
        let width = column_width(self.rows.iter().map(|r| r.player.as_str())).max(6);
        let _ = writeln!(
            out,
            "  {:seat$}  {:width$}  {:>6}  {:>15}  {:>5}  {:>10}  errors",
            "seat", "player", "mean", "95 % interval", "moves", "longest ms"
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
                "  {:seat$}  {:width$}  {:>6.2}  {:>6.2} ..{:>6.2}  {:>5}  {:>10}  {errors}",
                row.role,
                row.player,
                row.score().mean,
                row.score().low.max(0.0),
                row.score().high.min(100.0),
                row.moves,
                row.longest_ms
            );
        }
        out
    }
}

impl Row {
    fn new(name: &str, player: &str, role: usize, played: &[HostedMatch]) -> Row {
        let mut row = Row {
            role: name.to_owned(),
            player: player.to_owned(),
            ..Row::default()
        };
        for played in played {
            let record = &played.outcome.record;
            row.goals.extend(record.goals.get(role).copied().map(f64::from));
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

    /// Whether the player was unreachable or busy at every move.
    fn is_absent(&self) -> bool {
        let missed: u64 = ["CE", "BUSY"].iter().filter_map(|code| self.errors.get(code)).sum();
        self.moves > 0 && missed >= self.moves
    }

    fn score(&self) -> Interval {
        stats::of_scores(&self.goals, 1, 0.95)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_players_and_options() {
        let read = |texts: &[&str]| -> Vec<String> {
            let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
            read_players(&texts)
                .unwrap()
                .iter()
                .map(|p| p.text().to_owned())
                .collect()
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
        assert_eq!(
            read(&["random,exec:./bot --depth=3,exec:play=2,legal=off,./bot"]),
            ["random", "exec:./bot --depth=3", "exec:play=2,legal=off,./bot"]
        );
        assert_eq!(read(&["hp:16", "a:9"]), ["hp:16", "remote:a:9"]);
        assert!(read_players(&["nobody".to_owned()]).is_err());
    }
}
