//! One match: who moves what, what everybody perceives, and the record of it.
//!
//! The true state lives here and nowhere else. A [`game::Player`] is told its own executed moves and its percepts; a
//! [`game::Cheat`] is shown the state through a door of its own, and the record says so.

mod play;
mod record;
mod views;

pub use play::{Clock, Excuse, Guest, Match, Outcome, Reply, Seat, SeatReport};
pub use record::{Record, RecordError, Round, Substitution, Wire, replay};
pub use views::{escape, views};
