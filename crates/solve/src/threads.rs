//! How many threads work on a game, and what they share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many threads work on a game, and from which size on. Results do not depend on either, to the bit.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// Threads.
    pub n: usize,
    /// Histories that are played out before the others are shared out.
    pub histories: u64,
    /// Rows of the form and sequences, of all players together, from which on iterations are shared out.
    pub rows: usize,
}

impl Threads {
    /// So many threads, on games that are large enough to gain by it.
    pub fn new(n: usize) -> Threads {
        Threads {
            n: n.max(1),
            histories: 2_000,
            rows: 20_000,
        }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Threads::new(1)
    }
}

/// Where threads wait for each other, several times in a millisecond. They look a while before they let others run, since to
/// sleep and to be woken takes longer than most waits.
pub(crate) struct Barrier {
    n: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
}

/// Looks before a waiting thread lets others run.
const LOOKS: u32 = 2_000;

impl Barrier {
    pub fn new(n: usize) -> Barrier {
        Barrier {
            n,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits until all have come.
    pub fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.n {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.round.load(Ordering::Acquire) == round {
            assert!(!self.broken.load(Ordering::Relaxed), "another thread failed");
            looks += 1;
            match looks < LOOKS {
                true => std::hint::spin_loop(),
                false => std::thread::yield_now(),
            }
        }
    }

    /// Until it is dropped, a panic here makes the others stop waiting.
    pub fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

pub(crate) struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_alone() {
        let (barrier, count) = (Barrier::new(3), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=200 {
                        count.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert_eq!(count.load(Ordering::Relaxed), 3 * round);
                        barrier.wait();
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_the_dead() {
        let barrier = Barrier::new(2);
        let failed = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.wait());
            let dead = scope.spawn(|| {
                let _guard = barrier.guard();
                panic!("on purpose");
            });
            (dead.join().is_err(), waiting.join().is_err())
        });
        assert_eq!(failed, (true, true));
    }
}
