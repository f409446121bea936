//! One random game from each of many states: what tree searches ask for at their leaves.
//!
//! [`playouts`](super::playouts) is made for many games from each root: lanes start again until the games that were
//! asked for have begun. Here every lane plays one game. States are written in blocks, the frame is kept between calls,
//! and where goals are expensive they are computed once, when all games are over.

use super::batch::write_states;
use super::cell::{LANES, Mask};
use super::new_frame;
use super::playouts::{Mode, PlayoutCode, PlayoutOptions, goals_that_count};
use super::rng::LaneRng;
use super::segments::Ended;
use crate::{Compiled, jit};
use game::limits::PLAYOUT_ROUNDS;
use game::{Fault, GameEnds, Seed, State, StopFlag};

/// Lanes that play one game each.
pub(super) struct LeafLanes {
    game: Compiled,
    frame: Vec<Mask>,
    code: PlayoutCode,
    /// Cell, role and points of every goal that counts.
    goals: Vec<(usize, usize, u64)>,
    /// For each of these goals, the lanes whose game ended with it.
    reached: Vec<Mask>,
    n_random: usize,
}

impl LeafLanes {
    pub(super) fn new(game: &Compiled) -> LeafLanes {
        let code = PlayoutCode::new(game, &PlayoutOptions::default(), Ended::ToRoot, &StopFlag::default());
        let code = code.expect("nobody else has the flag");
        let mut frame = new_frame(game);
        let mut cells = code.step.n_cells().max(frame.len());
        if let Some((points, _)) = &code.finish {
            cells = cells.max(points.n_cells());
        }
        frame.resize(cells, Mask::ZERO);
        LeafLanes {
            game: game.clone(),
            frame,
            code,
            goals: goals_that_count(game),
            reached: Vec::new(),
            n_random: game.plan().random_bits().into_iter().sum(),
        }
    }

    /// Plays a game from each root, 256 at a time. Returns the number of states visited.
    pub(super) fn play(
        &mut self,
        roots: &[&State],
        seed: Seed,
        stop: &StopFlag,
        out: &mut GameEnds,
    ) -> Result<u64, Fault> {
        let (n_words, n_roles) = (self.game.n_fluents().div_ceil(64), self.game.roles().len());
        if roots.iter().any(|root| root.0.len() != n_words) {
            return Err(Fault::Foreign("a state"));
        }
        out.reset(roots.len(), n_roles);
        let mut visited = 0;
        for (number, chunk) in roots.chunks(LANES).enumerate() {
            if stop.is_raised() {
                break;
            }
            let first = number * LANES;
            let ended = &mut out.ended[first..first + chunk.len()];
            let points = &mut out.points[first * n_roles..(first + chunk.len()) * n_roles];
            let mut group = Group {
                lanes: self,
                rng: LaneRng::new(seed.nth(number as u64)),
                stop,
                active: Mask::first(chunk.len()),
                finished: Mask::ZERO,
                ended,
                points,
                n_roles,
                visited: 0,
            };
            group.load(chunk);
            jit::wide(
                #[inline(always)]
                || group.run(),
            );
            visited += group.visited;
        }
        Ok(visited)
    }
}

/// At most 256 games in progress.
struct Group<'a> {
    lanes: &'a mut LeafLanes,
    rng: LaneRng,
    stop: &'a StopFlag,
    /// Lanes whose game goes on.
    active: Mask,
    /// Lanes whose game ended.
    finished: Mask,
    ended: &'a mut [bool],
    points: &'a mut [u8],
    n_roles: usize,
    visited: u64,
}

