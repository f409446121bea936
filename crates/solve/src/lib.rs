//! Solving games: equilibria, best responses and exploitability.
//!
//! Most of this crate is for games that are small enough to play out all histories (some millions). If you want to
//! solve a game by name and save its strategy, use the crate `surmise`.
//!
//! [`Tree::build`] plays out a game once, from any [`game::Simulator`]. [`Form`] is the same game in sequence form:
//! numbers without histories. A [`Solver`] improves a strategy profile on it, and [`Form::nash_conv`] is the sum of
//! what the players could gain by best responses.
//!
//! | algorithm | paper | use it |
//! |---|---|---|
//! | [`Algorithm::Cfr`] | Zinkevich and others 2007 | as the baseline |
//! | [`Algorithm::CfrPlus`] | Tammelin 2014 | first: fast on most games |
//! | [`Algorithm::Discounted`] | Brown and Sandholm 2019, also [linear](Algorithm::Linear) | when some actions are
//! grave mistakes |
//! | [`Algorithm::External`] | Lanctot and others 2009 | when one pass over the game takes too long |
//! | [`Algorithm::Outcome`] | Lanctot and others 2009 | when external sampling takes too long; noisy |
//!
//! In games with two roles whose goals sum to a constant all of them approach an equilibrium, and [`equilibrium`]
//! computes one by linear programming, up to some tens of thousands of information sets. In other games the same
//! updates are made without that guarantee; [`Form::nash_conv`] is still exact. With one role against nature
//! [`Form::best_response`] is the optimum.
//!
//! ```
//! use game::Seed;
//! use surmise_solve::{Algorithm, Form, Limits, Tree};
//!
//! let text = catalogue::rules("matching-pennies").unwrap();
//! let mut rules = gdl::read(&text, &gdl::Options::default()).rules;
//! rules.announce_moves();
//! let mut sim = ground::Reference::new(&rules).unwrap();
//! let tree = Tree::build(&mut sim, &Limits::default(), &mut |_| {}).unwrap();
//! let form = Form::new(&tree);
//! let mut solver = Algorithm::CfrPlus.solver(&form, Seed(1));
//! solver.iterate(1_000);
//! let policy = solver.average();
//! assert!(form.nash_conv(&policy) < 0.1);
//! assert!((form.values(&policy)[0] - 50.0).abs() < 0.1);
//! ```
//!
//! Games with too many histories for a tree: [`LargeGame`] and [`LargeSolver`]. Responses to a model of the other
//! role, exact: [`response()`]; by iterations, with an exact bound on the worst case: [`safe_response`]. The best
//! strategy to announce to an opponent, where goals do not sum to a constant: [`commitment`].
//!
//! Nothing here reads a clock or prints. Ids are those of the simulator from which the tree was built. Read next:
//! [`Tree`] for the serialisation of rounds, [`Form`] for the sequence form, [`Algorithm`] for the solvers.

mod cfr;
mod cfr_plus;
mod commit;
mod discounted;
mod efg;
mod external;
mod form;
mod large;
mod lp;
mod outcome;
mod response;
mod safe;
mod sampling;
mod solver;
mod streams;
mod sweep;
mod threads;
mod tree;
mod walk;

pub use commit::{CommitError, Commitment, commitment};
pub use efg::write_efg;
pub use form::{Form, Policy};
pub use large::{
    LargeAlgorithm, LargeError, LargeGame, LargeLimits, LargeProgress, LargeRating, LargeSampler, LargeSampling,
    LargeSizes, LargeSolver, OutlineClass, PlaceError, Profile, ProfileBuilder, RatingWork, RestoreError,
    RoundsInViews, StatesSoFar, ViewOutline, is_rated,
};
pub use lp::{Equilibrium, LpError, LpFailure, LpProgress, equilibrium};
pub use response::{Response, Trust, response};
pub use safe::safe_response;
pub use solver::{Algorithm, Solver, UnknownAlgorithm};
pub use threads::Threads;
pub use tree::{BuildError, Infoset, Limits, Node, Tree};
pub use walk::{WalkError, WalkPolicy, WalkRating, rate_by_walk};

#[cfg(test)]
mod tests {
    use super::{Limits, Tree};
    use propnet::Scalar;

    /// The simulator of a game of the catalogue.
    pub fn simulator(spec: &str) -> Scalar {
        let mut rules = gdl::read(&catalogue::rules(spec).unwrap(), &gdl::Options::default()).rules;
        rules.announce_moves();
        let program = ground::ground(&rules, &ground::Limits::default(), &mut |_| {}).unwrap();
        Scalar::new(&propnet::compile(&program, &propnet::CompileOptions::default()))
    }

    /// The tree of a game of the catalogue.
    pub fn tree(spec: &str) -> Tree {
        Tree::build(&mut simulator(spec), &Limits::default(), &mut |_| {}).unwrap()
    }
}
