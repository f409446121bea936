//! Players that choose moves by simulation, one file each.
//!
//! | player | decides by |
//! |---|---|
//! | [`Random`] | a uniformly random legal move |
//! | [`First`] | the first legal move |
//! | [`HyperPlay`] | playouts from models that explain what the role was told, or an [`Insight`] into them |
//! | [`HyperPlayII`] | simulations in which every role is a HyperPlay player that knows only its own view |
//! | [`Auto`] | HyperPlay, and HyperPlay-II where some moves tell more than others |
//! | [`IsMcts`] | tree search over what each role knows, from histories that explain what the role was told |
//! | [`Cfr`] | regret minimisation some rounds ahead, from histories that explain what the role was told |
//! | [`Perfect`] | an [`Insight`] into a game in which nothing is hidden: [`Flat`] Monte Carlo, [`Uct`], [`Minimax`], [`Nested`] Monte Carlo |
//! | [`Cheater`] | an [`Insight`] into the true state: for experiments only |
//!
//! Every player is made with [`Tools`] and is handed nothing later but what its role was told.

mod atlas;
mod auto;
mod believer;
mod cfr;
mod cheat;
mod flat;
mod hp2;
mod hyperplay;
mod ismcts;
mod line;
mod mast;
pub mod matrix;
mod minds;
mod minimax;
mod nested;
mod perfect;
mod plain;
mod policy;
mod pruning;
mod tabular;
mod tools;
mod tree;
mod uct;
mod value_table;
mod views;

pub use auto::Auto;
pub use believer::Believer;
pub use cfr::{Cfr, CfrOptions, Horizon, Outlook, PlayoutHorizon, Question, Roots, StateSearch};
pub use cheat::Cheater;
pub use flat::{Flat, Guess, PlayoutPlan, weigh};
pub use hp2::{Hp2Options, HyperPlayII, Spread};
pub use hyperplay::{By, HyperPlay};
pub use ismcts::{Backup, IsMcts, IsMctsOptions, Observers, Opponents, Rollout, Selection};
pub use line::{Line, expected_line};
pub use minds::InnerOptions;
pub use minimax::{Minimax, MinimaxOptions, Simultaneous};
pub use nested::{Nested, NestedOptions};
pub use perfect::{Insight, Perfect, Worth};
pub use plain::{First, Random};
pub use policy::McOpponents;
pub use pruning::{DISCOUNT, Pruning};
pub use tabular::{StrategyTable, Tabular};
pub use tools::Tools;
pub use uct::{PlayoutPolicy, Uct, UctOptions};
