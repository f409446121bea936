//! Fuzz targets: functions that take bytes from outside and must not panic, run for long or take much memory.
//!
//! [`TARGETS`] lists them. Each has seeds, which are valid inputs, and a [`Grammar`], by which [`Mutator`] makes new
//! inputs: it knows tokens, balanced parentheses, lines and JSON values, so that many mutants are still nearly valid.
//!
//! `cargo test -p surmise-fuzz` replays the inputs that once broke something (`testdata/fuzz/TARGET/`) and tries some
//! thousand mutants from a fixed seed. `make fuzz SECONDS=600` builds with LLVM's coverage counters and lets libFuzzer
//! choose which mutants to keep; this works on stable Rust. What breaks is written to `testdata/fuzz/TARGET/`.
//!
//! Work is bounded by counts, never by clocks: a [`StopFlag`](surmise::game::StopFlag) that is raised after a number of
//! looks ([`looks`]) ends long work at the same place on every machine.

mod limits;
mod mutate;
mod seeds;
mod targets;

pub use limits::looks;
pub use mutate::{Grammar, Mutator};
pub use targets::{TARGETS, Target, find};
