//! Games and players by name, as the lab asks for them.

use crate::hosting::Gate;
use crate::players::PlayerSpec;
use crate::{Entrant, Error, Game, Unsuitable};
use game::{Batch, RoleId, Seed, Simulator, StopFlag};
use ggp::http::exchange;
use lab::{BoxError, GameSource, Named, OpenGame};
use referee::Seat;
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// The catalogue, rules files, and all players.
pub struct LabGames;

/// The same, with players that the caller brings.
#[derive(Clone, Default)]
pub struct OwnLabGames {
    players: BTreeMap<String, LabPlayer>,
}

/// A player that the caller brings.
#[derive(Clone)]
pub struct LabPlayer {
    /// The player.
    pub entrant: Arc<dyn Entrant + Send + Sync>,
    /// Files that decide what it plays: a cell is played again when one has changed.
    pub files: Vec<PathBuf>,
}

impl OwnLabGames {
    /// Adds a player under the name that specs use for it.
    ///
    /// # Errors
    /// If the name is that of another player.
    pub fn add(&mut self, name: &str, player: LabPlayer) -> Result<(), Error> {
        if PlayerSpec::parse(name).is_ok() || self.players.contains_key(name) {
            return Err(Error::Option {
                option: "the name of a player of your own",
                must: format!("must be new, and `{name}` is a player already"),
            });
        }
        self.players.insert(name.to_owned(), player);
        Ok(())
    }

    /// Names of the players that were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.players.keys().map(String::as_str)
    }
}

impl GameSource for OwnLabGames {
    fn open(&self, game: &str) -> Result<Box<dyn OpenGame>, BoxError> {
        open(game, self.players.clone())
    }

    fn files(&self, name: Named<'_>) -> Vec<PathBuf> {
        match self.players.get(name.text()) {
            Some(own) if matches!(name, Named::Player(_)) => own.files.clone(),
            _ => LabGames.files(name),
        }
    }

    fn is_repeatable(&self, player: &str) -> bool {
        self.players.contains_key(player) || LabGames.is_repeatable(player)
    }

    fn options(&self, player: &str) -> Vec<(String, String)> {
        match self.players.contains_key(player) {
            true => Vec::new(),
            false => LabGames.options(player),
        }
    }
}

impl GameSource for LabGames {
    fn open(&self, game: &str) -> Result<Box<dyn OpenGame>, BoxError> {
        open(game, BTreeMap::new())
    }

    fn files(&self, name: Named<'_>) -> Vec<PathBuf> {
        match name {
            Named::Game(game) => vec![PathBuf::from(game)],
            Named::Player(player) => PlayerSpec::parse(player).map_or(Vec::new(), |spec| spec.files()),
        }
    }

    fn is_repeatable(&self, player: &str) -> bool {
        PlayerSpec::parse(player).map_or(true, |spec| spec.is_repeatable())
    }

    fn options(&self, player: &str) -> Vec<(String, String)> {
        PlayerSpec::parse(player).map_or(Vec::new(), |spec| spec.all_options())
    }
}

fn open(game: &str, own: BTreeMap<String, LabPlayer>) -> Result<Box<dyn OpenGame>, BoxError> {
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
        own,
    }))
}

struct LabGame {
    game: Game,
    /// Players by name: some read files, and every match asks for them.
    players: Mutex<HashMap<String, PlayerSpec>>,
    own: BTreeMap<String, LabPlayer>,
}

/// Time in which a player elsewhere has to answer before anything is played.
const GREETING: Duration = Duration::from_secs(5);

/// Matches that a player elsewhere plays at a time: all players know how to play one.
static ELSEWHERE: LazyLock<Gate> = LazyLock::new(|| Gate::new(1));

impl LabGame {
    fn player(&self, text: &str) -> Result<PlayerSpec, Error> {
        let mut known = self.players.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spec) = known.get(text) {
            return Ok(spec.clone());
        }
        let spec = PlayerSpec::parse(text)?;
        if let Some(peer) = spec.remote() {
            let heard = exchange(peer, "(INFO)", GREETING, &StopFlag::default());
            heard.map_err(|none| spec.unsuitable(Unsuitable::Unreachable(none.to_string())))?;
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
        if let Some(own) = self.own.get(player) {
            return Ok(own.entrant.seat(&self.game, role, seed)?);
        }
        Ok(self.player(player)?.seat(self.game.engine(), role, seed)?)
    }

    fn enter(&self, players: &[String], stop: &StopFlag) -> Option<Box<dyn Any>> {
        let ours = players.iter().filter(|player| !self.own.contains_key(*player));
        let specs: Vec<PlayerSpec> = ours.filter_map(|player| self.player(player).ok()).collect();
        Some(Box::new(ELSEWHERE.enter(&specs, stop)?))
    }
}
