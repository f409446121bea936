//! The only clock: a thread that tells a player's flag how much of its time has passed.
//!
//! One thread for a whole match, asleep between its ticks. A thread that has slept is woken in time even if all cores are
//! busy, where one that was just started would wait for its turn.

use game::StopFlag;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Times that a flag is told of, if they are not too short.
const TICKS: u32 = 64;
const SHORTEST_TICK: Duration = Duration::from_millis(1);

/// A clock for one thing at a time.
pub(crate) struct Alarm {
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    job: Mutex<Job>,
    changed: Condvar,
}

#[derive(Default)]
enum Job {
    #[default]
    Idle,
    Watch {
        started: Instant,
        time: Duration,
        flag: StopFlag,
    },
    Quit,
}

impl Alarm {
    pub(crate) fn new() -> Alarm {
        let shared = Arc::new(Shared::default());
        let there = shared.clone();
        Alarm {
            shared,
            thread: Some(std::thread::spawn(move || there.watch())),
        }
    }

    /// Raises the flag when so much time has passed since the start, and its parts before.
    pub(crate) fn set(&self, started: Instant, time: Duration, flag: StopFlag) {
        self.shared.change(Job::Watch { started, time, flag });
    }

    /// Forgets the flag.
    pub(crate) fn cancel(&self) {
        self.shared.change(Job::Idle);
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.shared.change(Job::Quit);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Job> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, job: Job) {
        *self.lock() = job;
        self.changed.notify_one();
    }

    fn watch(&self) {
        let mut job = self.lock();
        loop {
            let pause = match &*job {
                Job::Quit => return,
                Job::Idle => None,
                Job::Watch { started, time, flag } => {
                    let passed = started.elapsed();
                    flag.pass(passed.as_secs_f64() / time.as_secs_f64().max(1e-9));
                    let left = time.saturating_sub(passed);
                    (!left.is_zero()).then(|| left.min((*time / TICKS).max(SHORTEST_TICK)))
                }
            };
            job = match pause {
                None => self.changed.wait(job).unwrap_or_else(PoisonError::into_inner),
                Some(pause) => {
                    let waited = self.changed.wait_timeout(job, pause);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_raised_in_order_and_not_after_cancelling() {
        let alarm = Alarm::new();
        let (whole, other) = (StopFlag::default(), StopFlag::default());
        let half = whole.part(0.5);
        let started = Instant::now();
        alarm.set(started, Duration::from_millis(60), whole.clone());
        while !half.is_raised() {
            std::thread::yield_now();
        }
        assert!(started.elapsed() >= Duration::from_millis(30));
        while !whole.is_raised() {
            std::thread::yield_now();
        }
        assert!(started.elapsed() >= Duration::from_millis(60));
        alarm.set(Instant::now(), Duration::from_secs(3600), other.clone());
        alarm.cancel();
        assert!(!other.is_raised());
    }
}
