//! Rating by a walk over histories: games of more than two roles, and games whose graphs do not fit.

use super::policy_file;
use super::table::{self, PolicySink};
use crate::{Error, Game};
use game::{MoveId, RoleId, Round, StopFlag};
use solve::{LargeError, PlaceError, WalkError, WalkPolicy, WalkRating, rate_by_walk};

/// Policies as they are given.
struct Given {
    policy: WalkPolicy,
    players: Vec<RoleId>,
}

/// How far a sum of probabilities may be from 1.
const TOLERANCE: f64 = 1e-4;

impl PolicySink for Given {
    fn insert(&mut self, player: usize, view: &[Round], policy: &[(MoveId, f64)]) -> Result<(), PlaceError> {
        let sum: f64 = policy.iter().map(|(_, p)| p).sum();
        if policy.iter().any(|(_, p)| !p.is_finite() || *p < 0.0) || (sum - 1.0).abs() > TOLERANCE {
            return Err(PlaceError::NotADistribution);
        }
        match self.policy.insert(self.players[player], view, policy) {
            true => Ok(()),
            false => Err(PlaceError::Twice),
        }
    }
}

fn error_of(error: WalkError) -> Error {
    Error::Large(match error {
        WalkError::Memory { limit } => LargeError::Memory {
            what: "a walk over the histories of all views".to_owned(),
            needed: limit + 1,
            limit,
        },
        WalkError::Moves(role) => LargeError::Unclear {
            player: usize::from(role.0),
        },
        WalkError::Endless { rounds } => LargeError::Endless { rounds },
        WalkError::Fault(fault) => return Error::Fault(fault),
    })
}

impl Game {
    /// Rates `uniform` or a file of policies by a walk over histories, in at most so many bytes. Views that the file
    /// leaves out have uniform moves. Returns the roles and what they get.
    ///
    /// # Errors
    /// If the policy is none, does not belong to the game, or the walk needs more memory.
    pub fn rate_by_walk(
        &self,
        what: &str,
        bytes: u64,
        stop: &StopFlag,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Vec<String>, WalkRating), Error> {
        let mut sim = self.simulator();
        let players: Vec<RoleId> = (0..sim.roles().len() as u16)
            .map(RoleId)
            .filter(|&role| sim.nature() != Some(role))
            .collect();
        let roles = players
            .iter()
            .map(|role| sim.roles()[usize::from(role.0)].clone())
            .collect();
        let mut given = Given {
            policy: WalkPolicy::uniform(),
            players: players.clone(),
        };
        if what != "uniform" {
            let path = policy_file(what).filter(|path| !super::compact::is_compact(path));
            let path = path.ok_or_else(|| Error::Option {
                option: "--rate",
                must: "must be `uniform` or a table of probabilities for a game that is rated by a walk".to_owned(),
            })?;
            table::read(path, sim.as_ref(), &players, &mut given)?;
        }
        let rated = rate_by_walk(sim.as_mut(), &given.policy, bytes, stop, progress);
        Ok((roles, rated.map_err(error_of)?))
    }
}
