//! Monte Carlo CFR with external sampling (Lanctot, Waugh, Zinkevich and Bowling, *Monte Carlo Sampling for Regret
//! Minimization in Extensive Games*, 2009). For each player in turn, one action of nature and of the others is drawn
//! wherever they move, and all of the player's own actions are visited. The sampled values are unbiased.
//!
//! The others' strategies are added to their averages where they are visited, which happens with their own reach
//! probability. With more than two players each would be visited several times in an iteration; only the next player in
//! seat order is counted, as in OpenSpiel.

use crate::form::Policy;
use crate::sampling::Sums;
use crate::solver::Solver;
use crate::tree::{Infoset, Node, Tree};
use game::Seed;
use game::regret::normalise;

/// External sampling.
pub struct ExternalSampling<'a> {
    sums: Sums<'a>,
    iterations: u64,
    /// Strategies and values of the nodes on the path, so that a walk does not allocate.
    stack: Vec<f64>,
}

impl<'a> ExternalSampling<'a> {
    /// A solver that has not begun.
    pub fn new(tree: &'a Tree, seed: Seed) -> ExternalSampling<'a> {
        ExternalSampling {
            sums: Sums::new(tree, seed.child("external").rng()),
            iterations: 0,
            stack: Vec::new(),
        }
    }

    /// A sample of the value of a node to a player.
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
                match children.len() {
                    // Most sets are small, and cheaper without the stack.
                    2 => self.decide_few::<2>(set, children, player),
                    3 => self.decide_few::<3>(set, children, player),
                    4 => self.decide_few::<4>(set, children, player),
                    _ => self.decide(set, children, player),
                }
            }
        }
    }

    /// A decision with a known number of actions: the compiler makes straight code of every loop over them.
    #[inline]
    fn decide_few<const N: usize>(&mut self, set: &Infoset, children: &[u32], player: usize) -> f64 {
        let mut policy = few::<f64, N>(&self.sums.regret[set.sequences()]).map(|r| r.max(0.0));
        normalise(&mut policy);
        if set.player as usize != player {
            if self.counts(set, player) {
                add(few_mut::<N>(&mut self.sums.total[set.sequences()]), &policy);
            }
            let drawn = self.sums.draw(&policy);
            return self.walk(children[drawn], player);
        }
        let values = few::<u32, N>(children).map(|child| self.walk(child, player));
        regret(few_mut::<N>(&mut self.sums.regret[set.sequences()]), &policy, &values)
    }

    /// A decision with any number of actions.
    fn decide(&mut self, set: &Infoset, children: &[u32], player: usize) -> f64 {
        let begin = self.stack.len();
        let mut stack = std::mem::take(&mut self.stack);
        self.sums.match_regrets(set, &mut stack);
        self.stack = stack;
        let value = if set.player as usize == player {
            for &child in children {
                let value = self.walk(child, player);
                self.stack.push(value);
            }
            let stack = std::mem::take(&mut self.stack);
            let (policy, values) = stack[begin..].split_at(children.len());
            let mean = regret(&mut self.sums.regret[set.sequences()], policy, values);
            self.stack = stack;
            mean
        } else {
            let stack = std::mem::take(&mut self.stack);
            if self.counts(set, player) {
                add(&mut self.sums.total[set.sequences()], &stack[begin..]);
            }
            let drawn = self.sums.draw(&stack[begin..]);
            self.stack = stack;
            self.walk(children[drawn], player)
        };
        self.stack.truncate(begin);
        value
    }

    /// Whether the strategy in another player's information set is added to the average.
    #[inline]
    fn counts(&self, set: &Infoset, player: usize) -> bool {
        let next = player + 1;
        set.player as usize == if next == self.sums.tree.players.len() { 0 } else { next }
    }
}

/// Another player's decision: adds its strategy to the average.
#[inline]
fn add(totals: &mut [f64], policy: &[f64]) {
    totals.iter_mut().zip(policy).for_each(|(t, p)| *t += p);
}

/// The player's own decision: updates its regrets. Returns the value of the decision.
#[inline]
fn regret(regrets: &mut [f64], policy: &[f64], values: &[f64]) -> f64 {
    let mean: f64 = policy.iter().zip(values).map(|(p, v)| p * v).sum();
    regrets.iter_mut().zip(values).for_each(|(r, v)| *r += v - mean);
    mean
}

/// A slice of known length as an array.
#[inline]
fn few<T: Copy, const N: usize>(all: &[T]) -> [T; N] {
    *all.first_chunk().expect("as many as there are actions")
}

#[inline]
fn few_mut<const N: usize>(all: &mut [f64]) -> &mut [f64; N] {
    all.first_chunk_mut().expect("as many as there are actions")
}

impl Solver for ExternalSampling<'_> {
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
