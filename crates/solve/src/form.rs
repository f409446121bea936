//! The sequence form: the values of a player's sequences, given the strategies of the others.
//!
//! The probability of a terminal node is a product of nature's part and one part for each player, which depends only on
//! the player's last sequence. So the terminal nodes form a table with one row for each tuple of sequences, and
//! histories are not needed (Koller, Megiddo and von Stengel, *Fast Algorithms for Finding Randomized Strategies in
//! Game Trees*, 1994). A solver makes two passes: one over the table, which gives each own sequence the payoff of the
//! rows where it is the last, and one over the player's information sets from last to first, which adds up the values
//! of later decisions. The results are the counterfactual values of a walk over all histories at a fraction of its
//! cost: nature and the moves of the others need no nodes, and terminal nodes that differ only in nature's moves share
//! a row.

use crate::threads::Threads;
use crate::tree::{Infoset, Tree};
use game::regret::normalise;
use std::ops::Range;

/// A probability for each action of each information set, by sequence. Entries of empty sequences are meaningless.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy(pub Vec<f64>);

impl Policy {
    /// Every action equally often.
    pub fn uniform(tree: &Tree) -> Policy {
        Policy::proportional(tree, &vec![0.0; tree.n_sequences()])
    }

    /// Probabilities in proportion to numbers that are not negative; uniform where all are 0.
    pub fn proportional(tree: &Tree, weights: &[f64]) -> Policy {
        let mut policy = weights.to_vec();
        for set in tree.infosets() {
            normalise(&mut policy[set.sequences()]);
        }
        Policy(policy)
    }
}

/// The table of one player, sorted by its own sequences.
struct Gains {
    /// First row of each own sequence, and the end of the last.
    start: Vec<u32>,
    /// The sequences of the other players, row after row.
    others: Vec<u32>,
    /// Nature's probability times the own payoff, relative to `middle`.
    weight: Vec<f64>,
    /// The goal that counts as 0. Regrets do not depend on it. With it, actions of equal value get exactly equal
    /// regrets, and draws need no rows.
    middle: f64,
}

/// One pass over the rows is shorter than building them: it pays to start threads from this many times as many rows.
const PER_START: usize = 4;

/// A game in sequence form.
pub struct Form<'a> {
    tree: &'a Tree,
    gains: Vec<Gains>,
    threads: Threads,
}

