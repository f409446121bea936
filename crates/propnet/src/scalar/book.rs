//! Patches that have been made, by joint move.

use super::patch::Patch;
use rustc_hash::FxHashMap;

/// Patches are forgotten when together they take more words than this.
const MOST_WORDS: usize = 8 << 20;
/// Joint moves are looked up in a plain table if there are no more than this.
const LARGEST_TABLE: usize = 1 << 16;

/// Patches by joint move.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// What one step of each role's move adds to the key.
    strides: Vec<u64>,
    /// By key, if keys are few: one more than the number of the patch.
    table: Vec<u32>,
    /// By joint move otherwise.
    map: FxHashMap<Box<[u32]>, u32>,
    patches: Vec<Patch>,
    words: usize,
}

impl Book {
    /// An empty book for roles with so many moves each.
    pub fn new(n_moves: &[usize]) -> Book {
        let mut strides = Vec::new();
        let mut size = 1_u64;
        for &n in n_moves {
            strides.push(size);
            size = size.saturating_mul(n as u64);
        }
        let table = if size <= LARGEST_TABLE as u64 {
            vec![0; size as usize]
        } else {
            Vec::new()
        };
        Book {
            strides,
            table,
            ..Book::default()
        }
    }

    fn key(&self, joint: &[u32]) -> usize {
        joint
            .iter()
            .zip(&self.strides)
            .map(|(&m, s)| u64::from(m) * s)
            .sum::<u64>() as usize
    }

    /// The number of a joint move's patch.
    #[inline(always)]
    pub fn find(&self, joint: &[u32]) -> Option<u32> {
        if self.table.is_empty() {
            return self.map.get(joint).copied();
        }
        self.table[self.key(joint)].checked_sub(1)
    }

    /// A patch by number.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &Patch {
        &self.patches[number as usize]
    }

    /// Keeps a patch; all others go if there is no room.
    pub fn add(&mut self, joint: &[u32], patch: Patch) -> u32 {
        self.words += patch.size();
        if self.words > MOST_WORDS {
            self.words = patch.size();
            self.patches.clear();
            self.map.clear();
            self.table.fill(0);
        }
        self.patches.push(patch);
        let number = self.patches.len() as u32 - 1;
        if self.table.is_empty() {
            self.map.insert(joint.into(), number);
        } else {
            let key = self.key(joint);
            self.table[key] = number + 1;
        }
        number
    }
}
