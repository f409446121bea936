//! A table that we host: matches with players here and elsewhere, and records that are on disk after every step.

use crate::engine::Engine;
use crate::players::PlayerSpec;
use crate::players::remote::match_id;
use anyhow::{Context, Result, anyhow, bail};
use game::{RoleId, Seed, StopFlag};
use ggp::{Clocks, Host, Variant};
use referee::{Clock, Match, Outcome, Record, Seat, SeatReport, Title, Wire};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Everything that the matches at a table share.
pub struct Table<'a> {
    /// What the game is called.
    pub game: String,
    /// The game. Its rules announce moves if they have no `sees` of their own.
    pub engine: &'a Engine,
    /// One for each role that is not nature.
    pub players: Vec<PlayerSpec>,
    /// What is spoken to players elsewhere.
    pub variant: Variant,
    /// Their clocks, and those of players here.
    pub clocks: Clocks,
    /// Whether players elsewhere are sent other names than those of the rules.
    pub scramble: bool,
    /// Where records go.
    pub record: Option<PathBuf>,
    /// Rounds after which a match is given up.
    pub max_rounds: usize,
    /// Pause before each round.
    pub pause: Duration,
    /// Gives matches up.
    pub stop: StopFlag,
}

/// A match that was played.
pub struct Played {
    /// Its name.
    pub id: String,
    /// How it went; the record has its wire part.
    pub outcome: Outcome,
}

impl Table<'_> {
    /// Names of the roles that are not nature, with their places.
    pub fn seats(&self) -> Vec<(usize, String)> {
        let sim = self.engine.state_simulator();
        let nature = sim.nature().map(|r| r.0 as usize);
        let roles = sim.roles().iter().cloned().enumerate();
        roles.filter(|(r, _)| Some(*r) != nature).collect()
    }

    /// Plays one match.
    pub fn play(&self, seed: Seed) -> Result<Played> {
        let id = match_id(&self.game);
        let mut sim = self.engine.state_simulator();
        let roles = sim.roles().to_vec();
        let scramble = self.scramble.then_some(seed);
        let host = Host::new(&id, &self.engine.rules, &roles, self.variant, self.clocks, scramble);
        let host = host?;
        let seated = self.seats();
        if seated.len() != self.players.len() {
            let names: Vec<&str> = seated.iter().map(|(_, name)| name.as_str()).collect();
            bail!(
                "{} needs {} players (for {}), not {}",
                self.game,
                seated.len(),
                names.join(", "),
                self.players.len()
            );
        }
        let mut seats = Vec::new();
        let mut names = Vec::new();
        for role in 0..roles.len() {
            let at = seated.iter().position(|(r, _)| *r == role);
            let (seat, name) = match at {
                None => (Seat::Nature, "nature"),
                Some(at) => self.seat(&host, at, role, seed)?,
            };
            seats.push(seat);
            names.push(name.to_owned());
        }
        let table = Match {
            sim: sim.as_mut(),
            seats,
            names,
            seed,
            clock: Clock::PerMove {
                time: Duration::from_secs(self.clocks.play).max(Duration::from_millis(50)),
                grace: self.clocks.grace,
            },
            max_rounds: self.max_rounds,
            stop: self.stop.clone(),
            title: Title::default(),
            pause: Duration::ZERO,
            wire: None,
        };
        let mut clerk = Clerk::new(self, &id);
        tracing::info!(id, game = self.game, protocol = %self.variant, "begins");
        let outcome = table.play_watched(&mut |record, seats| clerk.note(record, seats));
        let mut outcome = outcome.map_err(|fault| {
            tracing::error!(id, "cannot go on: {fault}");
            anyhow!(fault)
        })?;
        outcome.record = clerk.finish(&outcome)?;
        match outcome.record.complete {
            true => tracing::info!(id, goals = ?outcome.record.goals, "is over"),
            false => tracing::warn!(id, rounds = outcome.record.rounds.len(), "is given up"),
        }
        Ok(Played { id, outcome })
    }

    fn seat(&self, host: &Host, at: usize, role: usize, seed: Seed) -> Result<(Seat, &str)> {
        let player = &self.players[at];
        let seat = match player.remote() {
            Some(peer) => Seat::Guest(Box::new(host.guest(peer.clone(), role))),
            None => {
                let seed = seed.child("player").nth(role as u64);
                player.seat(self.engine, RoleId(role as u16), seed)?
            }
        };
        Ok((seat, player.text.as_str()))
    }
}

/// Writes the record of a match as it grows. A record is written beside its place and moved there whole, so that whoever
/// reads it, and whoever kills us, finds one that is complete up to a round.
struct Clerk<'a> {
    table: &'a Table<'a>,
    wire: Wire,
    rounds: usize,
    failed: Option<anyhow::Error>,
}

