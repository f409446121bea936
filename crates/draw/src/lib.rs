//! Pictures of game states, from the rules alone.
//!
//! A [`Layout`] is found once for a game: which fluents are boards, hands and counters, and which moves are made where.
//! It turns what a role knows ([`Known`]), or the whole state ([`FullState`]), into a [`Picture`], and [`svg()`] prints
//! one. The crate knows no files, no JSON and no browser; the crate `surmise` makes [`Known`] from a belief.
//!
//! ```
//! use surmise_draw::{FullState, Layout, LayoutOptions};
//!
//! let text = "(role me) (init (lamp off)) (<= (legal me press) (true (lamp off)))
//!     (<= (next (lamp on)) (does me press)) (<= terminal (true (lamp on))) (<= (goal me 100) terminal)";
//! let rules = gdl::read(text, &gdl::Options::default()).rules;
//! let mut simulator = ground::Reference::new(&rules)?;
//! let layout = Layout::new(&rules, &mut simulator, &LayoutOptions::default())?;
//! let state = FullState::of_referee(["(lamp off)".to_owned()]);
//! let picture = layout.full_picture(&state, &["press".to_owned()]);
//! assert_eq!(picture.parts.len(), 1);
//! assert_eq!(picture.moves[0].label, "press");
//! # Ok::<(), game::Fault>(())
//! ```

mod candidates;
mod colours;
mod contents;
mod draw;
mod facts;
mod family;
mod find;
mod geometry;
mod hint;
mod layout;
mod moves;
mod order;
mod orient;
pub mod picture;
mod pieces;
mod sample;
mod statics;
mod svg;
mod term;
mod wording;

pub use facts::{FullState, Known};
pub use layout::{Layout, LayoutOptions};
pub use picture::{Board, Cell, Counter, Fact, Hand, List, Part, Picture, Piece, Place, PlacedMove, Shape};
pub use svg::{SvgOptions, svg};
