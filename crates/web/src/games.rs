//! Games that tables are played with: opened once, with limits, and shared by their tables.

use crate::ApiError;
use crate::options::Limits;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;
use surmise::draw::Layout;
use surmise::game::StopFlag;
use surmise::{EngineOptions, Game, GameText};

/// A game that can be played, and how it is drawn.
pub struct TableGame {
    /// The game.
    pub game: Game,
    /// How states are drawn.
    pub layout: Layout,
    /// Name for people.
    pub title: String,
}

impl TableGame {
    /// Names of the roles that are not nature.
    pub fn played_roles(&self) -> Vec<String> {
        let roles = self.game.roles();
        let played = self.game.seating().played().iter();
        played.map(|&role| roles[role].clone()).collect()
    }
}

/// Which game a table plays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GameSource {
    /// A game of the catalogue, with parameters.
    Catalogue(String),
    /// Rules that somebody pasted or uploaded.
    Rules(String),
}

/// Games that stay open without a table.
const RECENT: usize = 16;

/// The name of pasted rules in messages and records.
pub const PASTED: &str = "pasted-rules";

/// The games that are open. A game stays open as long as a table uses it.
pub struct GameShelf {
    open: Mutex<HashMap<GameSource, Weak<TableGame>>>,
    /// Games that were asked for last: they stay open without a table.
    recent: Mutex<VecDeque<Arc<TableGame>>>,
    limits: Limits,
    stop: StopFlag,
}

impl GameShelf {
    /// No games yet. The flag ends all work.
    pub fn new(limits: Limits, stop: StopFlag) -> GameShelf {
        GameShelf {
            open: Mutex::default(),
            recent: Mutex::default(),
            limits,
            stop,
        }
    }

    /// Opens a game, or shares it with the tables that play it. Only files of the catalogue can be named.
    ///
    /// # Errors
    /// If there is no such game, or its rules are wrong, too large or too slow.
    pub fn open(&self, source: &GameSource) -> Result<Arc<TableGame>, ApiError> {
        if let Some(game) = self.lock().get(source).and_then(Weak::upgrade) {
            return Ok(game);
        }
        let made = Arc::new(self.make(source)?);
        self.remember(&made);
        let mut open = self.lock();
        open.retain(|_, game| game.strong_count() > 0);
        // Two may have opened it at the same time.
        if let Some(game) = open.get(source).and_then(Weak::upgrade) {
            return Ok(game);
        }
        open.insert(source.clone(), Arc::downgrade(&made));
        Ok(made)
    }

    fn remember(&self, game: &Arc<TableGame>) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.push_back(game.clone());
        if recent.len() > RECENT {
            recent.pop_front();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<GameSource, Weak<TableGame>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, source: &GameSource) -> Result<TableGame, ApiError> {
        let (text, title) = match source {
            GameSource::Catalogue(name) => catalogue_text(name)?,
            GameSource::Rules(rules) => (self.pasted(rules)?, title_of(rules)),
        };
        let started = Instant::now();
        let seconds = self.limits.open_time.as_secs_f64();
        let stop = StopFlag::by(move || started.elapsed().as_secs_f64() / seconds).under(&self.stop);
        let mut options = EngineOptions {
            evaluation_stop: self.stop.clone(),
            time: self.limits.open_time / 2,
            compile_time: self.limits.open_time,
            ..EngineOptions::default()
        };
        options.limits.stop = stop.clone();
        options.limits.instances = self.limits.instances;
        options.limits.bytes = self.limits.ground_bytes;
        let slow = || {
            ApiError::slow(format!(
                "the game could not be opened within {} seconds",
                self.limits.open_time.as_secs()
            ))
        };
        let game = match Game::new(&text, &options) {
            Ok(game) => game,
            Err(_) if stop.is_raised() => return Err(slow()),
            Err(error) => return Err(error.into()),
        };
        if game.seating().played().is_empty() {
            return Err(ApiError::bad(
                "rules",
                "the game has no role besides nature",
                "add a role",
            ));
        }
        let mut sim = game.simulator();
        sim.initial()
            .map_err(|fault| ApiError::from(surmise::Error::Fault(fault)))?;
        let layout = game.layout(&self.stop).map_err(|_| slow())?;
        Ok(TableGame { game, layout, title })
    }

    fn pasted(&self, rules: &str) -> Result<GameText, ApiError> {
        if rules.len() > self.limits.rules_bytes {
            return Err(ApiError::new(
                413,
                "rules-too-long",
                format!(
                    "rules may have {} bytes, these have {}",
                    self.limits.rules_bytes,
                    rules.len()
                ),
                "use `surmise match FILE` for larger games",
            ));
        }
        Ok(GameText::new(PASTED, rules))
    }
}

/// Text and title of a game of the catalogue: no file is ever looked at.
pub fn catalogue_text(name: &str) -> Result<(GameText, String), ApiError> {
    let opened = surmise::catalogue::open(name);
    let (entry, rules) =
        opened.map_err(|error| ApiError::new(404, "no-game", error.to_string(), "GET /api/games lists the games"))?;
    let title = entry.title.to_owned();
    let mut text = GameText::new(name, rules);
    text.entry = Some(entry);
    Ok((text, title))
}

/// The first line of the opening comment, if there is one.
fn title_of(rules: &str) -> String {
    let first = rules.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let comment = first.trim().strip_prefix(';').map(|c| c.trim_start_matches(';').trim());
    match comment {
        Some(title) if !title.is_empty() => title.chars().take(80).collect(),
        _ => "Pasted rules".to_owned(),
    }
}
