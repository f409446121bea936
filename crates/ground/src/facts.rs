//! Rows of ground terms: sets without repetition, and indexed lists of facts.

use crate::pattern::Key;
use crate::terms::{TermId, Terms};
use rustc_hash::{FxHashMap, FxHasher};
use std::cell::OnceCell;
use std::hash::Hasher;

/// A set of rows of one width, numbered in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowSet {
    width: usize,
    n_rows: usize,
    cells: Vec<TermId>,
    /// Open addressing over row numbers + 1; empty while the set is small enough to search.
    slots: Vec<u32>,
}

/// Number of rows up to which a linear search is faster than hashing.
const SMALL: usize = 6;

impl RowSet {
    pub fn new(width: usize) -> RowSet {
        RowSet {
            width,
            ..RowSet::default()
        }
    }

    pub fn len(&self) -> usize {
        self.n_rows
    }

    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    #[inline]
    pub fn row(&self, number: usize) -> &[TermId] {
        &self.cells[number * self.width..(number + 1) * self.width]
    }

    pub fn rows(&self) -> impl Iterator<Item = &[TermId]> {
        (0..self.n_rows).map(|n| self.row(n))
    }

    /// The number of a row.
    pub fn find(&self, row: &[TermId]) -> Option<usize> {
        if self.slots.is_empty() {
            return self.rows().position(|r| r == row);
        }
        let found = self.slots[self.slot_of(row)];
        (found != 0).then(|| found as usize - 1)
    }

    /// Adds a row; its number, and whether it is new.
    pub fn insert(&mut self, row: &[TermId]) -> (usize, bool) {
        debug_assert_eq!(row.len(), self.width);
        if let Some(number) = self.find(row) {
            return (number, false);
        }
        let number = self.n_rows;
        if !self.slots.is_empty() {
            let slot = self.slot_of(row);
            self.slots[slot] = number as u32 + 1;
        }
        self.cells.extend_from_slice(row);
        self.n_rows += 1;
        if self.n_rows > SMALL && self.n_rows * 2 > self.slots.len() {
            self.rehash();
        }
        (number, true)
    }

    /// Keeps the rows that are marked, in order.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut kept = RowSet::new(self.width);
        for (row, _) in self.rows().zip(keep).filter(|(_, keep)| **keep) {
            kept.insert(row);
        }
        *self = kept;
    }

    /// The slot that holds the row, or the free one where it belongs.
    fn slot_of(&self, row: &[TermId]) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash_row(row) as usize & mask;
        while self.slots[at] != 0 && self.row(self.slots[at] as usize - 1) != row {
            at = (at + 1) & mask;
        }
        at
    }

    fn rehash(&mut self) {
        self.slots = vec![0; (self.n_rows * 4).next_power_of_two()];
        for number in 0..self.n_rows {
            let slot = self.slot_of(self.row(number));
            self.slots[slot] = number as u32 + 1;
        }
    }
}

fn hash_row(row: &[TermId]) -> u64 {
    let mut hasher = FxHasher::default();
    for term in row {
        hasher.write_u32(term.0);
    }
    hasher.finish()
}

/// Number of an index of a [`FactSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexId(u32);

/// Facts of one relation, with indexes that are made on first use.
#[derive(Clone, Default)]
pub(crate) struct FactSet {
    rows: RowSet,
    keys: FxHashMap<Key, IndexId>,
    indexes: Vec<Index>,
    distinct: OnceCell<Box<[usize]>>,
}

#[derive(Clone)]
struct Index {
    key: Key,
    built: bool,
    /// Row numbers, those with equal keys side by side.
    order: Vec<u32>,
    /// Hash of a key to its span in `order`.
    spans: FxHashMap<u64, (u32, u32)>,
}

impl FactSet {
    pub fn new(width: usize) -> FactSet {
        FactSet {
            rows: RowSet::new(width),
            ..FactSet::default()
        }
    }

    pub fn rows(&self) -> &RowSet {
        &self.rows
    }

    pub fn insert(&mut self, row: &[TermId]) {
        if self.rows.insert(row).1 {
            self.forget_order();
        }
    }

    fn forget_order(&mut self) {
        self.indexes.iter_mut().for_each(|i| i.built = false);
        self.distinct.take();
    }

    /// Removes the facts; the list of wanted indexes stays.
    pub fn clear(&mut self) {
        self.rows = RowSet::new(self.rows.width);
        self.forget_order();
    }

