//! Many states at a time.
//!
//! Sampling a belief asks the same few questions about thousands of states: which moves are legal, does this joint
//! move show what was seen, what comes after it. A [`Batch`] answers them for a group of lanes at once; [`SlowBatch`]
//! answers them one by one on any simulator, and defines what the fast ones must answer.

use crate::{Fault, Meter, MoveId, PerceptId, RoleId, Simulator, State};

/// A set of lanes of one group, at most 256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSet(pub [u64; 4]);

impl LaneSet {
    /// The first `n` lanes.
    pub fn first(n: usize) -> LaneSet {
        let mut set = LaneSet::default();
        (0..n.min(256)).for_each(|lane| set.insert(lane));
        set
    }

    /// Whether a lane is in the set.
    pub fn get(&self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 == 1
    }

    /// Puts a lane into the set.
    pub fn insert(&mut self, lane: usize) {
        self.0[lane / 64] |= 1 << (lane % 64);
    }

    /// Lanes in both sets.
    pub fn and(self, other: LaneSet) -> LaneSet {
        LaneSet(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// How many lanes are in the set.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    /// The lanes in the set, ascending.
    pub fn lanes(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                let lane = (word != 0).then(|| at * 64 + word.trailing_zeros() as usize);
                word &= word.wrapping_sub(1);
                lane
            })
        })
    }
}

/// Many states at a time. The calls of a round: [`load`](Batch::load), [`eval`](Batch::eval) and
/// [`legal`](Batch::legal); [`force`](Batch::force) a move for every role; [`agree`](Batch::agree) with percepts;
/// [`successors`](Batch::successors) of the lanes that did, or [`commit`](Batch::commit) to go there.
///
/// Ids and states are those of the simulator that belongs to the batch. The contents of lanes beyond those loaded are
/// unspecified.
pub trait Batch: Send {
    /// Lanes in a group: between 1 and 256.
    fn width(&self) -> usize;

    /// Puts the states into the first lanes, no more than [`width`](Batch::width) of them.
    fn load(&mut self, states: &[&State]) -> Result<(), Fault>;

    /// The states of some lanes, in ascending order of lanes. Appends to `out`.
    fn store(&mut self, lanes: LaneSet, out: &mut Vec<State>) -> Result<(), Fault>;

    /// Evaluates the loaded states; returns the lanes whose game is over.
    fn eval(&mut self) -> Result<LaneSet, Fault>;

    /// The legal moves of a role, move by move in canonical order with the lanes where it is legal, as of the last
    /// [`eval`](Batch::eval); moves that are legal nowhere may be left out.
    fn legal(&mut self, role: RoleId, each: &mut dyn FnMut(MoveId, LaneSet)) -> Result<(), Fault>;

    /// Makes one move of a role per lane, for the first lanes. Moves must be legal.
    fn force(&mut self, role: RoleId, moves: &[MoveId]) -> Result<(), Fault>;

    /// Lanes among these in which the role perceives exactly these percepts of the moves made.
    fn agree(&mut self, role: RoleId, percepts: &[PerceptId], lanes: LaneSet) -> Result<LaneSet, Fault>;

    /// What a role perceives of the moves made, percept by percept in canonical order with the lanes where it is
    /// perceived; percepts of no lane may be left out.
    fn percepts(&mut self, role: RoleId, each: &mut dyn FnMut(PerceptId, LaneSet)) -> Result<(), Fault>;

    /// The states that follow in some lanes, ascending; counts them. Appends to `out`.
    fn successors(&mut self, lanes: LaneSet, out: &mut Vec<State>) -> Result<(), Fault>;

    /// Moves some lanes on to the states that follow; counts them.
    fn commit(&mut self, lanes: LaneSet) -> Result<(), Fault>;

    /// Work done so far.
    fn meter(&self) -> &Meter;

    /// A batch of the same game for another thread, with a meter at zero.
    fn fork(&self) -> Box<dyn Batch>;
}

/// A batch over any simulator, one lane after the other. Tests compare the fast ones with it.
pub struct SlowBatch {
    sim: Box<dyn Simulator>,
    width: usize,
    states: Vec<State>,
    joints: Vec<Vec<MoveId>>,
}

