//! Checked rules to a ground program, and the reference simulator.
//!
//! - [`Reference`] evaluates the rules themselves, goal by goal. It plays every valid game, thousands of states a
//!   second, and its answers define those of the fast simulators.
//! - [`ground()`] turns the rules into a [`Program`] without variables, which `propnet` compiles to a fast simulator.
//!   If a game is too large, the error names the relation that is, and the game is played on [`Reference`].
//! - [`rewrite`] makes rules that ground to fewer instances; [`ground_rewritten`] proves what that needs.
//! - [`Direct`] runs a [`Program`] naively. Tests compare other simulators of programs with it.
//! - [`audit()`] plays random games and reports what breaks the promises of the language.
//! - [`Reference::why`] explains why an atom holds in a state, or why not.
//! - [`testing`] makes random games for tests.
//!
//! Use this crate to run rules without a network, or to work on grounding. To play, solve or measure games, use the
//! crate `surmise`, which chooses between the engines.
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
//! Where to read next: `reference/machine.rs` for evaluation with tables, `ground.rs` for the steps of grounding. Both
//! share hash-consed `terms`, rows of terms with indexes (`facts`), `theory` (numbered relations and their
//! dependencies), `order` (which condition of a rule to try first), and `pattern` and `steps` (compiled rules). This
//! crate uses no clock, no files and no randomness except that of a given seed.

mod audit;
mod direct;
mod facts;
mod ground;
mod order;
mod pattern;
pub mod program;
mod prove;
mod reference;
pub mod rewrite;
mod scc;
mod steps;
mod terms;
pub mod testing;
mod theory;

pub use audit::{Audit, AuditOptions, RuleCount, audit};
pub use direct::Direct;
pub use ground::{
    Census, GroundError, Limits, Progress, RelationCost, RuleCost, Splitting, census, ground, ground_rewritten,
};
pub use program::{AtomId, GroundRule, Lit, Output, Program};
pub use prove::unproven;
pub use reference::{Because, Condition, Derivation, EvaluationLimits, Reference, Why};
pub use rewrite::Passes;

/// The payoff that a goal's second argument stands for: decimal digits, so that `00` is 0.
pub fn goal_value(text: &str) -> Option<i32> {
    text.parse().ok()
}
