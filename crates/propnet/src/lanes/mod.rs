//! The lanes simulator: 256 games side by side, one bit of every signal per game.
//!
//! One evaluation of the gates advances all lanes. [`Lanes`] offers the single operations that sampling needs;
//! [`playouts`](crate::playouts) runs whole random games in one loop.

mod batch;
pub mod bytes;
pub mod cell;
pub mod choice;
pub mod code;
pub mod environment;
pub mod interp;
pub mod layout;
mod leaves;
pub mod one;
pub mod plan;
pub mod playouts;
pub mod rng;
pub mod rollouts;
pub mod segments;

use crate::Compiled;
use cell::{LANES, Mask};
use code::Runnable;
use game::{Goal, Meter, MoveId, PerceptId, RoleId, Seed, State};
use layout::RANDOM_BITS;
use rng::LaneRng;
use rustc_hash::FxHashMap;
use segments::Segment;
use std::sync::Arc;

/// A group of 256 games, each in its own state.
///
/// A round consists of [`eval`](Lanes::eval), a move per role ([`force`](Lanes::force) or [`sample`](Lanes::sample)),
/// [`next`](Lanes::next), optionally [`agree`](Lanes::agree), and [`commit`](Lanes::commit) for the lanes that should
/// move on.
pub struct Lanes {
    game: Compiled,
    frame: Vec<Mask>,
    codes: FxHashMap<Segment, Arc<Runnable>>,
    rng: LaneRng,
    meter: Meter,
    /// Roles whose percepts belong to the present moves.
    seen: Vec<bool>,
}

impl Lanes {
    /// All lanes in the initial state.
    pub fn new(game: &Compiled, seed: Seed) -> Lanes {
        let mut lanes = Lanes {
            frame: new_frame(game),
            codes: FxHashMap::default(),
            rng: LaneRng::new(seed),
            meter: Meter::default(),
            seen: vec![false; game.roles().len()],
            game: game.clone(),
        };
        let initial = game.initial_state();
        lanes.broadcast(&initial);
        lanes
    }

    /// Puts every lane into a state.
    pub fn broadcast(&mut self, state: &State) {
        let start = self.game.layout().state as usize;
        for f in 0..self.game.n_fluents() {
            self.frame[start + f] = if bit(state, f) { Mask::ONE } else { Mask::ZERO };
        }
    }

    /// Puts one lane into a state.
    pub fn load(&mut self, lane: usize, state: &State) {
        let start = self.game.layout().state as usize;
        for f in 0..self.game.n_fluents() {
            self.frame[start + f].set(lane, bit(state, f));
        }
    }

    /// The cells of the present states, one for each fluent.
    fn state_cells(&mut self) -> &mut [Mask] {
        let start = self.game.layout().state as usize;
        let n_fluents = self.game.n_fluents();
        &mut self.frame[start..start + n_fluents]
    }

    /// The state of one lane.
    pub fn store(&self, lane: usize) -> State {
        let start = self.game.layout().state as usize;
        read_state(&self.frame[start..start + self.game.n_fluents()], lane)
    }

    /// Computes legal moves and the end of games; returns the lanes whose game is over.
    pub fn eval(&mut self) -> Mask {
        self.run(Segment::Eval);
        self.terminal()
    }

    /// Lanes whose game is over, as of the last [`eval`](Lanes::eval).
    pub fn terminal(&self) -> Mask {
        self.frame[self.game.layout().terminal as usize]
    }

    /// Lanes that are not over although some role has no legal move, as of the last [`eval`](Lanes::eval).
    pub fn stuck(&self) -> Mask {
        self.frame[self.game.layout().stuck as usize]
    }

    /// Lanes in which a move is legal, as of the last [`eval`](Lanes::eval).
    pub fn legal(&self, role: RoleId, mv: MoveId) -> Mask {
        self.frame[(self.game.layout().legal[role.0 as usize] + mv.0) as usize]
    }

    /// Makes a role's move in some lanes; returns those of them in which the move is legal.
    pub fn force(&mut self, role: RoleId, mv: MoveId, lanes: Mask) -> Mask {
        let start = self.game.layout().does[role.0 as usize] as usize;
        let n = self.game.n_moves(role);
        for cell in &mut self.frame[start..start + n] {
            *cell &= !lanes;
        }
        self.frame[start + mv.0 as usize] |= lanes;
        self.seen.fill(false);
        self.legal(role, mv) & lanes
    }

    /// Makes a uniformly random legal move of a role in some lanes.
    pub fn sample(&mut self, role: RoleId, lanes: Mask) {
        let layout = self.game.layout();
        let (mask, start) = (
            layout.mask as usize,
            (layout.random + u32::from(role.0) * RANDOM_BITS) as usize,
        );
        self.frame[mask] = lanes;
        self.rng.fill(&mut self.frame[start..start + RANDOM_BITS as usize]);
        self.run(Segment::Sample(role.0));
        self.seen.fill(false);
    }

    /// The move a role makes in a lane, if one was made.
    pub fn made(&self, role: RoleId, lane: usize) -> Option<MoveId> {
        let start = self.game.layout().does[role.0 as usize] as usize;
        let row = &self.frame[start..start + self.game.n_moves(role)];
        row.iter().position(|cell| cell.get(lane)).map(|m| MoveId(m as u32))
    }

