//! Whether the manager of a match is still there.
//!
//! Managers die without a word: Dresden's never sends ABORT. While a manager waits for an answer, its connection tells:
//! a connection that ends before the answer has nobody at its other end. Some managers end their half of the connection
//! right after the request; such an end says nothing. Between two messages there is no connection, and a manager counts
//! as there until its next message is overdue: the other players may use their whole clock.

use crate::channel::Receiver;
use crate::net::Connection;
use std::cell::Cell;
use std::io::ErrorKind;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time after a request within which the end of its stream is taken for the end of the manager's half only.
const HALF_CLOSE: Duration = Duration::from_millis(250);

/// Time between two looks at a connection.
const GLANCE: Duration = Duration::from_millis(100);

/// Time after which the death of a manager that waits for an answer is noticed.
pub(crate) const NOTICE: Duration = Duration::from_millis(300);

/// Longest clock for which silence between two messages is taken for waiting.
const LONGEST_SILENCE: Duration = Duration::from_secs(600);

/// What is known of the manager of a match.
pub struct Presence(Mutex<PresenceState>);

struct PresenceState {
    /// Time of the last sign of life: a message, or the end of waiting for an answer.
    heard: Instant,
    /// Connections that wait for an answer and are known to be open.
    waiting: usize,
    /// Time at which the next message is overdue.
    overdue: Instant,
}

impl Presence {
    /// A manager whose first message came at some time and is taken up now. Its next one comes after a clock, and time
    /// to spare, at the latest.
    pub fn new(arrived: Instant, now: Instant, clock: u64, spare: Duration) -> Presence {
        Presence(Mutex::new(PresenceState {
            heard: arrived,
            waiting: 0,
            overdue: after(now, clock, spare),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, PresenceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a message. The next one comes after a clock, and time to spare, at the latest.
    pub fn heard(&self, now: Instant, clock: u64, spare: Duration) {
        let mut state = self.lock();
        state.heard = now;
        state.overdue = after(now, clock, spare);
    }

    /// Whether the manager does not wait for an answer, and has given no sign of life after a time or is late by now.
    pub fn is_silent_since(&self, time: Instant, now: Instant) -> bool {
        let state = self.lock();
        state.waiting == 0 && (state.heard <= time || now >= state.overdue)
    }

    /// Whether the manager is late with its next message.
    pub fn is_overdue(&self, now: Instant) -> bool {
        let state = self.lock();
        state.waiting == 0 && now >= state.overdue
    }
}

fn after(now: Instant, clock: u64, spare: Duration) -> Instant {
    now + Duration::from_secs(clock).min(LONGEST_SILENCE) + spare
}

/// A manager that waits for the answer to a message.
pub struct Caller<'a> {
    /// Time at which the first byte of the message arrived.
    pub arrived: Instant,
    connection: &'a dyn Connection,
    read: Instant,
    line: Cell<Line>,
}

/// What is known of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Open,
    /// The manager ended its half at once; it may still read.
    HalfClosed,
    Gone,
}

impl<'a> Caller<'a> {
    /// The sender of a request that has just been read.
    pub fn new(connection: &'a dyn Connection, arrived: Instant) -> Caller<'a> {
        Caller {
            arrived,
            connection,
            read: connection.now(),
            line: Cell::new(Line::Open),
        }
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.connection.now()
    }

    /// Whether the manager is certainly gone.
    pub fn is_gone(&self) -> bool {
        self.look() == Line::Gone
    }

    fn look(&self) -> Line {
        if self.line.get() != Line::Open {
            return self.line.get();
        }
        let line = match self.connection.peek() {
            Ok(0) if self.now() - self.read < HALF_CLOSE => Line::HalfClosed,
            Ok(0) => Line::Gone,
            Ok(_) => Line::Open,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Line::Open,
            Err(_) => Line::Gone,
        };
        self.line.set(line);
        line
    }

    /// Waits for a result, and watches the connection meanwhile.
    ///
    /// # Errors
    /// If there is no result in time.
    pub fn wait<T>(&self, presence: &Presence, results: &Receiver<T>, due: Instant) -> Result<T, RecvTimeoutError> {
        let mut counted = false;
        // A manager that has spoken again since is there, whatever becomes of this connection.
        let mine = presence.lock().heard;
        let result = loop {
            let line = self.look();
            if (line == Line::Open) != counted {
                counted = !counted;
                let mut state = presence.lock();
                match counted {
                    true => state.waiting += 1,
                    false => state.waiting -= 1,
                }
                if line == Line::Gone && state.waiting == 0 && state.heard == mine {
                    state.overdue = self.now();
                }
            }
            let left = due.saturating_duration_since(self.now());
            match results.recv_timeout(left.min(GLANCE)) {
                Err(RecvTimeoutError::Timeout) if left > GLANCE => {}
                result => break result,
            }
        };
        if counted {
            // The manager may have died since the last look.
            let line = self.look();
            let (now, mut state) = (self.now(), presence.lock());
            state.waiting -= 1;
            match line {
                Line::Open => state.heard = now,
                Line::HalfClosed => {}
                Line::Gone if state.waiting == 0 && state.heard == mine => state.overdue = now,
                Line::Gone => {}
            }
        }
        result
    }
}
