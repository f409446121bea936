//! Games that are too large for a tree: rating and solving without one, for one or two roles and nature.
//!
//! A game of ten billion histories may have only some hundred thousand distinct states and some thousand distinct
//! situations of a role. [`LargeGame::build`] finds them:
//!
//! 1. the graph of states (`graph`), each distinct state once;
//! 2. for each role the graph of views (`views`): sets of states that the role holds possible;
//! 3. for each role the pairs of state and view (`pairs`).
//!
//! [`LargeGame::sizes`] tells how large everything is before anything is computed on it. [`LargeGame::rate`] computes
//! value, best responses and exploitability of a [`Profile`] in two passes (`pass`). [`LargeSolver`] improves a profile
//! by regret minimisation in the same passes. Memory is proportional to the information sets, time to the distinct
//! continuations of histories.
//!
//! Views of GDL-II count rounds: a role that waits learns how many rounds have passed. In games whose rounds tell a
//! role nothing, silent rounds (one legal move, no percept) are left out without changing the game; that is found out
//! by [`RoundsInViews::Auto`]. [`RoundsInViews::Dropped`] leaves them out in any case, which makes another game of one
//! in which they do tell something.

mod estimate;
mod graph;
mod intern;
mod learn;
mod pairs;
mod pass;
mod profile;
mod resume;
mod sample;
mod symmetry;
mod views;

pub use learn::{LargeAlgorithm, LargeSolver, RestoreError, is_rated};
pub use profile::{OutlineClass, PlaceError, Profile, ProfileBuilder, ViewOutline};
pub use resume::RatingWork;
pub use sample::{LargeSampler, LargeSampling};

use game::{Fault, RoleId, Simulator, StopFlag};
use graph::{Draft, StateGraph};
use pairs::PairGraph;
use pass::{Choice, Done, Pass, Place, Worth};
use std::fmt;
use symmetry::{Quotient, Subgroup, Symmetries, TRIVIAL};
use views::ViewGraph;

/// Whether silent rounds, in which a role has one legal move and perceives nothing, are part of its views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoundsInViews {
    /// They are left out if they tell no role anything; else counted.
    #[default]
    Auto,
    /// They are counted, as in GDL-II.
    Counted,
    /// They are left out, even if that makes another game.
    Dropped,
}

/// How silent rounds are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    Counted,
    Dropped,
}

/// How large a game may become.
#[derive(Clone, Debug)]
pub struct LargeLimits {
    /// Memory at most, in bytes.
    pub bytes: u64,
    /// States at most.
    pub states: usize,
    /// Whether symmetries are looked for and used.
    pub symmetry: bool,
    /// Threads that may work. The result does not depend on them.
    pub threads: usize,
    /// Ends the work early.
    pub stop: StopFlag,
}

impl Default for LargeLimits {
    fn default() -> Self {
        LargeLimits {
            bytes: 4 << 30,
            states: usize::MAX,
            symmetry: true,
            threads: 1,
            stop: StopFlag::default(),
        }
    }
}