    /// Computes the successor of every lane without moving there; counts the states of these lanes.
    pub fn next(&mut self, lanes: Mask) {
        self.run(Segment::Next);
        self.meter.states += u64::from(lanes.count());
    }

    /// Lanes in which the role perceives exactly these percepts of the moves made.
    pub fn agree(&mut self, role: RoleId, percepts: &[PerceptId]) -> Mask {
        self.see(role);
        let start = self.game.layout().sees[role.0 as usize] as usize;
        let n = self.game.n_percepts(role);
        let mut agree = Mask::ONE;
        for at in 0..n {
            let cell = self.frame[start + at];
            agree &= if percepts.contains(&PerceptId(at as u32)) {
                cell
            } else {
                !cell
            };
        }
        // A percept of another game is seen in no lane.
        if percepts.iter().any(|p| p.0 as usize >= n) {
            Mask::ZERO
        } else {
            agree
        }
    }

    /// What a role perceives in a lane of the moves made.
    pub fn percepts(&mut self, role: RoleId, lane: usize) -> Vec<PerceptId> {
        self.see(role);
        let start = self.game.layout().sees[role.0 as usize] as usize;
        let row = &self.frame[start..start + self.game.n_percepts(role)];
        let seen = row.iter().enumerate().filter(|(_, cell)| cell.get(lane));
        seen.map(|(at, _)| PerceptId(at as u32)).collect()
    }

    fn see(&mut self, role: RoleId) {
        if !std::mem::replace(&mut self.seen[role.0 as usize], true) {
            self.run(Segment::Sees(role.0));
        }
    }

    /// Moves some lanes on to the successors that [`next`](Lanes::next) found; the others stay.
    pub fn commit(&mut self, lanes: Mask) {
        let layout = self.game.layout();
        let (state, next) = (layout.state as usize, layout.next as usize);
        for f in 0..self.game.n_fluents() {
            let new = self.frame[next + f];
            let cell = &mut self.frame[state + f];
            *cell = (new & lanes) | (*cell & !lanes);
        }
        self.seen.fill(false);
    }

    /// Copies the states of the lanes to keep over the other lanes, round-robin; returns the source of every lane.
    pub fn compact(&mut self, keep: Mask) -> Vec<usize> {
        let survivors: Vec<usize> = keep.lanes().collect();
        let mut from: Vec<usize> = (0..LANES).collect();
        if survivors.is_empty() {
            return from;
        }
        let dead: Vec<usize> = (!keep).lanes().collect();
        for (at, &lane) in dead.iter().enumerate() {
            from[lane] = survivors[at % survivors.len()];
        }
        let start = self.game.layout().state as usize;
        for cell in &mut self.frame[start..start + self.game.n_fluents()] {
            let old = *cell;
            let constant = (old & keep).is_empty() || (!old & keep).is_empty();
            if constant {
                *cell = if (old & keep).is_empty() { Mask::ZERO } else { Mask::ONE };
            } else {
                dead.iter().for_each(|&lane| cell.set(lane, old.get(from[lane])));
            }
        }
        self.seen.fill(false);
        from
    }

    /// Computes the goals of every lane's state.
    pub fn eval_goals(&mut self) {
        self.run(Segment::Goals);
    }

    /// The payoff of a role in a lane, as of the last [`eval_goals`](Lanes::eval_goals).
    pub fn goal(&self, role: RoleId, lane: usize) -> Goal {
        let start = self.game.layout().goals[role.0 as usize] as usize;
        let values = self.game.goal_values(role);
        let mut goal = Goal::None;
        for (at, value) in values.enumerate() {
            if self.frame[start + at].get(lane) {
                goal = match goal {
                    Goal::None => Goal::Value(value),
                    _ => Goal::Many(value),
                };
            }
        }
        goal
    }

    /// Work done so far.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    fn run(&mut self, segment: Segment) {
        let code = match self.codes.get(&segment) {
            Some(code) => code,
            None => {
                let code = self.game.code(segment);
                if self.frame.len() < code.n_cells() {
                    self.frame.resize(code.n_cells(), Mask::ZERO);
                }
                self.codes.entry(segment).or_insert(code)
            }
        };
        code.run(&mut self.frame);
    }
}

/// A frame with its constants in place.
pub(crate) fn new_frame(game: &Compiled) -> Vec<Mask> {
    let mut frame = vec![Mask::ZERO; game.layout().len as usize];
    frame[layout::ONE as usize] = Mask::ONE;
    frame
}

/// Whether a fluent holds in a state.
pub(crate) fn bit(state: &State, f: usize) -> bool {
    state.0[f / 64] >> (f % 64) & 1 == 1
}

fn read_state(cells: &[Mask], lane: usize) -> State {
    let mut state = State(smallvec::smallvec![0; cells.len().div_ceil(64)]);
    for (f, cell) in cells.iter().enumerate() {
        state.0[f / 64] |= u64::from(cell.get(lane)) << (f % 64);
    }
    state
}