impl SlowBatch {
    /// A batch of this many lanes (clamped to 1..=256) on a simulator.
    pub fn new(sim: Box<dyn Simulator>, width: usize) -> SlowBatch {
        SlowBatch {
            sim,
            width: width.clamp(1, 256),
            states: Vec::new(),
            joints: Vec::new(),
        }
    }

    fn next(&mut self, lane: usize) -> Result<State, Fault> {
        let (state, joint) = (self.states.get(lane), self.joints.get(lane));
        let missing = || Fault::Foreign("a lane that holds no state and move");
        let state = state.ok_or_else(missing)?.clone();
        self.sim.next(&state, joint.ok_or_else(missing)?)
    }
}

impl Batch for SlowBatch {
    fn width(&self) -> usize {
        self.width
    }

    fn load(&mut self, states: &[&State]) -> Result<(), Fault> {
        self.states = states.iter().map(|&s| s.clone()).collect();
        self.joints = vec![vec![MoveId(0); self.sim.roles().len()]; states.len()];
        Ok(())
    }

    fn store(&mut self, lanes: LaneSet, out: &mut Vec<State>) -> Result<(), Fault> {
        out.extend(lanes.lanes().filter_map(|lane| self.states.get(lane).cloned()));
        Ok(())
    }

    fn eval(&mut self) -> Result<LaneSet, Fault> {
        let mut over = LaneSet::default();
        for (lane, state) in self.states.iter().enumerate() {
            if self.sim.terminal(state)? {
                over.insert(lane);
            }
        }
        Ok(over)
    }

    fn legal(&mut self, role: RoleId, each: &mut dyn FnMut(MoveId, LaneSet)) -> Result<(), Fault> {
        let mut legal = Vec::new();
        for (lane, state) in self.states.iter().enumerate() {
            self.sim.legal(state, role, &mut legal)?;
            let mut only = LaneSet::default();
            only.insert(lane);
            legal.iter().for_each(|&mv| each(mv, only));
        }
        Ok(())
    }

    fn force(&mut self, role: RoleId, moves: &[MoveId]) -> Result<(), Fault> {
        for (joint, &mv) in self.joints.iter_mut().zip(moves) {
            joint[role.0 as usize] = mv;
        }
        Ok(())
    }

    fn agree(&mut self, role: RoleId, percepts: &[PerceptId], lanes: LaneSet) -> Result<LaneSet, Fault> {
        let mut agree = LaneSet::default();
        let mut seen = Vec::new();
        for lane in lanes.lanes().filter(|&lane| lane < self.states.len()) {
            self.sim
                .percepts(&self.states[lane], &self.joints[lane], role, &mut seen)?;
            if seen.len() == percepts.len() && seen.iter().all(|p| percepts.contains(p)) {
                agree.insert(lane);
            }
        }
        Ok(agree)
    }

    fn percepts(&mut self, role: RoleId, each: &mut dyn FnMut(PerceptId, LaneSet)) -> Result<(), Fault> {
        let mut seen = Vec::new();
        for (lane, (state, joint)) in self.states.iter().zip(&self.joints).enumerate() {
            self.sim.percepts(state, joint, role, &mut seen)?;
            let mut only = LaneSet::default();
            only.insert(lane);
            seen.iter().for_each(|&percept| each(percept, only));
        }
        Ok(())
    }

    fn successors(&mut self, lanes: LaneSet, out: &mut Vec<State>) -> Result<(), Fault> {
        for lane in lanes.lanes() {
            out.push(self.next(lane)?);
        }
        Ok(())
    }

    fn commit(&mut self, lanes: LaneSet) -> Result<(), Fault> {
        for lane in lanes.lanes() {
            self.states[lane] = self.next(lane)?;
        }
        Ok(())
    }

    fn meter(&self) -> &Meter {
        self.sim.meter()
    }

    fn fork(&self) -> Box<dyn Batch> {
        Box::new(SlowBatch::new(self.sim.fork(), self.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_sets() {
        let set = LaneSet::first(67);
        assert_eq!(set.count(), 67);
        assert!(set.get(66) && !set.get(67));
        assert_eq!(set.lanes().collect::<Vec<_>>(), (0..67).collect::<Vec<_>>());
        let mut odd = LaneSet::default();
        [1, 63, 64, 255].into_iter().for_each(|lane| odd.insert(lane));
        assert_eq!(odd.and(set).lanes().collect::<Vec<_>>(), [1, 63, 64]);
    }
}
