//! UCT: Monte Carlo tree search with upper confidence bounds.
//!
//! Kocsis and Szepesvári, *Bandit Based Monte-Carlo Planning* (ECML 2006). Any number of roles, each for its own
//! payoff. Where several roles move at once each has statistics of its own and chooses by them alone: decoupled UCT
//! (Tak, Lanctot and Winands, *Monte Carlo Tree Search Variants for Simultaneous Move Games*, CIG 2014), which has no
//! guarantee to find an equilibrium and whose most visited move is a pure one. Nature draws uniformly.
//!
//! Where we differ:
//! - a node is a state, not a history, so that transpositions share what is known; the tree is kept between moves, and
//!   between the models of a belief;
//! - leaves are collected and played out together, in lanes. A playout that has not come back counts as a visit but not
//!   in the mean (Liu et al., *Watch the Unobserved*, ICLR 2020). Groups are a sixteenth of what the root has seen, so
//!   that few simulations are as sharp as if they were made one by one;
//! - where one role decides, ends that are certain are proved (Winands, Björnsson and Saito, *Monte-Carlo Tree Search
//!   Solver*, CG 2008), and proved moves are not explored.

use crate::Tools;
use crate::mast::Mast;
use crate::perfect::{Insight, Worth, widest};
use crate::tree::{MoveStats, NodeStage, OpenNode, Payoffs, Picks, SearchTree, StateNodeId};
use game::{Budget, Fault, Rng, Seed, State, UnknownWord, by_word};
use smallvec::SmallVec;
use std::sync::OnceLock;

/// How UCT searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UctOptions {
    /// Simulations for each decision; if not given, as many as there is time for.
    pub simulations: Option<u64>,
    /// Exploration constant of UCB, for payoffs between 0 and 1.
    pub c: f64,
    /// How leaves are played out.
    pub policy: PlayoutPolicy,
    /// Leaves that are played out together; if not given, a sixteenth of the visits of the root.
    pub batch: Option<u64>,
    /// Playouts from each leaf.
    pub playouts: u64,
    /// Whether outcomes are proven where a single role decides.
    pub solve: bool,
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
            c: 0.7,
            policy: PlayoutPolicy::Uniform,
            batch: None,
            playouts: 1,
            solve: true,
        }
    }
}

/// Simulations for each decision if neither a number nor a time is given.
const USUAL_SIMULATIONS: u64 = 1_000;
/// Leaves that are played out together, at most: as many as there are lanes.
const MOST_LEAVES: u64 = 256;
/// Rounds that a descent may take: states may lead back to themselves.
const MAX_DEPTH: usize = 1_000;
/// Bytes from which on the tree is emptied before the next decision, and from which on it does not grow.
const MUCH: usize = 256 << 20;
const TOO_MUCH: usize = 1 << 30;

/// A UCT search that keeps its tree between decisions.
pub struct Uct {
    options: UctOptions,
    tree: SearchTree,
    mast: Mast,
    flights: Flights,
    roots: &'static SquareRoots,
    touched: u64,
}

/// Descents that wait for their playouts.
#[derive(Default)]
struct Flights {
    /// Nodes passed and the moves chosen there, one descent after the other.
    steps: Vec<(StateNodeId, Picks)>,
    /// For each descent, its first index in `steps` and its leaf.
    begun: Vec<(usize, StateNodeId)>,
}

impl Uct {
    /// A search that knows nothing yet.
    pub fn new(options: UctOptions) -> Uct {
        Uct {
            options,
            tree: SearchTree::default(),
            mast: Mast::default(),
            flights: Flights::default(),
            roots: ROOTS.get_or_init(SquareRoots::new),
            touched: 0,
        }
    }

