//! The lanes as a simulator of one state at a time.
//!
//! Slow: an evaluation of all gates answers for one lane of 256. This simulator exists so that the answers of the lanes
//! can be printed and compared with every other simulator, line by line.

use super::Lanes;
use super::cell::{LANES, Mask};
use crate::{Compiled, Scalar};
use game::{Fault, Goal, Meter, MoveId, PerceptId, RoleId, Seed, Simulator, State};
use std::collections::BTreeMap;

/// One lane among 256, the others in the same state.
pub struct OneLane {
    game: Compiled,
    lanes: Lanes,
    /// Source of names.
    names: Scalar,
    /// The lane that is read. It changes with every step, so that all lanes are tried.
    lane: usize,
}

impl OneLane {
    /// A simulator in the initial state.
    pub fn new(game: &Compiled) -> OneLane {
        OneLane {
            game: game.clone(),
            lanes: Lanes::new(game, Seed(0)),
            names: Scalar::new(game),
            lane: 0,
        }
    }

    fn enter(&mut self, state: &State) {
        self.lanes.broadcast(state);
        self.lanes.eval();
    }

    fn make(&mut self, state: &State, joint: &[MoveId]) {
        self.enter(state);
        for (role, &mv) in joint.iter().enumerate() {
            self.lanes.force(RoleId(role as u16), mv, Mask::ONE);
        }
    }
}

impl Simulator for OneLane {
    fn roles(&self) -> &[String] {
        self.game.roles()
    }

    fn initial(&mut self) -> Result<State, Fault> {
        Ok(self.game.initial_state())
    }

    fn terminal(&mut self, state: &State) -> Result<bool, Fault> {
        self.enter(state);
        Ok(self.lanes.terminal().get(self.lane))
    }

    fn legal(&mut self, state: &State, role: RoleId, out: &mut Vec<MoveId>) -> Result<(), Fault> {
        self.enter(state);
        let moves = (0..self.game.n_moves(role) as u32).map(MoveId);
        out.clear();
        out.extend(moves.filter(|&mv| self.lanes.legal(role, mv).get(self.lane)));
        Ok(())
    }

    fn next(&mut self, state: &State, joint: &[MoveId]) -> Result<State, Fault> {
        self.make(state, joint);
        self.lanes.next(Mask::first(1));
        self.lanes.commit(Mask::ONE);
        self.lane = (self.lane + 1) % LANES;
        Ok(self.lanes.store(self.lane))
    }

    fn percepts(
        &mut self,
        state: &State,
        joint: &[MoveId],
        role: RoleId,
        out: &mut Vec<PerceptId>,
    ) -> Result<(), Fault> {
        self.make(state, joint);
        *out = self.lanes.percepts(role, self.lane);
        Ok(())
    }

    fn goal(&mut self, state: &State, role: RoleId) -> Result<Goal, Fault> {
        self.enter(state);
        self.lanes.eval_goals();
        Ok(self.lanes.goal(role, self.lane))
    }

    fn fluents(&self, state: &State) -> Vec<String> {
        self.names.fluents(state)
    }

    fn fluent_names(&self) -> Option<&[String]> {
        self.names.fluent_names()
    }

    fn marginals(&self, states: &[(State, f64)]) -> BTreeMap<String, f64> {
        self.names.marginals(states)
    }

    fn state_of(&mut self, fluents: &[String]) -> Option<State> {
        self.names.state_of(fluents)
    }

    fn move_text(&self, role: RoleId, mv: MoveId) -> &str {
        self.names.move_text(role, mv)
    }

    fn find_move(&mut self, role: RoleId, text: &str) -> Option<MoveId> {
        self.names.find_move(role, text)
    }

    fn percept_text(&self, role: RoleId, percept: PerceptId) -> &str {
        self.names.percept_text(role, percept)
    }

    fn find_percept(&mut self, role: RoleId, text: &str) -> Option<PerceptId> {
        self.names.find_percept(role, text)
    }

    fn meter(&self) -> &Meter {
        self.lanes.meter()
    }

    fn fork(&self) -> Box<dyn Simulator> {
        Box::new(OneLane::new(&self.game))
    }
}
