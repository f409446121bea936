//! Players that choose moves by simulation, one file each.
//!
//! Use this crate to make a player from a simulator, or to write one. If you want to load games, name players by text
//! and play matches, use the crate `surmise`.
//!
//! | player | decides by |
//! |---|---|
//! | [`Random`] | a uniformly random legal move |
//! | [`First`] | the first legal move |
//! | [`HyperPlay`] | playouts from models that explain what the role was told, or an [`Insight`] into each model |
//! | [`HyperPlayII`] | simulations in which every role is a HyperPlay player that knows only its own view |
//! | [`Either`] | HyperPlay, and HyperPlay-II where some moves give more information than others |
//! | [`IsMcts`] | tree search over information sets, from histories that explain what the role was told |
//! | [`Cfr`] | regret minimisation some rounds ahead, from histories that explain what the role was told |
//! | [`Kluss`] | regret minimisation on a growing tree from what we and the opponent may hold possible |
//! | [`Tabular`] | a strategy computed beforehand, such as a solver's |
//! | [`Perfect`] | an [`Insight`] into a game without hidden information |
//! | [`Cheater`] | an [`Insight`] into the true state: for experiments only |
//!
//! The insights are [`Flat`] Monte Carlo, [`Uct`], [`Minimax`] and [`Nested`] Monte Carlo. Every player is made with
//! [`Tools`]. Later it is given nothing but what its role was told.
//!
//! ```
//! use game::{Budget, Player, RoleId, Seed, Told};
//! use surmise_search::{Minimax, MinimaxOptions, Perfect, Tools};
//!
//! let text = catalogue::rules("tictactoe").unwrap();
//! let mut rules = gdl::read(&text, &gdl::Options::default()).rules;
//! rules.announce_moves();
//! let tools = Tools {
//!     sim: Box::new(ground::Reference::new(&rules).unwrap()),
//!     batch: None,
//!     playouts: None,
//!     others: None,
//!     role: RoleId(0),
//!     seed: Seed(1),
//! };
//! let options = MinimaxOptions { depth: Some(5), ..MinimaxOptions::default() };
//! let mut player = Perfect::new(tools, Box::new(Minimax::new(options)));
//! // Five cells are left, so a search of depth 5 is exact.
//! let rounds = [("(mark 1 1)", "noop"), ("noop", "(mark 3 1)"), ("(mark 1 2)", "noop"), ("noop", "(mark 3 2)")];
//! let told = rounds.map(|(x, o)| Told {
//!     own: x.to_owned(),
//!     sees: vec![format!("(did xplayer {x})"), format!("(did oplayer {o})")],
//! });
//! let decision = player.choose(&told, &Budget::iterations(1_000)).unwrap();
//! assert_eq!(decision.mv, "(mark 1 3)");
//! ```
//!
//! Read next: [`Insight`] to add a way to value moves of a known state, [`Believer`] to write a player for hidden
//! information, `value_table` for how moves are compared.

mod atlas;
mod believer;
mod cfr;
mod cheat;
mod compact;
mod either;
mod flat;
mod hp2;
mod hyperplay;
mod insight_horizon;
mod ismcts;
mod kluss;
mod line;
mod mast;
pub mod matrix;
mod minds;
mod minimax;
mod nested;
mod perfect;
mod pieces;
mod plain;
mod policy;
mod pruning;
mod tabular;
mod tools;
mod trails;
mod tree;
mod uct;
mod value_table;
mod values;
mod view_opponents;
mod views;
mod wide;

pub use believer::Believer;
pub use cfr::{Cfr, CfrOptions, Horizon, Outlook, PlayoutHorizon, Question, Roots, StateSearch};
pub use cheat::Cheater;
pub use compact::{CompactChild, CompactClass, CompactStrategy, CompactViews};
pub use either::Either;
pub use flat::{Flat, Guess, PlayoutPlan, weigh};
pub use hp2::{Hp2Options, HyperPlayII, Spread};
pub use hyperplay::{By, HyperPlay};
pub use insight_horizon::InsightHorizon;
pub use ismcts::{Backup, IsMcts, IsMctsOptions, Observers, Opponents, Rollout, Selection};
pub use kluss::{Expansion, Iterate, Kluss, KlussError, KlussOptions, Prior};
pub use line::{Line, expected_line};
pub use minds::InnerOptions;
pub use minimax::{Minimax, MinimaxOptions, Simultaneous};
pub use nested::{Nested, NestedOptions};
pub use perfect::{Insight, Perfect, Worth};
pub use plain::{First, Random};
pub use policy::McOpponents;
pub use pruning::{DISCOUNT, Pruning};
pub use tabular::{StrategyTable, Tabular, ViewPolicy};
pub use tools::Tools;
pub use uct::{Leaves, PlayoutPolicy, Uct, UctOptions};
pub use view_opponents::ViewOpponents;
