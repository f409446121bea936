//! Random vectors: four xoshiro256++ streams side by side, one per 64 lanes.
//!
//! Plain arrays, which the compiler turns into vector instructions where it may. The bytes are the same everywhere.

use super::cell::Mask;
use game::Seed;

/// A stream of random masks.
#[derive(Clone, Debug)]
pub struct LaneRng {
    s: [[u64; 4]; 4],
}

impl LaneRng {
    /// The stream of a seed.
    pub fn new(seed: Seed) -> LaneRng {
        let mut rng = seed.child("lanes").rng();
        LaneRng {
            s: std::array::from_fn(|_| std::array::from_fn(|_| rng.bits())),
        }
    }

    /// Fills cells with random bits.
    #[inline(always)]
    pub fn fill(&mut self, cells: &mut [Mask]) {
        let [mut a, mut b, mut c, mut d] = self.s;
        for cell in cells {
            for at in 0..4 {
                let sum = a[at].wrapping_add(d[at]);
                cell.0[at] = sum.rotate_left(23).wrapping_add(a[at]);
                let t = b[at] << 17;
                c[at] ^= a[at];
                d[at] ^= b[at];
                b[at] ^= c[at];
                a[at] ^= d[at];
                c[at] ^= t;
                d[at] = d[at].rotate_left(45);
            }
        }
        self.s = [a, b, c, d];
    }
}
