//! The shared words and traits of Surmise: roles, moves, percepts, views, budgets, meters, seeds.
//!
//! Everything that plays sees a game only through [`Simulator`]. A player is handed its [`View`], never a state.

mod batch;
mod budget;
mod fault;
mod meter;
mod player;
mod playouts;
pub mod regret;
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
pub use words::{by_word, closest};

/// Limits on the length of games, for rules under which a game may never end.
pub mod limits {
    /// Rounds after which a match, a game tree or a benchmark gives up.
    pub const MATCH_ROUNDS: usize = 2_000;
    /// Rounds after which a random playout ends and counts as it stands.
    pub const PLAYOUT_ROUNDS: usize = 20_000;
    /// Rounds after which a simulated game between thinking players, or a game of self-play, ends and counts as it
    /// stands.
    pub const THINKING_ROUNDS: usize = 1_000;
}
