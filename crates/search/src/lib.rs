//! Players that choose moves by simulation, one file each.
//!
//! | player | decides by |
//! |---|---|
//! | [`Random`] | a uniformly random legal move |
//! | [`First`] | the first legal move |
//! | [`HyperPlay`] | playouts from models that explain what the role was told |
//! | [`MonteCarlo`] | flat Monte Carlo in a game of complete information |
//! | [`Cheater`] | flat Monte Carlo in the true state: for experiments only |
//!
//! Every player is made with [`Tools`] and is handed nothing later but what its role was told.

mod believer;
mod cheat;
mod flat;
mod hyperplay;
mod montecarlo;
mod plain;
mod tools;

pub use believer::Believer;
pub use cheat::Cheater;
pub use flat::{Guess, Plan, weigh};
pub use hyperplay::HyperPlay;
pub use montecarlo::MonteCarlo;
pub use plain::{First, Random};
pub use tools::Tools;
