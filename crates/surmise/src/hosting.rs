//! Matches that we host for players here and elsewhere, with records on disk after every round.

use crate::matches::{run_numbered, write_record, write_remarks};
use crate::players::PlayerSpec;
use crate::players::remote::match_id;
use crate::{Error, Game};
use game::{Seed, StopFlag};
use ggp::net::Network;
use ggp::{Clocks, Host, Variant};
use referee::{Clock, Match, Outcome, Record, Seat, Wire};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Hosts matches of one game between the same players.
pub struct MatchHost<'a> {
    /// The game.
    pub game: &'a Game,
    /// One player for each role that is not nature.
    pub players: Vec<PlayerSpec>,
    /// Dialect spoken to players elsewhere.
    pub variant: Variant,
    /// Clocks of all players.
    pub clocks: Clocks,
    /// Whether players elsewhere are sent other names than those of the rules.
    pub scramble: bool,
    /// Folder for records.
    pub record: Option<PathBuf>,
    /// Rounds after which a match is aborted.
    pub max_rounds: usize,
    /// Pause after every round.
    pub pause: Duration,
    /// Aborts matches.
    pub stop: StopFlag,
    /// Connections, time and threads: [`referee::System`], unless a test simulates them.
    pub network: Arc<dyn Network>,
}

/// A match that was hosted.
pub struct HostedMatch {
    /// Its name.
    pub id: String,
    /// The record and what each seat did.
    pub outcome: Outcome,
}

impl MatchHost<'_> {
    /// Plays matches, `parallel` at a time as far as players elsewhere have room: `capacity` matches each.
    ///
    /// # Errors
    /// If a match cannot be played. Matches that were aborted have a record that says so.
    pub fn play_all(
        &self,
        games: u64,
        parallel: usize,
        capacity: usize,
        seed: u64,
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<HostedMatch>, Error> {
        let gate = Gate::new(capacity);
        let results: Mutex<Vec<(u64, HostedMatch)>> = Mutex::default();
        run_numbered(games, parallel, &self.stop, |number| {
            let Some(_places) = gate.enter(&self.players, &self.stop) else {
                return Ok(());
            };
            let played = self.play(Seed(seed).child("match").nth(number))?;
            results
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((number, played));
            done();
            Ok(())
        })?;
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(number, _)| *number);
        Ok(results.into_iter().map(|(_, played)| played).collect())
    }

    /// Plays one match.
    ///
    /// # Errors
    /// If the players do not fit the game, the game fails, or the record cannot be written.
    pub fn play(&self, seed: Seed) -> Result<HostedMatch, Error> {
        // The name of a scrambled game would tell which game it is.
        let id = match_id(if self.scramble { "scrambled" } else { self.game.name() });
        self.play_as(id, seed)
    }

    /// Plays one match under a name.
    ///
    /// # Errors
    /// As [`MatchHost::play`].
    pub fn play_as(&self, id: String, seed: Seed) -> Result<HostedMatch, Error> {
        let players = self.game.fill(self.players.clone())?;
        let rules = &self.game.engine().rules;
        let (seating, roles) = (self.game.seating(), self.game.roles());
        let scramble = self.scramble.then_some(seed);
        let mut host = Host::new(&id, rules, roles, self.variant, self.clocks, scramble)?;
        host.network = self.network.clone();
        let seats = seating.seats(0, seed, |player, role, seed| match players[player].remote() {
            Some(peer) => Ok(Seat::Guest(Box::new(host.guest(peer.clone(), usize::from(role.0))))),
            None => {
                let (start, play) = (self.clocks.start, self.clocks.play.max(1));
                let player = players[player].clone();
                let player = player.with_clocks(Duration::from_secs(start.max(1)), Duration::from_secs(play));
                self.game.seat(&player, role, seed)
            }
        })?;
        let mut sim = self.game.simulator();
        let table = Match {
            title: self.game.title(),
            clock: Clock::PerMove {
                time: Duration::from_secs(self.clocks.play).max(Duration::from_millis(50)),
                grace: self.clocks.grace,
            },
            max_rounds: self.max_rounds,
            pause: self.pause,
            wire: Some(self.wire(&id)),
            stop: self.stop.clone(),
            runtime: self.network.clone(),
            ..Match::new(sim.as_mut(), seats, seating.names(&players, 0), seed)
        };
        tracing::info!(id, game = self.game.name(), protocol = %self.variant, "begins");
        let mut failed = None;
        let mut rounds = 0;
        let outcome = table.play_watched(&mut |record, _| {
            if record.rounds.len() > rounds {
                rounds = record.rounds.len();
                tracing::info!(id, round = rounds, "round played");
            }
            failed = self.write(&id, record).err().or(failed.take());
        });
        let outcome = outcome.inspect_err(|fault| tracing::error!(id, "cannot go on: {fault}"))?;
        match outcome.record.complete {
            true => tracing::info!(id, goals = ?outcome.record.goals, "is over"),
            false => tracing::warn!(id, rounds, "is aborted"),
        }
        if let (Some(folder), None) = (&self.record, &failed) {
            failed = write_remarks(folder, &id, self.game.roles(), &outcome).err();
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(HostedMatch { id, outcome }),
        }
    }

    /// What the record says of the wire before anything was played.
    fn wire(&self, id: &str) -> Wire {
        Wire {
            match_id: id.to_owned(),
            protocol: self.variant.to_string(),
            start_clock: self.clocks.start,
            play_clock: self.clocks.play,
            grace_ms: self.clocks.grace.as_millis() as u64,
            scrambled: self.scramble,
            ..Wire::default()
        }
    }

    fn write(&self, id: &str, record: &Record) -> Result<(), Error> {
        match &self.record {
            Some(folder) => write_record(&folder.join(format!("{id}.json")), record),
            None => Ok(()),
        }
    }

    /// Whether every player can play this game.
    ///
    /// # Errors
    /// If one cannot.
    pub fn admit(&self) -> Result<(), Error> {
        self.players.iter().try_for_each(|player| self.game.admit(player))
    }
}

/// Limits the matches that each player elsewhere plays at a time.
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
    /// A limit of so many matches at a time.
    pub fn new(capacity: usize) -> Gate {
        Gate {
            capacity: capacity.max(1),
            used: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Waits until every player of a match has a place for the match; none if the flag is raised before. All places are
    /// taken at once, so that two matches never wait for each other.
    pub fn enter(&self, players: &[PlayerSpec], stop: &StopFlag) -> Option<Places<'_>> {
        let peers: Vec<String> = players.iter().filter_map(|p| Some(p.remote()?.to_string())).collect();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if stop.is_raised() {
                return None;
            }
            let wanted = |peer: &String| peers.iter().filter(|p| *p == peer).count();
            // A player in several seats of one match needs as many places, or all there are.
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
