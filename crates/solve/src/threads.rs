//! How many threads work on a game, and what they share.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// How many threads work on a game, and from which size on. Results do not depend on either, to the bit.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// Threads.
    pub n: usize,
    /// Histories that are played out before the others are shared out.
    pub histories: u64,
    /// Rows of the form and sequences, of all players together, from which on iterations are shared out.
    pub rows: usize,
    /// Rows that a thread takes at a time, at least.
    pub share: usize,
}

impl Threads {
    /// So many threads, on games that are large enough to gain by it.
    pub fn new(n: usize) -> Threads {
        Threads {
            n: n.max(1),
            histories: 20_000,
            rows: 60_000,
            share: 4_096,
        }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Threads::new(1)
    }
}

/// One thread that leads and some that help. The leader announces one job after the other, several in a millisecond, each of
/// some parts; whoever has time takes the next part, and the leader waits for parts that were taken, not for threads. So
/// a helper that is kept from running, on a busy machine, keeps nobody waiting unless it has a part.
pub(crate) struct Crew {
    /// The number of the job and below it the next part.
    next: AtomicU64,
    done: AtomicUsize,
    failed: AtomicBool,
    /// Helpers go home.
    over: AtomicBool,
}

/// Bits of the next part. Every helper may count once too far.
const PART_BITS: u32 = 16;

/// The most parts that a job may have.
pub(crate) const MAX_PARTS: usize = 1 << (PART_BITS - 1);

/// Looks before whoever waits lets others run. To sleep and to be woken would take longer than most waits.
const LOOKS: u32 = 2_000;

impl Crew {
    /// Without a job yet.
    pub fn new() -> Crew {
        Crew {
            next: AtomicU64::new(MAX_PARTS as u64),
            done: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }

    /// Announces a job, numbered from 1, works on it, and waits until it is done. Returns whether the wait was long: some
    /// helper has a part and is kept from running.
    pub fn lead(&self, job: u64, n_parts: usize, mut work: impl FnMut(usize)) -> bool {
        debug_assert!(n_parts <= MAX_PARTS);
        self.done.store(0, Ordering::Relaxed);
        self.next.store(job << PART_BITS, Ordering::Release);
        while let Some((_, part)) = self.take(|_| n_parts) {
            work(part);
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        let mut looks = 0;
        while self.done.load(Ordering::Acquire) < n_parts {
            assert!(!self.failed.load(Ordering::Relaxed), "a helper failed");
            wait(&mut looks);
        }
        looks >= LOOKS
    }

    /// Takes parts of whatever is announced until helpers are sent home.
    pub fn help(&self, n_parts: impl Fn(u64) -> usize, mut work: impl FnMut(u64, usize)) {
        let _guard = Failing(self);
        let mut looks = 0;
        while !self.over.load(Ordering::Relaxed) {
            match self.take(&n_parts) {
                None => wait(&mut looks),
                Some((job, part)) => {
                    work(job, part);
                    self.done.fetch_add(1, Ordering::Release);
                    looks = 0;
                }
            }
        }
    }

    /// A part that nobody has, and of which job.
    fn take(&self, n_parts: impl Fn(u64) -> usize) -> Option<(u64, usize)> {
        let is_there = |next: u64| {
            let (job, part) = (next >> PART_BITS, (next & ((1 << PART_BITS) - 1)) as usize);
            (part < n_parts(job)).then_some((job, part))
        };
        // Looking comes first, so that those who wait do not count on for ever.
        is_there(self.next.load(Ordering::Relaxed))?;
        is_there(self.next.fetch_add(1, Ordering::AcqRel))
    }

    /// Sends the helpers home. The leader can go on alone.
    pub fn dismiss(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Sends the helpers home when it is dropped.
    pub fn dismissal(&self) -> Dismissal<'_> {
        Dismissal(self)
    }
}

fn wait(looks: &mut u32) {
    *looks += 1;
    match *looks < LOOKS {
        true => std::hint::spin_loop(),
        false => std::thread::yield_now(),
    }
}

pub(crate) struct Dismissal<'a>(&'a Crew);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

/// Tells the leader if its thread panics.
struct Failing<'a>(&'a Crew);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_part_is_done_once_and_before_the_next_job() {
        let (crew, done) = (Crew::new(), Mutex::new(Vec::new()));
        let n_parts = |job: u64| job as usize % 5;
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| crew.help(n_parts, |job, part| done.lock().unwrap().push((job, part))));
            }
            let _home = crew.dismissal();
            for job in 1..=2_000 {
                crew.lead(job, n_parts(job), |part| done.lock().unwrap().push((job, part)));
                let mut found = std::mem::take(&mut *done.lock().unwrap());
                found.sort_unstable();
                let expected: Vec<(u64, usize)> = (0..n_parts(job)).map(|part| (job, part)).collect();
                assert_eq!(found, expected);
                if job == 1_500 {
                    crew.dismiss();
                }
            }
        });
    }

    #[test]
    fn nobody_waits_for_the_dead() {
        let crew = Crew::new();
        let lead = std::thread::scope(|scope| {
            let helper = scope.spawn(|| crew.help(|_| 1_000, |_, _| panic!("on purpose")));
            let leader = scope.spawn(|| {
                let _home = crew.dismissal();
                // Its own parts do not end before the helper has one.
                crew.lead(1, 1_000, |_| {
                    while !crew.failed.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                });
            });
            (helper.join().is_err(), leader.join().is_err())
        });
        assert_eq!(lead, (true, true));
    }
}
