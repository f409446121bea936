//! A table on the server: the engine behind a lock, who may look at it, and what each viewer was last shown.

use crate::games::GameSource;
use crate::table::{Table, Viewer};
use crate::token::TokenHash;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::broadcast;

/// A view as it is sent, with its number among the views of its viewer.
pub type Shown = (u64, Arc<str>);

/// A table on the server.
pub struct Place {
    /// Name.
    pub id: String,
    /// The game.
    pub source: GameSource,
    /// Names of the roles.
    pub roles: Vec<String>,
    /// Hashes of the tokens of people, by role.
    pub tokens: Vec<Option<TokenHash>>,
    /// The token of watchers.
    pub watch: String,
    table: Mutex<Table>,
    /// One channel for each role, and one for watchers.
    channels: Vec<Channel>,
    begun: Instant,
    touched_ms: AtomicU64,
    /// Set when the table was given up by the server: nothing is done for it any more.
    closed: AtomicBool,
    /// Times that belong to the table.
    pub times: Mutex<Times>,
    /// The links of a rematch, by role.
    pub rematch: Mutex<Option<Rematch>>,
}

/// Times that belong to a table.
#[derive(Default)]
pub struct Times {
    /// End of the pause after the last round.
    pub rest_until: Option<Instant>,
    /// For each role the question, plus one, for which a clock runs.
    pub clocks: Vec<u64>,
}

/// A rematch that somebody has asked for.
#[derive(Clone, Debug)]
pub struct Rematch {
    /// Name of the new table.
    pub id: String,
    /// Link for watchers.
    pub watch: String,
    /// New role, token and link of each person, by the old role.
    pub seats: Vec<Option<(String, String, String)>>,
}

struct Channel {
    shown: Mutex<Shown>,
    sender: broadcast::Sender<Shown>,
}

/// Views that a slow reader may be behind before it is shown the newest one only.
const BEHIND: usize = 64;

impl Place {
    /// Puts a table on the server.
    pub fn new(id: String, source: GameSource, tokens: Vec<Option<TokenHash>>, watch: String, table: Table) -> Place {
        let channel = || Channel {
            shown: Mutex::new((0, Arc::from(""))),
            sender: broadcast::Sender::new(BEHIND),
        };
        let place = Place {
            id,
            source,
            roles: table.record().roles.clone(),
            channels: (0..=tokens.len()).map(|_| channel()).collect(),
            tokens,
            watch,
            table: Mutex::new(table),
            begun: Instant::now(),
            touched_ms: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            times: Mutex::default(),
            rematch: Mutex::default(),
        };
        place.publish(&place.lock());
        place
    }

    /// The engine. Only worker threads wait for this lock.
    pub fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine, if nobody works on it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, Table>> {
        match self.table.try_lock() {
            Ok(table) => Some(table),
            Err(std::sync::TryLockError::Poisoned(table)) => Some(table.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }

    /// Who a token belongs to. Every token is compared, whatever the outcome.
    pub fn viewer(&self, token: &str) -> Option<Viewer> {
        let mut found = TokenHash::of(&self.watch).fits(token).then_some(Viewer::Watcher);
        for (role, hash) in self.tokens.iter().enumerate() {
            if hash.as_ref().is_some_and(|hash| hash.fits(token)) {
                found = Some(Viewer::Seat(role));
            }
        }
        found
    }

    /// Link of the page, for a token.
    pub fn url(&self, token: &str) -> String {
        format!("/table.html#id={}&token={token}", self.id)
    }

    fn channel(&self, viewer: Viewer) -> &Channel {
        match viewer {
            Viewer::Seat(role) => &self.channels[role],
            Viewer::Watcher => &self.channels[self.tokens.len()],
        }
    }

    /// What a viewer was last shown.
    pub fn shown(&self, viewer: Viewer) -> Shown {
        let channel = self.channel(viewer);
        channel.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a viewer was last shown, and everything that it will be shown.
    pub fn subscribe(&self, viewer: Viewer) -> (Shown, broadcast::Receiver<Shown>) {
        let channel = self.channel(viewer);
        // A view that is published in between is received twice; its number tells.
        let receiver = channel.sender.subscribe();
        (self.shown(viewer), receiver)
    }

    /// Shows every viewer its view, if it differs from the last one.
    pub fn publish(&self, table: &Table) {
        let people = table.people().into_iter().map(Viewer::Seat);
        for viewer in people.chain([Viewer::Watcher]) {
            let mut view = table.view(viewer, &self.id, &self.url(&self.watch));
            view.rematch = self.rematch_url(viewer);
            #[cfg(test)]
            view.title
                .push_str(&" ".repeat(crate::leaks::truth(crate::leaks::Leak::View, table) as usize));
            let Ok(text) = serde_json::to_string(&view) else {
                continue;
            };
            let channel = self.channel(viewer);
            let mut shown = channel.shown.lock().unwrap_or_else(PoisonError::into_inner);
            if *shown.1 != *text {
                *shown = (shown.0 + 1, Arc::from(text));
                #[cfg(test)]
                {
                    shown.0 += crate::leaks::truth(crate::leaks::Leak::Number, table);
                }
                let _ = channel.sender.send(shown.clone());
            }
        }
    }

    fn rematch_url(&self, viewer: Viewer) -> Option<String> {
        let rematch = self.rematch.lock().unwrap_or_else(PoisonError::into_inner);
        let rematch = rematch.as_ref()?;
        match viewer {
            Viewer::Seat(role) => rematch.seats[role].as_ref().map(|(_, _, url)| url.clone()),
            Viewer::Watcher => Some(rematch.watch.clone()),
        }
    }

    /// Notes that somebody looks at the table.
    pub fn touch(&self) {
        let now = self.begun.elapsed().as_millis() as u64;
        self.touched_ms.store(now, Ordering::Relaxed);
    }

    /// How long nobody has looked at the table.
    pub fn idle(&self) -> Duration {
        if self.channels.iter().any(|channel| channel.sender.receiver_count() > 0) {
            return Duration::ZERO;
        }
        let touched = Duration::from_millis(self.touched_ms.load(Ordering::Relaxed));
        self.begun.elapsed().saturating_sub(touched)
    }

    /// Ends everything that is done for the table.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Whether the table has left the server.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}
