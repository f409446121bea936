//! Experiments: many matches, their statistics, and reports that show the papers' figures beside the measured ones.
//!
//! A [`Spec`] (TOML) names games, players, seats and sizes, and expands into [`Cell`]s. A cell is played as numbered
//! matches. A match depends only on the cell, its number and the seed. Finished matches are appended to a [`journal`],
//! so that a killed run continues where it was. A report is a function of the finished matches: it does not matter who
//! played them in which order.
//!
//! Most programs should use the crate `surmise`, which brings games and players by name, or its command `surmise lab`.
//! Come here to run experiments with games or players of your own: the lab knows neither, and takes both from a
//! [`GameSource`]. The only players here are the [`opponents`] that one of the papers wrote by hand for single games.
//!
//! ```
//! use game::{Batch, Budget, Decision, Fault, Meter, Player, RoleId, Seed, Simulator, Told};
//! use referee::Seat;
//! use std::path::PathBuf;
//! use surmise_lab::{BoxError, Folder, GameSource, Named, OpenGame, RunOptions, RunPlan, Size, Spec, summary};
//!
//! /// A player that always makes the same move.
//! struct Always(String);
//! impl Player for Always {
//!     fn choose(&mut self, _: &[Told], _: &Budget) -> Result<Decision, Fault> {
//!         Ok(Decision::plain(self.0.clone()))
//!     }
//!     fn meter(&self) -> Meter {
//!         Meter::default()
//!     }
//! }
//!
//! /// The games of the catalogue, on the reference simulator.
//! struct Catalogue;
//! impl GameSource for Catalogue {
//!     fn open(&self, game: &str) -> Result<Box<dyn OpenGame>, BoxError> {
//!         Ok(Box::new(Rules(gdl::read(&catalogue::rules(game)?, &gdl::Options::default()).rules)))
//!     }
//!     fn files(&self, _: Named<'_>) -> Vec<PathBuf> {
//!         Vec::new()
//!     }
//! }
//!
//! struct Rules(gdl::Rules);
//! impl OpenGame for Rules {
//!     fn simulator(&self) -> Box<dyn Simulator> {
//!         Box::new(ground::Reference::new(&self.0).expect("playable"))
//!     }
//!     fn batch(&self, _: Seed) -> Option<Box<dyn Batch>> {
//!         None
//!     }
//!     fn seat(&self, player: &str, _: RoleId, _: Seed) -> Result<Seat, BoxError> {
//!         Ok(Seat::Player(Box::new(Always(format!("(show {player})")))))
//!     }
//! }
//!
//! let text = r#"
//!     name = "pennies"
//!     title = "Matching pennies"
//!     [[sweep]]
//!     game = "matching-pennies"
//!     players = ["heads", "{other}"]
//!     games = 20
//!     over = { other = ["heads", "tails"] }
//! "#;
//! let spec = Spec::read("pennies.toml", text, Size::Plain, &[])?;
//! let place = tempfile::tempdir()?;
//! let folder = Folder::prepare(place.path(), &spec)?;
//! let plan = RunPlan::new(&spec, &Catalogue)?;
//! let run = plan.run(&folder, &RunOptions::default())?;
//! assert_eq!((run.played, run.complete), (40, true));
//! let results = folder.finish(&spec)?;
//! let scores: Vec<f64> = summary::summarise(&spec, &results)?.iter().map(|cell| cell.score(0).mean).collect();
//! assert_eq!(scores, [100.0, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to read next: [`spec`] (what an experiment is), [`run`] (which match is played when), [`journal`] and
//! [`folder`] (the files), [`stats`] and [`summary`] (means and intervals), [`claims`] (the papers' claims, compared
//! with the results), [`report`] (the page), [`diff`] (two folders compared), [`error`] (what can go wrong).

pub mod claims;
pub mod contents;
pub mod diff;
pub mod error;
pub mod estimate;
pub mod folder;
pub mod journal;
pub mod ladder;
pub mod opponents;
pub mod presets;
pub mod provenance;
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

use game::{Batch, RoleId, Seed, Simulator, StopFlag};
use referee::Seat;
use std::path::PathBuf;

/// An error of a [`GameSource`], which the lab only passes on.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A source of games and players by name.
pub trait GameSource: Sync {
    /// Opens a game by name.
    ///
    /// # Errors
    /// If there is no such game, or it cannot be played.
    fn open(&self, game: &str) -> Result<Box<dyn OpenGame>, BoxError>;

    /// The files that a game or player reads. Their contents are part of the keys of the cells that use them.
    fn files(&self, name: Named<'_>) -> Vec<PathBuf>;

    /// Whether a player's matches can be repeated: the same seed gives the same moves. The keys of the cells of other
    /// players say so, and so does the report.
    fn is_repeatable(&self, _player: &str) -> bool {
        true
    }

    /// Every option of a player and its value, defaults included, for the report.
    fn options(&self, _player: &str) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A name in a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// A game.
    Game(&'a str),
    /// A player.
    Player(&'a str),
}

impl<'a> Named<'a> {
    /// The name as text.
    pub fn text(self) -> &'a str {
        match self {
            Named::Game(text) | Named::Player(text) => text,
        }
    }
}

/// An open game.
pub trait OpenGame: Send + Sync {
    /// A simulator of the game.
    fn simulator(&self) -> Box<dyn Simulator>;

    /// An engine that advances many states at the same time, if there is one.
    fn batch(&self, seed: Seed) -> Option<Box<dyn Batch>>;

    /// A player for a role in one match.
    ///
    /// # Errors
    /// If there is no such player, or it does not play this game.
    fn seat(&self, player: &str, role: RoleId, seed: Seed) -> Result<Seat, BoxError>;

    /// Waits until these players have room for another match, and keeps their places until the result is dropped. None
    /// if the flag is raised before.
    fn enter(&self, _players: &[String], _stop: &StopFlag) -> Option<Box<dyn std::any::Any>> {
        Some(Box::new(()))
    }
}
