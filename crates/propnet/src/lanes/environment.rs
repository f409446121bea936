//! 256 games whose moves come from outside, for learners.
//!
//! A step takes one action per player and lane: the number of a move of the role, or [`FORCED`] where the role has only
//! one. Nature's moves are drawn. A game that is over starts again within the step. What a step leaves behind is read
//! as rows of cells, one row per move or percept and one bit per lane; [`bytes`] turns rows into arrays.

use super::Lanes;
use super::bytes::{self, MOST_ROWS, PLANES};
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
    n: usize,
    used: Mask,
    /// Rounds that the games have lasted, bit by bit: plane k has bit k of every lane.
    ages: Vec<Mask>,
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
            n: n.min(LANES),
            used: Mask::first(n),
            ages: Vec::new(),
            terminated: Mask::ZERO,
            truncated: Mask::ZERO,
            decides: vec![Mask::ZERO; game.roles().len()],
        };
        environment.evaluate();
        environment
    }

    /// Puts every lane back into the initial state. Moves and percepts of the last step are forgotten.
    pub fn reset(&mut self, seed: Seed) {
        *self = Environment::new(&self.lanes.game.clone(), self.n, seed);
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
        let actions = &actions[..actions.len().min(LANES)];
        let forced = match n <= MOST_ROWS {
            true => rows_by_planes(actions, made),
            false => rows_one_by_one(actions, made),
        };
        let forced = forced.and_then(|forced| {
            let illegal = made
                .iter()
                .zip(legal)
                .fold(forced & self.decides[at], |illegal, (&made, &legal)| {
                    illegal | (made & !legal)
                });
            illegal.is_empty().then_some(forced)
        });
        let Some(forced) = forced else {
            let decides = self.decides[at];
            let wrong = |&(lane, &action): &(usize, &i32)| match usize::try_from(action) {
                Ok(mv) => !legal.get(mv).is_some_and(|cell| cell.get(lane)),
                Err(_) => action != FORCED || decides.get(lane),
            };
            let (lane, &action) = actions
                .iter()
                .enumerate()
                .find(wrong)
                .expect("some action is not legal");
            return Err(IllegalAction { lane, action });
        };
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
        let rows = self.made(role);
        if rows.len() <= MOST_ROWS {
            bytes::numbers(&bytes::encode(rows), rows.len(), out);
            return;
        }
        for (action, cell) in rows.iter().enumerate() {
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

    /// Counts a round in every lane that is not over; returns the lanes that have had the last one.
    fn grow_older(&mut self, max_rounds: u32) -> Mask {
        self.forget_ages(self.terminated);
        let mut carry = self.used & !self.terminated;
        for plane in &mut self.ages {
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
        if !carry.is_empty() {
            self.ages.push(carry);
        }
        if self.ages.len() < (u32::BITS - max_rounds.leading_zeros()) as usize {
            return Mask::ZERO;
        }
        // Lanes whose highest bits, as far as they were looked at, equal those of the limit, and lanes beyond it.
        let (mut equal, mut beyond) = (self.used, Mask::ZERO);
        for (bit, &plane) in self.ages.iter().enumerate().rev() {
            match max_rounds.checked_shr(bit as u32).unwrap_or(0) & 1 {
                0 => {
                    beyond |= equal & plane;
                    equal &= !plane;
                }
                _ => equal &= plane,
            }
        }
        (beyond | equal) & !self.terminated
    }

    fn forget_ages(&mut self, lanes: Mask) {
        self.ages.iter_mut().for_each(|plane| *plane &= !lanes);
    }

    fn restart(&mut self, lanes: Mask) {
        if lanes.is_empty() {
            return;
        }
        self.forget_ages(lanes);
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
}

/// Puts every lane into the row of its action; returns the lanes whose action is [`FORCED`], or nothing if some action
/// is no row.
fn rows_by_planes(actions: &[i32], rows: &mut [Mask]) -> Option<Mask> {
    let mut numbers = [0; LANES];
    let mut wrong = false;
    for (number, &action) in numbers.iter_mut().zip(actions) {
        // The byte of `FORCED` is 255; all others are below 128.
        *number = action as u8;
        wrong |= action as u32 >= rows.len() as u32 && action != FORCED;
    }
    if wrong {
        return None;
    }
    let planes = bytes::planes(&numbers, rows.len());
    let forced = planes[PLANES];
    bytes::decode(&planes, Mask::first(actions.len()) & !forced, rows);
    Some(forced)
}

/// The same, for any number of rows.
fn rows_one_by_one(actions: &[i32], rows: &mut [Mask]) -> Option<Mask> {
    rows.fill(Mask::ZERO);
    let mut forced = Mask::ZERO;
    for (lane, &action) in actions.iter().enumerate() {
        match rows.get_mut(action as usize) {
            Some(row) => row.set(lane, true),
            None if action == FORCED => forced.set(lane, true),
            None => return None,
        }
    }
    Some(forced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_same_both_ways() {
        let mut rng = Seed(8).rng();
        for (n_rows, n_actions) in [(1, 256), (2, 200), (10, 256), (100, 3), (MOST_ROWS, 256)] {
            for kind in 0..4 {
                let action = |_| match rng.below(20) {
                    0 if kind > 0 => FORCED,
                    1 if kind == 2 => n_rows as i32,
                    1 if kind == 3 => i32::MIN + 255,
                    _ => rng.below(n_rows) as i32,
                };
                let actions: Vec<i32> = (0..n_actions).map(action).collect();
                let (mut fast, mut slow) = (vec![Mask::ONE; n_rows], vec![Mask::ONE; n_rows]);
                let (a, b) = (
                    rows_by_planes(&actions, &mut fast),
                    rows_one_by_one(&actions, &mut slow),
                );
                assert_eq!(a, b);
                if a.is_some() {
                    assert_eq!(fast, slow);
                }
            }
        }
    }
}
