//! What requests ask for.

use crate::ApiError;
use crate::games::{GameSource, TableGame};
use crate::options::ServeOptions;
use crate::table::seats::{self, HUMAN};
use crate::table::{Setup, Sitter};
use crate::tables::MAX_DELAY;
use crate::token;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A new table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewTable {
    /// A game of the catalogue, with parameters.
    pub game: Option<String>,
    /// Rules, in place of a game.
    pub rules: Option<String>,
    /// `human` or a player, by role. Roles that are not named are played by `auto`.
    #[serde(default)]
    pub seats: BTreeMap<String, String>,
    /// Seconds that a player thinks about a move, by role.
    #[serde(default)]
    pub times: BTreeMap<String, f64>,
    /// Seed of nature's moves, of substitutions and of players.
    pub seed: Option<u64>,
    /// Seconds that a move may take.
    pub clock: Option<u64>,
    /// Pause between rounds of a table without people, in milliseconds.
    pub delay: Option<u64>,
}

/// The player of roles that a request does not name.
const DEFAULT_PLAYER: &str = "auto";

/// Pause between rounds, in milliseconds.
const DEFAULT_DELAY: u64 = 500;

/// Longest time for a move of a person, in seconds.
const MAX_CLOCK: u64 = 24 * 3600;

/// Seeds that are drawn have as many bits as a number of JavaScript holds.
const SEED_BITS: u32 = 53;

impl NewTable {
    /// The game that is asked for.
    ///
    /// # Errors
    /// If there is not exactly one.
    pub fn source(&self) -> Result<GameSource, ApiError> {
        match (&self.game, &self.rules) {
            (Some(game), None) => Ok(GameSource::Catalogue(game.trim().to_owned())),
            (None, Some(rules)) => Ok(GameSource::Rules(rules.clone())),
            _ => Err(ApiError::bad(
                "request",
                "a table needs a game or rules, one of both",
                "send \"game\": NAME or \"rules\": TEXT",
            )),
        }
    }

    /// How the table is set up.
    ///
    /// # Errors
    /// If a role, player, clock or pause is wrong.
    pub fn setup(&self, game: Arc<TableGame>, options: &ServeOptions) -> Result<Setup, ApiError> {
        let played = game.played_roles();
        for role in self.seats.keys().chain(self.times.keys()) {
            if !played.contains(role) {
                return Err(ApiError::bad(
                    "no-role",
                    format!("the game has no role `{role}` that can be played"),
                    format!("the roles are {}", played.join(", ")),
                ));
            }
        }
        let mut sitters = Vec::new();
        for role in game.game.roles() {
            sitters.push(match played.contains(role) {
                false => Sitter::Nature,
                true => self.sitter(role, options)?,
            });
        }
        if self.clock.is_some_and(|clock| !(1..=MAX_CLOCK).contains(&clock)) {
            return Err(ApiError::bad(
                "request",
                format!("clock must be 1 to {MAX_CLOCK} seconds"),
                "leave it out",
            ));
        }
        let delay = self.delay.unwrap_or(DEFAULT_DELAY);
        if delay > MAX_DELAY {
            return Err(ApiError::bad(
                "request",
                format!("delay must be 0 to {MAX_DELAY} ms"),
                "leave it out",
            ));
        }
        Ok(Setup {
            game,
            sitters,
            seed: self.seed.or_else(drawn_seed).ok_or_else(ApiError::internal)?,
            clock: self.clock,
            delay,
            think_time: options.limits.think_time,
            max_rounds: options.limits.rounds,
        })
    }

    fn sitter(&self, role: &str, options: &ServeOptions) -> Result<Sitter, ApiError> {
        let who = self.seats.get(role).map_or(DEFAULT_PLAYER, |who| who.trim());
        if who == HUMAN {
            return Ok(Sitter::Person);
        }
        let most = options.limits.think_time.as_secs_f64();
        let time = match self.times.get(role) {
            None => None,
            Some(time) if (0.01..=most).contains(time) => Some(Duration::from_secs_f64(*time)),
            Some(_) => {
                return Err(ApiError::bad(
                    "request",
                    format!("the time of a player must be 0.01 to {most} seconds"),
                    "leave it out to let the player stop by its own numbers",
                ));
            }
        };
        Ok(Sitter::Player(Box::new(seats::read_player(who, options)?), time))
    }
}

/// A seed that nobody knows.
pub fn drawn_seed() -> Option<u64> {
    token::seed().map(|seed| seed >> (64 - SEED_BITS))
}

/// A token alone.
#[derive(Clone, Debug, Deserialize)]
pub struct WithToken {
    /// The token.
    #[serde(default)]
    pub token: String,
}

/// A move.
#[derive(Clone, Debug, Deserialize)]
pub struct Move {
    /// The token of a seat.
    pub token: String,
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
}

/// Taking back, or the answer to such a request.
#[derive(Clone, Debug, Deserialize)]
pub struct TakeBack {
    /// The token of a seat.
    pub token: String,
    /// Whether the person agrees; `false` refuses.
    pub agree: Option<bool>,
}

/// A question of a seat.
#[derive(Clone, Debug, Deserialize)]
pub struct Advice {
    /// The token of a seat.
    pub token: String,
    /// The player to ask.
    pub player: Option<String>,
    /// The round to explain, counted from 1.
    pub round: Option<usize>,
}

/// A rematch.
#[derive(Clone, Debug, Deserialize)]
pub struct RematchRequest {
    /// The token of a seat.
    pub token: String,
    /// `human` or a player, by role; without it everyone moves on by one seat.
    pub seats: Option<BTreeMap<String, String>>,
}

/// What a watcher wants.
#[derive(Clone, Debug, Deserialize)]
pub struct ControlRequest {
    /// The token of watchers.
    pub token: String,
    /// `stop`, `go`, `step` or `delay`.
    #[serde(rename = "do")]
    pub what: String,
    /// Pause between rounds, in milliseconds.
    pub delay: Option<u64>,
}

/// A position.
#[derive(Clone, Debug, Deserialize)]
pub struct Position {
    /// The token.
    #[serde(default)]
    pub token: String,
    /// Rounds played.
    pub round: Option<usize>,
    /// The role whose view is asked for.
    pub role: Option<String>,
}

/// Rules to check.
#[derive(Clone, Debug, Deserialize)]
pub struct CheckRequest {
    /// The rules.
    pub rules: String,
}

/// A solver or training run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewJob {
    /// `solve` or `train`.
    pub kind: String,
    /// A game of the catalogue, with parameters.
    pub game: Option<String>,
    /// Rules, in place of a game.
    pub rules: Option<String>,
    /// Algorithm of a solver run.
    pub algorithm: Option<String>,
    /// Iterations of a solver run.
    pub iterations: Option<u64>,
    /// Seconds of a solver run.
    pub seconds: Option<f64>,
    /// NashConv, in points, at which a solver run ends.
    pub until: Option<f64>,
    /// Minutes of a training run.
    pub minutes: Option<f64>,
}

impl NewJob {
    /// The game that is asked for.
    ///
    /// # Errors
    /// If there is not exactly one.
    pub fn source(&self) -> Result<GameSource, ApiError> {
        let request = NewTable {
            game: self.game.clone(),
            rules: self.rules.clone(),
            ..NewTable::default()
        };
        request.source()
    }

    /// The options that were given.
    pub fn shown(&self) -> Map<String, Value> {
        let options = json!({
            "algorithm": self.algorithm,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "until": self.until,
            "minutes": self.minutes,
        });
        let mut options = options.as_object().cloned().unwrap_or_default();
        options.retain(|_, value| !value.is_null());
        options
    }
}