impl Clerk<'_> {
    fn new<'a>(table: &'a Table<'a>, id: &str) -> Clerk<'a> {
        Clerk {
            table,
            wire: Wire {
                match_id: id.to_owned(),
                protocol: table.variant.to_string(),
                start_clock: table.clocks.start,
                play_clock: table.clocks.play,
                grace_ms: table.clocks.grace.as_millis() as u64,
                scrambled: table.scramble,
                start_time: now(),
                ..Wire::default()
            },
            rounds: 0,
            failed: None,
        }
    }

    fn note(&mut self, record: &Record, seats: &[SeatReport]) {
        while self.wire.state_times.len() < record.states.len() {
            self.wire.state_times.push(now());
        }
        self.wire.start_errors = seats.iter().map(start_error).collect();
        for round in self.wire.times_ms.len()..record.rounds.len() {
            let time = |seat: &SeatReport| seat.times.get(round).map_or(0, |t| t.as_millis() as u64);
            self.wire.times_ms.push(seats.iter().map(time).collect());
        }
        if record.rounds.len() > self.rounds {
            self.rounds = record.rounds.len();
            tracing::info!(id = self.wire.match_id, round = self.rounds, "round played");
        }
        if let Err(error) = self.write(&self.complete(record)) {
            self.failed = Some(error);
        }
        let goes_on = !record.complete && !record.aborted && self.rounds > 0;
        if goes_on && !self.table.pause.is_zero() {
            std::thread::sleep(self.table.pause);
        }
    }

    fn complete(&self, record: &Record) -> Record {
        Record {
            game: self.table.game.clone(),
            rules: self.table.engine.rules.source.to_string(),
            wire: Some(self.wire.clone()),
            ..record.clone()
        }
    }

    fn write(&self, record: &Record) -> Result<()> {
        let Some(folder) = &self.table.record else {
            return Ok(());
        };
        write_whole(folder, &self.wire.match_id, &format!("{}\n", record.to_json()))
    }

    fn finish(self, outcome: &Outcome) -> Result<Record> {
        let record = self.complete(&outcome.record);
        match self.failed {
            Some(error) => Err(error),
            None => Ok(record),
        }
    }
}

fn start_error(seat: &SeatReport) -> String {
    match &seat.absent {
        None => String::new(),
        Some(referee::Substitution::Missing(why)) => format!("CE {why}"),
        Some(other) => other.code().to_owned(),
    }
}

fn write_whole(folder: &Path, id: &str, text: &str) -> Result<()> {
    let (path, beside) = (
        folder.join(format!("{id}.json")),
        folder.join(format!(".{id}.json.new")),
    );
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &path));
    written.with_context(|| format!("cannot write `{}`", path.display()))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| d.as_millis() as u64)
}

/// Lets only so many matches at a time use each player elsewhere.
pub struct Gate {
    capacity: usize,
    used: Mutex<HashMap<String, usize>>,
    freed: Condvar,
}

/// Places at players elsewhere, given back when dropped.
pub struct Places<'a> {
    gate: &'a Gate,
    peers: Vec<String>,
}

impl Gate {
    /// So many matches at a time.
    pub fn new(capacity: usize) -> Gate {
        Gate {
            capacity: capacity.max(1),
            used: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Waits until every player of a match has a place for it; nothing if the flag is raised before. Takes all places at once, so that
    /// two matches never wait for each other.
    pub fn enter(&self, players: &[PlayerSpec], stop: &StopFlag) -> Option<Places<'_>> {
        let peers: Vec<String> = players.iter().filter_map(|p| Some(p.remote()?.to_string())).collect();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if stop.is_raised() {
                return None;
            }
            let wanted = |peer: &String| peers.iter().filter(|p| *p == peer).count();
            // A player that sits in several seats of one match needs as many places, or all there are.
            let free = |peer: &String| {
                let used = used.get(peer).copied().unwrap_or(0);
                used == 0 || used + wanted(peer) <= self.capacity
            };
            if peers.iter().all(free) {
                break;
            }
            let waited = self.freed.wait_timeout(used, Duration::from_millis(100));
            used = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        for peer in &peers {
            *used.entry(peer.clone()).or_default() += 1;
        }
        Some(Places { gate: self, peers })
    }
}

impl Drop for Places<'_> {
    fn drop(&mut self) {
        let mut used = self.gate.used.lock().unwrap_or_else(PoisonError::into_inner);
        for peer in &self.peers {
            if let Some(n) = used.get_mut(peer) {
                *n = n.saturating_sub(1);
            }
        }
        self.gate.freed.notify_all();
    }
}
