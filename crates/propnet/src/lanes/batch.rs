//! The lanes as a [`Batch`]: states are loaded and stored in blocks.
//!
//! A state is words of fluents; a frame is words of lanes. Setting single bits would cost ten times as much as the
//! gates. Blocks of 64 states by 64 fluents are transposed instead (Warren, *Hacker's Delight*, 7-3).

use super::Lanes;
use super::cell::{LANES, Mask};
use crate::jit;
use game::{Batch, Fault, LaneSet, Meter, MoveId, PerceptId, RoleId, Seed, State};

impl Batch for Lanes {
    fn width(&self) -> usize {
        LANES
    }

    fn load(&mut self, states: &[&State]) -> Result<(), Fault> {
        let n_fluents = self.game.n_fluents();
        if states.len() > LANES || states.iter().any(|s| s.0.len() != n_fluents.div_ceil(64)) {
            return Err(Fault::Foreign("a list of states that does not fit the lanes"));
        }
        let start = self.game.layout().state as usize;
        write_states(states, &mut self.frame[start..start + n_fluents]);
        self.seen.fill(false);
        Ok(())
    }

    fn store(&mut self, lanes: LaneSet, out: &mut Vec<State>) -> Result<(), Fault> {
        read_states(self, self.game.layout().state as usize, lanes, out);
        Ok(())
    }

    fn eval(&mut self) -> Result<LaneSet, Fault> {
        Ok(LaneSet(Lanes::eval(self).0))
    }

    fn legal(&mut self, role: RoleId, each: &mut dyn FnMut(MoveId, LaneSet)) -> Result<(), Fault> {
        let start = self.game.layout().legal[role.0 as usize] as usize;
        for (at, cell) in self.frame[start..start + self.game.n_moves(role)].iter().enumerate() {
            if !cell.is_empty() {
                each(MoveId(at as u32), LaneSet(cell.0));
            }
        }
        Ok(())
    }

    fn force(&mut self, role: RoleId, moves: &[MoveId]) -> Result<(), Fault> {
        let start = self.game.layout().does[role.0 as usize] as usize;
        let n = self.game.n_moves(role);
        if moves.len() > LANES || moves.iter().any(|mv| mv.0 as usize >= n) {
            return Err(Fault::Foreign("a move"));
        }
        let row = &mut self.frame[start..start + n];
        row.fill(Mask::ZERO);
        for (lane, mv) in moves.iter().enumerate() {
            row[mv.0 as usize].set(lane, true);
        }
        self.seen.fill(false);
        Ok(())
    }

    fn agree(&mut self, role: RoleId, percepts: &[PerceptId], lanes: LaneSet) -> Result<LaneSet, Fault> {
        Ok(LaneSet(Lanes::agree(self, role, percepts).0).and(lanes))
    }

    fn percepts(&mut self, role: RoleId, each: &mut dyn FnMut(PerceptId, LaneSet)) -> Result<(), Fault> {
        self.see(role);
        let start = self.game.layout().sees[role.0 as usize] as usize;
        for (at, cell) in self.frame[start..start + self.game.n_percepts(role)].iter().enumerate() {
            if !cell.is_empty() {
                each(PerceptId(at as u32), LaneSet(cell.0));
            }
        }
        Ok(())
    }

    fn successors(&mut self, lanes: LaneSet, out: &mut Vec<State>) -> Result<(), Fault> {
        if lanes.count() > 0 {
            Lanes::next(self, Mask::from(lanes));
            read_states(self, self.game.layout().next as usize, lanes, out);
        }
        Ok(())
    }

    fn commit(&mut self, lanes: LaneSet) -> Result<(), Fault> {
        Lanes::next(self, Mask::from(lanes));
        Lanes::commit(self, Mask::from(lanes));
        Ok(())
    }

    fn meter(&self) -> &Meter {
        Lanes::meter(self)
    }

    fn fork(&self) -> Box<dyn Batch> {
        // A batch uses no random numbers: the seed is only for `sample`, which a batch does not offer.
        Box::new(Lanes::new(&self.game, Seed(0)))
    }
}

impl From<LaneSet> for Mask {
    fn from(set: LaneSet) -> Mask {
        super::cell::Cell(set.0)
    }
}

/// Writes states into the first lanes of the cells, one cell for each fluent.
pub(super) fn write_states(states: &[&State], cells: &mut [Mask]) {
    jit::wide(
        #[inline(always)]
        || {
            for (at, cells) in cells.chunks_mut(64).enumerate() {
                for (word, group) in states.chunks(64).enumerate() {
                    let mut block = [0; 64];
                    group.iter().zip(&mut block).for_each(|(state, row)| *row = state.0[at]);
                    transpose(&mut block);
                    cells.iter_mut().zip(block).for_each(|(cell, row)| cell.0[word] = row);
                }
            }
        },
    );
}

/// Reads states out of the cells from `start` on.
fn read_states(lanes: &Lanes, start: usize, wanted: LaneSet, out: &mut Vec<State>) {
    let n_fluents = lanes.game.n_fluents();
    let first = out.len();
    let empty = State(smallvec::smallvec![0; n_fluents.div_ceil(64)]);
    out.extend((0..wanted.count()).map(|_| empty.clone()));
    jit::wide(
        #[inline(always)]
        || {
            for (at, cells) in lanes.frame[start..start + n_fluents].chunks(64).enumerate() {
                let mut place = first;
                for (word, &group) in wanted.0.iter().enumerate().filter(|(_, group)| **group != 0) {
                    let mut block = [0; 64];
                    cells.iter().zip(&mut block).for_each(|(cell, row)| *row = cell.0[word]);
                    transpose(&mut block);
                    let mut rest = group;
                    while rest != 0 {
                        out[place].0[at] = block[rest.trailing_zeros() as usize];
                        place += 1;
                        rest &= rest - 1;
                    }
                }
            }
        },
    );
}

/// Transposes a block of bits: bit `c` of row `r` becomes bit `r` of row `c`.
#[inline(always)]
fn transpose(block: &mut [u64; 64]) {
    swap_bits::<32>(block, 0x0000_0000_ffff_ffff);
    swap_bits::<16>(block, 0x0000_ffff_0000_ffff);
    swap_bits::<8>(block, 0x00ff_00ff_00ff_00ff);
    swap_bits::<4>(block, 0x0f0f_0f0f_0f0f_0f0f);
    swap_bits::<2>(block, 0x3333_3333_3333_3333);
    swap_bits::<1>(block, 0x5555_5555_5555_5555);
}

/// Swaps the upper bits of a row, in pieces of `STEP` bits, with the lower ones of the row `STEP` further on.
#[inline(always)]
fn swap_bits<const STEP: usize>(block: &mut [u64; 64], mask: u64) {
    for rows in block.chunks_exact_mut(2 * STEP) {
        let (upper, lower) = rows.split_at_mut(STEP);
        for (a, b) in upper.iter_mut().zip(lower) {
            let swap = ((*a >> STEP) ^ *b) & mask;
            *a ^= swap << STEP;
            *b ^= swap;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_is_what_it_says() {
        let mut rng = Seed(5).rng();
        let before: [u64; 64] = std::array::from_fn(|_| rng.bits());
        let mut after = before;
        transpose(&mut after);
        for (r, row) in before.iter().enumerate() {
            for (c, column) in after.iter().enumerate() {
                assert_eq!(row >> c & 1, column >> r & 1);
            }
        }
    }
}
