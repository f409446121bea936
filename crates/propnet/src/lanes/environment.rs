//! 256 games whose moves come from outside, for learners.
//!
//! A step takes one action per player and lane: the number of a move of the role, or [`FORCED`] where the role has only
//! one. Nature's moves are drawn. A game that is over starts again within the step. What a step leaves behind is read
//! as rows of cells, one row per move or percept and one bit per lane.

use super::Lanes;
use super::cell::{LANES, Mask};
use super::layout::RANDOM_BITS;
use super::segments::Segment;
use crate::Compiled;
use game::{RoleId, Seed, State};

/// The action of a role that has one legal move only: that move.
pub const FORCED: i32 = -1;

/// An action that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalAction {
    /// The lane.
    pub lane: usize,
    /// The action.
    pub action: i32,
}

/// Up to 256 games that start again when they are over.
///
/// A step consists of [`set_actions`](Environment::set_actions) for every role except nature and
/// [`step`](Environment::step).
pub struct Environment {
    lanes: Lanes,
    nature: Option<RoleId>,
    initial: State,
    used: Mask,
    ages: Vec<u32>,
    terminated: Mask,
    truncated: Mask,
    decides: Vec<Mask>,
}

impl Environment {
    /// The first `n` lanes in the initial state. The seed is that of nature's moves.
    pub fn new(game: &Compiled, n: usize, seed: Seed) -> Environment {
        let nature = game.roles().iter().position(|role| role == "random");
        let mut environment = Environment {
            lanes: Lanes::new(game, seed),
            nature: nature.map(|at| RoleId(at as u16)),
            initial: game.initial_state(),
            used: Mask::first(n),
            ages: vec![0; n.min(LANES)],
            terminated: Mask::ZERO,
            truncated: Mask::ZERO,
            decides: vec![Mask::ZERO; game.roles().len()],
        };
        environment.evaluate();
        environment
    }

    /// Puts every lane back into the initial state. Moves and percepts of the last step are forgotten.
    pub fn reset(&mut self, seed: Seed) {
        *self = Environment::new(&self.lanes.game.clone(), self.ages.len(), seed);
    }

    /// Lanes in which the initial state is over or stuck: such a game cannot be stepped.
    pub fn unplayable(&self) -> bool {
        let over = self.lanes.terminal() | self.lanes.stuck();
        !(over & self.used).is_empty()
    }

    /// Takes the actions of a role, one per lane. On an error the actions of this role are to be given again; no state
    /// has changed.
    ///
    /// # Errors
    /// With the first lane whose action is not legal.
    pub fn set_actions(&mut self, role: RoleId, actions: &[i32]) -> Result<(), IllegalAction> {
        let at = usize::from(role.0);
        let layout = self.lanes.game.layout();
        let (legal, does) = (layout.legal[at] as usize, layout.does[at] as usize);
        let n = self.lanes.game.n_moves(role);
        let (lower, upper) = self.lanes.frame.split_at_mut(legal.max(does));
        let (legal, made) = match legal > does {
            true => (&upper[..n], &mut lower[does..does + n]),
            false => (&lower[legal..legal + n], &mut upper[..n]),
        };
        made.fill(Mask::ZERO);
        let mut forced = Mask::ZERO;
        for (lane, &action) in actions.iter().enumerate().take(LANES) {
            let (word, bit) = (lane / 64, 1_u64 << (lane % 64));
            match legal.get(action as usize) {
                Some(cell) if cell.0[word] & bit != 0 => made[action as usize].0[word] |= bit,
                None if action == FORCED && self.decides[at].0[word] & bit == 0 => forced.0[word] |= bit,
                _ => return Err(IllegalAction { lane, action }),
            }
        }
        if !forced.is_empty() {
            for (cell, &legal) in made.iter_mut().zip(legal) {
                *cell |= legal & forced;
            }
        }
        Ok(())
    }

    /// Draws a uniformly random legal action of a role for every lane. The draws share nature's random numbers.
    pub fn sample_actions(&mut self, role: RoleId, out: &mut [i32]) {
        self.lanes.sample(role, Mask::ONE);
        for (action, cell) in self.made(role).iter().enumerate() {
            let used = *cell & self.used;
            used.lanes().for_each(|lane| out[lane] = action as i32);
        }
    }

    /// Makes the moves in all lanes. Lanes whose game has then lasted `max_rounds` rounds, or in which some role has no
    /// legal move, are cut short: they start again as the ones that are over do, and earn nothing.
    pub fn step(&mut self, max_rounds: u32) {
        if let Some(nature) = self.nature {
            let start = (self.lanes.game.layout().random + u32::from(nature.0) * RANDOM_BITS) as usize;
            let random = &mut self.lanes.frame[start..start + RANDOM_BITS as usize];
            self.lanes.rng.fill(random);
        }
        self.lanes.run(Segment::Environment {
            nature: self.nature.map(|role| role.0),
        });
        self.lanes.meter.states += u64::from(self.used.count());
        self.terminated = self.lanes.frame[self.lanes.game.layout().ended as usize] & self.used;
        self.truncated = self.grow_older(max_rounds) & !self.terminated;
        self.restart(self.truncated);
        self.evaluate();
        let stuck = self.lanes.stuck() & self.used;
        if !stuck.is_empty() {
            self.truncated |= stuck;
            self.restart(stuck);
            self.evaluate();
        }
    }