impl Group<'_> {
    fn load(&mut self, roots: &[&State]) {
        let (layout, n_fluents) = (self.lanes.game.layout(), self.lanes.game.n_fluents());
        // A step begins with the roots where games have ended, or with the states as they are where ended games freeze.
        let start = match self.lanes.code.mode {
            Mode::Fused => layout.root,
            Mode::Deferred { .. } => layout.state,
        } as usize;
        let ended = layout.ended as usize;
        write_states(roots, &mut self.lanes.frame[start..start + n_fluents]);
        self.lanes.frame[ended] = Mask::ONE;
        self.lanes.reached.clear();
        self.lanes.reached.resize(self.lanes.goals.len(), Mask::ZERO);
    }

    #[inline(always)]
    fn run(&mut self) {
        let layout = self.lanes.game.layout();
        let (random, n_random) = (layout.random as usize, self.lanes.n_random);
        let (ended_cell, stuck_cell) = (layout.ended as usize, layout.stuck as usize);
        let fused = self.lanes.code.mode == Mode::Fused;
        // Lanes that froze, and those of them that were stuck.
        let (mut waiting, mut idle) = (Mask::ZERO, Mask::ZERO);
        // Nothing in a game's rules makes it end.
        for _ in 0..PLAYOUT_ROUNDS {
            self.rng.fill(&mut self.lanes.frame[random..random + n_random]);
            self.lanes.code.step.run(&mut self.lanes.frame);
            let ended = self.lanes.frame[ended_cell] & self.active;
            let stuck = self.lanes.frame[stuck_cell] & ended;
            self.visited += u64::from(self.active.count()) - u64::from(if fused { stuck } else { ended }.count());
            self.active &= !ended;
            if fused {
                self.account(ended, stuck);
            } else {
                waiting |= ended;
                idle |= stuck;
            }
            if self.active.is_empty() || self.stop.is_raised() {
                break;
            }
        }
        if let Some((points, _)) = &self.lanes.code.finish {
            points.run(&mut self.lanes.frame);
            self.account(waiting, idle);
        }
        if !self.active.is_empty() && !self.stop.is_raised() {
            self.finished |= self.active;
        }
        self.report();
    }

    /// Notes which goals ended games have reached; lanes are told apart once, at the end.
    #[inline(always)]
    fn account(&mut self, ended: Mask, stuck: Mask) {
        if ended.is_empty() {
            return;
        }
        let LeafLanes {
            goals, reached, frame, ..
        } = &mut *self.lanes;
        let earned = ended & !stuck;
        for (reached, &(cell, ..)) in reached.iter_mut().zip(&*goals) {
            *reached |= frame[cell] & earned;
        }
        self.finished |= ended;
    }

    /// Says for each lane whether its game ended, and with which points.
    #[inline(always)]
    fn report(&mut self) {
        for (reached, &(_, role, points)) in self.lanes.reached.iter().zip(&self.lanes.goals) {
            let lanes = reached.lanes();
            lanes.for_each(|lane| self.points[lane * self.n_roles + role] = points as u8);
        }
        for (lane, ended) in self.ended.iter_mut().enumerate() {
            *ended = self.finished.get(lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scalar, compile, playouts};
    use game::{RoleId, Simulator};

    fn compiled(name: &str) -> Compiled {
        let rules = gdl::read(&catalogue::rules(name).unwrap(), &gdl::Options::default()).rules;
        let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
        compile(&program, &Default::default())
    }

    /// States of random games that are not over, with a forced end one round later in some of them.
    fn open_states(game: &Compiled, n: usize) -> Vec<State> {
        let (mut sim, mut rng, mut states) = (Scalar::new(game), Seed(3).rng(), Vec::new());
        while states.len() < n {
            let mut state = sim.initial().unwrap();
            while !sim.terminal(&state).unwrap() {
                states.push(state.clone());
                let mut joint = Vec::new();
                for role in 0..game.roles().len() as u16 {
                    let mut legal = Vec::new();
                    sim.legal(&state, RoleId(role), &mut legal).unwrap();
                    joint.push(*rng.pick(&legal));
                }
                state = sim.next(&state, &joint).unwrap();
            }
        }
        states.truncate(n);
        states
    }

    /// Single games have the same means as many games from each root.
    #[test]
    fn games_are_as_random_as_playouts() {
        for name in ["tictactoe", "connect-four", "kuhn-poker"] {
            let game = compiled(name);
            let states = open_states(&game, 40);
            let many = playouts(
                &game,
                &states,
                4_000,
                Seed(1),
                &PlayoutOptions::default(),
                &StopFlag::default(),
            );
            let mut lanes = LeafLanes::new(&game);
            let roots: Vec<&State> = (0..4_000).flat_map(|_| &states).collect();
            let mut ends = GameEnds::default();
            lanes.play(&roots, Seed(2), &StopFlag::default(), &mut ends).unwrap();
            assert!(ends.ended.iter().all(|&ended| ended));
            for (number, total) in many.roots.iter().enumerate() {
                for (role, &points) in total.points.iter().enumerate() {
                    let games = (0..4_000).map(|n| n * states.len() + number);
                    let sum: u64 = games.map(|game| u64::from(ends.of(game).unwrap()[role])).sum();
                    let difference = (sum as f64 - points as f64).abs() / 4_000.0;
                    assert!(difference < 5.0, "{name}, state {number}: {difference}");
                }
            }
        }
    }

    #[test]
    fn a_raised_flag_leaves_games_unfinished() {
        let game = compiled("connect-four");
        let stop = StopFlag::default();
        stop.raise();
        let state = game.initial_state();
        let mut ends = GameEnds::default();
        let mut lanes = LeafLanes::new(&game);
        lanes.play(&[&state; 300], Seed(2), &stop, &mut ends).unwrap();
        assert!(ends.ended.len() == 300 && ends.ended.iter().all(|&ended| !ended));
        assert_eq!(ends.of(7), None);
    }
}
