//! Many games of one kind at once, played from outside: for learners.
//!
//! Arrays are written feature by feature: a row holds one bit of all games, so that games are contiguous in memory.

mod view_slots;

use crate::{Error, Game};
use game::{Fault, MoveId, PerceptId, RoleId, Seed};
use propnet::lanes::bytes::{expand, update};
use propnet::lanes::environment::{Environment, FORCED};
use propnet::{Compiled, LANES, Mask};
use std::collections::BTreeSet;
use view_slots::ViewSlots;

/// Options of [`Game::environments`].
#[derive(Clone, Debug)]
pub struct EnvironmentOptions {
    /// Number of games.
    pub games: usize,
    /// Seed of nature's moves.
    pub seed: u64,
    /// Rounds after which a game is cut short.
    pub max_rounds: u32,
    /// What a seat observes.
    pub observation: Observation,
}

/// What a seat observes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Observation {
    /// The last round: the own move and the percepts.
    #[default]
    Round,
    /// The whole view: so many of the last rounds, each in a slot of its own. By default as many as the longest of
    /// [`SAMPLE_GAMES`] random games has.
    View(Option<usize>),
}

/// Random games whose longest decides how many rounds [`Observation::View`] has by default.
pub const SAMPLE_GAMES: usize = 4096;

/// Rounds after which the sample of games ends, even if fewer games are over.
const SAMPLE_STEPS: usize = 1 << 14;

/// Largest number of bytes in an array of observations.
pub const MOST_BYTES: usize = 1 << 32;

impl Default for EnvironmentOptions {
    fn default() -> Self {
        EnvironmentOptions {
            games: 1,
            seed: 0,
            max_rounds: game::limits::MATCH_ROUNDS as u32,
            observation: Observation::Round,
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
    /// Slots of rounds that are observed, if whole views are.
    slots: Option<usize>,
    /// Views by seat and group, if whole views are observed.
    views: Vec<Vec<ViewSlots>>,
}

/// What an array holds, so that only changes need to be written. Belongs to one array, which nothing else writes.
#[derive(Clone, Debug, Default)]
pub struct Written {
    cells: Vec<Mask>,
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
    /// If the game is not compiled, if there are no games or too many of them, if observations would not fit, or if the
    /// first state has no moves.
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
            slots: match options.observation {
                Observation::Round => None,
                Observation::View(Some(rounds)) => Some(rounds),
                Observation::View(None) => Some(longest_game(compiled, &roles, options.max_rounds)),
            },
            views: Vec::new(),
        };
        if let Some(rounds) = made.slots {
            let widest = (0..made.seats.len()).map(|seat| made.told_rows(seat) + 1).max();
            let bytes_of_a_round = widest.unwrap_or(1).saturating_mul(options.games);
            within("rounds", rounds, (MOST_BYTES / bytes_of_a_round).max(1))?;
        }
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
        made.forget_views();
        Ok(made)
    }
}