/// Why a game cannot be rated or solved without a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LargeError {
    /// The flag was raised.
    Stopped,
    /// Too little memory.
    Memory {
        /// What it was needed for.
        what: String,
        /// Bytes needed at least.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// More states than allowed.
    States(usize),
    /// More things than can be numbered.
    TooLarge(&'static str),
    /// Some history does not end.
    Endless {
        /// Rounds after which it was given up.
        rounds: u32,
    },
    /// A role has no legal move although the game is not over.
    NoMove {
        /// The role.
        role: String,
        /// Rounds played before.
        rounds: u32,
    },
    /// Two histories with the same view of a role differ in its legal moves.
    Unclear {
        /// The player, as an index into the roles that are not nature.
        player: usize,
    },
    /// The game has no role but nature.
    NoPlayers,
    /// The game has more than two roles besides nature.
    Roles(usize),
    /// Silent rounds tell some role something.
    Rounds,
    /// The simulator could not answer.
    Fault(Fault),
}

impl fmt::Display for LargeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        match self {
            LargeError::Stopped => f.write_str("stopped before the graph of states was complete"),
            LargeError::Memory { what, needed, limit } => write!(
                f,
                "the game is too large: {what} needs {} MiB and {} MiB are allowed (`--memory MIB` allows more)",
                mib(*needed),
                mib(*limit)
            ),
            LargeError::States(n) => write!(
                f,
                "the game is too large: it has more than {n} distinct states (`--graph` sets no limit but memory)"
            ),
            LargeError::TooLarge(what) => write!(f, "the game is too large: it has too many {what}"),
            LargeError::Endless { rounds } => {
                write!(f, "the game cannot be solved: it does not end within {rounds} rounds")
            }
            LargeError::NoMove { role, rounds } => write!(
                f,
                "E-NO-MOVE: {role} has no legal move after {rounds} rounds of some history; `surmise check --simulate` \
                 tells more"
            ),
            LargeError::Unclear { .. } => f.write_str(
                "the game cannot be solved: some role cannot tell from its moves and percepts which moves are legal",
            ),
            LargeError::NoPlayers => f.write_str("the game has no role to solve for"),
            LargeError::Roles(n) => write!(
                f,
                "the game has {n} roles besides nature; games too large for a tree can have two at most"
            ),
            LargeError::Rounds => f.write_str("some role learns something by counting silent rounds"),
            LargeError::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

impl std::error::Error for LargeError {}

impl From<Fault> for LargeError {
    fn from(fault: Fault) -> Self {
        LargeError::Fault(fault)
    }
}

/// How large a game is.
#[derive(Clone, Debug, PartialEq)]
pub struct LargeSizes {
    /// Distinct states that the simulator has; those in which nothing happens may be left out.
    pub states: usize,
    /// States after merging those with the same future.
    pub merged_states: usize,
    /// Joint moves of the merged states.
    pub edges: usize,
    /// Distinct classes of views of each player.
    pub classes: Vec<usize>,
    /// Pairs of state and class of each player.
    pub pairs: Vec<usize>,
    /// Information sets of each player.
    pub infosets: Vec<u64>,
    /// Sequences (information set and move) of each player.
    pub sequences: Vec<u64>,
    /// Slots of the plan of each player.
    pub slots: Vec<u64>,
    /// Symmetries that were found, the identity included.
    pub symmetries: usize,
    /// Information sets of each player up to symmetry.
    pub infosets_up_to_symmetry: Vec<u64>,
    /// Histories. Those that differ only in moves of nature without any effect count once, and rounds in which nothing
    /// happens do not count. Rounded beyond 2^53.
    pub histories: f64,
    /// Histories after which some player chooses.
    pub deciding: f64,
    /// Histories that are over.
    pub complete: f64,
    /// Bytes needed to rate a profile.
    pub rating_bytes: u64,
    /// Bytes needed to solve the game.
    pub solving_bytes: u64,
}

/// How many states were found so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatesSoFar {
    /// States played out.
    pub played: usize,
    /// States found, those included that are not played out.
    pub found: usize,
    /// States that there are at least; by an estimate from random plays, once there are many.
    pub least: usize,
    /// Bytes of memory used, roughly.
    pub bytes: u64,
    /// Bytes allowed.
    pub limit: u64,
}

/// What building is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeProgress {
    /// States are being found.
    States(StatesSoFar),
    /// States are being merged, and views and pairs found.
    Views,
}

/// A game as graphs of states and views.
pub struct LargeGame {
    graph: StateGraph,
    views: Vec<ViewGraph>,
    /// The same trees of views with rounds, for finding views; none if views count rounds anyway.
    dated: Option<Vec<ViewGraph>>,
    pairs: Vec<PairGraph>,
    symmetries: Option<Symmetries>,
    silence: Silence,
    lossless: bool,
    sizes: LargeSizes,
}

