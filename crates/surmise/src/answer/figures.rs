//! The figures of situations: how often they arise, what their moves are worth, and whether they matter.

use super::{RARE, Weight};
use crate::Solution;
use game::Simulator;
use serde_json::{Map, Value, json};
use solve::{Form, Infoset, Node, Policy, Tree};

/// Figures by information set and by sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Probability that the information set is reached.
    pub arises: Vec<f64>,
    /// Expected points of the information set's role after the last move of a sequence, if it keeps to its strategy
    /// later; not a number where the others never let the information set arise.
    pub values: Vec<f64>,
    /// Whether the information set needs thought.
    pub weights: Vec<Weight>,
}

/// Differences of values, in points, that count as none.
const EQUAL: f64 = 1e-3;

/// Terminal nodes that may be visited to find out whether a mixed choice could be replaced by one move.
const WORK: u64 = 100_000_000;

impl Figures {
    /// The figures of a solution.
    pub fn new(solution: &Solution<'_>) -> Figures {
        let tree = &solution.tree.tree;
        let mut figures = Figures {
            arises: vec![0.0; tree.infosets().len()],
            values: vec![f64::NAN; tree.n_sequences()],
            weights: vec![Weight::Matters; tree.infosets().len()],
        };
        let reach = reach(tree, &solution.policy);
        for player in 0..tree.players.len() {
            figures.add_player(tree, &solution.policy, &reach, player);
        }
        figures.weigh(solution);
        figures
    }

    /// The value of the best move of an information set.
    pub fn best_value(&self, set: &Infoset) -> f64 {
        self.values[set.sequences()].iter().copied().fold(f64::NAN, f64::max)
    }

    /// Adds the figures of an information set to its entry in JSON.
    pub(crate) fn add_to(&self, entry: &mut Value, tree: &Tree, sim: &dyn Simulator, at: usize) {
        let set = &tree.infosets()[at];
        let role = tree.players[set.player as usize];
        let value = |s: usize| (sim.move_text(role, tree.move_of(s)).to_owned(), json!(self.values[s]));
        let values: Map<String, Value> = set.sequences().map(value).collect();
        entry["arises"] = json!(self.arises[at]);
        entry["weight"] = json!(self.weights[at].name());
        entry["values"] = Value::Object(values);
    }

    /// Sums the payoffs and the probabilities of the others over the terminal nodes of each sequence, then adds up
    /// later information sets, from last to first.
    fn add_player(&mut self, tree: &Tree, policy: &Policy, reach: &[f64], player: usize) {
        let mut gain = vec![0.0; tree.n_sequences()];
        let mut mass = vec![0.0; tree.n_sequences()];
        for t in 0..tree.n_terminals() as u32 {
            let leaf = tree.leaf(t);
            let others = leaf.iter().enumerate().filter(|&(p, _)| p != player);
            let p = tree.chance(t) * others.map(|(_, &s)| reach[s as usize]).product::<f64>();
            let own = leaf[player] as usize;
            mass[own] += p;
            gain[own] += p * f64::from(tree.payoffs(t)[player]);
        }
        for at in tree.infosets_of(player).rev() {
            let set = &tree.infosets()[at];
            let parent = set.parent as usize;
            let here = mass[set.first as usize];
            for s in set.sequences() {
                self.values[s] = if here > 1e-12 { gain[s] / mass[s] } else { f64::NAN };
                gain[parent] += policy.0[s] * gain[s];
            }
            mass[parent] += here;
            self.arises[at] = here * reach[parent];
        }
    }

    fn weigh(&mut self, solution: &Solution<'_>) {
        let tree = &solution.tree.tree;
        let settled = settled(tree);
        // A form of its own is worth its memory only where there is work for it.
        let several = tree.players.len() > 1 && tree.n_terminals() as u64 <= WORK / 4;
        let form = several.then(|| Form::new(tree));
        let mut work = WORK;
        for (at, set) in tree.infosets().iter().enumerate() {
            self.weights[at] = if self.arises[at] < RARE {
                Weight::Rare
            } else if settled[at] {
                Weight::Settled
            } else if self.spread(set) < EQUAL && self.is_free(solution, form.as_ref(), at, &mut work) {
                Weight::Free
            } else {
                Weight::Matters
            };
        }
    }