impl<'a> Form<'a> {
    /// The form of a tree.
    pub fn new(tree: &'a Tree) -> Form<'a> {
        Form::on(&Threads::default(), tree)
    }

    /// The form of a tree, for work on several threads. All results are the same for any number of them.
    pub fn on(threads: &Threads, tree: &'a Tree) -> Form<'a> {
        let players = 0..tree.players.len();
        let gains = match threads.n > 1 && tree.n_terminals() >= threads.rows {
            true => std::thread::scope(|scope| {
                let start = |player| scope.spawn(move || Gains::new(tree, player));
                let working: Vec<_> = players.map(start).collect();
                let join = working.into_iter().map(std::thread::ScopedJoinHandle::join);
                join.map(|made| made.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            }),
            false => players.map(|player| Gains::new(tree, player)).collect(),
        };
        Form {
            tree,
            gains,
            threads: *threads,
        }
    }

    /// The tree it was made of.
    pub fn tree(&self) -> &'a Tree {
        self.tree
    }

    /// The threads that may work on it.
    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// The information sets of a player.
    pub(crate) fn infosets_of(&self, player: usize) -> &'a [Infoset] {
        &self.tree.infosets()[self.tree.infosets_of(player)]
    }

    /// The sequences of a player.
    fn sequences_of(&self, player: usize) -> Range<usize> {
        let first = self.tree.empty_sequence(player);
        first..first + self.gains[player].start.len() - 1
    }

    /// For each sequence of a player, the payoff of the rows where it is the last, given the others' reach.
    #[inline]
    pub(crate) fn gain(&self, player: usize, reach: &[f64], gain: &mut [f64]) {
        let sequences = self.sequences_of(player);
        self.gain_of(player, sequences.clone(), reach, &mut gain[sequences]);
    }

    /// The same for some of its sequences. The gain of a sequence depends on no other sequence of the player.
    #[inline]
    fn gain_of(&self, player: usize, sequences: Range<usize>, reach: &[f64], gain: &mut [f64]) {
        let reach = |sequence: u32| reach[sequence as usize];
        let gains = &self.gains[player];
        let first = self.tree.empty_sequence(player);
        let start = &gains.start[sequences.start - first..=sequences.end - first];
        let rows = start.windows(2).map(|w| w[0] as usize..w[1] as usize);
        let n_others = self.tree.players.len() - 1;
        for (gain, rows) in gain.iter_mut().zip(rows) {
            let weight = &gains.weight[rows.clone()];
            *gain = match n_others {
                // Two players are the usual case, and get a loop without an inner loop.
                1 => {
                    let others = &gains.others[rows];
                    weight.iter().zip(others).map(|(w, &o)| w * reach(o)).sum()
                }
                0 => weight.iter().sum(),
                n => {
                    let others = gains.others[rows.start * n..rows.end * n].chunks_exact(n);
                    let product = |o: &[u32]| -> f64 { o.iter().map(|&o| reach(o)).product() };
                    weight.iter().zip(others).map(|(w, o)| w * product(o)).sum()
                }
            };
        }
    }

    /// As [`Form::gain`], on all threads if there are enough rows.
    fn gain_shared(&self, player: usize, reach: &[f64], gain: &mut [f64]) {
        let all = self.sequences_of(player);
        let n_rows = self.gains[player].weight.len();
        let threads = self.threads.n;
        if threads < 2 || n_rows < PER_START * self.threads.rows {
            return self.gain(player, reach, gain);
        }
        let start = &self.gains[player].start;
        std::thread::scope(|scope| {
            let mut rest = &mut gain[all.clone()];
            let mut from = all.start;
            for nth in 1..=threads {
                let rows = start.partition_point(|&row| (row as usize) < n_rows * nth / threads);
                let end = if nth == threads {
                    all.end
                } else {
                    (all.start + rows).clamp(from, all.end)
                };
                let (here, later) = rest.split_at_mut(end - from);
                let sequences = from..end;
                let work = move || self.gain_of(player, sequences, reach, here);
                match nth == threads {
                    true => work(),
                    false => drop(scope.spawn(work)),
                }
                (rest, from) = (later, end);
            }
        });
    }

    /// How many sequences a player has, the empty one included.
    pub(crate) fn n_sequences_of(&self, player: usize) -> usize {
        self.sequences_of(player).len()
    }

    /// The payoffs of a sequence of the first of two players against each sequence of the other, times nature's
    /// probability.
    pub(crate) fn gains_of(&self, sequence: usize) -> impl Iterator<Item = (usize, f64)> {
        self.gains_against(0, sequence)
    }

    /// The same for a sequence of either of two players, counted from its empty one.
    pub(crate) fn gains_against(&self, player: usize, sequence: usize) -> impl Iterator<Item = (usize, f64)> {
        let gains = &self.gains[player];
        let rows = gains.start[sequence] as usize..gains.start[sequence + 1] as usize;
        let others = gains.others[rows.clone()].iter().map(|&o| o as usize);
        others.zip(gains.weight[rows].iter().copied())
    }

    /// The reach probabilities of a player's sequences: the player's own part.
    #[inline]
    pub(crate) fn reach(&self, player: usize, policy: &[f64], reach: &mut [f64]) {
        reach[self.tree.empty_sequence(player)] = 1.0;
        for set in self.infosets_of(player) {
            let here = reach[set.parent as usize];
            let range = set.sequences();
            for (reach, p) in reach[range.clone()].iter_mut().zip(&policy[range]) {
                *reach = here * p;
            }
        }
    }

    /// The reach probabilities of all sequences: the part of their player.
    pub fn reach_all(&self, policy: &Policy) -> Vec<f64> {
        let mut reach = vec![0.0; self.tree.n_sequences()];
        for player in 0..self.tree.players.len() {
            self.reach(player, &policy.0, &mut reach);
        }
        reach
    }

    /// The expected goal of each player when all follow a policy.
    pub fn values(&self, policy: &Policy) -> Vec<f64> {
        let reach = self.reach_all(policy);
        let mut gain = vec![0.0; reach.len()];
        let value = |player| {
            self.gain_shared(player, &reach, &mut gain);
            self.value(player, &reach, &gain)
        };
        (0..self.tree.players.len()).map(value).collect()
    }

    /// The expected goal of a player, from the gains of its sequences.
    fn value(&self, player: usize, reach: &[f64], gain: &[f64]) -> f64 {
        let sequences = self.sequences_of(player);
        let pairs = gain[sequences.clone()].iter().zip(&reach[sequences]);
        self.gains[player].middle + pairs.map(|(g, r)| g * r).sum::<f64>()
    }

    /// The value of a best response of a player to the policy of the others. The policy's entries of that player become
    /// the (pure) best response; ties go to the first action.
    pub fn best_response(&self, player: usize, policy: &mut Policy) -> f64 {
        let reach = self.reach_all(policy);
        let mut gain = vec![0.0; reach.len()];
        self.gain_shared(player, &reach, &mut gain);
        self.respond(player, &mut gain, |set, best| {
            let policy = &mut policy.0[set.sequences()];
            policy.fill(0.0);
            policy[best] = 1.0;
        })
    }

    /// The value of a best response, from the gains of the player's sequences. `choose` is called with the best action
    /// of each information set.
    fn respond(&self, player: usize, gain: &mut [f64], mut choose: impl FnMut(&Infoset, usize)) -> f64 {
        for set in self.infosets_of(player).iter().rev() {
            let (mut best, mut value) = (0, f64::NEG_INFINITY);
            for (action, &worth) in gain[set.sequences()].iter().enumerate() {
                if worth > value {
                    (best, value) = (action, worth);
                }
            }
            choose(set, best);
            gain[set.parent as usize] += value;
        }
        self.gains[player].middle + gain[self.tree.empty_sequence(player)]
    }

    /// For each sequence of a player, by its number in the tree: what its last move loses, compared with the best move
    /// of its information set, if the player makes the best moves afterwards and the others keep to a policy. The
    /// losses along a sequence add up to what a best response that is held to it loses. Sequences of others have 0.
    pub fn losses(&self, player: usize, policy: &Policy) -> Vec<f64> {
        let reach = self.reach_all(policy);
        let mut gain = vec![0.0; reach.len()];
        self.gain_shared(player, &reach, &mut gain);
        let mut losses = vec![0.0; reach.len()];
        for set in self.infosets_of(player).iter().rev() {
            let best = gain[set.sequences()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for sequence in set.sequences() {
                losses[sequence] = best - gain[sequence];
            }
            gain[set.parent as usize] += best;
        }
        losses
    }

    /// NashConv: the sum over players of the gain by a best response to a policy (Lanctot and others 2017), in points
    /// of goals. It is 0 exactly in an equilibrium.
    pub fn nash_conv(&self, policy: &Policy) -> f64 {
        let reach = self.reach_all(policy);
        let mut gain = vec![0.0; reach.len()];
        let gap = |player| {
            self.gain_shared(player, &reach, &mut gain);
            let value = self.value(player, &reach, &gain);
            self.respond(player, &mut gain, |_, _| {}) - value
        };
        (0..self.tree.players.len()).map(gap).sum()
    }
}

impl Gains {
    fn new(tree: &Tree, player: usize) -> Gains {
        let n = tree.players.len();
        let first = tree.empty_sequence(player) as u32;
        let end = tree.infosets()[tree.infosets_of(player)].last().map(Infoset::sequences);
        let n_own = end.map_or(1, |s| s.end - first as usize);
        let others = |t: u32| {
            let leaf = tree.leaf(t);
            leaf[..player].iter().chain(&leaf[player + 1..])
        };
        let own = |t: u32| tree.leaf(t)[player];
        let middle = tree.middle(player);
        let payoff = |t: u32| f64::from(tree.payoffs(t)[player]) - middle;
        let mut order: Vec<u32> = (0..tree.n_terminals() as u32).filter(|&t| payoff(t) != 0.0).collect();
        order.sort_by(|&a, &b| own(a).cmp(&own(b)).then_with(|| others(a).cmp(others(b))));
        let mut gains = Gains {
            start: vec![0; n_own + 1],
            others: Vec::new(),
            weight: Vec::new(),
            middle,
        };
        let mut last = None;
        for &t in &order {
            let weight = tree.chance(t) * payoff(t);
            let same = last.is_some_and(|last| tree.leaf(last) == tree.leaf(t));
            match gains.weight.last_mut() {
                Some(sum) if same => *sum += weight,
                _ => {
                    gains.weight.push(weight);
                    gains.others.extend(others(t));
                    gains.start[(own(t) - first) as usize + 1] += 1;
                }
            }
            last = Some(t);
        }
        for at in 1..gains.start.len() {
            gains.start[at] += gains.start[at - 1];
        }
        debug_assert_eq!(gains.others.len(), gains.weight.len() * (n - 1));
        gains
    }
}
