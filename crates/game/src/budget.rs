//! How long something may run: a count of iterations, and a flag that somebody with a clock may raise.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Raised by whoever watches the clock or the keyboard; looked at by whoever works.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Asks the work to end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work should end now.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A limit in iterations (same result everywhere) and a stop flag (time, Ctrl-C).
#[derive(Clone, Debug)]
pub struct Budget {
    /// At most this many iterations of whatever is counted.
    pub iterations: u64,
    /// Ends the work early.
    pub stop: StopFlag,
}

impl Budget {
    /// So many iterations, without a stop flag that anybody holds.
    pub fn iterations(iterations: u64) -> Budget {
        Budget {
            iterations,
            stop: StopFlag::default(),
        }
    }

    /// As long as nobody raises the flag.
    pub fn until(stop: StopFlag) -> Budget {
        Budget {
            iterations: u64::MAX,
            stop,
        }
    }

    /// Whether iteration number `done` (from 0) may still begin.
    pub fn allows(&self, done: u64) -> bool {
        done < self.iterations && !self.stop.is_raised()
    }
}