    /// Searches from a state. Returns the number of simulations made.
    pub fn search(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<u64, Fault> {
        if self.tree.bytes() > MUCH {
            self.tree.clear();
        }
        let root = self.tree.place(state.clone());
        self.tree.look(tools, root)?;
        if matches!(self.tree.node(root).stage, NodeStage::Stuck) {
            return Err(Fault::no_move(None));
        }
        let limit = budget.count(self.options.simulations, USUAL_SIMULATIONS);
        let mut rng = seed.child("tree").rng();
        let mut done = 0;
        let mut batch = 0;
        while done < limit && (done == 0 || !budget.stop.is_raised()) && self.goes_on(root) {
            let n = self.leaves(tools, root).min(limit - done);
            for number in 0..n {
                if number > 0 && budget.stop.is_raised() {
                    break;
                }
                self.descend(tools, root, &mut rng)?;
            }
            done += self.flights.begun.len() as u64;
            self.land(tools, seed.child("playouts").nth(batch), budget)?;
            batch += 1;
        }
        Ok(done)
    }

    /// Whether the root is unproven and there is memory left.
    fn goes_on(&self, root: StateNodeId) -> bool {
        self.tree.node(root).proof.is_none() && self.tree.bytes() < TOO_MUCH
    }

    /// Leaves to be played out together.
    fn leaves(&self, tools: &Tools, root: StateNodeId) -> u64 {
        if tools.playouts.is_none() || self.options.policy == PlayoutPolicy::Mast {
            return 1;
        }
        let seen = u64::from(self.tree.node(root).visits);
        self.options.batch.unwrap_or_else(|| (seen / 16).clamp(1, MOST_LEAVES))
    }

    /// Descends to a node that was not evaluated yet, or that is proven.
    fn descend(&mut self, tools: &mut Tools, root: StateNodeId, rng: &mut Rng) -> Result<(), Fault> {
        let nature = tools.sim.nature().map(|r| r.0 as usize);
        let first = self.flights.steps.len();
        let mut at = root;
        loop {
            let (steps, tree) = (self.flights.steps.len() - first, &mut self.tree);
            let node = tree.node_mut(at);
            let evaluated = node.visits > node.flying || at == root;
            node.visits += 1;
            node.flying += 1;
            if !evaluated || steps >= MAX_DEPTH || node.proof.is_some() {
                break;
            }
            tree.look(tools, at)?;
            let width = 100.0 * self.options.c * self.roots.log(tree.node(at).visits);
            let Some(open) = tree.open_mut(at) else {
                break;
            };
            let picks = choose(open, nature, width, self.roots, rng);
            let next = tree.follow(tools, at, &picks)?;
            self.flights.steps.push((at, picks));
            self.touched += 1;
            at = next;
        }
        self.flights.begun.push((first, at));
        Ok(())
    }

    /// Evaluates all leaves and backs up their values.
    fn land(&mut self, tools: &mut Tools, seed: Seed, budget: &Budget) -> Result<(), Fault> {
        let values = self.evaluate(tools, seed, budget)?;
        let flights = std::mem::take(&mut self.flights);
        for (number, &(first, leaf)) in flights.begun.iter().enumerate() {
            let last = flights.begun.get(number + 1).map_or(flights.steps.len(), |next| next.0);
            let path = &flights.steps[first..last];
            self.take_up(path, leaf, values[number].as_deref());
        }
        self.flights = flights;
        self.flights.steps.clear();
        self.flights.begun.clear();
        Ok(())
    }

    /// The payoffs of each leaf for each role; none where there was no time.
    fn evaluate(&mut self, tools: &mut Tools, seed: Seed, budget: &Budget) -> Result<Vec<Option<Payoffs>>, Fault> {
        let mut values: Vec<Option<Payoffs>> = Vec::with_capacity(self.flights.begun.len());
        let mut open: Vec<usize> = Vec::new();
        let mut states: Vec<State> = Vec::new();
        for (number, &(_, leaf)) in self.flights.begun.iter().enumerate() {
            let node = self.tree.node(leaf);
            values.push(match (&node.proof, &node.stage) {
                (Some(proof), _) => Some(proof.points.iter().map(|&p| f64::from(p)).collect()),
                // As in playouts: a game that cannot go on earns nothing.
                (None, NodeStage::Stuck) => Some(SmallVec::from_elem(0.0, tools.sim.roles().len())),
                (None, _) => {
                    open.push(number);
                    states.push(node.state.clone());
                    None
                }
            });
        }
        match self.options.policy {
            _ if states.is_empty() => {}
            PlayoutPolicy::Uniform => {
                let totals = tools.play_out(&states, self.options.playouts, seed, &budget.stop)?;
                for (number, total) in open.into_iter().zip(totals).filter(|(_, t)| t.playouts > 0) {
                    let n = total.playouts as f64;
                    values[number] = Some(total.points.iter().map(|&p| p as f64 / n).collect());
                }
            }
            PlayoutPolicy::Mast => {
                let mut rng = seed.rng();
                for (number, state) in open.into_iter().zip(&states) {
                    values[number] = self.play_by_mast(tools, state, &mut rng, budget)?;
                }
            }
        }
        Ok(values)
    }

    fn play_by_mast(
        &mut self,
        tools: &mut Tools,
        state: &State,
        rng: &mut Rng,
        budget: &Budget,
    ) -> Result<Option<Payoffs>, Fault> {
        let mut sums: Payoffs = SmallVec::new();
        let mut n = 0.0;
        for _ in 0..self.options.playouts {
            let Some(points) = self.mast.play_out(tools.sim.as_mut(), state, rng, &budget.stop)? else {
                break;
            };
            sums.resize(points.len(), 0.0);
            sums.iter_mut().zip(points).for_each(|(sum, p)| *sum += p);
            n += 1.0;
        }
        sums.iter_mut().for_each(|sum| *sum /= n);
        Ok((n > 0.0).then_some(sums))
    }

    /// Backs up a playout along its descent; an abandoned playout is removed from the counts.
    fn take_up(&mut self, path: &[(StateNodeId, Picks)], leaf: StateNodeId, value: Option<&[f64]>) {
        let lost = u32::from(value.is_none());
        let node = self.tree.node_mut(leaf);
        node.flying -= 1;
        node.visits -= lost;
        let mut news = self.options.solve && node.proof.is_some();
        for (id, picks) in path.iter().rev() {
            let node = self.tree.node_mut(*id);
            node.flying -= 1;
            node.visits -= lost;
            if let NodeStage::OpenNode(open) = &mut node.stage {
                for (role, &at) in picks.iter().enumerate() {
                    open.moves_mut(role)[at as usize].land(value.map(|value| value[role]));
                }
            }
            news = news && self.tree.prove(*id);
        }
    }
}

impl Insight for Uct {
    fn value(&mut self, tools: &mut Tools, state: &State, seed: Seed, budget: &Budget) -> Result<Vec<Worth>, Fault> {
        self.search(tools, state, seed, budget)?;
        let root = self.tree.place(state.clone());
        let choices = self.tree.open(root).map(|open| open.moves(tools.role.0 as usize));
        Ok(ranked(choices.unwrap_or_default()))
    }

