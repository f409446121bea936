//! How long some work may run: a count of iterations, and a stop flag.
//!
//! This crate reads no clock. A caller with a clock hands in a function that tells which share of the time has passed,
//! and the flag is raised when its share has passed. Time can so be divided between parts of the work without any part
//! knowing how long it is. The function is called where the work is done: on a busy machine a separate thread that
//! watches the clock may be woken too late.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A flag that asks work to end: raised by a clock, by Ctrl-C or by a caller, and polled by the work.
#[derive(Clone, Debug, Default)]
pub struct StopFlag {
    time: Arc<Time>,
    /// The part of [`WHOLE`] by which this flag is raised earlier than its time ends.
    less: u32,
    /// A flag that raises this one too.
    parent: Option<Arc<StopFlag>>,
}

/// The time that a flag and its parts share.
#[derive(Default)]
struct Time {
    /// How much has passed, of [`WHOLE`].
    passed: AtomicU32,
    clock: Option<Clock>,
}

/// The share of the time that has passed, from 0 to 1.
type Clock = Box<dyn Fn() -> f64 + Send + Sync>;

const WHOLE: u32 = 1 << 20;

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {WHOLE}", self.passed())
    }
}

impl Time {
    fn passed(&self) -> u32 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Time does not go back.
    fn pass(&self, share: f64) {
        let passed = (share.clamp(0.0, 1.0) * f64::from(WHOLE)) as u32;
        self.passed.fetch_max(passed, Ordering::Relaxed);
    }
}

impl StopFlag {
    /// A flag that is raised when this clock returns 1: the whole of the time has passed.
    pub fn by(clock: impl Fn() -> f64 + Send + Sync + 'static) -> StopFlag {
        let time = Time {
            passed: AtomicU32::new(0),
            clock: Some(Box::new(clock)),
        };
        StopFlag {
            time: Arc::new(time),
            less: 0,
            parent: None,
        }
    }

    /// The same flag, raised also when another one is: a move that has a clock of its own still ends with its match.
    pub fn under(self, parent: &StopFlag) -> StopFlag {
        StopFlag {
            parent: Some(Arc::new(parent.clone())),
            ..self
        }
    }

    /// Asks the work to end, and all work that shares its time.
    pub fn raise(&self) {
        self.time.pass(1.0);
    }

    /// Whether the work should end now.
    pub fn is_raised(&self) -> bool {
        if self.time.passed() >= WHOLE - self.less {
            return true;
        }
        if self.parent.as_ref().is_some_and(|parent| parent.is_raised()) {
            return true;
        }
        match &self.time.clock {
            None => false,
            Some(clock) => {
                self.time.pass(clock());
                self.time.passed() >= WHOLE - self.less
            }
        }
    }

    /// A flag that is raised after this share of the time that is left now.
    pub fn part(&self, share: f64) -> StopFlag {
        if let Some(clock) = &self.time.clock {
            self.time.pass(clock());
        }
        let left = (WHOLE - self.less).saturating_sub(self.time.passed());
        let less = (f64::from(left) * (1.0 - share.clamp(0.0, 1.0))) as u32;
        StopFlag {
            time: self.time.clone(),
            // At least 1 is left: a part of a flag that nobody raises is not raised either.
            less: (self.less + less).min(WHOLE - 1),
            parent: self.parent.clone(),
        }
    }
}

/// Looks at a stop flag once in so many units of work, where a unit is much shorter than asking a clock.
#[derive(Debug)]
pub struct PacedStop<'a> {
    stop: &'a StopFlag,
    every: u32,
    done: u32,
}