    /// Counts a round in every lane; returns the lanes that have had the last one.
    fn grow_older(&mut self, max_rounds: u32) -> Mask {
        let mut old = Mask::ZERO;
        for (word, ages) in self.ages.chunks_mut(64).enumerate() {
            let over = self.terminated.0[word];
            let mut aged = 0;
            for (lane, age) in ages.iter_mut().enumerate() {
                *age = if over >> lane & 1 == 1 { 0 } else { *age + 1 };
                aged |= u64::from(*age >= max_rounds) << lane;
            }
            old.0[word] = aged;
        }
        old
    }

    fn restart(&mut self, lanes: Mask) {
        if lanes.is_empty() {
            return;
        }
        lanes.lanes().for_each(|lane| self.ages[lane] = 0);
        let start = self.lanes.game.layout().state as usize;
        for f in 0..self.lanes.game.n_fluents() {
            let cell = &mut self.lanes.frame[start + f];
            *cell = match super::bit(&self.initial, f) {
                true => *cell | lanes,
                false => *cell & !lanes,
            };
        }
    }

    /// Computes legal moves, and where a role has more than one.
    fn evaluate(&mut self) {
        self.lanes.eval();
        for role in 0..self.decides.len() {
            let (mut one, mut two) = (Mask::ZERO, Mask::ZERO);
            for &cell in self.legal(RoleId(role as u16)) {
                two |= one & cell;
                one |= cell;
            }
            self.decides[role] = two & self.used;
        }
    }

    /// The role whose moves are drawn.
    pub fn nature(&self) -> Option<RoleId> {
        self.nature
    }

    /// The lanes in use.
    pub fn used(&self) -> Mask {
        self.used
    }

    /// Lanes whose game was over after the last step.
    pub fn terminated(&self) -> Mask {
        self.terminated
    }

    /// Lanes that the last step cut short.
    pub fn truncated(&self) -> Mask {
        self.truncated
    }

    /// Lanes in which a role has more than one legal move.
    pub fn decides(&self, role: RoleId) -> Mask {
        self.decides[usize::from(role.0)]
    }

    /// The legal moves of a role now: a row per move.
    pub fn legal(&self, role: RoleId) -> &[Mask] {
        let start = self.lanes.game.layout().legal[usize::from(role.0)] as usize;
        &self.lanes.frame[start..start + self.lanes.game.n_moves(role)]
    }

    /// The moves of a role in the last step: a row per move.
    pub fn made(&self, role: RoleId) -> &[Mask] {
        let start = self.lanes.game.layout().does[usize::from(role.0)] as usize;
        &self.lanes.frame[start..start + self.lanes.game.n_moves(role)]
    }

    /// The percepts of a role in the last step: a row per percept.
    pub fn percepts(&self, role: RoleId) -> &[Mask] {
        let start = self.lanes.game.layout().sees[usize::from(role.0)] as usize;
        &self.lanes.frame[start..start + self.lanes.game.n_percepts(role)]
    }

    /// The state of every lane: a row per fluent.
    pub fn state(&self) -> &[Mask] {
        let start = self.lanes.game.layout().state as usize;
        &self.lanes.frame[start..start + self.lanes.game.n_fluents()]
    }

    /// Calls back with every payoff above zero and the lanes that end with it in the last step.
    pub fn payoffs(&self, role: RoleId, each: &mut dyn FnMut(u8, Mask)) {
        let start = self.lanes.game.layout().goals[usize::from(role.0)] as usize;
        for (at, value) in self.lanes.game.goal_values(role).enumerate() {
            let lanes = self.lanes.frame[start + at] & self.terminated;
            if value > 0 && !lanes.is_empty() {
                each(value.min(100) as u8, lanes);
            }
        }
    }

    /// Rounds that the games have lasted, lane by lane.
    pub fn ages(&self) -> &[u32] {
        &self.ages
    }
}

/// Writes the bits of a cell as bytes 0 and 1, lane by lane, as far as `out` reaches.
pub fn expand(cell: &Mask, out: &mut [u8]) {
    for (&word, out) in cell.0.iter().zip(out.chunks_mut(64)) {
        for (byte, out) in word.to_le_bytes().iter().zip(out.chunks_mut(8)) {
            let bytes = SPREAD[usize::from(*byte)];
            match <&mut [u8; 8]>::try_from(&mut *out) {
                Ok(out) => *out = bytes,
                Err(_) => out.copy_from_slice(&bytes[..out.len()]),
            }
        }
    }
}

/// The bits of every byte as bytes.
static SPREAD: [[u8; 8]; 256] = spread();

const fn spread() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = (byte >> bit & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_become_bytes() {
        let mut rng = Seed(3).rng();
        let cell = super::super::cell::Cell(std::array::from_fn(|_| rng.bits()));
        for n in [0, 1, 7, 8, 63, 64, 65, 200, 256] {
            let mut out = vec![9; n];
            expand(&cell, &mut out);
            let expected: Vec<u8> = (0..n).map(|lane| u8::from(cell.get(lane))).collect();
            assert_eq!(out, expected);
        }
    }
}
