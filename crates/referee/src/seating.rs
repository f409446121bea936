//! Which player plays which role.
//!
//! Players are given in the order of the roles that are not nature. From match to match they may move on by a number of
//! seats, the shift, so that every player plays every role.

use crate::Seat;
use game::{RoleId, Seed, Simulator};
use std::fmt;

/// The name of nature in the list of players of a record. No player has this name.
pub const NATURE: &str = "nature";

/// The seats of a game: its roles, and which of them is nature's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seating {
    /// Names of the roles, in joint-move order.
    roles: Vec<String>,
    /// Roles that are not nature, as places in the joint move.
    played: Vec<usize>,
}

/// Too many or too few players for a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatingError {
    /// Names of the roles that need a player.
    pub roles: Vec<String>,
    /// Number of players given.
    pub given: usize,
}

impl fmt::Display for SeatingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (needed, names) = (self.roles.len(), self.roles.join(", "));
        let plural = if needed == 1 { "" } else { "s" };
        write!(
            f,
            "the game needs {needed} player{plural} (for {names}), not {}",
            self.given
        )
    }
}

impl std::error::Error for SeatingError {}

impl Seating {
    /// The seats of a simulator's game.
    pub fn new(sim: &dyn Simulator) -> Seating {
        let nature = sim.nature().map(|role| usize::from(role.0));
        Seating {
            roles: sim.roles().to_vec(),
            played: (0..sim.roles().len()).filter(|&role| Some(role) != nature).collect(),
        }
    }

    /// The seats of a match whose players are known by name, nature by [`NATURE`]. The roles have no names then.
    pub fn of_players(players: &[String]) -> Seating {
        Seating {
            roles: vec![String::new(); players.len()],
            played: (0..players.len()).filter(|&role| players[role] != NATURE).collect(),
        }
    }

    /// Names of all roles, nature's included.
    pub fn roles(&self) -> &[String] {
        &self.roles
    }

    /// Roles that are not nature, as places in the joint move.
    pub fn played(&self) -> &[usize] {
        &self.played
    }

    /// One player for each role that is not nature: a single player is repeated for all of them.
    ///
    /// # Errors
    /// If there are too many or too few.
    pub fn fill<T: Clone>(&self, mut players: Vec<T>) -> Result<Vec<T>, SeatingError> {
        if players.len() == 1 {
            players = vec![players[0].clone(); self.played.len()];
        }
        if players.len() == self.played.len() {
            return Ok(players);
        }
        Err(SeatingError {
            roles: self.played.iter().map(|&role| self.roles[role].clone()).collect(),
            given: players.len(),
        })
    }

    /// The player of a role after a shift; none for nature.
    pub fn player_of(&self, role: usize, shift: usize) -> Option<usize> {
        let at = self.played.iter().position(|&played| played == role)?;
        Some((at + shift) % self.played.len())
    }

    /// The role of a player after a shift; none if there are fewer players.
    pub fn role_of(&self, player: usize, shift: usize) -> Option<usize> {
        let seats = self.played.len();
        if player >= seats {
            return None;
        }
        Some(self.played[(player + seats - shift % seats) % seats])
    }

    /// The names of the players in role order, as records have them.
    pub fn names<T: AsRef<str>>(&self, players: &[T], shift: usize) -> Vec<String> {
        let name = |role| match self.player_of(role, shift) {
            Some(player) => players[player].as_ref().to_owned(),
            None => NATURE.to_owned(),
        };
        (0..self.roles.len()).map(name).collect()
    }

    /// Seats a player for every role. `make` is given the number of the player, its role and its seed.
    ///
    /// # Errors
    /// If a player cannot be made.
    pub fn seats<E>(
        &self,
        shift: usize,
        seed: Seed,
        mut make: impl FnMut(usize, RoleId, Seed) -> Result<Seat, E>,
    ) -> Result<Vec<Seat>, E> {
        let mut seats = Vec::with_capacity(self.roles.len());
        for role in 0..self.roles.len() {
            seats.push(match self.player_of(role, shift) {
                None => Seat::Nature,
                Some(player) => make(player, RoleId(role as u16), seed.child("player").nth(role as u64))?,
            });
        }
        Ok(seats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Seating {
        Seating::of_players(&["a", NATURE, "b", "c"].map(str::to_owned))
    }

    #[test]
    fn players_move_on_and_nature_stays() {
        let seating = three();
        assert_eq!(seating.played(), [0, 2, 3]);
        assert_eq!(seating.names(&["x", "y", "z"], 0), ["x", NATURE, "y", "z"]);
        assert_eq!(seating.names(&["x", "y", "z"], 1), ["y", NATURE, "z", "x"]);
        for shift in 0..7 {
            for player in 0..3 {
                let role = seating.role_of(player, shift).unwrap();
                assert_eq!(seating.player_of(role, shift), Some(player));
            }
        }
        assert_eq!((seating.player_of(1, 0), seating.role_of(3, 0)), (None, None));
    }

    #[test]
    fn one_player_plays_all_roles_and_two_do_not_play_three() {
        let seating = three();
        assert_eq!(seating.fill(vec![7]).unwrap(), [7, 7, 7]);
        assert_eq!(seating.fill(vec![1, 2, 3]).unwrap(), [1, 2, 3]);
        assert_eq!(seating.fill(vec![1, 2]).unwrap_err().given, 2);
        assert_eq!(seating.fill::<u8>(Vec::new()).unwrap_err().roles.len(), 3);
    }

    #[test]
    fn a_game_of_nature_alone_has_no_players() {
        let seating = Seating::of_players(&[NATURE.to_owned()]);
        assert_eq!(seating.role_of(0, 5), None);
        assert_eq!(seating.fill(vec!["x"]).unwrap(), Vec::<&str>::new());
    }
}
