//! Many games of one kind at once, played from outside: for learners.
//!
//! Arrays are written feature by feature: a row holds one bit of all games, so that games are contiguous in memory.

use crate::{Error, Game};
use game::{Fault, MoveId, PerceptId, RoleId, Seed};
use propnet::lanes::environment::{Environment, FORCED, expand};
use propnet::{LANES, Mask};
use std::collections::BTreeSet;

/// Options of [`Game::environments`].
#[derive(Clone, Debug)]
pub struct EnvironmentOptions {
    /// Number of games.
    pub games: usize,
    /// Seed of nature's moves.
    pub seed: u64,
    /// Rounds after which a game is cut short.
    pub max_rounds: u32,
}

impl Default for EnvironmentOptions {
    fn default() -> Self {
        EnvironmentOptions {
            games: 1,
            seed: 0,
            max_rounds: game::limits::MATCH_ROUNDS as u32,
        }
    }
}

/// Largest number of games in [`Environments`].
pub const MOST_ENVIRONMENTS: usize = 1 << 20;

/// An action that a game does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongAction {
    /// The game, counted from 0.
    pub game: usize,
    /// The seat, counted from 0.
    pub seat: usize,
    /// The action.
    pub action: i32,
}

/// Games that run side by side and start again when they are over.
///
/// Seats are the roles except nature, in the order of the rules. Actions are the moves of all seats, sorted by their
/// text: the same move has the same number in every seat.
pub struct Environments {
    groups: Vec<Environment>,
    seats: Vec<EnvironmentSeat>,
    actions: Vec<String>,
    n: usize,
    max_rounds: u32,
}

/// The role of a seat, and its moves among the actions.
struct EnvironmentSeat {
    role: RoleId,
    /// The action of each move of the role.
    action: Vec<usize>,
    /// The move of each action; [`NO_MOVE`] if it is another role's. Empty if moves and actions are the same.
    mv: Vec<i32>,
    /// Texts of the role's percepts.
    percepts: Vec<String>,
}

/// Stands for an action that is no move of the role. No move has this number.
const NO_MOVE: i32 = i32::MIN;

impl Game {
    /// Games that run side by side.
    ///
    /// # Errors
    /// If the game is not compiled, if there are no games or too many of them, or if the first state has no moves.
    pub fn environments(&self, options: &EnvironmentOptions) -> Result<Environments, Error> {
        let compiled = self.engine().compiled().ok_or_else(|| Error::NotCompiled {
            why: self.engine().why.clone(),
        })?;
        within("games", options.games, MOST_ENVIRONMENTS)?;
        within("max_rounds", options.max_rounds as usize, u32::MAX as usize)?;
        let roles = self.seating().played().iter().map(|&at| RoleId(at as u16));
        let roles: Vec<RoleId> = roles.collect();
        let sim = self.simulator();
        let moves_of = |role: RoleId| {
            let ids = (0..compiled.n_moves(role) as u32).map(MoveId);
            ids.map(|mv| sim.move_text(role, mv).to_owned()).collect::<Vec<_>>()
        };
        let percepts_of = |role: RoleId| {
            let ids = (0..compiled.n_percepts(role) as u32).map(PerceptId);
            ids.map(|percept| sim.percept_text(role, percept).to_owned()).collect()
        };
        let actions: BTreeSet<String> = roles.iter().flat_map(|&role| moves_of(role)).collect();
        let actions: Vec<String> = actions.into_iter().collect();
        let seat = |&role: &RoleId| EnvironmentSeat::new(role, &moves_of(role), &actions, percepts_of(role));
        let mut made = Environments {
            groups: Vec::new(),
            seats: roles.iter().map(seat).collect(),
            actions,
            n: options.games,
            max_rounds: options.max_rounds,
        };
        for (group, start) in (0..options.games).step_by(LANES).enumerate() {
            let lanes = (options.games - start).min(LANES);
            let environment = Environment::new(compiled, lanes, group_seed(options.seed, group));
            if environment.unplayable() {
                return Err(Error::Fault(Fault::NoMove {
                    role: None,
                    round: Some(1),
                }));
            }
            made.groups.push(environment);
        }
        Ok(made)
    }
}

