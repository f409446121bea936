//! Questions about many states at once: on lanes where there are any, else one by one on the simulator.
//!
//! Both ways give the same answers in the same order. Few states are always asked one by one, since lanes evaluate all
//! gates of a game for 256 states or for one.

use crate::Tools;
use crate::policy::play_by_policy;
use game::{Fault, GameEnds, LaneSet, MoveId, PerceptId, RoleId, Seed, State, StopFlag, one_by_one};

/// From so many states on, lanes are asked.
const WORTH_LANES: usize = 6;

/// What can be done in some states.
#[derive(Default)]
pub(crate) struct Outlooks {
    /// The states in which the game is over.
    pub over: Vec<bool>,
    /// The legal moves of each role, state after state; meaningless where the game is over.
    legal: Vec<Vec<MoveId>>,
    n_roles: usize,
}

impl Outlooks {
    /// The legal moves of all roles in a state.
    pub(crate) fn legal(&self, state: usize) -> &[Vec<MoveId>] {
        &self.legal[state * self.n_roles..(state + 1) * self.n_roles]
    }

    fn reset(&mut self, n: usize, n_roles: usize) {
        self.n_roles = n_roles;
        self.over.clear();
        self.over.resize(n, false);
        self.legal.iter_mut().for_each(Vec::clear);
        if self.legal.len() < n * n_roles {
            self.legal.resize(n * n_roles, Vec::new());
        }
    }
}

/// What follows joint moves.
#[derive(Default)]
pub(crate) struct Steps {
    /// The states that follow.
    pub states: Vec<State>,
    /// What each role perceives, joint move after joint move.
    sees: Vec<Vec<PerceptId>>,
    n_roles: usize,
}

impl Steps {
    /// What a role perceives of a joint move.
    pub(crate) fn sees(&self, step: usize, role: usize) -> &[PerceptId] {
        &self.sees[step * self.n_roles + role]
    }
}

impl Tools {
    /// Whether games are over, and what is legal in them.
    pub(crate) fn look(&mut self, states: &[&State], moves: bool, out: &mut Outlooks) -> Result<(), Fault> {
        let n_roles = self.sim.roles().len();
        out.reset(states.len(), n_roles);
        let lanes = self.batch.as_mut().filter(|_| states.len() >= WORTH_LANES);
        let Some(batch) = lanes else {
            for (at, state) in states.iter().enumerate() {
                out.over[at] = self.sim.terminal(state)?;
                for role in (0..n_roles).filter(|_| moves && !out.over[at]) {
                    self.sim
                        .legal(state, RoleId(role as u16), &mut out.legal[at * n_roles + role])?;
                }
            }
            return Ok(());
        };
        for (number, chunk) in states.chunks(batch.width()).enumerate() {
            let first = number * batch.width();
            batch.load(chunk)?;
            let (over, here) = (batch.eval()?, LaneSet::first(chunk.len()));
            over.and(here).lanes().for_each(|lane| out.over[first + lane] = true);
            for role in (0..n_roles).filter(|_| moves) {
                let legal = &mut out.legal;
                batch.legal(RoleId(role as u16), &mut |mv, lanes| {
                    let lanes = lanes.and(here).lanes();
                    lanes.for_each(|lane| legal[(first + lane) * n_roles + role].push(mv));
                })?;
            }
        }
        Ok(())
    }

    /// The state after a joint move in each of some states; the moves of all roles, joint move after joint move.
    pub(crate) fn successors(&mut self, from: &[&State], joints: &[MoveId], out: &mut Vec<State>) -> Result<(), Fault> {
        out.clear();
        self.make_moves(from, joints, out, None)
    }

    /// The same, with what each role perceives.
    pub(crate) fn steps(&mut self, from: &[&State], joints: &[MoveId], out: &mut Steps) -> Result<(), Fault> {
        out.n_roles = self.sim.roles().len();
        out.states.clear();
        out.sees.iter_mut().for_each(Vec::clear);
        if out.sees.len() < joints.len() {
            out.sees.resize(joints.len(), Vec::new());
        }
        self.make_moves(from, joints, &mut out.states, Some(&mut out.sees))
    }

