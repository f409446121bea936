//! Many games of one kind at once, played from outside: for learners.
//!
//! Arrays are written feature by feature: a row holds one bit of all games, so that games are contiguous in memory.

use crate::{Error, Game};
use game::{Fault, MoveId, RoleId, Seed};
use propnet::lanes::environment::{Environment, expand};
use propnet::{LANES, Mask};

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
/// Seats are the roles except nature, in the order of the rules. Actions are numbers of a role's moves, in canonical
/// order of the moves' text.
pub struct Environments {
    groups: Vec<Environment>,
    seats: Vec<RoleId>,
    n: usize,
    max_rounds: u32,
}

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
        let seats = self.seating().played().iter().map(|&at| RoleId(at as u16)).collect();
        let mut made = Environments {
            groups: Vec::new(),
            seats,
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
    pub fn seats(&self) -> &[RoleId] {
        &self.seats
    }

    /// Numbers of moves, percepts and fluents: the rows of a seat's mask, of its percepts, and of the state.
    pub fn sizes(&self, seat: usize) -> (usize, usize, usize) {
        let (first, role) = (&self.groups[0], self.seats[seat]);
        (first.legal(role).len(), first.percepts(role).len(), first.state().len())
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
        for (seat, (row, &role)) in actions.chunks(self.n).zip(&self.seats).enumerate() {
            for (group, (environment, actions)) in self.groups.iter_mut().zip(row.chunks(LANES)).enumerate() {
                environment.set_actions(role, actions).map_err(|wrong| WrongAction {
                    game: group * LANES + wrong.lane,
                    seat,
                    action: wrong.action,
                })?;
            }
        }
        for environment in &mut self.groups {
            environment.step(self.max_rounds);
        }
        Ok(())
    }

    /// Nature's move in a game's last step, if the game has nature. Not for players.
    pub fn nature_move(&self, game: usize) -> Option<MoveId> {
        let group = self.groups.get(game / LANES)?;
        let mut made = group.made(group.nature()?).iter();
        let at = made.position(|cell| cell.get(game % LANES))?;
        Some(MoveId(at as u32))
    }

    /// Writes a seat's legal moves: a row of games per move.
    pub fn write_mask(&self, seat: usize, out: &mut [u8]) {
        self.write_rows(out, |group| group.legal(self.seats[seat]), |_| Mask::ONE);
    }

    /// Writes what a seat was told in the last round: a row of games per own move, then one per percept. Games that
    /// have just started again have been told nothing.
    pub fn write_told(&self, seat: usize, out: &mut [u8]) {
        self.write_last_round(seat, out, |group| !(group.terminated() | group.truncated()));
    }

    /// As [`write_told`](Environments::write_told), with the last round of games that are over.
    pub fn write_final_told(&self, seat: usize, out: &mut [u8]) {
        self.write_last_round(seat, out, |_| Mask::ONE);
    }

    fn write_last_round(&self, seat: usize, out: &mut [u8], keep: impl Fn(&Environment) -> Mask) {
        let role = self.seats[seat];
        let (own, percepts) = out.split_at_mut((self.sizes(seat).0 * self.n).min(out.len()));
        self.write_rows(own, |group| group.made(role), &keep);
        self.write_rows(percepts, |group| group.percepts(role), &keep);
    }

    /// Writes the states: a row of games per fluent. Not for players.
    pub fn write_states(&self, out: &mut [u8]) {
        self.write_rows(out, Environment::state, |_| Mask::ONE);
    }

    /// Writes where a seat has more than one legal move.
    pub fn write_decides(&self, seat: usize, out: &mut [u8]) {
        self.write_lanes(out, |group| group.decides(self.seats[seat]));
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
            group.payoffs(self.seats[seat], &mut |points, lanes| {
                lanes.lanes().for_each(|lane| out[lane] = f32::from(points) / 100.0);
            });
        }
    }

    fn write_rows<'a>(
        &'a self,
        out: &mut [u8],
        rows: impl Fn(&'a Environment) -> &'a [Mask],
        keep: impl Fn(&Environment) -> Mask,
    ) {
        for (group, environment) in self.groups.iter().enumerate() {
            let keep = keep(environment);
            let start = group * LANES;
            let end = (start + LANES).min(self.n);
            for (&cell, row) in rows(environment).iter().zip(out.chunks_mut(self.n)) {
                expand(&(cell & keep), &mut row[start..end]);
            }
        }
    }

    fn write_lanes(&self, out: &mut [u8], lanes: impl Fn(&Environment) -> Mask) {
        for (environment, out) in self.groups.iter().zip(out.chunks_mut(LANES)) {
            expand(&lanes(environment), out);
        }
    }
}
