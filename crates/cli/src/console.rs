//! The terminal of a person who plays (`human`): text on standard output, lines from standard input.

use crate::output;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use surmise::PlayerSpec;
use surmise::game::StopFlag;
use surmise::players::human::{Console, set_console};

/// Lets people play, if one of the players is one. Whether there is one.
pub fn seat_people(players: &[PlayerSpec]) -> bool {
    let people = players.iter().any(PlayerSpec::is_human);
    if people {
        set_console(Arc::new(Terminal(OnceLock::new())));
    }
    people
}

/// Lines are read on a thread of their own, so that Ctrl-C ends a wait.
struct Terminal(OnceLock<Mutex<Receiver<String>>>);

impl Console for Terminal {
    fn show(&self, text: &str) {
        output::print(text);
    }

    fn line(&self, stop: &StopFlag) -> Option<String> {
        let lines = self.0.get_or_init(|| {
            let (read, lines) = channel();
            std::thread::spawn(move || {
                for line in std::io::stdin().lines() {
                    // A line that is not text is no move.
                    if read.send(line.unwrap_or_default()).is_err() {
                        return;
                    }
                }
            });
            Mutex::new(lines)
        });
        let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match lines.recv_timeout(Duration::from_millis(50)) {
                Ok(line) => return Some(line),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if stop.is_raised() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
