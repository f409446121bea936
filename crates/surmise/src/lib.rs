//! Surmise plays games with hidden information from their rules alone.
//!
//! This crate is the door to all of it. [`Game::open`] takes a game of the catalogue or a rules file; an open game is
//! played ([`Game::play`]), believed about ([`Game::belief`]), solved ([`Game::tree`]), learned ([`Game::train`]) and
//! explained ([`Game::explain`]). Players are named as on the command line ([`PlayerSpec`], listed in
//! [`players::registry`]), or are your own implementations of [`game::Player`] ([`OwnPlayer`]).
//!
//! ```
//! use surmise::{Entrant, Game, MatchOptions, PlayerSpec};
//!
//! let game = Game::open("monty-hall")?;
//! assert_eq!(game.roles(), ["candidate", "random"]);
//!
//! let player: PlayerSpec = "hp:16,4".parse()?;
//! let options = MatchOptions { games: 20, ..MatchOptions::default() };
//! let matches = game.play(&[&player], &options)?;
//! let won = matches.iter().filter(|m| m.outcome.record.goals[0] == 100).count();
//! assert!(won >= 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a role can believe, from what it did and saw:
//!
//! ```
//! use surmise::{BeliefOptions, Game, game::Told};
//!
//! let game = Game::open("monty-hall")?;
//! let told = [("(choose 1)", vec![]), ("noop", vec!["(closed 3)"])];
//! let told = told.map(|(own, sees)| Told::new(own, sees));
//! let belief = game.belief("candidate", &told, &BeliefOptions::default())?;
//! assert!((belief.fluents["(car 3)"] - 2.0 / 3.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crates below are here under their short names: [`gdl`] (rules text), [`game`] (shared types and traits),
//! [`ground`] and [`propnet`] (simulators), [`belief`], [`search`], [`solve`], [`learn`], [`referee`] (matches and
//! records), [`ggp`] (the GGP protocol), [`lab`] (experiments), [`catalogue`] (games). Go there for parts; stay here
//! for whole jobs. The programs in this crate's `examples/` are the next thing to read.
//!
//! Nothing here prints, parses command lines or catches signals: the crate `surmise-cli` does.

pub mod answer;
mod beliefs;
mod cache;
mod columns;
mod drawing;
pub mod engine;
mod environments;
mod error;
mod experiments;
mod explaining;
pub mod exploit;
pub mod files;
pub mod foreign;
pub mod game_report;
pub mod game_tests;
pub mod hosting;
mod lab_games;
mod large;
mod matches;
mod open_game;
pub mod players;
mod rating;
mod reasons;
mod solving;
mod source;
mod start_training;
pub mod starters;
mod starting;
mod strategy;
mod training;
mod training_folder;
mod training_shards;
mod wire_player;
mod wire_record;

pub use beliefs::{BeliefOptions, BeliefTracker, NamedBelief};
pub use columns::column_width;
pub use drawing::{PlayedLine, Showing};
pub use engine::{Engine, EngineKind, EngineOptions};
pub use environments::{EnvironmentOptions, Environments, MOST_ENVIRONMENTS, Observation, Written, WrongAction};
pub use error::{Error, Unsuitable};
pub use experiments::{ExperimentOptions, ExperimentReport, run_experiment};
pub use explaining::{ExplainOptions, Explanation, LikelyState, check_sight};
pub use exploit::{AgainstOptions, Frontier, ModelReport, ModelSpec};
pub use lab_games::{LabGames, LabPlayer, OwnLabGames};
pub use large::{
    CurvePoint, Exploitation, ExploitationPoint, LargeHow, LargeOptions, LargeSolution, LargeSolving, LargeStep,
    is_compact_strategy, policy_file,
};
pub use matches::{
    Entrant, MatchOptions, MatchResult, MatchSummary, OwnPlayer, SeriesMemory, SummaryRow, write_record,
};
pub use open_game::Game;
pub use players::PlayerSpec;
pub use rating::ResponseBounds;
pub use reasons::{Flip, MoveReason, Reasons};
pub use solving::{GameTree, How, LP_SEQUENCES, Method, Solution, SolveOptions, SolveProgress};
pub use source::GameText;
pub use strategy::{Strategy, told_from_json};
pub use training::{TrainOptions, TrainProgress, Training};
pub use training_shards::{ShardFolder, WorkDone, WorkOptions};
pub use wire_player::WirePlayers;
pub use wire_record::MatchRecorder;

pub use {belief, catalogue, draw, game, gdl, ggp, ground, lab, learn, propnet, referee, search, solve};

/// The programs of docs/library.md are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;
