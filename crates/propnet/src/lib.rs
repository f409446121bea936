//! Ground program to network of gates to fast simulators.
//!
//! [`compile`] turns a [`ground::Program`] into a [`Compiled`] game: gates over state bits and move bits, made few by
//! the passes in [`passes`]. A compiled game has two simulators:
//! - [`Scalar`]: one state at a time, for trees, referees and solvers. It implements [`game::Simulator`].
//! - [`Lanes`]: 256 games side by side, for playouts and for sampling. It implements [`game::Batch`], and
//!   [`playouts`] plays whole random games with it.
//!
//! Use this crate to run a ground program or to work on the engines. To play, solve or measure games from their rules,
//! use the crate `surmise`, which reads rules, grounds them and chooses the engine.
//!
//! ```
//! use game::{RoleId, Seed, Simulator, StopFlag};
//! use surmise_propnet::{CompileOptions, PlayoutOptions, Scalar, compile, playouts};
//!
//! let text = "(role me) (init (lamp off)) (<= (legal me press) (true (lamp off))) (legal me wait)
//!     (<= (next (lamp on)) (does me press)) (<= (next (lamp off)) (does me wait))
//!     (<= terminal (true (lamp on))) (<= (goal me 100) terminal)";
//! let rules = gdl::read(text, &gdl::Options::default()).rules;
//! let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| ())?;
//! let lamp = compile(&program, &CompileOptions::default());
//!
//! // One state at a time.
//! let mut scalar = Scalar::new(&lamp);
//! let off = scalar.initial()?;
//! let press = scalar.find_move(RoleId(0), "press").unwrap();
//! let on = scalar.next(&off, &[press])?;
//! assert!(scalar.terminal(&on)?);
//! assert_eq!(scalar.fluents(&on), ["(lamp on)"]);
//!
//! // A thousand random games: each ends when the lamp is lit, after two moves on average.
//! let totals = playouts(&lamp, &[off], 1_000, Seed(1), &PlayoutOptions::default(), &StopFlag::default());
//! assert_eq!(totals.roots[0].points[0], 100 * 1_000);
//! assert!((1_800..2_200).contains(&totals.meter.states));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Compiling a large game takes seconds. [`compile_until`] can be stopped, and so can the preparation of simulators
//! ([`Compiled::prepare_scalar`], [`Compiled::prepare_lanes`]). [`Tuning`] has the thresholds of all choices between
//! ways to run a game.
//!
//! Where to read next: [`network`] for gates, `build.rs` for the way from rules to gates, [`scalar`] and [`lanes`] for
//! the simulators, `jit/` for machine code. On processors other than x86-64, `jit_portable.rs` replaces `jit/`, and the
//! interpreter of the lanes and the portable ways of the scalar simulator run everything.

mod build;
mod circuit;
mod compiled;
mod gate_table;
mod guard;
// The only place that depends on the processor. `--cfg surmise_portable` selects what other processors run.
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
mod store;
#[cfg(test)]
mod tests;
mod tuning;

pub use compiled::{CompileError, CompileOptions, Compiled, PassStats, Stats, compile, compile_until};
pub use jit::makes_machine_code;
pub use lanes::Lanes;
pub use lanes::cell::{LANES, Mask};
pub use lanes::code::LaneOptions;
pub use lanes::environment::{Environment, IllegalAction};
pub use lanes::one::OneLane;
pub use lanes::playouts::{GoalTiming, PlayoutOptions, PlayoutTotals, playouts};
pub use lanes::rollouts::Rollouts;
pub use scalar::{Scalar, ScalarMode, ScalarPlayout};
pub use tuning::Tuning;
