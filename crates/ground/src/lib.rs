//! Checked rules to a ground program, and the slow, obvious reference simulator.

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
pub use reference::{Guards, Reference};

/// The payoff that a goal's second argument stands for: decimal digits, so that `00` is 0.
pub fn goal_value(text: &str) -> Option<i32> {
    text.parse().ok()
}