/// Rounds of the longest of some random games, from a fixed seed.
fn longest_game(compiled: &Compiled, roles: &[RoleId], max_rounds: u32) -> usize {
    let mut games = Environment::new(compiled, LANES, Seed(0).child("longest game"));
    if games.unplayable() {
        return 1;
    }
    let mut actions = [0; LANES];
    let (mut rounds, mut longest, mut over) = ([0_u32; LANES], 1, 0);
    for _ in 0..SAMPLE_STEPS {
        for &role in roles {
            games.sample_actions(role, &mut actions);
            // What was drawn is legal.
            let _ = games.set_actions(role, &actions);
        }
        games.step(max_rounds);
        rounds.iter_mut().for_each(|rounds| *rounds += 1);
        for lane in (games.terminated() | games.truncated()).lanes() {
            longest = longest.max(rounds[lane]);
            rounds[lane] = 0;
            over += 1;
        }
        if over >= SAMPLE_GAMES {
            break;
        }
    }
    rounds.into_iter().fold(longest, u32::max) as usize
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

    /// Slots of rounds in an observation, if whole views are observed.
    pub fn slots(&self) -> Option<usize> {
        self.slots
    }

    /// Rows of what a seat is told in one round: all actions, and its percepts.
    fn told_rows(&self, seat: usize) -> usize {
        self.actions.len() + self.seats[seat].percepts.len()
    }

    /// Rows of a seat's observation.
    pub fn observation_rows(&self, seat: usize) -> usize {
        match self.slots {
            None => self.told_rows(seat),
            Some(slots) => slots * (1 + self.told_rows(seat)),
        }
    }

    /// All games back to the start.
    pub fn reset(&mut self, seed: u64) {
        for (group, environment) in self.groups.iter_mut().enumerate() {
            environment.reset(group_seed(seed, group));
        }
        self.forget_views();
    }

    fn forget_views(&mut self) {
        let Some(slots) = self.slots else {
            return;
        };
        let views = |seat: &EnvironmentSeat| {
            let rows = seat.action.len() + seat.percepts.len();
            self.groups.iter().map(|_| ViewSlots::new(slots, rows)).collect()
        };
        self.views = self.seats.iter().map(views).collect();
    }

    fn follow_views(&mut self) {
        for (seat, views) in self.seats.iter().zip(&mut self.views) {
            for (group, views) in self.groups.iter().zip(views) {
                let told = group.made(seat.role).iter().chain(group.percepts(seat.role));
                views.take_in(told, over(group));
            }
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
        self.follow_views();
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

    /// Writes a seat's legal moves: a row of games per action.
    pub fn write_mask(&self, seat: usize, written: &mut Written, out: &mut [u8]) {
        let seat = &self.seats[seat];
        let cells = |group: usize| self.groups[group].legal(seat.role).iter();
        self.write_rows(seat.action.iter().copied(), cells, |_| Mask::ONE, written, out);
    }

    /// Writes what a seat observes. In games that have just started again, this is nothing.
    ///
    /// Of a round there is a row of games per action (the own move), then one per percept. A whole view has a row for
    /// each slot, which says whether the slot holds the last round, and then the rounds, slot by slot.
    pub fn write_told(&self, seat: usize, written: &mut Written, out: &mut [u8]) {
        self.write_observation(seat, |group| !over(&self.groups[group]), written, out);
    }

    /// As [`write_told`](Environments::write_told), with the last round of games that are over.
    pub fn write_final_told(&self, seat: usize, written: &mut Written, out: &mut [u8]) {
        self.write_observation(seat, |_| Mask::ONE, written, out);
    }

    fn write_observation(&self, seat: usize, keep: impl Fn(usize) -> Mask, written: &mut Written, out: &mut [u8]) {
        let rows_of_a_round = self.told_rows(seat);
        let EnvironmentSeat {
            role, action, percepts, ..
        } = &self.seats[seat];
        let percepts = (0..percepts.len()).map(|percept| self.actions.len() + percept);
        let round = action.iter().copied().chain(percepts);
        let Some(slots) = self.slots else {
            let cells = |group: usize| {
                let group = &self.groups[group];
                group.made(*role).iter().chain(group.percepts(*role))
            };
            self.write_rows(round, cells, keep, written, out);
            return;
        };
        let round: Vec<usize> = round.collect();
        let starts = (0..slots).map(|slot| slots + slot * rows_of_a_round);
        let rows = (0..slots).chain(starts.flat_map(|start| round.iter().map(move |row| start + row)));
        let views = &self.views[seat];
        let cells = |group: usize| views[group].newest().iter().chain(views[group].cells());
        self.write_rows(rows, cells, keep, written, out);
    }

    /// Writes the states: a row of games per fluent. Not for players.
    pub fn write_states(&self, out: &mut [u8]) {
        let cells = |group: usize| self.groups[group].state().iter();
        self.write_rows(0..self.n_fluents(), cells, |_| Mask::ONE, &mut Written::default(), out);
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

    /// Brings rows of an array up to date. Every group has as many cells as there are rows; other rows of the array are
    /// zero. What the array held before is unknown if nothing was written yet.
    fn write_rows<'a, C: Iterator<Item = &'a Mask>>(
        &'a self,
        rows: impl Iterator<Item = usize> + Clone,
        cells: impl Fn(usize) -> C,
        keep: impl Fn(usize) -> Mask,
        written: &mut Written,
        out: &mut [u8],
    ) {
        if written.cells.is_empty() {
            written
                .cells
                .resize(rows.clone().count() * self.groups.len(), Mask::ZERO);
            out.fill(0);
        }
        let mut held = written.cells.iter_mut();
        for (group, environment) in self.groups.iter().enumerate() {
            let keep = keep(group) & environment.used();
            let start = group * LANES;
            let end = (start + LANES).min(self.n);
            for ((&cell, row), held) in cells(group).zip(rows.clone()).zip(&mut held) {
                update(held, cell & keep, &mut out[row * self.n + start..row * self.n + end]);
            }
        }
    }

    fn write_lanes(&self, out: &mut [u8], lanes: impl Fn(&Environment) -> Mask) {
        for (environment, out) in self.groups.iter().zip(out.chunks_mut(LANES)) {
            expand(&lanes(environment), out);
        }
    }
}

/// The games of a group that the last step ended.
fn over(group: &Environment) -> Mask {
    group.terminated() | group.truncated()
}