fn within(option: &'static str, value: usize, most: usize) -> Result<(), Error> {
    match (1..=most).contains(&value) {
        true => Ok(()),
        false => Err(Error::Option {
            option,
            must: format!("a number in 1..{most}"),
        }),
    }
}

fn group_seed(seed: u64, group: usize) -> Seed {
    Seed(seed).child("environment").nth(group as u64)
}

impl EnvironmentSeat {
    fn new(role: RoleId, moves: &[String], actions: &[String], percepts: Vec<String>) -> EnvironmentSeat {
        let place = |text: &String| actions.binary_search(text).expect("every move is an action");
        let action: Vec<usize> = moves.iter().map(place).collect();
        let mut mv = Vec::new();
        if !action.iter().copied().eq(0..actions.len()) {
            mv = vec![NO_MOVE; actions.len()];
            action
                .iter()
                .enumerate()
                .for_each(|(at, &action)| mv[action] = at as i32);
        }
        EnvironmentSeat {
            role,
            action,
            mv,
            percepts,
        }
    }

    /// The moves of actions; what is no action stays as it is, and so illegal.
    fn moves<'a>(&self, actions: &'a [i32], moves: &'a mut [i32; LANES]) -> &'a [i32] {
        if self.mv.is_empty() {
            return actions;
        }
        for (mv, &action) in moves.iter_mut().zip(actions) {
            let known = usize::try_from(action).ok().and_then(|at| self.mv.get(at));
            *mv = match known {
                Some(&known) => known,
                None if action == FORCED => FORCED,
                None => NO_MOVE,
            };
        }
        &moves[..actions.len()]
    }
}

impl Environments {
    /// Number of games.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no games; never the case.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The roles that are played, in seat order.
    pub fn seats(&self) -> Vec<RoleId> {
        self.seats.iter().map(|seat| seat.role).collect()
    }

    /// The texts of all actions.
    pub fn actions(&self) -> &[String] {
        &self.actions
    }

    /// The texts of a seat's percepts.
    pub fn percepts(&self, seat: usize) -> &[String] {
        &self.seats[seat].percepts
    }

    /// Number of fluents: the rows of the state.
    pub fn n_fluents(&self) -> usize {
        self.groups[0].state().len()
    }

    /// All games back to the start.
    pub fn reset(&mut self, seed: u64) {
        for (group, environment) in self.groups.iter_mut().enumerate() {
            environment.reset(group_seed(seed, group));
        }
    }

    /// Makes a move in every game: `actions` has a row per seat with one action per game, -1 where a seat has only one
    /// legal move. Nothing happens in any game if one action is wrong.
    ///
    /// # Errors
    /// With the first action that is not legal.
    ///
    /// # Panics
    /// If there are more or fewer actions than seats times games.
    pub fn step(&mut self, actions: &[i32]) -> Result<(), WrongAction> {
        assert_eq!(actions.len(), self.n * self.seats.len(), "one action per seat and game");
        let mut moves = [0; LANES];
        for (number, (row, seat)) in actions.chunks(self.n).zip(&self.seats).enumerate() {
            for (group, (environment, actions)) in self.groups.iter_mut().zip(row.chunks(LANES)).enumerate() {
                let set = environment.set_actions(seat.role, seat.moves(actions, &mut moves));
                set.map_err(|wrong| WrongAction {
                    game: group * LANES + wrong.lane,
                    seat: number,
                    action: actions[wrong.lane],
                })?;
            }
        }
        for environment in &mut self.groups {
            environment.step(self.max_rounds);
        }
        Ok(())
    }

    /// Draws a uniformly random legal action for every seat and game, in the layout that [`step`](Environments::step)
    /// takes.
    ///
    /// # Panics
    /// If there is not one place per seat and game.
    pub fn sample_actions(&mut self, out: &mut [i32]) {
        assert_eq!(out.len(), self.n * self.seats.len(), "one action per seat and game");
        for (row, seat) in out.chunks_mut(self.n).zip(&self.seats) {
            for (environment, out) in self.groups.iter_mut().zip(row.chunks_mut(LANES)) {
                environment.sample_actions(seat.role, out);
                if !seat.mv.is_empty() {
                    out.iter_mut().for_each(|mv| *mv = seat.action[*mv as usize] as i32);
                }
            }
        }
    }

