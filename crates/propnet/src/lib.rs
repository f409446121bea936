//! Ground program to network of gates to scalar and lane-parallel simulators.
//!
//! [`compile`] turns a [`ground::Program`] into a [`Compiled`] game: gates over state bits and move bits, made small
//! by the passes in [`passes`]. From it come
//! - [`lanes::Lanes`]: 256 games side by side, for playouts and for sampling.

mod build;
mod circuit;
mod compiled;
pub mod lanes;
mod lower;
pub mod network;
pub mod passes;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

pub use compiled::{CompileOptions, Compiled, PassStats, Stats, compile};
pub use lanes::Lanes;
pub use lanes::cell::{LANES, Mask};
pub use lanes::code::LaneOptions;
