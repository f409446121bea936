//! Monte Carlo CFR with outcome sampling (Lanctot, Waugh, Zinkevich and Bowling, *Monte Carlo Sampling for Regret
//! Minimization in Extensive Games*, 2009). For each player in turn a single game is played; the player explores, and
//! the payoff is divided by the sampling probability. It has the cheapest iteration and the largest variance.

use crate::form::Policy;
use crate::sampling::{FlatNode, FlatTree, NATURE, Sums};
use crate::solver::Solver;
use crate::streams::{Stream, Streams, add_all};
use crate::tree::Tree;
use game::Seed;
use std::sync::Arc;

/// Share of uniform exploration, as in the paper's experiments.
const EXPLORATION: f64 = 0.6;

/// Outcome sampling.
pub struct OutcomeSampling<'a> {
    tree: &'a Tree,
    streams: Streams<OutcomeStream>,
}

/// One stream of samples.
struct OutcomeStream {
    sums: Sums,
    stack: Vec<f64>,
}

/// Reach and sampling probabilities of a node.
#[derive(Clone, Copy)]
struct Reach {
    /// The player's own part of the reach probability.
    own: f64,
    /// The part of nature and the others.
    others: f64,
    /// The probability of sampling it.
    sample: f64,
}

impl Reach {
    /// After a move of nature or another player.
    fn others_by(self, p: f64) -> Reach {
        Reach {
            others: self.others * p,
            sample: self.sample * p,
            ..self
        }
    }
}

impl<'a> OutcomeSampling<'a> {
    /// A solver that has not begun, on some threads.
    pub fn new(tree: &'a Tree, seed: Seed, threads: usize) -> OutcomeSampling<'a> {
        let (flat, seed) = (Arc::new(FlatTree::new(tree)), seed.child("outcome"));
        let make = move |number| {
            let seed = if number == 0 { seed } else { seed.nth(number) };
            OutcomeStream {
                sums: Sums::new(flat.clone(), seed.rng()),
                stack: Vec::new(),
            }
        };
        OutcomeSampling {
            tree,
            streams: Streams::new(threads, make),
        }
    }
}

impl OutcomeStream {
    /// A sample of the value of a node to a player, divided by the sampling probability of the path below it.
    fn walk(&mut self, tree: &FlatTree, node: u32, player: usize, reach: Reach) -> f64 {
        let node = &tree.nodes[node as usize];
        self.sums.visits += 1;
        if node.n == 0 {
            return tree.payoff(node, player);
        }
        if node.player == NATURE {
            let (child, p) = self.sums.nature(tree, node);
            return self.walk(tree, child, player, reach.others_by(p));
        }
        let begin = self.stack.len();
        self.sums.match_regrets(node.sequences(), &mut self.stack);
        let value = if node.player as usize == player {
            self.own(tree, node, player, reach, begin)
        } else {
            let drawn = self.sums.draw(&self.stack[begin..]);
            let reach = reach.others_by(self.stack[begin + drawn]);
            self.walk(tree, node.first + drawn as u32, player, reach)
        };
        self.stack.truncate(begin);
        value
    }

    /// The player's own decision; its strategy is on the stack.
    fn own(&mut self, tree: &FlatTree, node: &FlatNode, player: usize, reach: Reach, begin: usize) -> f64 {
        let (n, sequences) = (node.n as usize, node.sequences());
        let drawn = match self.sums.rng.unit() < EXPLORATION {
            true => self.sums.rng.below(n),
            false => self.sums.draw(&self.stack[begin..]),
        };
        let p = self.stack[begin + drawn];
        let sampled = EXPLORATION / n as f64 + (1.0 - EXPLORATION) * p;
        let further = Reach {
            own: reach.own * p,
            sample: reach.sample * sampled,
            ..reach
        };
        let value = self.walk(tree, node.first + drawn as u32, player, further) / sampled;
        let mean = p * value;
        let policy = &self.stack[begin..];
        let totals = self.sums.total[sequences.clone()].iter_mut();
        totals.zip(policy).for_each(|(t, p)| *t += reach.own / reach.sample * p);
        let scale = reach.others / reach.sample;
        for (action, regret) in self.sums.regret[sequences].iter_mut().enumerate() {
            let worth = if action == drawn { value } else { 0.0 };
            *regret += scale * (worth - mean);
        }
        mean
    }
}

impl Stream for OutcomeStream {
    fn iterate(&mut self, n: u64) {
        let root = Reach {
            own: 1.0,
            others: 1.0,
            sample: 1.0,
        };
        let tree = self.sums.tree.clone();
        for _ in 0..n {
            for player in 0..tree.n_players {
                self.walk(&tree, 0, player, root);
            }
        }
    }

    fn visits(&self) -> u64 {
        self.sums.visits
    }

    fn sequences(&self) -> usize {
        self.sums.regret.len()
    }

    fn add_regrets(&self, sums: &mut [f64]) {
        add_all(sums, self.sums.regret.iter());
    }

    fn set_regrets(&mut self, regrets: &[f64]) {
        self.sums.regret.copy_from_slice(regrets);
    }

    fn add_totals(&self, sums: &mut [f64]) {
        add_all(sums, self.sums.total.iter());
    }
}

impl Solver for OutcomeSampling<'_> {
    fn iterate(&mut self, n: u64) {
        self.streams.iterate(n);
    }

    fn iterations(&self) -> u64 {
        self.streams.iterations()
    }

    fn average(&self) -> Policy {
        Policy::proportional(self.tree, &self.streams.totals())
    }
}
