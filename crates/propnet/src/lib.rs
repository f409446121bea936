//! Ground program to network of gates to scalar and lane-parallel simulators.
//!
//! [`compile`] turns a [`ground::Program`] into a [`Compiled`] game: gates over state bits and move bits, made small
//! by the passes in [`passes`]. From it come
//! - [`Scalar`]: one state at a time, for trees, referees and solvers;
//! - [`lanes::Lanes`]: 256 games side by side, for playouts and for sampling.

mod build;
mod circuit;
mod compiled;
mod guard;
// The only place that asks for the processor. `--cfg surmise_portable` chooses what other processors run.
#[cfg_attr(not(all(target_arch = "x86_64", not(surmise_portable))), path = "jit_portable.rs")]
mod jit;
pub mod lanes;
mod lower;
pub mod network;
pub mod passes;
#[cfg(test)]
mod random_program;
pub mod scalar;
mod schedule;
#[cfg(test)]
mod tests;
mod tuning;

pub use compiled::{CompileError, CompileOptions, Compiled, PassStats, Stats, compile, compile_until};
pub use jit::makes_machine_code;
pub use lanes::Lanes;
pub use lanes::cell::{LANES, Mask};
pub use lanes::code::LaneOptions;
pub use lanes::one::OneLane;
pub use lanes::playouts::{GoalTiming, PlayoutOptions, PlayoutTotals, playouts};
pub use lanes::rollouts::Rollouts;
pub use scalar::{Scalar, ScalarMode, ScalarPlayout};
pub use tuning::Tuning;
