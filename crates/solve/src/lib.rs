//! Solving games: strategies that nobody can exploit, and how far a strategy is from that.
//!
//! You want this crate if a game is small enough for all of its histories to be played out: some millions. [`Tree::build`]
//! does that once, from any [`game::Simulator`]; [`Form`] is the same game as numbers, without histories; a [`Solver`]
//! improves a strategy profile on it, and [`Form::nash_conv`] says what all roles together could still gain.
//!
//! | algorithm | paper | use it |
//! |---|---|---|
//! | [`Algorithm::Cfr`] | Zinkevich and others 2007 | to compare with: the plain one |
//! | [`Algorithm::CfrPlus`] | Tammelin 2014 | first: fast on most games |
//! | [`Algorithm::Discounted`] | Brown and Sandholm 2019, also [linear](Algorithm::Linear) | when some actions are grave mistakes |
//! | [`Algorithm::External`] | Lanctot and others 2009 | when one pass over the game takes too long |
//! | [`Algorithm::Outcome`] | Lanctot and others 2009 | when even that does; noisy |
//!
//! With two roles and goals that sum to a constant all of them approach an equilibrium, and [`equilibrium`] finds it at once by
//! linear program, up to some tens of thousands of information sets. In other games the same updates are
//! made and there is no such promise, though [`Form::nash_conv`] still means what it says. With one role against nature
//! nothing needs to be learnt: [`Form::best_response`] is the optimum.
//!
//! Nobody here reads a clock or prints; ids are those of the simulator the tree was built from.

mod cfr;
mod cfr_plus;
mod discounted;
mod efg;
mod external;
mod form;
mod lp;
mod outcome;
mod sampling;
mod solver;
mod sweep;
mod threads;
mod tree;

pub use efg::write_efg;
pub use form::{Form, Policy};
pub use lp::{Equilibrium, LpError, LpFailure, LpProgress, equilibrium};
pub use solver::{Algorithm, Solver, UnknownAlgorithm};
pub use threads::Threads;
pub use tree::{BuildError, Infoset, Limits, Node, Tree};
