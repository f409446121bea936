//! The hand-made opponents of Partridge and Thielscher (2022), tables 1 to 3: ordinary players that know one game each.
//!
//! The paper describes each opponent in a sentence. What the paper leaves open is settled in each file. The opponents
//! compare the texts of moves and percepts, so they refuse a game in which these texts do not occur.

mod blind_tictactoe;
mod meier;

use game::{Player, RoleId, Seed, Simulator};
use std::fmt;

/// A hand-made opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// Meier; claims its own roll wherever that is allowed.
    Meier,
    /// Meier; also bluffs where it could claim its own roll.
    MeierBluffer,
    /// Blind tic-tac-toe; plays for its own lines.
    BlindTictactoe,
}

/// Names of the opponents, for messages and help.
pub const OPPONENTS: &str = "meier, meier-bluffer, blind-tictactoe";

/// Why there is no such opponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpponentError {
    /// No opponent has this name.
    Unknown(String),
    /// The opponent was made for other games.
    OtherGame {
        /// The opponent, as it is asked for.
        player: &'static str,
        /// Games that it plays.
        games: &'static str,
        /// How this game differs.
        difference: String,
    },
}

impl fmt::Display for OpponentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpponentError::Unknown(name) => {
                write!(f, "there is no hand-made opponent `{name}`; there are {OPPONENTS}")
            }
            OpponentError::OtherGame {
                player,
                games,
                difference,
            } => write!(f, "`{player}` plays only {games}{difference}"),
        }
    }
}

impl std::error::Error for OpponentError {}

impl Opponent {
    /// The opponent of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn parse(name: &str) -> Result<Opponent, OpponentError> {
        match name {
            "meier" => Ok(Opponent::Meier),
            "meier-bluffer" => Ok(Opponent::MeierBluffer),
            "blind-tictactoe" => Ok(Opponent::BlindTictactoe),
            _ => Err(OpponentError::Unknown(name.to_owned())),
        }
    }

    /// A player for a role of the simulator's game.
    ///
    /// # Errors
    /// If it is not the game that the opponent was made for.
    pub fn player(self, sim: &mut dyn Simulator, role: RoleId, seed: Seed) -> Result<Box<dyn Player>, OpponentError> {
        match self {
            Opponent::Meier | Opponent::MeierBluffer => {
                expect_words(
                    sim,
                    role,
                    "hand:meier",
                    "meier",
                    &["(claim 31)", "(claim 21)", "call", "believe"],
                )?;
                Ok(Box::new(match self {
                    Opponent::MeierBluffer => meier::Meier::bluffer(seed),
                    _ => meier::Meier::new(seed),
                }))
            }
            Opponent::BlindTictactoe => {
                let games = "blind-tictactoe and biased-blind-tictactoe";
                expect_words(sim, role, "hand:blind-tictactoe", games, &["(mark 1 1)", "(mark 3 3)"])?;
                let other_sizes = sim.find_move(role, "(mark 4 4)").is_some();
                let percepts = ["yes", "no"].map(|p| sim.find_percept(role, p).is_some());
                if other_sizes || percepts != [true, true] {
                    return Err(OpponentError::OtherGame {
                        player: "hand:blind-tictactoe",
                        games,
                        difference: ": percepts yes and no, cells from 1 1 to 3 3".to_owned(),
                    });
                }
                Ok(Box::new(blind_tictactoe::BlindTictactoe::new(seed)))
            }
        }
    }
}

/// Refuses a game that lacks a move of these texts.
fn expect_words(
    sim: &mut dyn Simulator,
    role: RoleId,
    player: &'static str,
    games: &'static str,
    moves: &[&str],
) -> Result<(), OpponentError> {
    match moves.iter().find(|m| sim.find_move(role, m).is_none()) {
        Some(missing) => Err(OpponentError::OtherGame {
            player,
            games,
            difference: format!("; here the move `{missing}` is never legal"),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use game::{Budget, Player, StopFlag, Told};
    use gdl::Options;
    use ground::Reference;

    /// A simulator of a game of the catalogue.
    pub fn simulator(game: &str) -> Reference {
        let (_, rules) = catalogue::open(game).expect("in the catalogue");
        let reading = gdl::read_bytes(rules.as_bytes(), &Options::default());
        Reference::new(&reading.rules).expect("playable")
    }

    /// A round: own move, percepts.
    pub fn told(own: &str, sees: &[&str]) -> Told {
        Told {
            own: own.to_owned(),
            sees: sees.iter().map(|&s| s.to_owned()).collect(),
        }
    }

    /// What a player does after these rounds.
    pub fn chosen(player: &mut dyn Player, rounds: &[Told]) -> String {
        let budget = Budget::until(StopFlag::default());
        player.choose(rounds, &budget).expect("a move").mv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opponent_refuses_a_game_that_it_does_not_know() {
        let refused = |opponent: Opponent, game| {
            let mut sim = testing::simulator(game);
            let made = opponent.player(&mut sim, RoleId(0), Seed(1));
            made.err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert!(refused(Opponent::Meier, "monty-hall").contains("plays only meier"));
        assert!(refused(Opponent::BlindTictactoe, "krieg-tictactoe:size=4").contains("plays only blind"));
        assert!(refused(Opponent::BlindTictactoe, "phantom-tictactoe").contains("plays only blind"));
        assert_eq!(refused(Opponent::Meier, "meier"), "");
        assert_eq!(refused(Opponent::BlindTictactoe, "blind-tictactoe"), "");
        assert_eq!(refused(Opponent::BlindTictactoe, "biased-blind-tictactoe"), "");
        assert!(Opponent::parse("chess").is_err());
    }
}
