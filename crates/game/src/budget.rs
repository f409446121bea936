//! How long something may run: a count of iterations, and a flag that somebody with a clock may raise.
//!
//! Nobody here reads a clock. Whoever does tells how much of the time has passed, and a flag is raised once its share of
//! it has: so time can be divided between the parts of some work, without any part knowing how long it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Raised by whoever watches the clock or the keyboard; looked at by whoever works.
#[derive(Clone, Debug)]
pub struct StopFlag {
    /// How much of the time has passed, of [`WHOLE`].
    passed: Arc<AtomicU32>,
    /// Raised from here on.
    at: u32,
}

const WHOLE: u32 = 1 << 20;

impl Default for StopFlag {
    fn default() -> Self {
        StopFlag {
            passed: Arc::default(),
            at: WHOLE,
        }
    }
}

impl StopFlag {
    /// Asks the work to end, and everything that shares its time.
    pub fn raise(&self) {
        self.passed.store(WHOLE, Ordering::Relaxed);
    }

    /// Whether the work should end now.
    pub fn is_raised(&self) -> bool {
        self.passed.load(Ordering::Relaxed) >= self.at
    }

    /// Tells how much of the whole time has passed, from 0 to 1; time does not go back.
    pub fn pass(&self, share: f64) {
        let passed = (share.clamp(0.0, 1.0) * f64::from(WHOLE)) as u32;
        self.passed.fetch_max(passed, Ordering::Relaxed);
    }

    /// A flag that is raised after this share of the time that is left now.
    pub fn part(&self, share: f64) -> StopFlag {
        let passed = self.passed.load(Ordering::Relaxed).min(self.at);
        let more = f64::from(self.at - passed) * share.clamp(0.0, 1.0);
        StopFlag {
            passed: self.passed.clone(),
            // Never at once: the whole of a flag that nobody raises is as endless as its parts.
            at: (passed + more as u32).clamp(1, self.at.max(1)),
        }
    }
}

/// A limit in iterations (same result everywhere) and a stop flag (time, Ctrl-C).
#[derive(Clone, Debug)]
pub struct Budget {
    /// At most this many iterations of whatever is counted.
    pub iterations: u64,
    /// Ends the work early.
    pub stop: StopFlag,
    /// Whether a clock will raise the flag: then the time is there to be used.
    pub timed: bool,
}

impl Budget {
    /// So many iterations, without a stop flag that anybody holds.
    pub fn iterations(iterations: u64) -> Budget {
        Budget {
            iterations,
            ..Budget::until(StopFlag::default())
        }
    }

    /// As long as nobody raises the flag.
    pub fn until(stop: StopFlag) -> Budget {
        Budget {
            iterations: u64::MAX,
            stop,
            timed: false,
        }
    }

    /// Until a clock raises the flag.
    pub fn timed(stop: StopFlag) -> Budget {
        Budget {
            timed: true,
            ..Budget::until(stop)
        }
    }

    /// Whether iteration number `done` (from 0) may still begin.
    pub fn allows(&self, done: u64) -> bool {
        done < self.iterations && !self.stop.is_raised()
    }

    /// The same with only a share of the time that is left.
    pub fn part(&self, share: f64) -> Budget {
        Budget {
            stop: self.stop.part(share),
            ..self.clone()
        }
    }

    /// How many of something to do: as many as was asked for; else as many as there is time for; else a usual number.
    pub fn count(&self, asked: Option<u64>, usual: u64) -> u64 {
        let most = match asked {
            Some(asked) => asked,
            None if self.timed => u64::MAX,
            None => usual,
        };
        most.min(self.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_time_end_in_order() {
        let whole = StopFlag::default();
        let (third, last) = (whole.part(1.0 / 3.0), whole.part(1.0));
        assert!(!third.is_raised());
        whole.pass(0.34);
        assert!(third.is_raised() && !last.is_raised());
        // Half of what is left, which is 0.67 of the whole.
        let half = whole.part(0.5);
        whole.pass(0.66);
        assert!(!half.is_raised());
        whole.pass(0.68);
        assert!(half.is_raised() && !whole.is_raised());
        whole.pass(0.1);
        assert!(half.is_raised());
        whole.pass(1.0);
        assert!(whole.is_raised() && last.is_raised());
    }

    #[test]
    fn raising_a_flag_raises_its_parts() {
        let whole = StopFlag::default();
        let part = whole.part(0.0);
        assert!(!part.is_raised(), "nobody has raised anything");
        whole.raise();
        assert!(part.is_raised());
    }

    #[test]
    fn counts() {
        let timed = Budget::timed(StopFlag::default());
        assert_eq!(timed.count(None, 7), u64::MAX);
        assert_eq!(timed.count(Some(3), 7), 3);
        assert_eq!(Budget::until(StopFlag::default()).count(None, 7), 7);
        assert_eq!(Budget::iterations(5).count(None, 7), 5);
    }
}
