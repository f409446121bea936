//! Games and players by name, as the lab asks for them.

use crate::players::PlayerSpec;
use crate::{Error, Game, Unsuitable};
use game::{Batch, RoleId, Seed, Simulator};
use lab::{BoxError, GameSource, Named, OpenGame};
use referee::Seat;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The catalogue, rules files, and all players.
pub struct LabGames;

impl GameSource for LabGames {
    fn open(&self, game: &str) -> Result<Box<dyn OpenGame>, BoxError> {
        if game == "-" {
            let error = Error::Option {
                option: "the game of an experiment",
                must: "must be a file or a name: an experiment is run more than once, and standard input can be read \
                       only once"
                    .to_owned(),
            };
            return Err(error.into());
        }
        Ok(Box::new(LabGame {
            game: Game::open(game)?,
            players: Mutex::default(),
        }))
    }

    fn files(&self, name: Named<'_>) -> Vec<PathBuf> {
        match name {
            Named::Game(game) => vec![PathBuf::from(game)],
            Named::Player(player) => PlayerSpec::parse(player).map_or(Vec::new(), |spec| spec.files()),
        }
    }
}

struct LabGame {
    game: Game,
    /// Players by name: some read files, and every match asks for them.
    players: Mutex<HashMap<String, PlayerSpec>>,
}

impl LabGame {
    fn player(&self, text: &str) -> Result<PlayerSpec, Error> {
        let mut known = self.players.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spec) = known.get(text) {
            return Ok(spec.clone());
        }
        let spec = PlayerSpec::parse(text)?;
        if spec.remote().is_some() {
            return Err(spec.unsuitable(Unsuitable::NotRepeatable));
        }
        self.game.admit(&spec)?;
        known.insert(text.to_owned(), spec.clone());
        Ok(spec)
    }
}

impl OpenGame for LabGame {
    fn simulator(&self) -> Box<dyn Simulator> {
        self.game.simulator()
    }

    fn batch(&self, seed: Seed) -> Option<Box<dyn Batch>> {
        self.game.engine().batch(seed)
    }

    fn seat(&self, player: &str, role: RoleId, seed: Seed) -> Result<Seat, BoxError> {
        Ok(self.player(player)?.seat(self.game.engine(), role, seed)?)
    }
}
