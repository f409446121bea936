//! UCT: Monte Carlo tree search with upper confidence bounds.
//!
//! Kocsis and Szepesvári, *Bandit Based Monte-Carlo Planning* (ECML 2006). Any number of roles, each for its own
//! payoff. Where several roles move at once each has statistics of its own and chooses by them alone: decoupled UCT
//! (Tak, Lanctot and Winands, *Monte Carlo Tree Search Variants for Simultaneous Move Games*, CIG 2014), which has no
//! guarantee to find an equilibrium and whose most visited move is a pure one. Nature draws uniformly.
//!
//! Where we differ:
//! - a node is a state, not a history, so that transpositions share what is known; the graph is kept between moves, and
//!   between the models of a belief. The first descent through a new edge ends behind it, whether or not its state is
//!   known already;
//! - simulations are made in groups. A group of visits is spread over the moves of a node at once and goes down as
//!   smaller groups; its leaves are expanded and played out together, in lanes. A playout that has not come back counts
//!   as a visit but not in the mean (Liu et al., *Watch the Unobserved*, ICLR 2020). Groups are a sixteenth of what the
//!   root has seen, so that few simulations are as sharp as if they were made one by one; a group of one is plain UCT;
//! - lanes that a small group leaves idle play further games from its leaves. A leaf then has the mean of its games,
//!   and still counts as one simulation;
//! - leaves may have learned values in place of playouts (`values`);
//! - where one role decides, ends that are certain are proved (Winands, Björnsson and Saito, *Monte-Carlo Tree Search
//!   Solver*, CG 2008), and proved moves are not explored.

mod choose;
mod flights;
mod graph;
#[cfg(test)]
mod twin;

use crate::Tools;
use crate::mast::Mast;
use crate::perfect::{Insight, Worth, widest};
use crate::values::{Learner, LinearValues, PLAN};
pub(crate) use choose::SquareRoots;
use flights::{Flights, Wide};
use game::{Budget, Fault, RoleId, Seed, State, StopFlag, UnknownWord, by_word};
use graph::{Graph, MoveStats, NodeId, Stage};

/// How UCT searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UctOptions {
    /// Simulations for each decision; if not given, as many as there is time for.
    pub simulations: Option<u64>,
    /// Exploration constant of UCB, for payoffs between 0 and 1; if not given, 0.7, or 0.2 with learned values.
    pub c: Option<f64>,
    /// How leaves are played out.
    pub policy: PlayoutPolicy,
    /// Leaves that are played out together; if not given, a sixteenth of the visits of the root.
    pub batch: Option<u64>,
    /// Playouts from each leaf; if not given, one, and more where lanes would be idle.
    pub playouts: Option<u64>,
    /// Whether outcomes are proven where a single role decides.
    pub solve: bool,
    /// How leaves are valued.
    pub leaves: Leaves,
}

/// How leaves are valued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leaves {
    /// By playouts.
    #[default]
    Playouts,
    /// By linear values that are learned before the first move; by playouts where that fails.
    Learned,
}

impl std::str::FromStr for Leaves {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Leaves, UnknownWord> {
        by_word(
            "leaves",
            text,
            &[("playouts", Leaves::Playouts), ("learned", Leaves::Learned)],
        )
    }
}

/// How playouts choose moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlayoutPolicy {
    /// Uniformly.
    #[default]
    Uniform,
    /// MAST: by the means of moves in other playouts, one playout at a time.
    Mast,
}

impl std::str::FromStr for PlayoutPolicy {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<PlayoutPolicy, UnknownWord> {
        by_word(
            "policy",
            text,
            &[("uniform", PlayoutPolicy::Uniform), ("mast", PlayoutPolicy::Mast)],
        )
    }
}

impl Default for UctOptions {
    fn default() -> Self {
        UctOptions {
            simulations: None,
            c: None,
            policy: PlayoutPolicy::Uniform,
            batch: None,
            playouts: None,
            solve: true,
            leaves: Leaves::Playouts,
        }
    }
}