    fn make_moves(
        &mut self,
        from: &[&State],
        joints: &[MoveId],
        out: &mut Vec<State>,
        mut sees: Option<&mut [Vec<PerceptId>]>,
    ) -> Result<(), Fault> {
        let n_roles = self.sim.roles().len();
        let lanes = self.batch.as_mut().filter(|_| from.len() >= WORTH_LANES);
        let Some(batch) = lanes else {
            for (number, (state, joint)) in from.iter().zip(joints.chunks(n_roles)).enumerate() {
                if let Some(sees) = &mut sees {
                    for role in 0..n_roles {
                        let sees = &mut sees[number * n_roles + role];
                        self.sim.percepts(state, joint, RoleId(role as u16), sees)?;
                    }
                }
                out.push(self.sim.next(state, joint)?);
            }
            return Ok(());
        };
        let width = batch.width();
        let mut moves = Vec::with_capacity(width);
        for (number, (chunk, joints)) in from.chunks(width).zip(joints.chunks(width * n_roles)).enumerate() {
            let here = LaneSet::first(chunk.len());
            batch.load(chunk)?;
            for role in 0..n_roles {
                moves.clear();
                moves.extend(joints.iter().skip(role).step_by(n_roles));
                batch.force(RoleId(role as u16), &moves)?;
            }
            if let Some(sees) = &mut sees {
                for role in 0..n_roles {
                    batch.percepts(RoleId(role as u16), &mut |percept, lanes| {
                        let rows = lanes.and(here).lanes().map(|lane| number * width + lane);
                        rows.for_each(|row| sees[row * n_roles + role].push(percept));
                    })?;
                }
            }
            batch.successors(here, out)?;
        }
        Ok(())
    }

    /// One random game from each of these states, none of which is over.
    pub(crate) fn one_each(
        &mut self,
        roots: &[&State],
        seed: Seed,
        stop: &StopFlag,
        out: &mut GameEnds,
    ) -> Result<(), Fault> {
        let owned = || roots.iter().map(|&root| root.clone()).collect::<Vec<State>>();
        match (&self.others, &mut self.playouts) {
            (Some(others), _) => {
                let (sim, others) = (self.sim.as_mut(), others.as_ref());
                out.take(&play_by_policy(sim, others, self.role, &owned(), 1, seed, stop)?);
            }
            (None, Some(playouts)) => playouts.one_each(roots, seed, stop, out)?,
            (None, None) => out.take(&one_by_one(self.sim.as_mut(), &owned(), 1, seed, stop)?),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::SlowBatch;
    use propnet::{CompileOptions, Compiled, Lanes, Scalar, compile};

    fn tools(game: &Compiled, batch: Option<Box<dyn game::Batch>>) -> Tools {
        Tools {
            sim: Box::new(Scalar::new(game)),
            batch,
            playouts: None,
            others: None,
            role: RoleId(0),
            seed: Seed(1),
        }
    }

    #[test]
    fn lanes_and_simulators_answer_alike() {
        for name in ["connect-four", "kuhn-poker", "phantom-tictactoe"] {
            let rules = gdl::read(&catalogue::rules(name).unwrap(), &gdl::Options::default()).rules;
            let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
            let game = compile(&program, &CompileOptions::default());
            let mut slow = tools(&game, None);
            let mut fast = [
                tools(&game, Some(Box::new(Lanes::new(&game, Seed(1))))),
                tools(&game, Some(Box::new(SlowBatch::new(Box::new(Scalar::new(&game)), 7)))),
            ];
            let mut rng = Seed(2).rng();
            let mut states = vec![game.initial_state(); 300];
            while !states.is_empty() {
                let asked: Vec<&State> = states.iter().collect();
                let (mut expected, mut found) = (Outlooks::default(), Outlooks::default());
                slow.look(&asked, true, &mut expected).unwrap();
                let (mut open, mut joints) = (Vec::new(), Vec::new());
                for (at, &state) in asked.iter().enumerate().filter(|(at, _)| !expected.over[*at]) {
                    open.push(state);
                    joints.extend(expected.legal(at).iter().map(|legal| *rng.pick(legal)));
                }
                let (mut next, mut same) = (Vec::new(), Vec::new());
                slow.successors(&open, &joints, &mut next).unwrap();
                let (mut seen, mut steps) = (Steps::default(), Steps::default());
                slow.steps(&open, &joints, &mut seen).unwrap();
                for tools in &mut fast {
                    tools.look(&asked, true, &mut found).unwrap();
                    assert_eq!(found.over, expected.over);
                    for at in (0..asked.len()).filter(|&at| !expected.over[at]) {
                        assert_eq!(found.legal(at), expected.legal(at), "{name}");
                    }
                    tools.successors(&open, &joints, &mut same).unwrap();
                    assert_eq!(next, same, "{name}");
                    tools.steps(&open, &joints, &mut steps).unwrap();
                    assert_eq!(next, steps.states, "{name}");
                    for (at, role) in (0..open.len()).flat_map(|at| [(at, 0), (at, 1)]) {
                        assert_eq!(steps.sees(at, role), seen.sees(at, role), "{name}");
                    }
                }
                states = next;
            }
        }
    }
}
