//! Vectors with one bit per lane.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not};

/// Lanes in a group: one vector register of AVX2.
pub const LANES: usize = 256;

/// A vector of `64 * W` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C, align(32))]
pub struct Cell<const W: usize>(pub [u64; W]);

/// A set of lanes of one group.
pub type Mask = Cell<4>;

impl<const W: usize> Cell<W> {
    /// No lane.
    pub const ZERO: Cell<W> = Cell([0; W]);
    /// Every lane.
    pub const ONE: Cell<W> = Cell([!0; W]);

    /// The first `n` lanes.
    pub fn first(n: usize) -> Cell<W> {
        let mut mask = Cell::ZERO;
        for (at, word) in mask.0.iter_mut().enumerate() {
            let here = n.saturating_sub(at * 64).min(64);
            *word = if here == 64 { !0 } else { (1 << here) - 1 };
        }
        mask
    }

    /// Only this lane.
    pub fn single(lane: usize) -> Cell<W> {
        let mut mask = Cell::ZERO;
        mask.set(lane, true);
        mask
    }

    /// Whether a lane is in the set.
    pub fn get(&self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 == 1
    }

    /// Puts a lane in or takes it out.
    pub fn set(&mut self, lane: usize, value: bool) {
        let (word, bit) = (&mut self.0[lane / 64], 1_u64 << (lane % 64));
        *word = if value { *word | bit } else { *word & !bit };
    }

    /// How many lanes are in the set.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    /// The lanes in the set, ascending.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<W> {
        let words = self.0;
        words.into_iter().enumerate().flat_map(|(at, word)| {
            std::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| at * 64 + w.trailing_zeros() as usize)
        })
    }

    fn map2(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Cell(std::array::from_fn(|at| f(self.0[at], other.0[at])))
    }
}

impl<const W: usize> Default for Cell<W> {
    fn default() -> Self {
        Cell::ZERO
    }
}

impl<const W: usize> BitAnd for Cell<W> {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        self.map2(other, |a, b| a & b)
    }
}

impl<const W: usize> BitOr for Cell<W> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.map2(other, |a, b| a | b)
    }
}

impl<const W: usize> BitXor for Cell<W> {
    type Output = Self;
    fn bitxor(self, other: Self) -> Self {
        self.map2(other, |a, b| a ^ b)
    }
}

impl<const W: usize> Not for Cell<W> {
    type Output = Self;
    fn not(self) -> Self {
        Cell(self.0.map(|w| !w))
    }
}

impl<const W: usize> BitAndAssign for Cell<W> {
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl<const W: usize> BitOrAssign for Cell<W> {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_lanes() {
        assert_eq!(Mask::first(0), Mask::ZERO);
        assert_eq!(Mask::first(256), Mask::ONE);
        let some = Mask::first(67) & !Mask::first(62);
        assert_eq!(some.lanes().collect::<Vec<_>>(), [62, 63, 64, 65, 66]);
        assert_eq!(some.count(), 5);
        assert!(some.get(63) && !some.get(67));
    }
}
