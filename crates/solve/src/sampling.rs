//! The common part of the sampling algorithms: a flat copy of the tree to walk, and accumulated regrets and strategies
//! by sequence.

use crate::tree::{Node, Tree};
use game::Rng;
use game::regret::normalise;
use std::ops::Range;
use std::sync::Arc;

/// A node as a walk needs it. The children of a node are adjacent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlatNode {
    /// Children; none at the end of the game.
    pub n: u32,
    /// The first child; at the end of the game the first payoff.
    pub first: u32,
    /// The sequence of the first move, if a role chooses.
    pub sequence: u32,
    /// The player that chooses, or [`NATURE`].
    pub player: u32,
}

/// Stands for nature among the players.
pub(crate) const NATURE: u32 = u32::MAX;

impl FlatNode {
    /// The sequences of its moves.
    #[inline]
    pub fn sequences(&self) -> Range<usize> {
        self.sequence as usize..(self.sequence + self.n) as usize
    }
}

/// A tree whose nodes are numbered so that the children of a node are adjacent.
pub(crate) struct FlatTree {
    pub nodes: Vec<FlatNode>,
    /// For each terminal node the goals of all players, from the middle of their goals. Regrets do not depend on the
    /// middle, but the variance of samples grows with the distance of payoffs from it.
    pub payoffs: Vec<f64>,
    /// For each node the number of nature's moves that lead to it; empty if that is always one.
    counts: Vec<u32>,
    pub n_players: usize,
    pub n_sequences: usize,
}

impl FlatTree {
    pub fn new(tree: &Tree) -> FlatTree {
        let n_players = tree.players.len();
        let middle: Vec<f64> = (0..n_players).map(|p| tree.middle(p)).collect();
        let end = FlatNode {
            n: 0,
            first: 0,
            sequence: 0,
            player: NATURE,
        };
        let mut flat = FlatTree {
            nodes: vec![end],
            payoffs: Vec::with_capacity(n_players * tree.n_terminals()),
            counts: vec![1],
            n_players,
            n_sequences: tree.n_sequences(),
        };
        // The node of the tree for each node here, as far as it is known.
        let mut origins = vec![0_u32];
        let mut at = 0;
        while at < origins.len() {
            let mut node = end;
            let (first, n) = match tree.nodes()[origins[at] as usize] {
                Node::Terminal(terminal) => {
                    node.first = flat.payoffs.len() as u32;
                    let goals = tree.payoffs(terminal).iter().zip(&middle);
                    flat.payoffs
                        .extend(goals.map(|(&goal, middle)| f64::from(goal) - middle));
                    (0, 0)
                }
                Node::Chance { first, n } => (first, n),
                Node::Decision { infoset, first } => {
                    let set = &tree.infosets()[infoset as usize];
                    (node.player, node.sequence) = (set.player, set.first);
                    (first, set.n)
                }
            };
            if n > 0 {
                (node.n, node.first) = (n, origins.len() as u32);
                origins.extend(tree.children(first, n));
                match node.player == NATURE {
                    true => flat.counts.extend(tree.counts(first, n)),
                    false => flat.counts.resize(origins.len(), 1),
                }
                flat.nodes.resize(origins.len(), end);
            }
            flat.nodes[at] = node;
            at += 1;
        }
        if flat.counts.iter().all(|&count| count == 1) {
            flat.counts = Vec::new();
        }
        flat
    }

    /// Lets nature move: a child and the probability of it.
    #[inline]
    pub fn nature(&self, node: &FlatNode, rng: &mut Rng) -> (u32, f64) {
        if self.counts.is_empty() {
            let drawn = rng.below(node.n as usize);
            return (node.first + drawn as u32, 1.0 / f64::from(node.n));
        }
        self.counted(node, rng)
    }

    /// The same where several of nature's moves may lead to one child.
    #[inline(never)]
    fn counted(&self, node: &FlatNode, rng: &mut Rng) -> (u32, f64) {
        let counts = &self.counts[node.first as usize..(node.first + node.n) as usize];
        let total: u32 = counts.iter().sum();
        let mut left = rng.below(total as usize) as u32;
        let mut at = 0;
        while left >= counts[at] {
            left -= counts[at];
            at += 1;
        }
        (node.first + at as u32, f64::from(counts[at]) / f64::from(total))
    }

    /// A player's payoff at a terminal node, from the middle.
    #[inline]
    pub fn payoff(&self, node: &FlatNode, player: usize) -> f64 {
        self.payoffs[node.first as usize + player]
    }
}

/// Sums of regrets and strategies.
pub(crate) struct Sums {
    pub tree: Arc<FlatTree>,
    pub regret: Vec<f64>,
    /// Sum of strategies.
    pub total: Vec<f64>,
    pub rng: Rng,
    /// Nodes visited.
    pub visits: u64,
}

impl Sums {
    pub fn new(tree: Arc<FlatTree>, rng: Rng) -> Sums {
        Sums {
            regret: vec![0.0; tree.n_sequences],
            total: vec![0.0; tree.n_sequences],
            tree,
            rng,
            visits: 0,
        }
    }

    /// Appends the strategy that matches the regrets of some sequences.
    pub fn match_regrets(&self, sequences: Range<usize>, out: &mut Vec<f64>) {
        let begin = out.len();
        out.extend(self.regret[sequences].iter().map(|r| r.max(0.0)));
        normalise(&mut out[begin..]);
    }

    /// Draws one of some probabilities that sum to 1.
    #[inline]
    pub fn draw(&mut self, probabilities: &[f64]) -> usize {
        draw(&mut self.rng, probabilities)
    }

    /// Lets nature move: a child and the probability of it.
    #[inline]
    pub fn nature(&mut self, tree: &FlatTree, node: &FlatNode) -> (u32, f64) {
        tree.nature(node, &mut self.rng)
    }
}

/// Draws one of some probabilities that sum to 1.
#[inline]
pub(crate) fn draw(rng: &mut Rng, probabilities: &[f64]) -> usize {
    let mut left = rng.unit();
    // Two moves are the usual case, and need no branch that nobody can predict.
    if let [first, second] = probabilities {
        return usize::from(left >= *first && *second > 0.0);
    }
    for (at, p) in probabilities.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return at;
        }
    }
    // Rounding: the last one with a positive probability.
    probabilities.iter().rposition(|&p| p > 0.0).unwrap_or(0)
}
