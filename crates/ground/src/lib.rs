//! Checked rules to a ground program, and the slow, obvious reference simulator.

mod facts;
mod order;
mod pattern;
pub mod program;
mod reference;
mod scc;
mod terms;
mod theory;

pub use program::{AtomId, GroundRule, Lit, Output, Program};
pub use reference::{Guards, Reference};

/// The payoff that a goal's second argument stands for: decimal digits, so that `00` is 0.
pub fn goal_value(text: &str) -> Option<i32> {
    text.parse().ok()
}
