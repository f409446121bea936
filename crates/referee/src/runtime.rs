//! Time, threads and waiting, behind a trait.
//!
//! A match over the wire waits: for a peer, for a clock, for another thread. All such waits go through a [`Runtime`].
//! [`System`] is the real one. A test hands in a simulated one instead, in which time passes only while everything
//! waits, so that a match with clocks of minutes is over in milliseconds and can be repeated from a seed.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Work for a thread of its own.
pub type Work<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Where time and threads come from.
pub trait Runtime: Send + Sync {
    /// The time.
    fn now(&self) -> Instant;

    /// Waits.
    fn sleep(&self, time: Duration);

    /// Starts a thread.
    ///
    /// # Errors
    /// If the system has no thread to give.
    fn spawn(&self, name: &str, work: Work<'static>) -> io::Result<()>;

    /// Does all work at once, each on a thread of its own, and waits for its end. A panic ends only its own thread.
    fn together(&self, work: Vec<Work<'_>>);

    /// What a thread waits on that expects a message from another thread. None if it can wait on the channel itself.
    fn bell(&self) -> Option<Arc<dyn Bell>> {
        None
    }
}

/// Wakes a thread of a simulated [`Runtime`].
pub trait Bell: Send + Sync {
    /// Wakes the thread that waits, if one does.
    fn ring(&self);

    /// Waits to be woken, at most for a time. False if the time passed.
    fn wait(&self, patience: Option<Duration>) -> bool;
}

/// The system's clock and threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Runtime for System {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn spawn(&self, name: &str, work: Work<'static>) -> io::Result<()> {
        let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(work);
        spawned.map(drop)
    }

    fn together(&self, work: Vec<Work<'_>>) {
        std::thread::scope(|scope| {
            let threads: Vec<_> = work.into_iter().map(|work| scope.spawn(work)).collect();
            for thread in threads {
                // A panic has been reported by the panic hook, and its result is missing.
                let _ = thread.join();
            }
        });
    }
}

/// Does all work at once. The results are in the order of the work; none where the work panicked.
pub(crate) fn all_at_once<T: Send, F: FnOnce() -> T + Send>(runtime: &dyn Runtime, work: Vec<F>) -> Vec<Option<T>> {
    let results: Vec<Mutex<Option<T>>> = work.iter().map(|_| Mutex::new(None)).collect();
    let mut boxed: Vec<Work<'_>> = Vec::with_capacity(work.len());
    for (work, result) in work.into_iter().zip(&results) {
        boxed.push(Box::new(move || {
            let value = work();
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        }));
    }
    runtime.together(boxed);
    let take = |result: Mutex<Option<T>>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(take).collect()
}
