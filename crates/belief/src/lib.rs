//! Beliefs: from what a role was told to the histories that explain it, the states they lead to, and their weights.
//!
//! Use this crate to compute what may be going on in a game with hidden information. If you want a player, use the
//! crate `search`; if you want to load games and play matches, use the crate `surmise`.
//!
//! [`make`] makes a [`Sampler`]. [`update`](Sampler::update) gives it the role's [`View`](game::View).
//! [`belief`](Sampler::belief) returns a [`Belief`]: histories that explain the view, each with its last state and its
//! weight. A sampler is given nothing but the view, so a belief cannot contain more than the player knows.
//!
//! - [`naive`](SamplerKind::Naive): random games until one matches the view. The samples are exact; the time is not
//!   bounded.
//! - [`hyperplay`](SamplerKind::Hyperplay): the bag of models with backtracking of the HyperPlay papers, with its bias.
//! - [`cached`](SamplerKind::Cached): random games that avoid states known to be dead, with importance weights.
//! - [`trellis`](SamplerKind::Trellis): exact filtering over distinct states; unbiased resampling where there are too
//!   many. The default.
//!
//! [`possible_moves`] are the moves that may be legal, as far as the role can know.
//! [`enumerate`](fn@enumerate) lists a whole information set of a small game. The tests compare the samplers with it,
//! by the statistics of [`chi2`].
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
//!
//! Read next: [`Sampler`] for the interface, [`Options`] for the settings, the module `trellis` for the default
//! algorithm.

mod cached;
pub mod chi2;
mod driver;
mod enumerate;
mod graph;
mod hyperplay;
mod naive;
mod options;
mod possible;
mod trellis;
mod types;
mod work;

pub use enumerate::{EnumerateError, History, InformationSet, enumerate};
pub use options::{MAX_MODELS, Options, Remedy, SamplerKind, Weights, make};
pub use possible::possible_moves;
pub use types::{Belief, BeliefError, BeliefReport, FirstTries, Joint, Model, Now, OpponentModel, Sampler, World};
