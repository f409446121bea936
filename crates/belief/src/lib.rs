//! A player's view to sampled histories, states and weights.
//!
//! Come here to know what may be going on in a game that hides things: [`make`] a [`Sampler`], [`update`](Sampler::update)
//! it with the role's [`View`](game::View), and read off its [`Belief`]: histories that explain the view, each with the state it leads to
//! and a weight. A view is all that a belief is ever given, so it cannot know more than the player does.
//!
//! - [`naive`](SamplerKind::Naive): random games until one matches. Exact samples, as long as you can wait for them.
//! - [`hyperplay`](SamplerKind::Hyperplay): the papers' bag of models with backtracking, faithful, biases included.
//! - [`cached`](SamplerKind::Cached): random games that avoid what is known to be dead, weighted for it.
//! - [`trellis`](SamplerKind::Trellis): exact filtering over distinct states; unbiased resampling where there are too many.
//!   The default.
//!
//! [`enumerate`](fn@enumerate) lists a whole information set, for small games: the truth that the samplers are held against, with
//! the tests of [`chi2`].
//!
//! ```
//! use surmise_belief::{Now, Options, SamplerKind, World, make};
//! use game::{Budget, RoleId, Seed, Simulator, View};
//! # fn simulator() -> Box<dyn Simulator> {
//! #     let text = catalogue::rules("monty-hall").unwrap();
//! #     Box::new(ground::Reference::new(&gdl::read(&text, &gdl::Options::default()).rules).unwrap())
//! # }
//! let mut game = simulator();
//! let mut sampler = make(SamplerKind::Trellis, &Options::default(), RoleId(0), Seed(1)).unwrap();
//! let mut world = World::new(&mut *game);
//! sampler.update(&mut world, &View::default(), Now::Playing, &Budget::iterations(1_000)).unwrap();
//! assert!(sampler.belief().report.exact);
//! assert_eq!(sampler.belief().models.len(), 100);
//! ```

mod cached;
pub mod chi2;
mod driver;
mod enumerate;
mod graph;
mod hyperplay;
mod naive;
mod options;
mod trellis;
mod types;
mod work;

pub use enumerate::{EnumerateError, History, InformationSet, enumerate};
pub use options::{Options, Remedy, SamplerKind, Weights, make};
pub use types::{Belief, BeliefError, BeliefReport, FirstTries, Joint, Model, Now, OpponentModel, Sampler, World};