    /// Number of different values in a column.
    pub fn distinct(&self, column: usize) -> usize {
        let count = |column| {
            let mut values: Vec<TermId> = self.rows.rows().map(|r| r[column]).collect();
            values.sort_unstable();
            values.dedup();
            values.len()
        };
        self.distinct.get_or_init(|| (0..self.rows.width).map(count).collect())[column]
    }

    /// The index on this key.
    pub fn index(&mut self, key: Key) -> IndexId {
        let next = IndexId(self.indexes.len() as u32);
        let id = *self.keys.entry(key.clone()).or_insert(next);
        if id == next {
            self.indexes.push(Index {
                key,
                built: false,
                order: Vec::new(),
                spans: FxHashMap::default(),
            });
        }
        id
    }

    /// The span of places in the index with rows of this key; a hash collision may add others.
    #[inline]
    pub fn span(&mut self, index: IndexId, hash: u64, terms: &Terms) -> (u32, u32) {
        let index = &mut self.indexes[index.0 as usize];
        if !index.built {
            index.build(&self.rows, terms);
        }
        index.spans.get(&hash).copied().unwrap_or((0, 0))
    }

    /// The row at a place of an index.
    #[inline]
    pub fn at(&self, index: IndexId, place: u32) -> &[TermId] {
        let number = self.indexes[index.0 as usize].order[place as usize];
        self.rows.row(number as usize)
    }
}

impl Index {
    fn build(&mut self, rows: &RowSet, terms: &Terms) {
        let mut filed: Vec<(u64, u32)> = (0..rows.len())
            .filter_map(|n| Some((self.key.of_row(rows.row(n), terms)?, n as u32)))
            .collect();
        filed.sort_unstable();
        self.order.clear();
        self.order.extend(filed.iter().map(|&(_, n)| n));
        self.spans.clear();
        let mut start = 0;
        for group in filed.chunk_by(|a, b| a.0 == b.0) {
            let end = start + group.len() as u32;
            self.spans.insert(group[0].0, (start, end));
            start = end;
        }
        self.built = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Bound, probe_hash};
    use gdl::{Symbol, Term};

    #[test]
    fn rows_are_kept_once_and_in_order() {
        let mut set = RowSet::new(2);
        for n in 0..1000 {
            let row = [TermId(n % 100), TermId(n % 7)];
            let (number, new) = set.insert(&row);
            assert_eq!(new, n < 700);
            assert_eq!(set.find(&row), Some(number));
        }
        assert_eq!(set.len(), 700);
        assert_eq!(set.row(3), [TermId(3), TermId(3)]);
        let keep: Vec<bool> = (0..700).map(|n| n == 3 || n == 650).collect();
        set.retain(&keep);
        assert_eq!(
            set.rows().collect::<Vec<_>>(),
            [[TermId(3), TermId(3)], [TermId(50), TermId(6)]]
        );
    }

    #[test]
    fn an_empty_row_is_there_or_not() {
        let mut set = RowSet::new(0);
        assert_eq!(set.find(&[]), None);
        assert_eq!(set.insert(&[]), (0, true));
        assert_eq!(set.insert(&[]), (0, false));
    }

    #[test]
    fn indexes_look_inside_functions_and_follow_changes() {
        let mut terms = Terms::new();
        let [a, b] = [1, 2].map(|n| terms.intern(Symbol(n), &[]));
        let cell = |terms: &mut Terms, x, y| terms.intern(Symbol(9), &[x, y]);
        let mut facts = FactSet::new(1);
        // true(cell(?0, b)) with ?0 unknown: keyed on the second argument of cell.
        let pattern = Term::Fun(Symbol(9), vec![Term::Var(0), Term::constant(Symbol(2))]);
        let (key, probes) = Key::new(&[pattern], &Bound::none(1), &mut terms);
        let index = facts.index(key);
        for (x, y) in [(a, a), (a, b), (b, b)] {
            let fluent = cell(&mut terms, x, y);
            facts.insert(&[fluent]);
        }
        facts.insert(&[a]);
        let hash = probe_hash(&probes, &[]);
        let (start, end) = facts.span(index, hash, &terms);
        let found: Vec<TermId> = (start..end).map(|n| facts.at(index, n)[0]).collect();
        assert_eq!(found, [cell(&mut terms, a, b), cell(&mut terms, b, b)]);
        facts.clear();
        assert_eq!(facts.span(index, hash, &terms), (0, 0));
    }
}