    /// Nature's move in a game's last step, if the game has nature. Not for players.
    pub fn nature_move(&self, game: usize) -> Option<MoveId> {
        let group = self.groups.get(game / LANES)?;
        let mut made = group.made(group.nature()?).iter();
        let at = made.position(|cell| cell.get(game % LANES))?;
        Some(MoveId(at as u32))
    }

    /// Writes a seat's legal moves: a row of games per action. Rows of actions that are other roles' moves are left as
    /// they are.
    pub fn write_mask(&self, seat: usize, out: &mut [u8]) {
        let seat = &self.seats[seat];
        self.write_rows(out, |group| group.legal(seat.role), &seat.action, |_| Mask::ONE);
    }

    /// Writes what a seat was told in the last round: a row of games per action (the own move), then one per percept.
    /// Games that have just started again have been told nothing. Rows of actions that are other roles' moves are left
    /// as they are.
    pub fn write_told(&self, seat: usize, out: &mut [u8]) {
        self.write_last_round(seat, out, |group| !(group.terminated() | group.truncated()));
    }

    /// As [`write_told`](Environments::write_told), with the last round of games that are over.
    pub fn write_final_told(&self, seat: usize, out: &mut [u8]) {
        self.write_last_round(seat, out, |_| Mask::ONE);
    }

    fn write_last_round(&self, seat: usize, out: &mut [u8], keep: impl Fn(&Environment) -> Mask) {
        let seat = &self.seats[seat];
        let (own, percepts) = out.split_at_mut((self.actions.len() * self.n).min(out.len()));
        self.write_rows(own, |group| group.made(seat.role), &seat.action, &keep);
        let rows: Vec<usize> = (0..seat.percepts.len()).collect();
        self.write_rows(percepts, |group| group.percepts(seat.role), &rows, &keep);
    }

    /// Writes the states: a row of games per fluent. Not for players.
    pub fn write_states(&self, out: &mut [u8]) {
        let rows: Vec<usize> = (0..self.n_fluents()).collect();
        self.write_rows(out, Environment::state, &rows, |_| Mask::ONE);
    }

    /// Writes where a seat has more than one legal move.
    pub fn write_decides(&self, seat: usize, out: &mut [u8]) {
        self.write_lanes(out, |group| group.decides(self.seats[seat].role));
    }

    /// Writes which games were over after the last step.
    pub fn write_terminated(&self, out: &mut [u8]) {
        self.write_lanes(out, Environment::terminated);
    }

    /// Writes which games the last step cut short.
    pub fn write_truncated(&self, out: &mut [u8]) {
        self.write_lanes(out, Environment::truncated);
    }

    /// Writes the rewards of the last step: the payoff divided by 100 where a game is over, 0 elsewhere.
    pub fn write_rewards(&self, seat: usize, out: &mut [f32]) {
        out.fill(0.0);
        for (group, out) in self.groups.iter().zip(out.chunks_mut(LANES)) {
            group.payoffs(self.seats[seat].role, &mut |points, lanes| {
                lanes.lanes().for_each(|lane| out[lane] = f32::from(points) / 100.0);
            });
        }
    }

    fn write_rows<'a>(
        &'a self,
        out: &mut [u8],
        cells: impl Fn(&'a Environment) -> &'a [Mask],
        rows: &[usize],
        keep: impl Fn(&Environment) -> Mask,
    ) {
        for (group, environment) in self.groups.iter().enumerate() {
            let keep = keep(environment);
            let start = group * LANES;
            let end = (start + LANES).min(self.n);
            for (&cell, &row) in cells(environment).iter().zip(rows) {
                expand(&(cell & keep), &mut out[row * self.n + start..row * self.n + end]);
            }
        }
    }

    fn write_lanes(&self, out: &mut [u8], lanes: impl Fn(&Environment) -> Mask) {
        for (environment, out) in self.groups.iter().zip(out.chunks_mut(LANES)) {
            expand(&lanes(environment), out);
        }
    }
}
