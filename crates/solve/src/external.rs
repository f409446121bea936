//! Monte Carlo CFR with external sampling (Lanctot, Waugh, Zinkevich and Bowling, *Monte Carlo Sampling for Regret
//! Minimization in Extensive Games*, 2009). For each player in turn, one action of nature and of the others is drawn
//! wherever they move, and all of the player's own actions are visited. The sampled values are unbiased.
//!
//! The others' strategies are added to their averages where they are visited, which happens with their own reach
//! probability. With more than two players each would be visited several times in an iteration; only the next player in
//! seat order is counted, as in OpenSpiel.

use crate::form::Policy;
use crate::sampling::{FlatNode, FlatTree, NATURE, draw};
use crate::solver::Solver;
use crate::streams::{Stream, Streams, add_all};
use crate::tree::Tree;
use game::regret::normalise;
use game::{Rng, Seed};
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

/// What is accumulated for one sequence. All of it lies together, since a visit needs most of it.
#[derive(Clone, Copy)]
struct Cell {
    regret: f64,
    /// The strategy that matches the regrets of the information set. It is made when regrets change: drawing a move,
    /// on which everything that follows has to wait, then waits for no division.
    policy: f64,
    /// Sum of strategies.
    total: f64,
}

/// Whose turn it is to be updated.
#[derive(Clone, Copy)]
struct Update {
    /// The player whose regrets are updated.
    player: u32,
    /// The player whose strategies are added to the averages.
    counted: u32,
}

impl Update {
    fn of(tree: &FlatTree, player: usize) -> Update {
        Update {
            player: player as u32,
            counted: ((player + 1) % tree.n_players) as u32,
        }
    }
}

/// One stream of samples.
struct ExternalStream {
    tree: Arc<FlatTree>,
    cells: Vec<Cell>,
    rng: Rng,
    /// Nodes visited.
    visits: u64,
    /// Values and strategies of the nodes on the path, so that a walk does not allocate.
    stack: Vec<f64>,
}

impl ExternalStream {
    fn new(tree: Arc<FlatTree>, rng: Rng) -> ExternalStream {
        let cell = Cell {
            regret: 0.0,
            policy: 0.0,
            total: 0.0,
        };
        let mut stream = ExternalStream {
            cells: vec![cell; tree.n_sequences],
            tree,
            rng,
            visits: 0,
            stack: Vec::new(),
        };
        stream.match_all();
        stream
    }

    /// Makes streams by number. The first has the generator of the seed itself.
    fn maker(tree: &Tree, seed: Seed) -> impl FnMut(u64) -> ExternalStream {
        let (flat, seed) = (Arc::new(FlatTree::new(tree)), seed.child("external"));
        move |number| {
            let seed = if number == 0 { seed } else { seed.nth(number) };
            ExternalStream::new(flat.clone(), seed.rng())
        }
    }

    /// Matches all strategies to their regrets.
    fn match_all(&mut self) {
        for node in &self.tree.nodes {
            if node.n > 0 && node.player != NATURE {
                match_regrets(&mut self.cells[node.sequences()], &mut self.stack);
            }
        }
    }

    /// A sample of the value of a node to a player. Half of all nodes are terminal, and need no call.
    #[inline(always)]
    fn walk(&mut self, tree: &FlatTree, node: u32, whose: Update) -> f64 {
        let node = &tree.nodes[node as usize];
        match node.n {
            0 => tree.payoff(node, whose.player as usize),
            _ => self.walk_on(tree, node, whose),
        }
    }