/// Exploration constants, with playouts and with learned values, whose differences are smaller and not random.
const C: f64 = 0.7;
const C_LEARNED: f64 = 0.2;
/// The share of the time for a move in which values are learned, as long as there is something to learn.
const LEARNING: f64 = 0.5;
/// Simulations for each decision if neither a number nor a time is given.
const USUAL_SIMULATIONS: u64 = 1_000;
/// Simulations that are made together, at most.
const MOST_TOGETHER: u64 = 256;
/// Leaves that are played out at once: as many as there are lanes.
const LANES: u64 = 256;
/// Bytes from which on the graph is emptied before the next decision, and from which on it does not grow: then leaves
/// are played out and forgotten.
const MUCH: usize = 256 << 20;
const TOO_MUCH: usize = 1 << 30;

/// A UCT search that keeps its graph between decisions.
pub struct Uct {
    options: UctOptions,
    graph: Graph,
    mast: Mast,
    flights: Flights,
    wide: Wide,
    roots: &'static SquareRoots,
    touched: u64,
    played: u64,
    learner: Option<Learner>,
}

impl Uct {
    /// A search that knows nothing yet.
    pub fn new(options: UctOptions) -> Uct {
        Uct {
            options,
            graph: Graph::default(),
            mast: Mast::default(),
            flights: Flights::default(),
            wide: Wide::default(),
            roots: SquareRoots::shared(),
            touched: 0,
            played: 0,
            learner: None,
        }
    }

    /// Random games played so far: at least one for each simulation whose end was not known.
    pub fn playouts_made(&self) -> u64 {
        self.played
    }

