//! Shared types and traits of Surmise: roles, moves, percepts, views, budgets, meters, seeds, simulators, players.
//!
//! Everything that plays sees a game only through [`Simulator`]. A [`Player`] is handed what its role was told, as
//! [`Told`] rounds, never a state. Come here to implement one of the two; to play, use the crate `surmise`, which opens
//! games and seats players.
//!
//! A player in a few lines:
//!
//! ```
//! use surmise_game::{Budget, Decision, Fault, Meter, Player, Told};
//!
//! /// Repeats its first move for ever.
//! struct Stubborn(String);
//!
//! impl Player for Stubborn {
//!     fn choose(&mut self, told: &[Told], _: &Budget) -> Result<Decision, Fault> {
//!         let first = told.first().map_or(&self.0, |round| &round.own);
//!         Ok(Decision::plain(first.clone()))
//!     }
//!
//!     fn meter(&self) -> Meter {
//!         Meter::default()
//!     }
//! }
//!
//! let told = [Told::new("(bet 2)", ["(raised)"])];
//! let decision = Stubborn("(bet 1)".to_owned()).choose(&told, &Budget::iterations(1))?;
//! assert_eq!(decision.mv, "(bet 2)");
//! # Ok::<(), Fault>(())
//! ```
//!
//! Where to read next: `simulator` and `batch` (games), `player` and `view` (what a role knows), `budget` (when to
//! stop), `seed` (repeatable randomness), `fault` (what can go wrong), `canonical` (terms as text), `regret` (the
//! update that solvers and search share).

mod batch;
mod budget;
pub mod canonical;
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
pub use budget::{Budget, PacedStop, StopFlag};
pub use fault::{Fault, PlayerError};
pub use meter::Meter;
pub use player::{Candidate, Cheat, Decision, Player, Told};
pub use playouts::{GameEnds, Playouts, RootTotals, one_by_one};
pub use seed::{Rng, Seed};
pub use simulator::{Goal, MoveId, PerceptId, RoleId, Simulator, State};
pub use view::{Round, View};
pub use words::{UnknownWord, by_word, closest};

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
