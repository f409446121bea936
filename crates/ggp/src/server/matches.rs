//! The matches of a server: which are admitted, found, replaced, dropped and ended.

use super::ServerState;
use crate::channel::channel;
use crate::error::Error;
use crate::http::printable;
use crate::message::{Message, News};
use crate::places::Place;
use crate::presence::{Caller, NOTICE, Presence};
use crate::session::{self, MatchStart, Session, Work};
use game::StopFlag;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// Longest clock in seconds; longer ones are cut to this. A match must not hold its place for ever.
const MAX_CLOCK: u64 = 3_600;

/// Longest time that a START waits for a sign of life of the match whose place it wants.
const LISTENING: Duration = Duration::from_secs(10);

/// Shortest silence that is taken for the absence of a manager whose next message is not overdue.
const SILENCE: Duration = Duration::from_secs(1);

/// A match.
#[derive(Clone)]
pub(super) struct MatchEntry {
    start: Arc<MatchStart>,
    presence: Arc<Presence>,
    stop: StopFlag,
    /// The match once its rules have been read.
    session: Option<Arc<Session>>,
}

impl MatchEntry {
    /// Ends all work on the match.
    pub(super) fn dismiss(self) {
        self.stop.raise();
        if let Some(session) = &self.session {
            session.give_up();
        }
    }
}

impl ServerState {
    /// Whether there is no place, and no match whose manager is late.
    pub(super) fn is_full(&self) -> bool {
        let (matches, now) = (self.lock(), self.runtime.now());
        matches.len() >= self.options.max_matches && !matches.values().any(|entry| entry.presence.is_overdue(now))
    }

