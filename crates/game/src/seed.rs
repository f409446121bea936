//! Randomness that is passed in.
//!
//! A [`Seed`] can be split by label and number into independent seeds, so that work
//! can be cut into units in any order, on any number of threads, and still give the same bytes.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// Where a stream of random numbers starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed of a named part of the work.
    pub fn child(self, label: &str) -> Seed {
        // FNV-1a over the label, then the finaliser of SplitMix64: fixed for ever, so that records stay replayable.
        let hash = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        });
        Seed(mix(self.0 ^ hash))
    }

    /// The seed of the `n`-th unit of the work.
    pub fn nth(self, n: u64) -> Seed {
        Seed(mix(self.0.wrapping_add(mix(n.wrapping_add(1)))))
    }

    /// The stream that starts here.
    pub fn rng(self) -> Rng {
        Rng(Xoshiro256PlusPlus::seed_from_u64(self.0))
    }
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of random numbers: xoshiro256++, the same on every machine.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..n` without bias (Lemire 2019).
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "nothing to choose from");
        let n = n as u64;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            let low = product as u64;
            if low >= n || low >= n.wrapping_neg() % n {
                return (product >> 64) as usize;
            }
        }
    }

    /// Uniform in `[0, 1)` with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// One element, uniformly.
    ///
    /// # Panics
    /// If the slice is empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_differ_and_repeat() {
        let seed = Seed(7);
        assert_eq!(seed.child("nature"), seed.child("nature"));
        assert_ne!(seed.child("nature"), seed.child("player"));
        assert_ne!(seed.nth(0), seed.nth(1));
        assert_ne!(seed.nth(0), seed);
    }

    #[test]
    fn stream_is_fixed_for_ever() {
        let mut rng = Seed(1).rng();
        let drawn: Vec<usize> = (0..6).map(|_| rng.below(10)).collect();
        assert_eq!(drawn, [8, 7, 1, 7, 1, 5]);
    }

    #[test]
    fn below_is_even() {
        let mut rng = Seed(3).rng();
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[rng.below(6)] += 1;
        }
        assert!(counts.iter().all(|&c| (9_500..10_500).contains(&c)), "{counts:?}");
    }
}
