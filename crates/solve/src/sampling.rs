//! The common part of the sampling algorithms: accumulated regrets and strategies by sequence.

use crate::form::Policy;
use crate::tree::{Infoset, Node, Tree};
use game::Rng;
use game::regret::normalise;

/// Sums of regrets and strategies.
pub(crate) struct Sums<'a> {
    pub tree: &'a Tree,
    pub regret: Vec<f64>,
    /// Sum of strategies.
    pub total: Vec<f64>,
    pub rng: Rng,
    /// The goal of each player that counts as 0. Regrets do not depend on it, but the variance of samples grows with
    /// the distance of payoffs from it.
    middle: Vec<f64>,
    /// Whether every edge of nature stands for one move.
    plain: bool,
}

impl<'a> Sums<'a> {
    pub fn new(tree: &'a Tree, rng: Rng) -> Sums<'a> {
        let n = tree.n_sequences();
        Sums {
            tree,
            regret: vec![0.0; n],
            total: vec![0.0; n],
            rng,
            middle: (0..tree.players.len()).map(|p| tree.middle(p)).collect(),
            plain: tree.nodes().iter().all(|node| match *node {
                Node::Chance { first, n } => tree.counts(first, n).iter().all(|&count| count == 1),
                _ => true,
            }),
        }
    }

    /// A player's payoff at a terminal node, from the middle.
    pub fn payoff(&self, terminal: u32, player: usize) -> f64 {
        f64::from(self.tree.payoffs(terminal)[player]) - self.middle[player]
    }

    /// Appends the strategy that matches the regrets of an information set.
    pub fn match_regrets(&self, set: &Infoset, out: &mut Vec<f64>) {
        let begin = out.len();
        out.extend(self.regret[set.sequences()].iter().map(|r| r.max(0.0)));
        normalise(&mut out[begin..]);
    }

    /// Draws one of some probabilities that sum to 1.
    pub fn draw(&mut self, probabilities: &[f64]) -> usize {
        let mut left = self.rng.unit();
        for (at, p) in probabilities.iter().enumerate() {
            left -= p;
            if left < 0.0 {
                return at;
            }
        }
        // Rounding: the last one with a positive probability.
        probabilities.iter().rposition(|&p| p > 0.0).unwrap_or(0)
    }

    /// Lets nature move: a child and the probability of it.
    pub fn nature(&mut self, first: u32, n: u32) -> (u32, f64) {
        if self.plain {
            let drawn = self.rng.below(n as usize);
            return (self.tree.children(first, n)[drawn], 1.0 / f64::from(n));
        }
        let counts = self.tree.counts(first, n);
        let total: u32 = counts.iter().sum();
        let mut left = self.rng.below(total as usize) as u32;
        let mut at = 0;
        while left >= counts[at] {
            left -= counts[at];
            at += 1;
        }
        let p = f64::from(counts[at]) / f64::from(total);
        (self.tree.children(first, n)[at], p)
    }

    pub fn average(&self) -> Policy {
        Policy::proportional(self.tree, &self.total)
    }
}
