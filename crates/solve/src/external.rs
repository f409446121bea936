//! Monte Carlo CFR with external sampling (Lanctot, Waugh, Zinkevich and Bowling, Monte Carlo Sampling for Regret
//! Minimization in Extensive Games, 2009). For each player in turn, one action of nature and of the others is drawn
//! wherever they move, and all of the player's own are tried: the sampled values are right on average.
//!
//! The others' strategies are averaged where they are met, which is with their own reach, as it should be. With more than two
//! players each would be met several times in an iteration; only those who sit after the player count then, as in OpenSpiel.

use crate::form::Policy;
use crate::sampling::Sums;
use crate::solver::Solver;
use crate::tree::{Node, Tree};
use game::Seed;

/// External sampling.
pub struct External<'a> {
    sums: Sums<'a>,
    iterations: u64,
    /// Strategies and values of the nodes on the way, so that a walk need not allocate.
    stack: Vec<f64>,
}

impl<'a> External<'a> {
    /// A solver that has not begun.
    pub fn new(tree: &'a Tree, seed: Seed) -> External<'a> {
        External {
            sums: Sums::new(tree, seed.child("external").rng()),
            iterations: 0,
            stack: Vec::new(),
        }
    }

    /// A sample of what a node is worth to a player.
    fn walk(&mut self, node: u32, player: usize) -> f64 {
        let tree = self.sums.tree;
        match tree.nodes()[node as usize] {
            Node::Terminal(at) => self.sums.payoff(at, player),
            Node::Chance { first, n } => {
                let (child, _) = self.sums.nature(first, n);
                self.walk(child, player)
            }
            Node::Decision { infoset, first } => {
                let set = &tree.infosets()[infoset as usize];
                let children = tree.children(first, set.n);
                let (n, begin) = (children.len(), self.stack.len());
                self.sums.match_regrets(set, &mut self.stack);
                let value = if set.player as usize == player {
                    for &child in children {
                        let value = self.walk(child, player);
                        self.stack.push(value);
                    }
                    let (policy, values) = self.stack[begin..].split_at(n);
                    let mean: f64 = policy.iter().zip(values).map(|(p, v)| p * v).sum();
                    let regrets = &mut self.sums.regret[set.sequences()];
                    regrets.iter_mut().zip(values).for_each(|(r, v)| *r += v - mean);
                    mean
                } else {
                    if set.player as usize == (player + 1) % tree.players.len() {
                        let totals = self.sums.total[set.sequences()].iter_mut();
                        totals.zip(&self.stack[begin..]).for_each(|(t, p)| *t += p);
                    }
                    let drawn = self.sums.draw(&self.stack[begin..]);
                    self.walk(children[drawn], player)
                };
                self.stack.truncate(begin);
                value
            }
        }
    }
}

impl Solver for External<'_> {
    fn iterate(&mut self, n: u64) {
        for _ in 0..n {
            self.iterations += 1;
            for player in 0..self.sums.tree.players.len() {
                self.walk(0, player);
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