    /// The same for a node that is not terminal. Counts the children that are visited.
    #[inline(never)]
    fn walk_on<'t>(&mut self, tree: &'t FlatTree, mut node: &'t FlatNode, whose: Update) -> f64 {
        while node.player != whose.player {
            self.visits += 1;
            let child = match node.n {
                _ if node.player == NATURE => tree.nature(node, &mut self.rng).0,
                2 => self.follow::<2>(node, whose),
                3 => self.follow::<3>(node, whose),
                4 => self.follow::<4>(node, whose),
                _ => self.follow_any(node, whose),
            };
            node = &tree.nodes[child as usize];
            if node.n == 0 {
                return tree.payoff(node, whose.player as usize);
            }
        }
        self.visits += u64::from(node.n);
        match node.n {
            // Most sets are small, and cheaper without the stack.
            2 => self.decide::<2>(tree, node, whose),
            3 => self.decide::<3>(tree, node, whose),
            4 => self.decide::<4>(tree, node, whose),
            _ => self.decide_any(tree, node, whose),
        }
    }

    /// Draws a move of another player: the child that it leads to. The number of actions is known, so that the compiler
    /// makes straight code of every loop over them.
    #[inline(always)]
    fn follow<const N: usize>(&mut self, node: &FlatNode, whose: Update) -> u32 {
        let cells = few_mut::<N>(&mut self.cells, node);
        let policy = cells.map(|cell| cell.policy);
        if node.player == whose.counted {
            cells.iter_mut().for_each(|cell| cell.total += cell.policy);
        }
        node.first + draw(&mut self.rng, &policy) as u32
    }

    /// The same with any number of actions.
    #[inline(never)]
    fn follow_any(&mut self, node: &FlatNode, whose: Update) -> u32 {
        let begin = self.stack.len();
        let cells = &mut self.cells[node.sequences()];
        self.stack.extend(cells.iter().map(|cell| cell.policy));
        if node.player == whose.counted {
            cells.iter_mut().for_each(|cell| cell.total += cell.policy);
        }
        let drawn = draw(&mut self.rng, &self.stack[begin..]);
        self.stack.truncate(begin);
        node.first + drawn as u32
    }

    /// The player's own decision with a known number of actions.
    #[inline(always)]
    fn decide<const N: usize>(&mut self, tree: &FlatTree, node: &FlatNode, whose: Update) -> f64 {
        let policy = few_mut::<N>(&mut self.cells, node).map(|cell| cell.policy);
        let mut values = [0.0; N];
        for (action, value) in values.iter_mut().enumerate() {
            *value = self.walk(tree, node.first + action as u32, whose);
        }
        let cells = few_mut::<N>(&mut self.cells, node);
        let mean = regret(cells, &policy, &values);
        let mut policy = cells.map(|cell| cell.regret.max(0.0));
        normalise(&mut policy);
        cells.iter_mut().zip(policy).for_each(|(cell, p)| cell.policy = p);
        mean
    }

    /// The same with any number of actions.
    #[inline(never)]
    fn decide_any(&mut self, tree: &FlatTree, node: &FlatNode, whose: Update) -> f64 {
        let begin = self.stack.len();
        let policy = self.cells[node.sequences()].iter().map(|cell| cell.policy);
        self.stack.extend(policy);
        for action in 0..node.n {
            let value = self.walk(tree, node.first + action, whose);
            self.stack.push(value);
        }
        let (policy, values) = self.stack[begin..].split_at(node.n as usize);
        let cells = &mut self.cells[node.sequences()];
        let mean = regret(cells, policy, values);
        match_regrets(cells, &mut self.stack);
        self.stack.truncate(begin);
        mean
    }
}

impl Stream for ExternalStream {
    fn iterate(&mut self, n: u64) {
        let tree = self.tree.clone();
        for _ in 0..n {
            self.visits += tree.n_players as u64;
            for player in 0..tree.n_players {
                self.walk(&tree, 0, Update::of(&tree, player));
            }
        }
    }

    fn visits(&self) -> u64 {
        self.visits
    }

    fn sequences(&self) -> usize {
        self.cells.len()
    }

    fn add_regrets(&self, sums: &mut [f64]) {
        add_all(sums, self.cells.iter().map(|cell| &cell.regret));
    }

    fn set_regrets(&mut self, regrets: &[f64]) {
        let cells = self.cells.iter_mut().zip(regrets);
        cells.for_each(|(cell, regret)| cell.regret = *regret);
        self.match_all();
    }