    fn name(&self) -> &'static str {
        "uct"
    }

    fn remembered(&self) -> u64 {
        self.touched
    }
}

/// Precomputed roots of small numbers: computing them would be most of the work of a descent.
struct SquareRoots {
    /// One over the square root.
    inverse: Vec<f64>,
    /// The square root of the logarithm.
    log: Vec<f64>,
}

/// Made once, for all searches.
static ROOTS: OnceLock<SquareRoots> = OnceLock::new();

impl SquareRoots {
    fn new() -> SquareRoots {
        let small = || (0..4_096).map(f64::from);
        SquareRoots {
            inverse: small().map(|n| n.sqrt().recip()).collect(),
            log: small().map(|n| n.max(1.0).ln().sqrt()).collect(),
        }
    }

    fn inverse(&self, n: u32) -> f64 {
        let small = self.inverse.get(n as usize).copied();
        small.unwrap_or_else(|| f64::from(n).sqrt().recip())
    }

    fn log(&self, n: u32) -> f64 {
        let small = self.log.get(n as usize).copied();
        small.unwrap_or_else(|| f64::from(n).ln().sqrt())
    }
}

/// A move for every role, each by its own statistics, counted as made.
fn choose(open: &mut OpenNode, nature: Option<usize>, width: f64, roots: &SquareRoots, rng: &mut Rng) -> Picks {
    let mut picks = Picks::new();
    for role in 0..open.n_roles() {
        let choices = open.moves_mut(role);
        let at = match choices.len() {
            1 => 0,
            n if Some(role) == nature => rng.below(n),
            _ => most_promising(choices, width, roots, rng),
        };
        choices[at].visits += 1;
        choices[at].flying += 1;
        picks.push(at as u32);
    }
    picks
}

/// Moves that were never made come first, in random order; then the one with the highest bound.
fn most_promising(choices: &[MoveStats], width: f64, roots: &SquareRoots, rng: &mut Rng) -> usize {
    let mut fresh = 0;
    let mut usual = None;
    let (mut best, mut highest) = (0, f64::NEG_INFINITY);
    for (at, choice) in choices.iter().enumerate() {
        let bound = match choice.known {
            Some((points, _)) => f64::from(points),
            None if choice.visits == 0 => {
                fresh += 1;
                continue;
            }
            None if choice.flying < choice.visits => choice.mean + width * roots.inverse(choice.visits),
            // All of its playouts are in flight: it counts as the mean of the others.
            None => *usual.get_or_insert_with(|| mean_of(choices)) + width * roots.inverse(choice.visits),
        };
        if bound > highest {
            (best, highest) = (at, bound);
        }
    }
    if fresh == 0 {
        return best;
    }
    let is_fresh = |choice: &MoveStats| choice.visits == 0 && choice.known.is_none();
    let mut numbered = choices.iter().enumerate().filter(|(_, choice)| is_fresh(choice));
    numbered.nth(rng.below(fresh)).map_or(best, |(at, _)| at)
}

/// The mean over all finished playouts.
fn mean_of(choices: &[MoveStats]) -> f64 {
    let n: u32 = choices.iter().map(MoveStats::back).sum();
    let total: f64 = choices.iter().map(|c| c.mean * f64::from(c.back())).sum();
    if n > 0 { total / f64::from(n) } else { 50.0 }
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
