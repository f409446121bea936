//! Checked rules to a ground program, and the slow, obvious reference simulator.

pub mod program;

pub use program::{AtomId, GroundRule, Lit, Output, Program};
