//! Monte Carlo CFR with outcome sampling (Lanctot, Waugh, Zinkevich and Bowling, *Monte Carlo Sampling for Regret
//! Minimization in Extensive Games*, 2009). For each player in turn a single game is played; the player explores, and
//! the payoff is divided by the sampling probability. It has the cheapest iteration and the largest variance.

use crate::form::Policy;
use crate::sampling::Sums;
use crate::solver::Solver;
use crate::tree::{Node, Tree};
use game::Seed;

/// Share of uniform exploration, as in the paper's experiments.
const EXPLORATION: f64 = 0.6;

/// Outcome sampling.
pub struct OutcomeSampling<'a> {
    sums: Sums<'a>,
    iterations: u64,
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

impl<'a> OutcomeSampling<'a> {
    /// A solver that has not begun.
    pub fn new(tree: &'a Tree, seed: Seed) -> OutcomeSampling<'a> {
        OutcomeSampling {
            sums: Sums::new(tree, seed.child("outcome").rng()),
            iterations: 0,
            stack: Vec::new(),
        }
    }

    /// A sample of the value of a node to a player, divided by the sampling probability of the path below it.
    fn walk(&mut self, node: u32, player: usize, reach: Reach) -> f64 {
        let tree = self.sums.tree;
        match tree.nodes()[node as usize] {
            Node::Terminal(at) => self.sums.payoff(at, player),
            Node::Chance { first, n } => {
                let (child, p) = self.sums.nature(first, n);
                let reach = Reach {
                    others: reach.others * p,
                    sample: reach.sample * p,
                    ..reach
                };
                self.walk(child, player, reach)
            }
            Node::Decision { infoset, first } => {
                let set = &tree.infosets()[infoset as usize];
                let children = tree.children(first, set.n);
                let begin = self.stack.len();
                self.sums.match_regrets(set, &mut self.stack);
                let value = if set.player as usize == player {
                    self.own(set.sequences(), children, player, reach, begin)
                } else {
                    let drawn = self.sums.draw(&self.stack[begin..]);
                    let p = self.stack[begin + drawn];
                    let reach = Reach {
                        others: reach.others * p,
                        sample: reach.sample * p,
                        ..reach
                    };
                    self.walk(children[drawn], player, reach)
                };
                self.stack.truncate(begin);
                value
            }
        }
    }

    /// The player's own decision; its strategy is on the stack.
    fn own(
        &mut self,
        sequences: std::ops::Range<usize>,
        children: &[u32],
        player: usize,
        reach: Reach,
        begin: usize,
    ) -> f64 {
        let n = children.len();
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
        let value = self.walk(children[drawn], player, further) / sampled;
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

impl Solver for OutcomeSampling<'_> {
    fn iterate(&mut self, n: u64) {
        let root = Reach {
            own: 1.0,
            others: 1.0,
            sample: 1.0,
        };
        for _ in 0..n {
            self.iterations += 1;
            for player in 0..self.sums.tree.players.len() {
                self.walk(0, player, root);
            }
        }
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn average(&self) -> Policy {
        self.sums.average()
    }
}
