//! The encoding of a game for a network: which bit of a state is which fluent, and which output is which move.
//!
//! Compiled games number both by sorted canonical text. The names are stored with a network, so that a network trained
//! on other rules is refused.

use crate::LearnError;
use crate::network::NetworkShape;
use game::{MoveId, RoleId, Simulator, State};
use std::fmt;

/// The names behind the numbers of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codec {
    /// All roles, nature included.
    pub roles: Vec<String>,
    /// The roles that are not nature, by number. A *player* is an index into this list.
    pub players: Vec<usize>,
    /// Nature.
    pub nature: Option<usize>,
    /// The fluents, in the order of the bits of a state.
    pub fluents: Vec<String>,
    /// The moves of each player, in the order of their numbers.
    pub moves: Vec<Vec<String>>,
}

/// Largest number of fluents: with more, the first layer alone would have millions of weights.
const MOST_FLUENTS: usize = 4_000;
/// Largest number of moves of a role.
const MOST_MOVES: usize = 20_000;

impl Codec {
    /// The codec of a compiled game, given the number of moves of each role.
    ///
    /// # Errors
    /// If the game has no role but nature, or is too large for a network.
    pub fn new(sim: &mut dyn Simulator, n_moves: &[usize]) -> Result<Codec, LearnError> {
        let roles = sim.roles().to_vec();
        let nature = sim.nature().map(|r| usize::from(r.0));
        let players: Vec<usize> = (0..roles.len()).filter(|&r| Some(r) != nature).collect();
        if players.is_empty() {
            return Err(LearnError::NoPlayers);
        }
        let words = sim.initial()?.0.len();
        let everything = State(std::iter::repeat_n(u64::MAX, words).collect());
        let fluents = sim.fluents(&everything);
        if fluents.len() > MOST_FLUENTS {
            return Err(LearnError::TooLarge {
                what: "fluents",
                number: fluents.len(),
                limit: MOST_FLUENTS,
            });
        }
        let mut moves = Vec::new();
        for &role in &players {
            let n = n_moves.get(role).copied().unwrap_or(0);
            if n > MOST_MOVES {
                return Err(LearnError::TooLarge {
                    what: "moves of a role",
                    number: n,
                    limit: MOST_MOVES,
                });
            }
            let text = |mv: usize| sim.move_text(RoleId(role as u16), MoveId(mv as u32)).to_owned();
            moves.push((0..n).map(text).collect());
        }
        Ok(Codec {
            roles,
            players,
            nature,
            fluents,
            moves,
        })
    }

    /// The shape of a network for this game.
    pub fn shape(&self, width: usize) -> NetworkShape {
        NetworkShape {
            inputs: self.fluents.len(),
            width,
            moves: self.moves.iter().map(Vec::len).collect(),
        }
    }

    /// How another codec differs from this one, which is that of the game at hand; none if they are equal.
    pub fn difference(&self, other: &Codec) -> Option<CodecDifference> {
        let compare = |what: &'static str, ours: &[String], theirs: &[String]| {
            let strange = theirs.iter().find(|name| !ours.contains(name));
            let absent = ours.iter().find(|name| !theirs.contains(name));
            match (strange, absent) {
                (Some(name), _) => Some(CodecDifference::Strange {
                    what,
                    name: name.clone(),
                }),
                (None, Some(name)) => Some(CodecDifference::Absent {
                    what,
                    name: name.clone(),
                }),
                (None, None) => (ours != theirs).then_some(CodecDifference::Numbering { what }),
            }
        };
        let mut moves = self.moves.iter().zip(&other.moves);
        compare("role", &self.roles, &other.roles)
            .or_else(|| compare("fluent", &self.fluents, &other.fluents))
            .or_else(|| moves.find_map(|(ours, theirs)| compare("move", ours, theirs)))
            .or_else(|| (self != other).then_some(CodecDifference::Roles))
    }

    /// A hash of all names.
    pub fn fingerprint(&self) -> u64 {
        let names = self
            .roles
            .iter()
            .chain(&self.fluents)
            .chain(self.moves.iter().flatten());
        names.fold(0xcbf2_9ce4_8422_2325, |hash, name| {
            let bytes = name.bytes().chain([0]);
            bytes.fold(hash, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
        })
    }
}

/// How a codec differs from that of the game at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodecDifference {
    /// It has a name that the game does not have.
    Strange {
        /// Kind of name: role, fluent or move.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// It lacks a name that the game has.
    Absent {
        /// Kind of name: role, fluent or move.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// It has the same names in another order.
    Numbering {
        /// Kind of name: role, fluent or move.
        what: &'static str,
    },
    /// It takes another role for nature, or has moves of more roles.
    Roles,
}

impl fmt::Display for CodecDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodecDifference::Strange { what, name } => {
                write!(f, "it knows the {what} `{name}`, which this game does not have")
            }
            CodecDifference::Absent { what, name } => write!(f, "it does not know the {what} `{name}` of this game"),
            CodecDifference::Numbering { what } => write!(f, "it numbers the {what}s differently"),
            CodecDifference::Roles => f.write_str("it is of another game"),
        }
    }
}
