//! The shared words and traits of Surmise: roles, moves, percepts, views, budgets, meters, seeds.
//!
//! Everything that plays sees a game only through [`Simulator`]. A player is handed its [`View`], never a state.

mod batch;
mod budget;
mod fault;
mod meter;
mod player;
mod playouts;
mod seed;
mod simulator;
mod view;
mod words;

pub use batch::{Batch, LaneSet, SlowBatch};
pub use budget::{Budget, StopFlag};
pub use fault::{Fault, PlayerError};
pub use meter::Meter;
pub use player::{Candidate, Cheat, Decision, Player, Told};
pub use playouts::{Playouts, RootTotals, one_by_one};
pub use seed::{Rng, Seed};
pub use simulator::{Goal, MoveId, PerceptId, RoleId, Simulator, State};
pub use view::{Round, View};
pub use words::by_word;