/// Least depth of a walk that is refused: walks recurse.
const MAX_DEPTH: u32 = 500;

impl LargeGame {
    /// Finds states, views and pairs of a game.
    ///
    /// # Errors
    /// If the game does not fit into memory, does not end, has more than two roles, or the work was stopped.
    pub fn build(
        sim: &mut dyn Simulator,
        rounds: RoundsInViews,
        limits: &LargeLimits,
        progress: &mut dyn FnMut(LargeProgress),
    ) -> Result<LargeGame, LargeError> {
        if rounds != RoundsInViews::Counted {
            let dated = rounds == RoundsInViews::Auto;
            match LargeGame::build_with(sim, Silence::Dropped, dated, limits, progress) {
                Err(LargeError::Rounds) => {}
                other => return other,
            }
        }
        LargeGame::build_with(sim, Silence::Counted, false, limits, progress)
    }

    fn build_with(
        sim: &mut dyn Simulator,
        silence: Silence,
        dated: bool,
        limits: &LargeLimits,
        progress: &mut dyn FnMut(LargeProgress),
    ) -> Result<LargeGame, LargeError> {
        let all = Draft::build(sim, silence, limits, &mut |n| progress(LargeProgress::States(n)))?;
        progress(LargeProgress::Views);
        let states = all.len();
        let threads = limits.threads;
        let views_of = |graph: &StateGraph, dated: bool| -> Result<Vec<ViewGraph>, LargeError> {
            let [first, second] = both(threads, &|player| {
                ViewGraph::build(graph, player, silence, dated, limits)
            });
            Ok(vec![first?, second?])
        };
        let dated_views = match dated {
            true if !all.layered => return Err(LargeError::Rounds),
            true => Some(views_of(&all.merged(true), true)?),
            false => None,
        };
        let graph = all.merged(false);
        drop(all);
        let views = views_of(&graph, false)?;
        for views in &views {
            if depth(views) > MAX_DEPTH {
                return Err(LargeError::TooLarge(
                    "rounds in which a role chooses or perceives something",
                ));
            }
        }
        let graph_bytes = (graph.states.len() * 40 + graph.edges.len() * 24) as u64;
        let [first, second] = both(threads, &|player| {
            let (least, most) = graph.range(1 - player);
            let middle = (f64::from(least) + f64::from(most)) / 2.0;
            PairGraph::build(&graph, &views[player], middle, limits, graph_bytes)
        });
        let pairs = vec![first?, second?];
        let symmetries = match limits.symmetry {
            true => Symmetries::find(&graph, &views, &limits.stop),
            false => None,
        };
        let quotients = quotients(&views, symmetries.as_ref(), u64::MAX);
        let [histories, deciding, complete] = graph.histories();
        let n = graph.players.len();
        let sum = |of: fn(&ViewGraph) -> u64| views.iter().map(of).sum::<u64>();
        let rating_bytes = graph_bytes
            + pairs.iter().map(PairGraph::bytes).sum::<u64>()
            + symmetries.as_ref().map_or(0, Symmetries::bytes)
            + 8 * sum(|v| v.root().slots);
        let kept: u64 = (0..2).map(|p| learn::kept_sequences(&views[p], &quotients[p])).sum();
        let sizes = LargeSizes {
            states,
            merged_states: graph.states.len(),
            edges: graph.edges.len(),
            classes: views[..n].iter().map(|v| v.classes.len()).collect(),
            pairs: pairs[..n].iter().map(PairGraph::len).collect(),
            infosets: views[..n].iter().map(|v| v.root().infosets).collect(),
            sequences: views[..n].iter().map(|v| v.root().sequences).collect(),
            slots: views[..n].iter().map(|v| v.root().slots).collect(),
            symmetries: symmetries.as_ref().map_or(1, |s| s.group.len()),
            infosets_up_to_symmetry: quotients[..n].iter().map(|q| q.root().infosets).collect(),
            histories,
            deciding,
            complete,
            rating_bytes,
            // Averages, and the best strategies so far.
            solving_bytes: rating_bytes + 16 * sum(|v| v.root().slots) + 16 * kept,
        };
        Ok(LargeGame {
            lossless: silence == Silence::Counted || dated,
            graph,
            views,
            dated: dated_views,
            pairs,
            symmetries,
            silence,
            sizes,
        })
    }

