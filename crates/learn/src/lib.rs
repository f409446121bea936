//! Learning games by self-play: a neural network for all states, and a regret table for frequent views.
//!
//! Use this crate to train on a simulator, or to play with what was learned. If you want to train on a game by name and
//! keep the result in files, use the crate `surmise`.
//!
//! [`Trainer`] plays generations of games and trains both. [`Blueprint`] is the result for play. [`LearnedHorizon`]
//! makes it available to [`search::Cfr`]: values and policies of states from the network, policies of whole views from
//! the table. [`Archive`] turns them into bytes and back.
//!
//! ```
//! use game::StopFlag;
//! use propnet::{CompileOptions, Scalar, compile};
//! use surmise_learn::{Codec, Settings, Trainer, ViewKey, Worker};
//!
//! let text = catalogue::rules("scissors-paper-rock").unwrap();
//! let rules = gdl::read(&text, &gdl::Options::default()).rules;
//! let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
//! let moves: Vec<usize> = program.moves.iter().map(Vec::len).collect();
//! let compiled = compile(&program, &CompileOptions::default());
//! let codec = Codec::new(&mut Scalar::new(&compiled), &moves).unwrap();
//! let settings = Settings { width: Some(8), batches: 1, batch: 8, ..Settings::default() };
//! let mut trainer = Trainer::new(codec, settings);
//! let mut workers = [Worker::new(Box::new(Scalar::new(&compiled)), 1 << 20)];
//! for _ in 0..300 {
//!     trainer.generation(&mut workers, &StopFlag::default(), &StopFlag::default()).unwrap();
//! }
//! // The equilibrium is 0.4, 0.4, 0.2 for paper, rock and scissors, in the order of the moves' names.
//! let policy = trainer.table.average(ViewKey::start(0), 3).unwrap();
//! assert!(policy[2] < policy[0] && policy[2] < policy[1], "{policy:?}");
//! ```
//!
//! Nothing here reads a clock or a file. Read next: `selfplay` for the algorithm, [`Settings`] for its parameters,
//! [`Archive`] for the file format.

mod archive;
mod blueprint;
mod cache;
mod codec;
mod matrix;
mod network;
mod paper;
mod response;
mod selfplay;
mod settings;
mod shard;
mod table;
mod trainer;
mod worker;

pub use archive::{Archive, ArchiveError};
pub use blueprint::{Blueprint, LearnedHorizon, LearnedOpponents};
pub use codec::{Codec, CodecDifference};
pub use network::{Adam, Loss, NetworkAnswer, NetworkShape, NeuralNetwork, TargetPolicy, TrainingTarget, softmax};
pub use response::Response;
pub use settings::{LearnError, Method, Settings, UnknownMethod};
pub use shard::{NotAShard, Shard};
pub use table::{RegretTable, ViewKey};
pub use trainer::Trainer;
pub use worker::{CacheUse, Worker};
