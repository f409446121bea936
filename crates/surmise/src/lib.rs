//! The front door of Surmise: games by name, and the command line.
//!
//! No algorithm lives here. Each command is a file in `commands/` that asks the crates below and prints the answer.

mod cli;
mod commands;
pub mod engine;
mod house;
mod interrupt;
mod learned;
mod load;
mod log;
mod output;
pub mod players;
mod progress;
mod rating;
mod strategy;
pub mod table;
mod threads;
pub mod wire;

pub use cli::run;
pub use load::{Loaded, load};