impl<'a> PacedStop<'a> {
    /// Looks once in `every` units, and before the first of them.
    pub fn new(stop: &'a StopFlag, every: u32) -> PacedStop<'a> {
        PacedStop {
            stop,
            every: every.max(1),
            done: 0,
        }
    }

    /// Counts a unit of work; whether the work should end, as far as it was looked.
    pub fn is_raised(&mut self) -> bool {
        let due = self.done == 0;
        self.done = (self.done + 1) % self.every;
        due && self.stop.is_raised()
    }
}

/// A limit in iterations (same result everywhere) and a stop flag (time, Ctrl-C).
#[derive(Clone, Debug)]
pub struct Budget {
    /// At most this many iterations of whatever is counted.
    pub iterations: u64,
    /// Ends the work early.
    pub stop: StopFlag,
    /// Until when work that has nothing to show yet may go on. Later than `stop` for a part of a longer time.
    pub latest: StopFlag,
    /// Whether a clock will raise the flag. Players then use the time instead of a default number of iterations.
    pub timed: bool,
}

impl Budget {
    /// A number of iterations, with a stop flag that nobody else holds.
    pub fn iterations(iterations: u64) -> Budget {
        Budget {
            iterations,
            ..Budget::until(StopFlag::default())
        }
    }

    /// No limit but the flag.
    pub fn until(stop: StopFlag) -> Budget {
        Budget {
            iterations: u64::MAX,
            latest: stop.clone(),
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

    /// The same with only a share of the time that is left. Work without a result may use half of the rest as well.
    pub fn part(&self, share: f64) -> Budget {
        Budget {
            stop: self.stop.part(share),
            latest: self.stop.part((1.0 + share) / 2.0),
            ..self.clone()
        }
    }

    /// Iterations to do: the number asked for, or else as many as there is time for, or else a default number.
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

    /// A clock that is set by hand, in thousandths, and the flag that goes by it.
    fn by_hand() -> (Arc<AtomicU32>, StopFlag) {
        let hand = Arc::new(AtomicU32::new(0));
        let read = hand.clone();
        let flag = StopFlag::by(move || f64::from(read.load(Ordering::Relaxed)) / 1000.0);
        (hand, flag)
    }

    #[test]
    fn parts_of_a_time_end_in_order() {
        let (hand, whole) = by_hand();
        let pass = |thousandths| hand.store(thousandths, Ordering::Relaxed);
        let (third, last) = (whole.part(1.0 / 3.0), whole.part(1.0));
        assert!(!third.is_raised());
        pass(340);
        assert!(third.is_raised() && !last.is_raised());
        // Half of what is left, which is 0.66 of the whole.
        let half = whole.part(0.5);
        pass(660);
        assert!(!half.is_raised());
        pass(680);
        assert!(half.is_raised() && !whole.is_raised());
        pass(100);
        assert!(half.is_raised(), "time does not go back");
        pass(1000);
        assert!(whole.is_raised() && last.is_raised());
    }

    #[test]
    fn a_part_without_a_result_may_use_half_of_the_rest() {
        let (hand, whole) = by_hand();
        let part = Budget::timed(whole.clone()).part(0.4);
        hand.store(410, Ordering::Relaxed);
        assert!(part.stop.is_raised() && !part.latest.is_raised());
        hand.store(710, Ordering::Relaxed);
        assert!(part.latest.is_raised() && !whole.is_raised());
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
    fn a_parent_raises_its_flag_and_the_parts_of_it() {
        let parent = StopFlag::default();
        let (_, clock) = by_hand();
        let flag = clock.under(&parent);
        let part = flag.part(0.5);
        assert!(!flag.is_raised() && !part.is_raised());
        parent.raise();
        assert!(flag.is_raised() && part.is_raised());
        let lone = StopFlag::default().under(&StopFlag::default());
        lone.raise();
        assert!(lone.is_raised());
    }

    #[test]
    fn a_paced_stop_looks_once_in_so_many_units() {
        let looks = Arc::new(AtomicU32::new(0));
        let count = looks.clone();
        let flag = StopFlag::by(move || f64::from(count.fetch_add(1, Ordering::Relaxed)) / 3.0);
        let mut paced = PacedStop::new(&flag, 10);
        let units = (0..1000).take_while(|_| !paced.is_raised()).count();
        assert_eq!(units, 30, "the fourth look, at unit 30, finds the flag raised");
        assert_eq!(looks.load(Ordering::Relaxed), 4);
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
