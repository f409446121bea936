//! Distinct things in little memory.
//!
//! [`Index`] is a hash table that holds nothing but numbers: the things themselves lie in lists. [`States`] numbers
//! the states of a simulator by tree compression (Laarman, van de Pol and Weber, *Parallel Recursive State Compression
//! for Free*, 2011): words are numbered, then pairs of numbers, then pairs of those, and a state is one pair. States
//! of one game share most of their parts, so that a state takes little more than its last pair. Unlike there, the
//! table of all but the last pairs is one for all places in a state, and grows.

use super::LargeError;
use game::State;
use smallvec::SmallVec;

/// An empty place of an [`Index`].
const EMPTY: u32 = u32::MAX;

/// A hash table of numbers. Whoever uses it knows what the numbers stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// A power of two of places, at most three quarters of them taken.
    places: Vec<u32>,
    len: usize,
}

impl Index {
    /// The number for which `is` holds among those with this hash; else `next` is put in. `hash_of` is the hash of a
    /// number that is in the table, which is needed if the table grows.
    pub fn find_or_put(&mut self, hash: u64, next: u32, is: impl Fn(u32) -> bool, hash_of: impl Fn(u32) -> u64) -> u32 {
        if 4 * (self.len + 1) > 3 * self.places.len() {
            self.grow(hash_of);
        }
        let mask = self.places.len() - 1;
        let mut at = home(hash, mask);
        loop {
            match self.places[at] {
                EMPTY => {
                    self.places[at] = next;
                    self.len += 1;
                    return next;
                }
                number if is(number) => return number,
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn grow(&mut self, hash_of: impl Fn(u32) -> u64) {
        let old = std::mem::take(&mut self.places);
        self.places = vec![EMPTY; (2 * old.len()).max(16)];
        let mask = self.places.len() - 1;
        for number in old.into_iter().filter(|&number| number != EMPTY) {
            let mut at = home(hash_of(number), mask);
            while self.places[at] != EMPTY {
                at = (at + 1) & mask;
            }
            self.places[at] = number;
        }
    }

    /// Memory, as it will be after `more` entries: old and new places are there together when the table grows.
    pub fn bytes(&self, more: usize) -> u64 {
        let grows = 4 * (self.len + more + 1) > 3 * self.places.len();
        4 * self.places.len() as u64 * if grows { 3 } else { 1 }
    }
}

/// Where to look first. The upper bits of a product depend on all bits of its factors.
fn home(hash: u64, mask: usize) -> usize {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask
}

/// Things with numbers in the order in which they were met, for few distinct things.
#[derive(Clone, Debug)]
pub(super) struct Kinds<T> {
    numbers: rustc_hash::FxHashMap<T, u32>,
    pub list: Vec<T>,
}

impl<T> Default for Kinds<T> {
    fn default() -> Self {
        Kinds {
            numbers: rustc_hash::FxHashMap::default(),
            list: Vec::new(),
        }
    }
}

impl<T: Copy + std::hash::Hash + Eq> Kinds<T> {
    pub fn number(&mut self, thing: T) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(thing).or_insert(next);
        if number == next {
            self.list.push(thing);
        }
        number
    }

    /// Memory, roughly.
    pub fn bytes(&self) -> u64 {
        (self.list.capacity() * size_of::<T>() + self.numbers.capacity() * (size_of::<T>() + 5)) as u64
    }
}

/// Distinct pairs of numbers.
#[derive(Clone, Debug, Default)]
struct Pairs {
    list: Vec<[u32; 2]>,
    index: Index,
}

impl Pairs {
    fn number(&mut self, pair: [u32; 2]) -> u32 {
        let list = &self.list;
        let next = list.len() as u32;
        let number = self.index.find_or_put(
            hash_pair(pair),
            next,
            |n| list[n as usize] == pair,
            |n| hash_pair(list[n as usize]),
        );
        if number == next {
            self.list.push(pair);
        }
        number
    }

    fn bytes(&self, more: usize) -> u64 {
        8 * self.list.len() as u64 + self.index.bytes(more)
    }
}

fn hash_pair([a, b]: [u32; 2]) -> u64 {
    // One more round than [`home`] makes, or pairs of neighbours would collide.
    let key = u64::from(a) << 32 | u64::from(b);
    let mixed = key.wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ mixed >> 32
}

/// A part of a state that is not there.
const NONE: u32 = u32::MAX;

/// Marks the number of a pair; other numbers are those of words.
const PAIR: u32 = 1 << 31;

/// Distinct states of a simulator, numbered in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    words: Kinds<u64>,
    inner: Pairs,
    roots: Pairs,
    /// Room for the parts of a state.
    parts: Vec<u32>,
}

impl States {
    /// Number of states.
    pub fn len(&self) -> usize {
        self.roots.list.len()
    }

    /// The number of a state. If it is new, it is the number of states before.
    pub fn number(&mut self, state: &State) -> Result<u32, LargeError> {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        parts.extend(state.0.iter().map(|&word| self.words.number(word)));
        while parts.len() > 2 {
            for at in 0..parts.len() / 2 {
                parts[at] = self.inner.number([parts[2 * at], parts[2 * at + 1]]) | PAIR;
            }
            let odd = parts.len() % 2;
            let half = parts.len() / 2;
            if odd == 1 {
                parts[half] = parts[2 * half];
            }
            parts.truncate(half + odd);
        }
        let part = |at: usize| parts.get(at).copied().unwrap_or(NONE);
        let root = [part(0), part(1)];
        self.parts = parts;
        let most = self.words.list.len().max(self.inner.list.len());
        if most >= PAIR as usize - 1 || self.roots.list.len() >= EMPTY as usize - 1 {
            return Err(LargeError::TooLarge("states"));
        }
        Ok(self.roots.number(root))
    }

    /// The state with a number.
    pub fn state(&self, number: u32) -> State {
        let mut words = SmallVec::new();
        for part in self.roots.list[number as usize] {
            self.spell(part, &mut words);
        }
        State(words)
    }

    fn spell(&self, part: u32, out: &mut SmallVec<[u64; 6]>) {
        match part {
            NONE => {}
            part if part & PAIR == 0 => out.push(self.words.list[part as usize]),
            part => {
                let [left, right] = self.inner.list[(part & !PAIR) as usize];
                self.spell(left, out);
                self.spell(right, out);
            }
        }
    }

    /// Memory, roughly, before `more` states are added.
    pub fn bytes(&self, more: usize) -> u64 {
        self.words.bytes() + self.inner.bytes(more) + self.roots.bytes(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// States of changing length, many of them alike.
    fn some_states() -> Vec<State> {
        let mut seed = 1_u64;
        let mut next = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let mut state = || {
            let len = next(9);
            State((0..len).map(|_| next(4) << next(60)).collect())
        };
        (0..20_000).map(|_| state()).collect()
    }

    #[test]
    fn states_have_the_numbers_that_a_map_gives_them() {
        let mut states = States::default();
        let mut plain: HashMap<State, u32> = HashMap::new();
        for state in some_states() {
            let next = plain.len() as u32;
            let number = *plain.entry(state.clone()).or_insert(next);
            assert_eq!(states.number(&state), Ok(number));
            assert_eq!(states.state(number), state);
        }
        assert_eq!(states.len(), plain.len());
        assert!(plain.len() > 10_000);
    }

    #[test]
    fn words_of_zero_are_part_of_a_state() {
        let mut states = States::default();
        for len in 0..20 {
            assert_eq!(states.number(&State(SmallVec::from_elem(0, len))), Ok(len as u32));
        }
    }
}
