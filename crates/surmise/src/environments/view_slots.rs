//! The views of the games of one group, round by round, in a fixed number of slots.
//!
//! Round r of a game is in slot r - 1, so that a game of at most as many rounds as there are slots has its whole view
//! here. In a longer game the slots are used again from the first one on: they hold the last rounds, and
//! [`newest`](ViewSlots::newest) says which slot the last one is in.

use propnet::Mask;

/// Views of one seat in the games of one group.
pub(super) struct ViewSlots {
    /// For each slot, the lanes whose last round it holds.
    newest: Vec<Mask>,
    /// What was told, slot by slot: a row per own move and percept.
    cells: Vec<Mask>,
    rows: usize,
    /// Lanes whose game was over after the last round. Their views are forgotten when the next one begins.
    over: Mask,
}

impl ViewSlots {
    /// No round yet. There is at least one slot.
    pub fn new(slots: usize, rows: usize) -> ViewSlots {
        ViewSlots {
            newest: vec![Mask::ZERO; slots],
            cells: vec![Mask::ZERO; slots * rows],
            rows,
            over: Mask::ZERO,
        }
    }

    /// Takes in a round of every lane: its rows, and the lanes whose game is over after it.
    pub fn take_in<'a>(&mut self, told: impl Iterator<Item = &'a Mask> + Clone, over: Mask) {
        let forgotten = std::mem::replace(&mut self.over, over);
        if !forgotten.is_empty() {
            let rows = self.newest.iter_mut().chain(&mut self.cells);
            rows.for_each(|cell| *cell &= !forgotten);
        }
        let begun = self.newest.iter().fold(Mask::ZERO, |all, &lanes| all | lanes);
        self.newest.rotate_right(1);
        self.newest[0] |= !begun;
        for (slot, &lanes) in self.newest.iter().enumerate().filter(|(_, lanes)| !lanes.is_empty()) {
            let cells = &mut self.cells[slot * self.rows..(slot + 1) * self.rows];
            for (cell, &told) in cells.iter_mut().zip(told.clone()) {
                *cell = (told & lanes) | (*cell & !lanes);
            }
        }
    }

    /// For each slot, the lanes whose last round it holds.
    pub fn newest(&self) -> &[Mask] {
        &self.newest
    }

    /// What was told in the rounds of the slots, slot by slot.
    pub fn cells(&self) -> &[Mask] {
        &self.cells
    }
}
