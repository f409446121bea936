//! Checked rules to a ground program, and the slow, obvious reference simulator.
//!
//! Come here to run a game from its rules:
//!
//! - [`Reference`] evaluates the rules themselves, goal by goal. It plays every valid game and defines what the fast engines
//!   must answer. Slow: thousands of states a second.
//! - [`ground()`] turns the rules into a [`Program`] without variables, which `propnet` compiles. Some games are too large
//!   for that; it then says which relation is to blame, and the game is played on [`Reference`].
//! - [`Direct`] runs a [`Program`] in the most obvious way: a twin for tests of anything that runs programs.
//! - [`testing`] makes random games for such tests.
//!
//! ```
//! use game::{RoleId, Simulator};
//!
//! let text = "(role me) (init (lamp off)) (<= (legal me press) (true (lamp off)))
//!     (<= (next (lamp on)) (does me press)) (<= terminal (true (lamp on))) (<= (goal me 100) terminal)";
//! let rules = gdl::read(text, &gdl::Options::default()).rules;
//!
//! let mut lamp = surmise_ground::Reference::new(&rules)?;
//! let off = lamp.initial()?;
//! let press = lamp.find_move(RoleId(0), "press").unwrap();
//! let on = lamp.next(&off, &[press])?;
//! assert_eq!(lamp.fluents(&on), ["(lamp on)"]);
//! assert_eq!(lamp.goal(&on, RoleId(0))?.points(), 100);
//!
//! let program = surmise_ground::ground(&rules, &surmise_ground::Limits::default(), &mut |_| ())?;
//! assert_eq!(program.fluents, ["(lamp off)", "(lamp on)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Both engines share the bottom of the house: hash-consed `terms`, rows of them with indexes (`facts`), `theory` (the rules with
//! relations numbered and what depends on what), `order` (which condition of a rule to try first), `pattern` and `steps`
//! (rules compiled to be run). No clock, file or randomness is touched here.

mod audit;
mod direct;
mod facts;
mod ground;
mod order;
mod pattern;
pub mod program;
mod reference;
mod scc;
mod steps;
mod terms;
pub mod testing;
mod theory;

pub use audit::{Audit, AuditOptions, audit};
pub use direct::Direct;
pub use ground::{GroundError, Limits, Progress, Splitting, ground};
pub use program::{AtomId, GroundRule, Lit, Output, Program};
pub use reference::{EvaluationLimits, Reference};

/// The payoff that a goal's second argument stands for: decimal digits, so that `00` is 0.
pub fn goal_value(text: &str) -> Option<i32> {
    text.parse().ok()
}