    /// The difference between the best and the worst move.
    fn spread(&self, set: &Infoset) -> f64 {
        let worst = self.values[set.sequences()]
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        self.best_value(set) - worst
    }

    /// Whether the others could not gain if the role always made the same move here, whichever it is. A role alone
    /// against nature has nobody to fear. Where goals have no constant sum, a move may also be bad for the others
    /// without being good for the role, so that nothing is free.
    fn is_free(&self, solution: &Solution<'_>, form: Option<&Form<'_>>, at: usize, work: &mut u64) -> bool {
        let tree = &solution.tree.tree;
        if tree.players.len() == 1 {
            return true;
        }
        if !solution.is_promised() {
            return false;
        }
        let set = &tree.infosets()[at];
        let cost = u64::from(set.n) * (tree.players.len() as u64 - 1) * (tree.n_terminals() as u64 + 1);
        let Some(form) = form.filter(|_| *work >= cost) else {
            return false;
        };
        *work -= cost;
        let bearable = EQUAL * self.arises[at] + 1e-9;
        let gains = |other: usize, always: usize| {
            let mut policy = solution.policy.clone();
            policy.0[set.sequences()].fill(0.0);
            policy.0[always] = 1.0;
            form.best_response(other, &mut policy) > solution.best[other] + bearable
        };
        let mut others = (0..tree.players.len()).filter(|&p| p != set.player as usize);
        others.all(|other| set.sequences().all(|always| !gains(other, always)))
    }
}

/// The probability of each sequence: the player's own part.
fn reach(tree: &Tree, policy: &Policy) -> Vec<f64> {
    let mut reach = vec![1.0; tree.n_sequences()];
    for set in tree.infosets() {
        for s in set.sequences() {
            reach[s] = reach[set.parent as usize] * policy.0[s];
        }
    }
    reach
}

/// Whether the payoff of an information set's role is settled in every history of the set.
fn settled(tree: &Tree) -> Vec<bool> {
    let n = tree.players.len();
    let mut settled = vec![true; tree.infosets().len()];
    // The least and the most of each player below a node, of the nodes on the way from the root to this one.
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    let mut path: Vec<(u32, u32)> = vec![(0, 0)];
    ranges.extend(std::iter::repeat_n((u8::MAX, 0), n));
    while let Some(&(node, next)) = path.last() {
        let depth = path.len() - 1;
        let edges = edges(tree, node);
        if let Some(&child) = edges.get(next as usize) {
            path[depth].1 += 1;
            path.push((child, 0));
            ranges.extend(std::iter::repeat_n((u8::MAX, 0), n));
            continue;
        }
        let at = depth * n;
        match tree.nodes()[node as usize] {
            Node::Terminal(t) => {
                for (range, &goal) in ranges[at..].iter_mut().zip(tree.payoffs(t)) {
                    *range = (goal, goal);
                }
            }
            Node::Chance { .. } => {}
            Node::Decision { infoset, .. } => {
                let player = tree.infosets()[infoset as usize].player as usize;
                let (least, most) = ranges[at + player];
                settled[infoset as usize] &= least == most;
            }
        }
        path.pop();
        let done = ranges.split_off(at);
        if depth > 0 {
            for (above, (least, most)) in ranges[at - n..].iter_mut().zip(done) {
                *above = (above.0.min(least), above.1.max(most));
            }
        }
    }
    settled
}

/// The nodes below a node.
pub(super) fn edges(tree: &Tree, node: u32) -> &[u32] {
    match tree.nodes()[node as usize] {
        Node::Terminal(_) => &[],
        Node::Chance { first, n } => tree.children(first, n),
        Node::Decision { infoset, first } => tree.children(first, tree.infosets()[infoset as usize].n),
    }
}