    fn add_totals(&self, sums: &mut [f64]) {
        add_all(sums, self.cells.iter().map(|cell| &cell.total));
    }
}

/// The player's own decision: updates its regrets. Returns the value of the decision.
#[inline]
fn regret(cells: &mut [Cell], policy: &[f64], values: &[f64]) -> f64 {
    let mean: f64 = policy.iter().zip(values).map(|(p, v)| p * v).sum();
    cells
        .iter_mut()
        .zip(values)
        .for_each(|(cell, v)| cell.regret += v - mean);
    mean
}

/// Matches the strategy of an information set to its regrets. The stack is left as it was.
fn match_regrets(cells: &mut [Cell], stack: &mut Vec<f64>) {
    let begin = stack.len();
    stack.extend(cells.iter().map(|cell| cell.regret.max(0.0)));
    normalise(&mut stack[begin..]);
    cells
        .iter_mut()
        .zip(&stack[begin..])
        .for_each(|(cell, p)| cell.policy = *p);
    stack.truncate(begin);
}

/// The cells of a decision whose number of actions is known.
#[inline(always)]
fn few_mut<'a, const N: usize>(cells: &'a mut [Cell], node: &FlatNode) -> &'a mut [Cell; N] {
    let cells = cells[node.sequence as usize..].first_chunk_mut();
    cells.expect("as many as there are actions")
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

    /// The slow twin: strategies are matched to regrets wherever they are needed.
    struct Plain {
        tree: FlatTree,
        regret: Vec<f64>,
        total: Vec<f64>,
        rng: Rng,
        visits: u64,
    }

    impl Plain {
        fn walk(&mut self, node: u32, player: u32) -> f64 {
            let node = self.tree.nodes[node as usize];
            self.visits += 1;
            if node.n == 0 {
                return self.tree.payoff(&node, player as usize);
            }
            if node.player == NATURE {
                let (child, _) = self.tree.nature(&node, &mut self.rng);
                return self.walk(child, player);
            }
            let sequences = node.sequences();
            let mut policy: Vec<f64> = self.regret[sequences.clone()].iter().map(|r| r.max(0.0)).collect();
            normalise(&mut policy);
            if node.player != player {
                if node.player == Update::of(&self.tree, player as usize).counted {
                    add_all(&mut self.total[sequences], policy.iter());
                }
                let drawn = draw(&mut self.rng, &policy);
                return self.walk(node.first + drawn as u32, player);
            }
            let values: Vec<f64> = (0..node.n)
                .map(|action| self.walk(node.first + action, player))
                .collect();
            let mean: f64 = policy.iter().zip(&values).map(|(p, v)| p * v).sum();
            let regrets = self.regret[sequences].iter_mut().zip(&values);
            regrets.for_each(|(regret, v)| *regret += v - mean);
            mean
        }
    }

    #[test]
    fn sums_are_those_of_the_twin_to_the_bit() {
        for spec in ["kuhn-poker", "leduc-poker", "liars-dice:sides=3", "goofspiel:cards=4"] {
            let tree = tree(spec);
            let mut make = ExternalStream::maker(&tree, Seed(3));
            let mut fast = make(0);
            let flat = FlatTree::new(&tree);
            let n = flat.n_sequences;
            let mut plain = Plain {
                regret: vec![0.0; n],
                total: vec![0.0; n],
                rng: Seed(3).child("external").rng(),
                visits: 0,
                tree: flat,
            };
            fast.iterate(3_000);
            for _ in 0..3_000 {
                for player in 0..plain.tree.n_players {
                    plain.walk(0, player as u32);
                }
            }
            let (mut regrets, mut totals) = (vec![0.0; n], vec![0.0; n]);
            fast.add_regrets(&mut regrets);
            fast.add_totals(&mut totals);
            let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(bits(&regrets) == bits(&plain.regret), "{spec}");
            assert!(bits(&totals) == bits(&plain.total), "{spec}");
            assert_eq!(fast.visits(), plain.visits, "{spec}");
        }
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
