//! Records of matches that a manager elsewhere runs, as our player knows them.
//!
//! Where the manager tells every move, the record is that of a referee, with states and goals, once the match has
//! ended. Elsewhere it is a record of one role's sight: its moves, its percepts, its times. A record holds nothing that
//! the role was not told. File names are our own: nothing that a peer sends becomes part of them.

use crate::matches::write_record;
use game::{RoleId, Simulator, Told};
use ggp::{PlayedEnd, PlayedMatch};
use ground::Reference;
use referee::{Record, Round, Wire};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes records on a thread of its own, so that no answer waits for the disk.
pub struct MatchRecorder {
    sender: Mutex<Option<Sender<Snapshot>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    player: String,
}

/// A match at a moment.
struct Snapshot {
    number: u64,
    record: Record,
    joint: Vec<Vec<String>>,
    ended: bool,
}

impl MatchRecorder {
    /// Writes into a folder, which is made if need be.
    ///
    /// # Errors
    /// If the folder cannot be made, or there is no thread.
    pub fn new(folder: &Path, player: &str) -> std::io::Result<MatchRecorder> {
        std::fs::create_dir_all(folder)?;
        let (sender, snapshots) = channel();
        let folder = folder.to_owned();
        let begun = now();
        let thread = std::thread::Builder::new().name("records".to_owned());
        let thread = thread.spawn(move || write_all(&folder, begun, &snapshots))?;
        Ok(MatchRecorder {
            sender: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            player: player.to_owned(),
        })
    }

    /// Takes down how far a match is.
    pub fn take(&self, played: &PlayedMatch<'_>) {
        let snapshot = Snapshot {
            number: played.number,
            record: sight_of(played, &self.player),
            joint: played.joint.to_vec(),
            ended: played.end.is_some(),
        };
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sender.as_ref() {
            let _ = sender.send(snapshot);
        }
    }

    /// Waits until everything is on the disk. Nothing is taken down any more.
    pub fn finish(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// Writes the newest snapshot of each match.
fn write_all(folder: &Path, begun: u64, snapshots: &Receiver<Snapshot>) {
    let mut started: BTreeMap<u64, u64> = BTreeMap::new();
    while let Ok(first) = snapshots.recv() {
        let mut newest: BTreeMap<u64, Snapshot> = BTreeMap::from([(first.number, first)]);
        while let Ok(snapshot) = snapshots.try_recv() {
            newest.insert(snapshot.number, snapshot);
        }
        for (number, mut snapshot) in newest {
            let start = *started.entry(number).or_insert_with(now);
            if let Some(wire) = &mut snapshot.record.wire {
                wire.start_time = start;
            }
            if snapshot.ended {
                started.remove(&number);
                snapshot.record = completed(&snapshot.record, &snapshot.joint).unwrap_or(snapshot.record);
            }
            let path = path_of(folder, begun, number);
            if let Err(error) = write_record(&path, &snapshot.record) {
                tracing::error!("{error}");
            }
        }
    }
}

fn path_of(folder: &Path, begun: u64, number: u64) -> PathBuf {
    folder.join(format!("played.{begun:x}.{}.{number}.json", std::process::id()))
}

/// What the role knows.
fn sight_of(played: &PlayedMatch<'_>, player: &str) -> Record {
    let (role, roles) = (played.role, played.roles.len());
    let only = |own: String, others: &str| -> Vec<String> {
        let mut all = vec![others.to_owned(); roles];
        all[role] = own;
        all
    };
    let round = |(turn, told): (usize, &Told)| {
        let mut percepts = vec![Vec::new(); roles];
        percepts[role] = told.sees.clone();
        let reply = played.replies.get(turn).copied().flatten().unwrap_or_default();
        Round {
            moves: only(told.own.clone(), Record::UNSEEN),
            percepts,
            submitted: only(reply.to_owned(), Record::UNSEEN),
            substitutions: vec![None; roles],
        }
    };
    let time = |turn: usize| -> Vec<u64> {
        let mut all = vec![0; roles];
        all[role] = played.times_ms.get(turn).copied().unwrap_or(0);
        all
    };
    let start = played.start;
    let rules = start.rules.trim();
    let inner = rules
        .strip_prefix('(')
        .and_then(|r| r.strip_suffix(')'))
        .unwrap_or(rules);
    Record {
        game: "rules as sent".to_owned(),
        rules: inner.to_owned(),
        roles: played.roles.to_vec(),
        players: only(player.to_owned(), "unknown"),
        cheats: vec![false; roles],
        rounds: played.told.iter().enumerate().map(round).collect(),
        complete: played.end == Some(PlayedEnd::Over),
        aborted: played.end == Some(PlayedEnd::GivenUp),
        sight: Some(role),
        sealed: true,
        wire: Some(Wire {
            match_id: start.id.clone(),
            protocol: played.variant.map_or_else(|| "unknown".to_owned(), |v| v.to_string()),
            start_clock: start.start_clock,
            play_clock: start.play_clock,
            start_errors: vec![String::new(); roles],
            times_ms: (0..played.told.len()).map(time).collect(),
            ..Wire::default()
        }),
        ..Record::default()
    }
}

/// The record with states, percepts and goals, if all moves are known and legal.
fn completed(sight: &Record, joint: &[Vec<String>]) -> Option<Record> {
    if joint.len() != sight.rounds.len() {
        return None;
    }
    let reading = gdl::read(&sight.rules, &gdl::Options::default());
    let mut rules = reading.rules;
    rules.announce_moves();
    let mut sim = Reference::new(&rules).ok()?;
    let mut state = sim.initial().ok()?;
    let mut record = Record {
        sight: None,
        states: vec![sim.fluents(&state)],
        rounds: Vec::new(),
        ..sight.clone()
    };
    for (told, texts) in sight.rounds.iter().zip(joint) {
        let mut moves = Vec::new();
        for (role, text) in texts.iter().enumerate() {
            let role = RoleId(role as u16);
            let mut legal = Vec::new();
            sim.legal(&state, role, &mut legal).ok()?;
            moves.push(legal.into_iter().find(|&m| sim.move_text(role, m) == text)?);
        }
        let mut percepts = Vec::new();
        for role in (0..texts.len()).map(|role| RoleId(role as u16)) {
            let mut seen = Vec::new();
            sim.percepts(&state, &moves, role, &mut seen).ok()?;
            percepts.push(seen.iter().map(|&p| sim.percept_text(role, p).to_owned()).collect());
        }
        state = sim.next(&state, &moves).ok()?;
        record.states.push(sim.fluents(&state));
        record.rounds.push(Round {
            moves: texts.clone(),
            percepts,
            ..told.clone()
        });
    }
    if let Some(wire) = &mut record.wire {
        wire.state_times = vec![wire.start_time; record.states.len()];
    }
    if record.complete {
        record.complete = sim.terminal(&state).ok()?;
        for role in (0..record.roles.len()).map(|role| RoleId(role as u16)) {
            record.goals.push(sim.goal(&state, role).ok()?.points());
        }
    }
    Some(record)
}
