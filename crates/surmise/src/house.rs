//! Games and players by name, as the lab wants them.

use crate::engine::{Engine, EngineOptions};
use crate::load::load;
use crate::players::PlayerSpec;
use anyhow::{Result, bail};
use game::{Batch, RoleId, Seed, Simulator};
use lab::{BoxError, GameSource, Named, OpenGame};
use propnet::Lanes;
use referee::Seat;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// The catalogue, rules files, and all players.
pub struct Front;

impl GameSource for Front {
    fn open(&self, game: &str) -> Result<Box<dyn OpenGame>, BoxError> {
        if game == "-" {
            return Err(
                "an experiment is run more than once, and standard input can be read only once; name a file".into(),
            );
        }
        let mut rules = load(game)?.playable()?.rules;
        let hidden = rules.gdl2;
        rules.announce_moves();
        Ok(Box::new(Opened {
            name: game.to_owned(),
            engine: Engine::new(&rules, &EngineOptions::default())?,
            hidden,
            players: Mutex::new(HashMap::new()),
        }))
    }

    fn files(&self, name: Named<'_>) -> Vec<PathBuf> {
        match name {
            Named::Game(game) => vec![PathBuf::from(game)],
            Named::Player(player) => PlayerSpec::parse(player).map_or(Vec::new(), |spec| spec.files()),
        }
    }
}

struct Opened {
    name: String,
    engine: Engine,
    hidden: bool,
    /// Players by name: some of them read files, and every match asks for them.
    players: Mutex<HashMap<String, PlayerSpec>>,
}

impl Opened {
    fn player(&self, text: &str) -> Result<PlayerSpec> {
        let mut known = self.players.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(spec) = known.get(text) {
            return Ok(spec.clone());
        }
        let spec = PlayerSpec::parse(text)?;
        if self.hidden && spec.needs_complete_information() {
            bail!(
                "`{text}` needs a game in which nothing is hidden; {} hides something",
                self.name
            );
        }
        known.insert(text.to_owned(), spec.clone());
        Ok(spec)
    }
}

impl OpenGame for Opened {
    fn simulator(&self) -> Box<dyn Simulator> {
        self.engine.state_simulator()
    }

    fn batch(&self, seed: Seed) -> Option<Box<dyn Batch>> {
        let compiled = self.engine.compiled()?;
        Some(Box::new(Lanes::new(compiled, seed)))
    }

    fn seat(&self, player: &str, role: RoleId, seed: Seed) -> Result<Seat, BoxError> {
        match self.player(player)?.seat(&self.engine, role, seed)? {
            Seat::Guest(_) => Err(format!(
                "`{player}` plays elsewhere, so its matches cannot be repeated; an experiment needs players that live here"
            )
            .into()),
            seat => Ok(seat),
        }
    }
}
