//! Monte Carlo CFR with external sampling (Lanctot, Waugh, Zinkevich and Bowling, *Monte Carlo Sampling for Regret
//! Minimization in Extensive Games*, 2009). For each player in turn, one action of nature and of the others is drawn
//! wherever they move, and all of the player's own actions are visited. The sampled values are unbiased.
//!
//! The others' strategies are added to their averages where they are visited, which happens with their own reach
//! probability. With more than two players each would be visited several times in an iteration; only the next player in
//! seat order is counted, as in OpenSpiel.

use crate::form::Policy;
use crate::sampling::{FlatNode, FlatTree, NATURE, Sums};
use crate::solver::Solver;
use crate::streams::{Stream, Streams};
use crate::tree::Tree;
use game::Seed;
use game::regret::normalise;
use std::sync::Arc;

/// External sampling.
pub struct ExternalSampling<'a> {
    tree: &'a Tree,
    streams: Streams<ExternalStream>,
}

impl<'a> ExternalSampling<'a> {
    /// A solver that has not begun, on some threads.
    pub fn new(tree: &'a Tree, seed: Seed, threads: usize) -> ExternalSampling<'a> {
        ExternalSampling {
            tree,
            streams: Streams::new(threads, ExternalStream::maker(tree, seed)),
        }
    }
}

/// One stream of samples.
struct ExternalStream {
    sums: Sums,
    /// Strategies and values of the nodes on the path, so that a walk does not allocate.
    stack: Vec<f64>,
}

impl ExternalStream {
    /// Makes streams by number. The first has the generator of the seed itself.
    fn maker(tree: &Tree, seed: Seed) -> impl FnMut(u64) -> ExternalStream {
        let (flat, seed) = (Arc::new(FlatTree::new(tree)), seed.child("external"));
        move |number| {
            let seed = if number == 0 { seed } else { seed.nth(number) };
            ExternalStream {
                sums: Sums::new(flat.clone(), seed.rng()),
                stack: Vec::new(),
            }
        }
    }

    /// A sample of the value of a node to a player. Half of all nodes are terminal, and need no call.
    #[inline]
    fn walk(&mut self, tree: &FlatTree, node: u32, player: u32) -> f64 {
        let node = tree.nodes[node as usize];
        self.sums.visits += 1;
        match node.n {
            0 => tree.payoff(node, player as usize),
            _ => self.walk_on(tree, node, player),
        }
    }

    /// The same for a node that is not terminal.
    fn walk_on(&mut self, tree: &FlatTree, node: FlatNode, player: u32) -> f64 {
        match node.n {
            _ if node.player == NATURE => {
                let (child, _) = self.sums.nature(tree, node);
                self.walk(tree, child, player)
            }
            // Most sets are small, and cheaper without the stack.
            2 => self.decide_few::<2>(tree, node, player),
            3 => self.decide_few::<3>(tree, node, player),
            4 => self.decide_few::<4>(tree, node, player),
            _ => self.decide(tree, node, player),
        }
    }

    /// A decision with a known number of actions: the compiler makes straight code of every loop over them.
    #[inline]
    fn decide_few<const N: usize>(&mut self, tree: &FlatTree, node: FlatNode, player: u32) -> f64 {
        let mut policy = few::<N>(&self.sums.regret[node.sequences()]).map(|r| r.max(0.0));
        normalise(&mut policy);
        if node.player != player {
            if counts(tree, node, player) {
                add(few_mut::<N>(&mut self.sums.total[node.sequences()]), &policy);
            }
            let drawn = self.sums.draw(&policy);
            return self.walk(tree, node.first + drawn as u32, player);
        }
        let mut values = [0.0; N];
        for (action, value) in values.iter_mut().enumerate() {
            *value = self.walk(tree, node.first + action as u32, player);
        }
        regret(few_mut::<N>(&mut self.sums.regret[node.sequences()]), &policy, &values)
    }

    /// A decision with any number of actions.
    fn decide(&mut self, tree: &FlatTree, node: FlatNode, player: u32) -> f64 {
        let begin = self.stack.len();
        self.sums.match_regrets(node.sequences(), &mut self.stack);
        let value = if node.player == player {
            for action in 0..node.n {
                let value = self.walk(tree, node.first + action, player);
                self.stack.push(value);
            }
            let (policy, values) = self.stack[begin..].split_at(node.n as usize);
            regret(&mut self.sums.regret[node.sequences()], policy, values)
        } else {
            if counts(tree, node, player) {
                add(&mut self.sums.total[node.sequences()], &self.stack[begin..]);
            }
            let drawn = self.sums.draw(&self.stack[begin..]);
            self.walk(tree, node.first + drawn as u32, player)
        };
        self.stack.truncate(begin);
        value
    }
}

impl Stream for ExternalStream {
    fn iterate(&mut self, n: u64) {
        let tree = self.sums.tree.clone();
        for _ in 0..n {
            for player in 0..tree.n_players {
                self.walk(&tree, 0, player as u32);
            }
        }
    }

    fn visits(&self) -> u64 {
        self.sums.visits
    }

    fn regrets(&mut self) -> &mut [f64] {
        &mut self.sums.regret
    }

    fn totals(&self) -> &[f64] {
        &self.sums.total
    }
}

/// Whether the strategy in another player's information set is added to the average.
#[inline]
fn counts(tree: &FlatTree, node: FlatNode, player: u32) -> bool {
    let next = player as usize + 1;
    node.player as usize == if next == tree.n_players { 0 } else { next }
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
fn few<const N: usize>(all: &[f64]) -> [f64; N] {
    *all.first_chunk().expect("as many as there are actions")
}

#[inline]
fn few_mut<const N: usize>(all: &mut [f64]) -> &mut [f64; N] {
    all.first_chunk_mut().expect("as many as there are actions")
}

impl Solver for ExternalSampling<'_> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Form;
    use crate::tests::tree;

    fn totals(streams: &Streams<ExternalStream>) -> Vec<u64> {
        streams.totals().iter().map(|t| t.to_bits()).collect()
    }

    #[test]
    fn threads_and_slices_change_no_bit() {
        let tree = tree("leduc-poker");
        let new = |threads| Streams::new(threads, ExternalStream::maker(&tree, Seed(5))).join_after(2_000);
        let (mut one, mut three) = (new(1), new(3));
        one.iterate(5_000);
        for slice in [1, 2, 3, 500, 7, 1_487, 3_000] {
            three.iterate(slice);
        }
        assert_eq!(one.iterations(), three.iterations());
        assert!(totals(&one) == totals(&three));
    }

    /// Streams that are a batch apart learn nearly as fast as one stream.
    #[test]
    fn streams_converge_as_one_does() {
        for spec in ["kuhn-poker", "liars-dice:sides=3"] {
            let tree = tree(spec);
            let form = Form::new(&tree);
            let gap =
                |streams: &Streams<ExternalStream>| form.nash_conv(&Policy::proportional(&tree, &streams.totals()));
            let mut sums = [0.0; 2];
            for seed in 0..4 {
                let mut single = Streams::single(ExternalStream::maker(&tree, Seed(seed)));
                let mut several = Streams::new(2, ExternalStream::maker(&tree, Seed(seed))).join_after(2_000);
                single.iterate(40_000);
                several.iterate(40_000);
                sums[0] += gap(&single);
                sums[1] += gap(&several);
            }
            assert!(sums[1] < 1.5 * sums[0] + 0.1, "{spec}: {sums:?}");
        }
    }
}
