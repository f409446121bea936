//! Experiments: many matches, their statistics, and reports that set the papers' figures beside ours.
//!
//! A [`Spec`] (TOML) names games, players, seats and sizes, and expands into [`Cell`]s; a cell is played as numbered units, each a
//! match that depends on nothing but the cell, its number and the seed. What is finished is appended to a [`journal`], so that a killed
//! run goes on where it was; what is reported is a function of the finished units alone, whoever played them in whatever order.
//!
//! The lab knows neither games nor players: both come in through a [`GameSource`]. The one exception are the [`opponents`]
//! that the papers wrote by hand for single games, which are part of their experiments and of nothing else.
//!
//! Where to read next: `spec` (what an experiment is), `run` (who plays which unit), `journal` and `folder` (what reaches the disk),
//! `stats` and `summary` (what it comes to), `claims` (what the papers say, held against the numbers), `report` (for people).

pub mod claims;
pub mod contents;
pub mod error;
pub mod folder;
pub mod journal;
pub mod opponents;
pub mod presets;
pub mod report;
pub mod run;
pub mod slurm;
pub mod spec;
pub mod stats;
pub mod summary;
pub mod unit;

mod measure;
mod template;

pub use error::Error;
pub use folder::Folder;
pub use run::{RunOptions, RunPlan, RunSummary};
pub use spec::{Cell, Measure, Size, Spec};

use game::{Batch, RoleId, Seed, Simulator};
use referee::Seat;
use std::path::PathBuf;

/// An error of a [`GameSource`], which the lab only passes on.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Where games and players come from.
pub trait GameSource: Sync {
    /// Opens a game by name.
    ///
    /// # Errors
    /// If there is no such game, or it cannot be played.
    fn open(&self, game: &str) -> Result<Box<dyn OpenGame>, BoxError>;

    /// Files whose contents decide how a game goes or how a player plays.
    fn files(&self, name: Named<'_>) -> Vec<PathBuf>;
}

/// Something that a spec names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// A game.
    Game(&'a str),
    /// A player.
    Player(&'a str),
}

impl<'a> Named<'a> {
    /// Its name.
    pub fn text(self) -> &'a str {
        match self {
            Named::Game(text) | Named::Player(text) => text,
        }
    }
}

/// A game that can be played.
pub trait OpenGame: Send + Sync {
    /// A simulator of the game.
    fn simulator(&self) -> Box<dyn Simulator>;

    /// The game many states at a time, if there is such an engine.
    fn batch(&self, seed: Seed) -> Option<Box<dyn Batch>>;

    /// Somebody to sit in a role's place for one match.
    ///
    /// # Errors
    /// If there is no such player, or it does not play this game.
    fn seat(&self, player: &str, role: RoleId, seed: Seed) -> Result<Seat, BoxError>;
}
