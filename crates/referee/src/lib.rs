//! Matches: seats, clocks, legality, percepts, and the record.
//!
//! The true state is kept here and nowhere else. A [`game::Player`] is told its own executed moves and its percepts. A
//! [`game::Cheat`] is shown the true state through a trait of its own, and the record says so.
//!
//! Most programs should start at the crate `surmise`, which opens a game and seats players by name. Come here to
//! referee matches of a [`game::Simulator`] that you bring yourself:
//!
//! ```
//! use game::{Budget, Decision, Fault, Meter, Player, Seed, Told};
//! use surmise_referee::{Match, Seat, Seating};
//!
//! struct Heads;
//! impl Player for Heads {
//!     fn choose(&mut self, _: &[Told], _: &Budget) -> Result<Decision, Fault> {
//!         Ok(Decision::plain("(show heads)"))
//!     }
//!     fn meter(&self) -> Meter {
//!         Meter::default()
//!     }
//! }
//!
//! let rules = catalogue::rules("matching-pennies")?;
//! let mut sim = ground::Reference::new(&gdl::read(&rules, &gdl::Options::default()).rules)?;
//! let seating = Seating::new(&sim);
//! let seats = seating.seats(0, Seed(1), |_, _, _| Ok::<_, Fault>(Seat::Player(Box::new(Heads))))?;
//! let names = seating.names(&["heads", "heads"], 0);
//! let outcome = Match::new(&mut sim, seats, names, Seed(1)).play()?;
//! assert_eq!(outcome.record.goals, [100, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to read next: `play` (one match), `seating` (which player plays which role), `record` (the record as JSON, and
//! its replay), [`program`] (programs of others, line by line), `views` (XML for viewers), `runtime` (time and threads,
//! real or simulated).

mod play;
pub mod program;
mod record;
mod runtime;
mod seating;
mod views;

pub use play::{Clock, Excuse, Guest, Match, Outcome, Reply, Seat, SeatReport, Title};
pub use record::{Record, RecordError, Round, Substitution, Wire, replay};
pub use runtime::{Bell, Runtime, System, Work};
pub use seating::{NATURE, Seating, SeatingError};
pub use views::{escape, views};