    /// How large the game is.
    pub fn sizes(&self) -> &LargeSizes {
        &self.sizes
    }

    /// The roles that are not nature, in the order of the rules. A *player* is an index into this list.
    pub fn players(&self) -> &[RoleId] {
        &self.graph.players
    }

    /// Whether views are those of GDL-II: silent rounds were not left out where they tell something.
    pub fn is_faithful(&self) -> bool {
        self.lossless
    }

    /// Whether views were made without silent rounds.
    pub fn drops_silent_rounds(&self) -> bool {
        self.silence == Silence::Dropped
    }

    /// The sum of the players' goals, if it is always the same.
    pub fn constant_sum(&self) -> Option<u32> {
        match self.graph.players.len() {
            2 => self.graph.constant_sum(),
            _ => None,
        }
    }

    /// The least and the greatest goal of a player.
    pub fn range(&self, player: usize) -> (u8, u8) {
        self.graph.range(player)
    }

    /// Half of the distance between the least and the greatest goal, and the point half-way.
    fn half_and_middle(&self, player: usize) -> (f64, f64) {
        let (least, most) = self.graph.range(player);
        let (least, most) = (f64::from(least), f64::from(most));
        ((most - least) / 2.0, (most + least) / 2.0)
    }

    /// A number that depends on everything that arrays over this game depend on.
    pub fn fingerprint(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut hasher = rustc_hash::FxHasher::default();
        for views in &self.views {
            (views.root, views.classes.len()).hash(&mut hasher);
            for class in &views.classes {
                (class.list, class.n_moves, class.slots, class.sequences).hash(&mut hasher);
                class.children.hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Value, best responses and exploitability of a profile. `progress` gets the share that is done. If the work is
    /// stopped, best responses are bounds.
    pub fn rate(
        &self,
        profile: &Profile,
        threads: usize,
        stop: &StopFlag,
        progress: &mut dyn FnMut(f64),
    ) -> LargeRating {
        let plans = [profile.plans[0].as_slice(), profile.plans[1].as_slice()];
        let quotients = self.quotients(self.symmetries_of(plans));
        self.rate_plans(plans, &quotients, None, threads, stop, progress)
    }

    /// The symmetries that realization plans have.
    fn symmetries_of(&self, plans: [&[f64]; 2]) -> Subgroup {
        let symmetries = self.symmetries.as_ref();
        symmetries.map_or(TRIVIAL, |s| s.of_plans(&self.views, plans))
    }

    /// The trees of views up to some symmetries.
    fn quotients(&self, subgroup: Subgroup) -> [Quotient; 2] {
        quotients(&self.views, self.symmetries.as_ref(), subgroup)
    }

    fn rate_plans(
        &self,
        plans: [&[f64]; 2],
        quotients: &[Quotient; 2],
        done: Option<&[Done; 2]>,
        threads: usize,
        stop: &StopFlag,
        progress: &mut dyn FnMut(f64),
    ) -> LargeRating {
        let n = self.graph.players.len();
        let mut rating = LargeRating {
            values: Vec::new(),
            best: Vec::new(),
            entries: 0,
            complete: true,
        };
        let buffers = pass::Buffers::default();
        for player in 0..n {
            let (half_range, middle) = self.half_and_middle(player);
            let pass = Pass {
                views: &self.views[player],
                quotient: &quotients[player],
                pairs: &self.pairs[1 - player],
                plan: plans[1 - player],
                half_range,
                done: done.map(|done| &done[player]),
                buffers: &buffers,
                threads,
                stop,
            };
            let own = plans[player];
            let chooser = move |_: usize| -> Box<dyn Choice + '_> { Box::new(Rated { own }) };
            let result = pass.run(&chooser, &mut |share| progress((player as f64 + share) / n as f64));
            // If the game is over at once, nothing is visited, and the middle is the only payoff.
            rating.values.push(middle + result.worth.value);
            rating
                .best
                .push((middle + result.worth.low, middle + result.worth.high));
            rating.entries += result.entries;
            rating.complete &= result.complete;
        }
        rating
    }
}

/// The trees of views up to those symmetries of a set that were found.
fn quotients(views: &[ViewGraph], symmetries: Option<&Symmetries>, subgroup: Subgroup) -> [Quotient; 2] {
    [0, 1].map(|player| match symmetries {
        Some(s) => Quotient::new(&views[player], &s.actions[player], subgroup & s.group.all()),
        None => Quotient::whole(&views[player]),
    })
}

/// Something for each player, on two threads if there are so many.
fn both<T: Send>(threads: usize, of: &(dyn Fn(usize) -> T + Sync)) -> [T; 2] {
    if threads < 2 {
        return [of(0), of(1)];
    }
    std::thread::scope(|scope| {
        let second = scope.spawn(|| of(1));
        let first = of(0);
        match second.join() {
            Ok(second) => [first, second],
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The longest way down from the root of a graph of views.
fn depth(views: &ViewGraph) -> u32 {
    let mut depths: Vec<u32> = Vec::with_capacity(views.classes.len());
    for class in &views.classes {
        let below = class.children.iter().map(|c| depths[c.class as usize] + 1).max();
        depths.push(below.unwrap_or(0));
    }
    depths[views.root as usize]
}

/// What a profile is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct LargeRating {
    /// Expected payoff of each player. Meaningless if the work was stopped.
    pub values: Vec<f64>,
    /// Bounds on what each player can get by best response; equal if the work was completed.
    pub best: Vec<(f64, f64)>,
    /// Entries visited: the measure of the work.
    pub entries: u64,
    /// Whether the work was completed.
    pub complete: bool,
}

impl LargeRating {
    /// The sum of what each player could gain by a best response; never below 0, whatever rounding says.
    pub fn nash_conv(&self) -> f64 {
        let gains = self
            .best
            .iter()
            .zip(&self.values)
            .map(|((best, _), value)| best - value);
        gains.sum::<f64>().max(0.0)
    }

    /// Bounds on NashConv in a game in which the goals of two players sum to `sum`; also if the work was stopped.
    pub fn nash_conv_bounds(&self, sum: u32) -> (f64, f64) {
        let total = |of: fn(&(f64, f64)) -> f64| self.best.iter().map(of).sum::<f64>() - f64::from(sum);
        (total(|b| b.0).max(0.0), total(|b| b.1).max(0.0))
    }
}

/// The best response, and the value by the own plan.
struct Rated<'a> {
    own: &'a [f64],
}

impl Choice for Rated<'_> {
    fn decide(&mut self, views: &ViewGraph, at: Place, _mass: f64, moves: &[Worth]) -> Worth {
        let mut worth = Worth {
            low: f64::NEG_INFINITY,
            high: f64::NEG_INFINITY,
            value: 0.0,
        };
        for m in moves {
            worth.low = worth.low.max(m.low);
            worth.high = worth.high.max(m.high);
        }
        let reach = self.own[at.slot];
        if reach > 0.0 {
            let mut next = 0;
            for child in &views.classes[at.class as usize].children {
                if usize::from(child.action) == next {
                    worth.value += self.own[at.slot + child.slot as usize] / reach * moves[next].value;
                    next += 1;
                }
            }
        }
        worth
    }

    fn skip(&mut self, _views: &ViewGraph, _at: Place) {}
}