    /// Searches from a state. Returns the number of simulations made: descents, each with its end or its playouts.
    pub fn search(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<u64, Fault> {
        if self.graph.bytes() > MUCH {
            self.graph.clear();
        }
        self.flights.reset();
        self.learn(tools, &budget.stop.part(LEARNING))?;
        let root = self.enter(tools, state)?;
        if self.graph.node(root).stage == Stage::Stuck {
            return Err(Fault::no_move(None));
        }
        let limit = budget.count(self.options.simulations, USUAL_SIMULATIONS);
        let mut rng = seed.child("tree").rng();
        let mut done = 0;
        let mut group = 0;
        while done < limit && (done == 0 || !budget.stop.is_raised()) && !self.graph.is_proven(root) {
            let n = self.group_size(tools, root).min(limit - done);
            self.descend(tools, root, n as u32, &mut rng, budget)?;
            self.expand(tools)?;
            self.land(tools, seed.child("playouts").nth(group), budget)?;
            done += n;
            group += 1;
        }
        Ok(done)
    }

    /// Learns the values of leaves, if there is something left to learn. What was found with other values is forgotten.
    fn learn(&mut self, tools: &mut Tools, stop: &StopFlag) -> Result<(), Fault> {
        if self.options.leaves == Leaves::Playouts {
            return Ok(());
        }
        let learner = self
            .learner
            .get_or_insert_with(|| Learner::new(tools, tools.seed.child("values"), PLAN));
        if learner.learn(tools, stop)? {
            self.graph.clear();
        }
        Ok(())
    }

    /// The learned values of leaves, if there are any.
    fn values(&self) -> Option<&LinearValues> {
        self.learner.as_ref().and_then(Learner::values)
    }

    /// The factor of exploration at a node, for points between 0 and 100, besides its visits.
    fn exploration(&self) -> f64 {
        let usual = if self.values().is_some() { C_LEARNED } else { C };
        100.0 * self.options.c.unwrap_or(usual)
    }

    /// The node of the state to decide in, with its moves.
    fn enter(&mut self, tools: &mut Tools, state: &State) -> Result<NodeId, Fault> {
        let (root, _) = self.graph.place(state.clone());
        if self.graph.node(root).stage == Stage::New {
            self.see_ends(tools, &[root])?;
        }
        if self.graph.node(root).stage == Stage::New {
            self.open(tools, &[root])?;
        }
        Ok(root)
    }

    /// The moves of a role with their values, the one to play first.
    fn worths(&self, root: NodeId, role: usize, n_roles: usize) -> Vec<Worth> {
        let mut choices = self.graph.moves(root, role, n_roles).unwrap_or_default().to_vec();
        if let ([only], Some(proof)) = (&mut choices[..], self.graph.proof(root)) {
            only.known = Some((proof.points[role], proof.rounds));
        }
        ranked(&choices)
    }

    /// Whether there is no memory for further states.
    fn is_full(&self) -> bool {
        self.graph.bytes() >= TOO_MUCH
    }

    /// Simulations to be made together.
    fn group_size(&self, tools: &Tools, root: NodeId) -> u64 {
        if (tools.playouts.is_none() && self.values().is_none()) || self.options.policy == PlayoutPolicy::Mast {
            return 1;
        }
        let seen = u64::from(self.graph.node(root).visits);
        let size = self
            .options
            .batch
            .unwrap_or_else(|| (seen / 16).clamp(1, MOST_TOGETHER));
        size.min(u64::from(u32::MAX))
    }
}

impl Insight for Uct {
    fn value(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<Worth>, Fault> {
        self.search(tools, state, seed, budget)?;
        let (root, _) = self.graph.place(state.clone());
        Ok(self.worths(root, usize::from(tools.role.0), tools.sim.roles().len()))
    }

    /// By one search: it plays for all roles.
    fn payoffs(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<f64>, Fault> {
        self.search(tools, state, seed, budget)?;
        let (root, _) = self.graph.place(state.clone());
        let (nature, n_roles) = (tools.sim.nature(), tools.sim.roles().len());
        let payoff = |role: usize| match nature == Some(RoleId(role as u16)) {
            true => 0.0,
            false => self.worths(root, role, n_roles).first().map_or(0.0, |worth| worth.mean),
        };
        Ok((0..n_roles).map(payoff).collect())
    }

    fn prepare(&mut self, tools: &mut Tools, stop: &StopFlag) -> Result<(), Fault> {
        self.learn(tools, stop)
    }

    fn report(&self) -> String {
        self.learner.as_ref().map(Learner::report).unwrap_or_default()
    }

    fn name(&self) -> &'static str {
        "uct"
    }

    fn remembered(&self) -> u64 {
        self.touched
    }
}

/// Moves with their values: the most visited first, or a proven move if it is no worse.
fn ranked(choices: &[MoveStats]) -> Vec<Worth> {
    let mean = |choice: &MoveStats| choice.mean;
    let open = choices.iter().filter(|c| c.known.is_none());
    let most = open.max_by(|a, b| a.visits.cmp(&b.visits).then(mean(a).total_cmp(&mean(b))));
    let bar = most.map_or(f64::NEG_INFINITY, mean);
    // Class, and the order within it: a win early, a loss late.
    let rank = |choice: &MoveStats| match choice.known {
        None => (1, f64::from(choice.visits), mean(choice)),
        Some((points, rounds)) => {
            let class = if f64::from(points) >= bar { 2 } else { 0 };
            let soon = if points > 50 { -1.0 } else { 1.0 };
            (class, f64::from(points), soon * f64::from(rounds))
        }
    };
    let mut order: Vec<&MoveStats> = choices.iter().collect();
    order.sort_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(b.2.total_cmp(&a.2))
    });
    order.into_iter().map(worth).collect()
}

fn worth(choice: &MoveStats) -> Worth {
    let visits = u64::from(choice.back());
    match choice.known {
        Some((points, _)) => Worth {
            mv: choice.mv,
            mean: f64::from(points),
            stderr: 0.0,
            visits: visits.max(1),
        },
        None => {
            let mean = choice.mean;
            Worth {
                mv: choice.mv,
                mean,
                stderr: widest(mean, visits as f64),
                visits,
            }
        }
    }
}
