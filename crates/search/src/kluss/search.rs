//! Solving and expanding by turns, until the budget is used up.
//!
//! The paper runs a solver thread and expander threads side by side. Here they take turns, by counted work: an
//! iteration of the solver is due when the expansions since the last one have cost as much. So a budget in nodes gives
//! the same bytes everywhere.

use super::expander::{ExpansionRules, choose_leaf};
use super::grow::Grower;
use super::solver::{IterationRules, iterate};
use super::tree::{Kind, ME, OPPONENT};
use super::{Expansion, KlussOptions, Subgame};
use crate::Tools;
use game::{Budget, Fault, Seed};

/// Leaves that are expanded together.
const BATCH: usize = 16;
/// Iterations between two batches of leaves, at most.
const MOST_TURNS: u32 = 32;
/// Nodes that an iteration visits in the time in which a node is made, about.
const NODE_COST: u64 = 150;
/// Share of the time after which nothing is expanded any more.
const GROWING: f64 = 0.8;
/// Share of the time for the whole search.
const SEARCHING: f64 = 0.97;
/// Iterations after the last expansion, at least, unless time is up.
const LAST_ITERATIONS: u64 = 100;
/// Iterations on a tree that is the whole game: at least, and at most.
const WHOLE_ITERATIONS: [u32; 2] = [300, 4_000];
/// Nodes that iterations on the whole game visit, about, beyond the least number of iterations.
const WHOLE_WORK: u64 = 2_000_000;
/// Rounds that the tree may reach below its roots.
const MOST_ROUNDS: u32 = 400;
/// Nodes of a tree at most.
const MOST_NODES: usize = 1_500_000;

/// What a search did.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchReport {
    pub iterations: u64,
    pub new_nodes: u64,
    pub walked: u64,
    /// For each of our moves now: whether it had a positive probability in all iterations of the second half.
    pub stable: Vec<bool>,
}

/// Since when our moves have had a positive probability.
struct Stability {
    since: Vec<Option<u64>>,
    half: Option<u64>,
}

impl Stability {
    fn note(&mut self, subgame: &Subgame, iteration: u64, half_is_over: bool) {
        if half_is_over && self.half.is_none() {
            self.half = Some(iteration);
        }
        let Some(set) = subgame.tree.infoset_of(subgame.mine) else {
            return;
        };
        let actions = &subgame.tree.actions[subgame.tree.infosets[set as usize].actions()];
        self.since.resize(actions.len(), None);
        for (since, action) in self.since.iter_mut().zip(actions) {
            *since = match action.policy > 0.0 {
                true => since.or(Some(iteration)),
                false => None,
            };
        }
    }

    fn stable(&self, iterations: u64) -> Vec<bool> {
        let half = self.half.unwrap_or(iterations / 2);
        self.since.iter().map(|s| s.is_some_and(|s| s <= half)).collect()
    }
}

/// Searches; `nodes` is the number of new nodes at most.
pub(crate) fn search(
    subgame: &mut Subgame,
    grower: &mut Grower,
    tools: &mut Tools,
    options: &KlussOptions,
    nodes: u64,
    seed: Seed,
    budget: &Budget,
) -> Result<SearchReport, Fault> {
    let stop = budget.stop.part(SEARCHING);
    let growing = budget.stop.part(SEARCHING * GROWING);
    let halfway = budget.stop.part(SEARCHING * 0.5);
    let unlimited = nodes == u64::MAX;
    let rules = ExpansionRules {
        c: options.c,
        two_sided: options.expansion == Expansion::TwoSided,
        last_round: subgame.round + MOST_ROUNDS,
    };
    let mut rng = seed.child("expansions").rng();
    let mut report = SearchReport::default();
    let mut stability = Stability {
        since: Vec::new(),
        half: None,
    };
    let (mut credit, mut last_cost, mut after) = (0_i64, 0_i64, 0);
    // Where the scan for leaves that nobody plays to goes on.
    let (mut cursor, mut exhausted) = (0, false);
    let mut explorer = ME;
    loop {
        let full = subgame.tree.nodes.len() >= MOST_NODES || report.new_nodes >= nodes;
        let whole = subgame.is_whole(grower);
        let grows = !full && !whole && !exhausted && subgame.tree.leaves > 0 && !growing.is_raised();
        let (mut turns, mut stopped) = (0, false);
        while turns == 0 && !grows || turns < MOST_TURNS && credit >= last_cost && grows {
            turns += 1;
            if whole && subgame.averaged == 0 {
                // Averages over a tree that was still growing say little about the whole game.
                subgame.tree.forget_averages();
            }
            subgame.averaged += u32::from(whole);
            let number = if whole {
                f64::from(subgame.averaged)
            } else {
                report.iterations as f64 + 1.0
            };
            let iteration = IterationRules {
                weight: number * number,
                everywhere: whole,
            };
            let Some(walked) = iterate(&mut subgame.tree, &mut subgame.gadgets, iteration, &stop) else {
                stopped = true;
                break;
            };
            report.walked += walked;
            last_cost = walked as i64;
            credit -= last_cost;
            report.iterations += 1;
            let half = report.new_nodes >= nodes / 2 || halfway.is_raised() || !grows;
            stability.note(subgame, report.iterations, half);
        }
        if stopped {
            break;
        }
        credit = credit.min(last_cost);
        if !grows {
            after += 1;
            let enough = match whole {
                true => {
                    let [least, most] = WHOLE_ITERATIONS;
                    subgame.averaged >= most || subgame.averaged >= least && report.walked > WHOLE_WORK
                }
                false => after > LAST_ITERATIONS && !(budget.timed && unlimited),
            };
            if enough || stop.is_raised() {
                break;
            }
            continue;
        }
        let mut leaves: Vec<u32> = Vec::with_capacity(BATCH);
        for _ in 0..4 * BATCH {
            let leaf = choose_leaf(&mut subgame.tree, &mut subgame.gadgets, explorer, rules, &mut rng);
            explorer = if explorer == ME { OPPONENT } else { ME };
            if let Some(leaf) = leaf.filter(|l| !leaves.contains(l)) {
                leaves.push(leaf);
                if leaves.len() == BATCH {
                    break;
                }
            }
        }
        if leaves.is_empty() {
            // Nothing that is played to can be expanded: either an iteration has to come first, or only leaves that
            // neither player reaches are left.
            credit = credit.max(last_cost);
            let next = next_leaf(subgame, &mut cursor, rules.last_round);
            exhausted = next.is_none();
            match next {
                Some(leaf) => leaves.push(leaf),
                None => continue,
            }
        }
        let batch = seed.child("batch").nth(report.new_nodes);
        let grown = grower.expand(
            tools,
            &mut subgame.tree,
            &mut subgame.places,
            &leaves,
            options.frozen,
            batch,
            &stop,
        )?;
        let Some(new) = grown else { break };
        report.new_nodes += new as u64;
        credit += (new as u64 * NODE_COST) as i64;
    }
    report.stable = stability.stable(report.iterations);
    Ok(report)
}

/// The next leaf in the order of the nodes.
fn next_leaf(subgame: &Subgame, cursor: &mut usize, last_round: u32) -> Option<u32> {
    while let Some(node) = subgame.tree.nodes.get(*cursor) {
        *cursor += 1;
        if node.kind == Kind::Leaf && node.round < last_round {
            return Some(*cursor as u32 - 1);
        }
    }
    None
}
