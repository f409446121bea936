//! The table of regrets and average policies, by the number of a view.
//!
//! A view's number is a hash of the role's moves and percepts, so that a table needs neither histories nor states. 64
//! bits: among ten million views, the probability that two share a number is one in 400,000.

use crate::selfplay::draw;
use game::{MoveId, PerceptId, Rng, View};
use rustc_hash::FxHashMap;

/// The number of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewKey(pub u64);

impl ViewKey {
    /// The view of a role before the first round.
    pub fn start(role: usize) -> ViewKey {
        ViewKey(mix(role as u64 + 1))
    }

    /// The view after another round.
    #[inline]
    #[must_use]
    pub fn after(self, own: MoveId, sees: &[PerceptId]) -> ViewKey {
        self.after_seen(own, ViewKey::seen(sees))
    }

    /// The same, with percepts as a number.
    #[inline]
    pub(crate) fn after_seen(self, own: MoveId, seen: u64) -> ViewKey {
        let begun = mix(self.0 ^ (u64::from(own.0) << 1 | 1));
        ViewKey(mix(begun.wrapping_add(seen)))
    }

    /// A number for the percepts of a round, independent of their order.
    pub(crate) fn seen(sees: &[PerceptId]) -> u64 {
        let numbers = sees.iter().map(|p| mix(u64::from(p.0) + 0x5157));
        numbers.fold(0, u64::wrapping_add)
    }

    /// The number of a whole view.
    pub fn of(role: usize, view: &View) -> ViewKey {
        let rounds = view.rounds.iter();
        rounds.fold(ViewKey::start(role), |key, round| key.after(round.own, &round.sees))
    }
}

/// The finaliser of SplitMix64.
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The entry of a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ViewEntry {
    pub first: u32,
    pub n: u32,
    /// Times its regrets were updated.
    pub updates: u32,
}

/// Regrets and average policies of views.
#[derive(Clone, Debug, Default)]
pub struct RegretTable {
    pub(crate) places: FxHashMap<ViewKey, u32>,
    pub(crate) keys: Vec<ViewKey>,
    pub(crate) entries: Vec<ViewEntry>,
    pub(crate) regrets: Vec<f32>,
    pub(crate) totals: Vec<f32>,
}

/// Largest number of views: about 150 MB with ten moves each.
pub(crate) const MOST_VIEWS: usize = 1_500_000;

impl RegretTable {
    /// How many views it knows.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn find(&self, key: ViewKey) -> Option<&ViewEntry> {
        self.places.get(&key).map(|&at| &self.entries[at as usize])
    }

    /// How often the regrets of a view were updated.
    pub fn updates(&self, key: ViewKey) -> u32 {
        self.find(key).map_or(0, |e| e.updates)
    }

    /// The policy of regret matching (Hart and Mas-Colell 2000). Replaces the contents of `out`; uniform if the view is
    /// not in the table. Returns whether it is.
    #[inline]
    pub(crate) fn strategy(&self, key: ViewKey, n: usize, out: &mut Vec<f32>) -> bool {
        out.clear();
        let entry = self.find(key).filter(|e| e.n as usize == n);
        if let Some(entry) = entry {
            let regrets = &self.regrets[entry.first as usize..][..n];
            let total: f32 = regrets.iter().map(|r| r.max(0.0)).sum();
            if total > 0.0 {
                out.extend(regrets.iter().map(|r| r.max(0.0) / total));
                return true;
            }
        }
        out.extend(std::iter::repeat_n(1.0 / n as f32, n));
        entry.is_some()
    }

    /// A move drawn by that policy, as an index; none if the view is not in the table.
    #[inline]
    pub(crate) fn draw(&self, key: ViewKey, n: usize, rng: &mut Rng) -> Option<usize> {
        let entry = self.find(key).filter(|e| e.n as usize == n)?;
        let regrets = &self.regrets[entry.first as usize..][..n];
        let total: f32 = regrets.iter().map(|r| r.max(0.0)).sum();
        Some(match total > 0.0 {
            true => draw(regrets.iter().map(|r| r.max(0.0) / total), rng),
            false => draw(std::iter::repeat_n(1.0 / n as f32, n), rng),
        })
    }

    /// The average policy of a view with so many moves, if it was ever played.
    pub fn average(&self, key: ViewKey, n: usize) -> Option<Vec<f32>> {
        let entry = self.find(key).filter(|e| e.n as usize == n)?;
        let totals = &self.totals[entry.first as usize..][..n];
        let total: f32 = totals.iter().sum();
        (total > 0.0).then(|| totals.iter().map(|t| t / total).collect())
    }

    /// The entry of a view, added if there is room. None if there is not, or if the number of moves differs.
    pub(crate) fn enter(&mut self, key: ViewKey, n: usize) -> Option<&mut ViewEntry> {
        let next = self.entries.len();
        let at = match self.places.get(&key) {
            Some(&at) => at as usize,
            None if next >= MOST_VIEWS => return None,
            None => {
                self.places.insert(key, next as u32);
                self.keys.push(key);
                self.entries.push(ViewEntry {
                    first: self.regrets.len() as u32,
                    n: n as u32,
                    updates: 0,
                });
                self.regrets.extend(std::iter::repeat_n(0.0, n));
                self.totals.extend(std::iter::repeat_n(0.0, n));
                next
            }
        };
        let entry = &mut self.entries[at];
        (entry.n as usize == n).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::Round;

    #[test]
    fn views_that_differ_have_different_numbers() {
        let round = |own: u32, sees: &[u32]| Round {
            own: MoveId(own),
            sees: sees.iter().map(|&p| PerceptId(p)).collect(),
        };
        let key = |role, rounds: &[Round]| {
            let rounds = rounds.to_vec();
            ViewKey::of(role, &View { rounds })
        };
        let all = [
            key(0, &[]),
            key(1, &[]),
            key(0, &[round(0, &[])]),
            key(0, &[round(1, &[])]),
            key(0, &[round(0, &[0])]),
            key(0, &[round(0, &[1])]),
            key(0, &[round(0, &[0, 1])]),
            key(0, &[round(0, &[]), round(0, &[])]),
        ];
        let distinct: std::collections::BTreeSet<ViewKey> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(key(0, &[round(0, &[1, 0])]), key(0, &[round(0, &[0, 1])]));
    }

    #[test]
    fn strategies_match_regrets() {
        let mut table = RegretTable::default();
        let key = ViewKey::start(0);
        let mut strategy = Vec::new();
        table.strategy(key, 4, &mut strategy);
        assert_eq!(strategy, [0.25; 4]);
        assert!(table.enter(key, 4).is_some() && table.enter(key, 3).is_none());
        table.regrets.copy_from_slice(&[3.0, -1.0, 1.0, 0.0]);
        table.totals.copy_from_slice(&[1.0, 1.0, 0.0, 0.0]);
        table.strategy(key, 4, &mut strategy);
        assert_eq!(strategy, [0.75, 0.0, 0.25, 0.0]);
        assert_eq!(table.average(key, 4).unwrap(), [0.5, 0.5, 0.0, 0.0]);
        assert_eq!(table.average(ViewKey::start(1), 4), None);
    }
}
