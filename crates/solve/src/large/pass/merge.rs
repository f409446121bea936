//! Entries, and how those with the same pair are merged.

use super::super::pairs::PairGraph;

/// One more way in which a pair is reached.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub pair: u32,
    /// First slot of the slice: in the plan, or behind its end in the arena.
    pub source: usize,
    pub factor: f64,
}

/// Slices that are sums of slices of the plan, on a stack, and lists of entries that are in no use.
pub(super) struct Arena<'a> {
    pairs: &'a PairGraph,
    plan: &'a [f64],
    data: Vec<f64>,
    /// End of the part that is in use.
    top: usize,
    pool: Vec<Vec<Entry>>,
    /// Scratch of merging: entry numbers by pair.
    table: Vec<(u32, u32)>,
    /// Entries after merging so far.
    pub entries: u64,
}

impl<'a> Arena<'a> {
    /// An empty arena, in memory whose contents do not matter.
    pub fn new(pairs: &'a PairGraph, plan: &'a [f64], data: Vec<f64>) -> Arena<'a> {
        Arena {
            pairs,
            plan,
            data,
            top: 0,
            pool: Vec::new(),
            table: Vec::new(),
            entries: 0,
        }
    }

    /// An empty list.
    pub fn list(&mut self) -> Vec<Entry> {
        self.pool.pop().unwrap_or_default()
    }

    pub fn recycle(&mut self, mut entries: Vec<Entry>) {
        entries.clear();
        self.pool.push(entries);
    }

    /// The end of what is in use, to go back to it.
    pub fn mark(&self) -> usize {
        self.top
    }

    /// Gives up everything above a mark.
    pub fn release(&mut self, mark: usize) {
        self.top = mark;
    }

    /// Takes over the slices of a task, `used` numbers, which start behind the plan. Returns memory that is free now.
    pub fn load(&mut self, data: Vec<f64>, used: usize) -> Vec<f64> {
        self.top = used;
        std::mem::replace(&mut self.data, data)
    }

    /// Copies slices that are in the arena, and makes entries point at the copies. Returns how many numbers they are.
    pub fn export(&self, entries: &mut [Entry], data: &mut Vec<f64>) -> usize {
        let mut used = 0;
        for entry in entries {
            if let Some(from) = entry.source.checked_sub(self.plan.len()) {
                let n = self.pairs.slots(entry.pair);
                entry.source = self.plan.len() + used;
                if data.len() < used + n {
                    data.resize((used + n).next_power_of_two(), 0.0);
                }
                data[used..used + n].copy_from_slice(&self.data[from..from + n]);
                used += n;
            }
        }
        used
    }

    /// The probability in the header of a slice.
    #[inline]
    pub fn header(&self, source: usize) -> f64 {
        match self.plan.get(source) {
            Some(header) => *header,
            None => self.data[source - self.plan.len()],
        }
    }

    /// The slice of an entry.
    #[inline]
    pub fn slice(&self, entry: &Entry) -> &[f64] {
        let n = self.pairs.slots(entry.pair);
        match entry.source.checked_sub(self.plan.len()) {
            None => &self.plan[entry.source..entry.source + n],
            Some(at) => &self.data[at..at + n],
        }
    }

    /// The probability that the other role and nature let some entry be reached.
    pub fn mass(&self, entries: &[Entry]) -> f64 {
        entries.iter().map(|e| e.factor * self.header(e.source)).sum()
    }

    /// Entries with the same pair become one, whose slice is the sum of theirs, in the order in which they were met.
    pub fn merged(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        if entries.len() < 2 {
            self.entries += entries.len() as u64;
            return entries;
        }
        const NOBODY: u32 = u32::MAX;
        let mask = (2 * entries.len()).next_power_of_two() - 1;
        if self.table.len() <= mask {
            self.table.resize(mask + 1, (0, NOBODY));
        }
        self.table[..=mask].fill((0, NOBODY));
        let mut kept = self.list();
        let own = self.plan.len() + self.top;
        for entry in &entries {
            let mut at = (entry.pair.wrapping_mul(0x9E37_79B1) >> 7) as usize & mask;
            let number = loop {
                let (pair, number) = self.table[at];
                if number == NOBODY {
                    self.table[at] = (entry.pair, kept.len() as u32);
                    break NOBODY;
                }
                if pair == entry.pair {
                    break number;
                }
                at = (at + 1) & mask;
            };
            if number == NOBODY {
                kept.push(*entry);
                continue;
            }
            let before = kept[number as usize];
            kept[number as usize] = self.sum(before, *entry, own);
        }
        self.recycle(entries);
        self.entries += kept.len() as u64;
        kept
    }

    /// The sum of two entries. Slices from `own` on belong to this merge and may be changed.
    fn sum(&mut self, to: Entry, from: Entry, own: usize) -> Entry {
        let n = self.pairs.slots(to.pair);
        let plan = self.plan;
        let fresh = to.source < own;
        let target = if fresh { self.top } else { to.source - plan.len() };
        if fresh {
            self.top += n;
            if self.data.len() < self.top {
                self.data.resize(self.top.next_power_of_two(), 0.0);
            }
        }
        let (below, above) = self.data.split_at_mut(own - plan.len());
        let slice = |source: usize| match source.checked_sub(plan.len()) {
            None => &plan[source..source + n],
            Some(at) => &below[at..at + n],
        };
        let target_slice = &mut above[target - (own - plan.len())..][..n];
        let more = slice(from.source);
        if !fresh {
            match from.factor == 1.0 {
                true => target_slice.iter_mut().zip(more).for_each(|(t, m)| *t += m),
                false => target_slice
                    .iter_mut()
                    .zip(more)
                    .for_each(|(t, m)| *t += from.factor * m),
            }
            return to;
        }
        let first = slice(to.source);
        let pairs = target_slice.iter_mut().zip(first.iter().zip(more));
        match to.factor == 1.0 && from.factor == 1.0 {
            true => pairs.for_each(|(t, (a, b))| *t = a + b),
            false => pairs.for_each(|(t, (a, b))| *t = to.factor * a + from.factor * b),
        }
        Entry {
            pair: to.pair,
            source: plan.len() + target,
            factor: 1.0,
        }
    }
}
