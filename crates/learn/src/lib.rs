//! Learning games by self-play: a network for all states, a table for the views that come up often.
//!
//! [`Trainer`] plays generations of games and teaches both; [`Blueprint`] is what is left of that for playing, and
//! [`LearnedHorizon`] lets [`search::Cfr`] use it: values and policies of states from the network, policies of whole views from the
//! table. [`Archive`] turns them into bytes and back.
//!
//! Nobody here reads a clock or a file.

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
mod table;
mod trainer;
mod worker;

pub use archive::{Archive, ArchiveError};
pub use blueprint::{Blueprint, LearnedHorizon, LearnedOpponents};
pub use codec::{Codec, CodecDifference};
pub use network::{Adam, Loss, NetworkAnswer, NetworkShape, NeuralNetwork, TargetPolicy, TrainingTarget, softmax};
pub use response::Response;
pub use settings::{LearnError, Method, Settings, UnknownMethod};
pub use table::{RegretTable, ViewKey};
pub use trainer::Trainer;
pub use worker::{CacheUse, Worker};