    /// The match of this name. Waits for its rules to be read, at most for the time of a move.
    fn find(&self, id: &str, arrived: Instant) -> Found {
        let mut noted = false;
        loop {
            match self.lock().get(id) {
                None => return Found::Unknown,
                Some(entry) => {
                    let clock = entry.start.play_clock;
                    if !std::mem::replace(&mut noted, true) {
                        entry.presence.heard(self.runtime.now(), clock, self.options.forget);
                    }
                    if let Some(session) = &entry.session {
                        return Found::Open(session.clone());
                    }
                    if self.runtime.now() - arrived >= session::due(clock, self.options.margin).1 {
                        warn!(id, "is asked for a move while its rules are read");
                        return Found::StillOpening;
                    }
                }
            }
            self.runtime.sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn play(&self, message: &Message<'_>, id: &str, news: &News<'_>, caller: &Caller<'_>) -> String {
        match self.find(id, caller.arrived) {
            Found::Open(session) => session.play(news, caller),
            Found::StillOpening => "nil".to_owned(),
            Found::Unknown => unknown(message, id),
        }
    }

    pub(super) fn start(self: &Arc<Self>, message: &Message<'_>, caller: &Caller<'_>) -> String {
        let Message::Start {
            id,
            role,
            rules,
            start_clock,
            play_clock,
        } = *message
        else {
            return "what".to_owned();
        };
        let start = MatchStart {
            id: id.to_owned(),
            role: role.to_owned(),
            rules: rules.to_owned(),
            start_clock: start_clock.min(MAX_CLOCK),
            play_clock: play_clock.min(MAX_CLOCK),
            margin: self.options.margin,
            variant: self.options.variant,
        };
        let entry = match self.admit(start, caller) {
            Admission::Kept(entry) => entry,
            Admission::Again => return "ready".to_owned(),
            Admission::Full => {
                info!(id, "refused: there are as many matches as are allowed");
                return "busy".to_owned();
            }
        };
        info!(id, role, start_clock, play_clock, bytes = rules.len(), "starts");
        // Reading the rules may take longer than the start clock, so the answer does not wait for it.
        let (sender, opened) = channel(self.runtime.as_ref());
        let (shared, opening) = (self.clone(), entry.clone());
        let open = move || {
            sender.send(shared.open(opening));
        };
        if let Err(error) = self.runtime.spawn("open", Box::new(open)) {
            warn!("cannot start a thread: {error}");
            self.forget(&entry);
            return "busy".to_owned();
        }
        let (_, answer) = session::due(entry.start.start_clock, entry.start.margin);
        match caller.wait(&entry.presence, &opened, caller.arrived + answer) {
            Ok(Some(session)) => {
                session.prepare(caller);
                "ready".to_owned()
            }
            Ok(None) => "busy".to_owned(),
            Err(_) => {
                warn!(id, "reading the rules takes longer than the start clock");
                "ready".to_owned()
            }
        }
    }

    /// Reads the rules of a match that was admitted.
    fn open(&self, entry: MatchEntry) -> Option<Arc<Session>> {
        let id = entry.start.id.clone();
        let work = Work {
            stop: entry.stop.clone(),
            place: Arc::new(Place::new(self.places.clone())),
            presence: entry.presence.clone(),
            runtime: self.runtime.clone(),
        };
        let opening = || Session::open(entry.start.clone(), self.factory.clone(), work);
        let opened = catch_unwind(AssertUnwindSafe(opening)).unwrap_or(Err(Error::Panicked));
        match opened {
            Ok(session) => {
                let session = Arc::new(session);
                let mut matches = self.lock();
                // A match without an entry was given up meanwhile.
                let kept = matches.get_mut(&id).filter(|e| Arc::ptr_eq(&e.start, &entry.start))?;
                kept.session = Some(session.clone());
                Some(session)
            }
            Err(why) => {
                warn!(id, "refused: {}", printable(&why.to_string()));
                self.forget(&entry);
                None
            }
        }
    }

    /// Removes a match, unless another one has its name by now.
    fn forget(&self, entry: &MatchEntry) {
        let mut matches = self.lock();
        if matches
            .get(&entry.start.id)
            .is_some_and(|e| Arc::ptr_eq(&e.start, &entry.start))
        {
            matches.remove(&entry.start.id);
        }
        entry.stop.raise();
    }

    /// Admits a match, if there is room for it. If the manager of a running match may be dead, listens for a while
    /// whether it says something.
    fn admit(&self, start: MatchStart, caller: &Caller<'_>) -> Admission {
        let start = Arc::new(start);
        // The request may have come slowly. Silence counts from here, and the answer is due as ever.
        let begun = self.runtime.now();
        let due = session::due(start.start_clock, start.margin).1;
        let listening = (Duration::from_secs(start.start_clock) / 2)
            .min(LISTENING)
            .min(due.saturating_sub(begun - caller.arrived));
        loop {
            let mut matches = self.lock();
            if let Some(entry) = matches.get(&start.id) {
                let playing = entry.session.as_ref().is_some_and(|session| session.is_playing());
                if *entry.start == *start && !playing {
                    return Admission::Again;
                }
                warn!(id = start.id, "starts anew: the match of this name is dropped");
                matches.remove(&start.id).into_iter().for_each(MatchEntry::dismiss);
            }
            if matches.len() < self.options.max_matches {
                let entry = MatchEntry {
                    presence: Arc::new(Presence::new(
                        caller.arrived,
                        self.runtime.now(),
                        start.start_clock,
                        self.options.forget,
                    )),
                    stop: StopFlag::default(),
                    session: None,
                    start,
                };
                matches.insert(entry.start.id.clone(), entry.clone());
                return Admission::Kept(entry);
            }
            let now = self.runtime.now();
            let silent = |(_, entry): &(&String, &MatchEntry)| entry.presence.is_silent_since(begun, now);
            let over = now - begun >= listening;
            let dead =
                |(_, entry): &(&String, &MatchEntry)| entry.presence.is_overdue(now) || (over && listening >= SILENCE);
            let mut silent = matches.iter().filter(silent).peekable();
            // A manager that waits for an answer may have died a moment ago, which its connection shows soon.
            if silent.peek().is_none() && now - begun >= NOTICE.min(listening) {
                return Admission::Full;
            }
            if let Some(id) = silent.find(dead).map(|(id, _)| id.clone()) {
                warn!(id, "dropped: its manager is silent");
                matches.remove(&id).into_iter().for_each(MatchEntry::dismiss);
                continue;
            }
            drop(matches);
            // Nobody gets the place for a manager that has died meanwhile.
            if over || caller.is_gone() {
                return Admission::Full;
            }
            self.runtime.sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn stop(&self, message: &Message<'_>, id: &str, news: Option<&News<'_>>) -> String {
        let Some(entry) = self.lock().remove(id) else {
            return unknown(message, id);
        };
        match (&entry.session, news) {
            (Some(session), Some(news)) => session.stop(news),
            (Some(_), None) => info!(id, "is given up by its manager"),
            (None, _) => info!(id, "is given up while its rules are read"),
        }
        entry.dismiss();
        match news {
            Some(_) => "done".to_owned(),
            None => "aborted".to_owned(),
        }
    }
}

enum Found {
    Open(Arc<Session>),
    StillOpening,
    Unknown,
}

enum Admission {
    Kept(MatchEntry),
    Again,
    Full,
}

fn unknown(message: &Message<'_>, id: &str) -> String {
    warn!(id, "{} of a match that is not played here", message.word());
    "busy".to_owned()
}
