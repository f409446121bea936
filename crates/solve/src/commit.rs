//! Commitment: the best mixed strategy that a leader can announce to a follower who then plays a best response
//! (strong Stackelberg equilibrium: ties of the follower go to the leader's advantage).
//!
//! One linear program for each pure strategy of the follower (Conitzer and Sandholm, *Computing the Optimal Strategy to
//! Commit to*, 2006), over the leader's plans in sequence form instead of its mixed strategies:
//!
//! ```text
//! maximise   the leader's gain of x against f
//! such that  x is a plan of the leader, and for every sequence s of the follower
//!            v where s is chosen  ≥  the follower's gain of s against x  +  v of the sets that s leads to,
//!            and the follower's gain of f against x  ≥  v of the start: f is a best response
//! ```
//!
//! The best program wins. Pure strategies that differ only where they do not get count once, and their number is
//! bounded: it grows exponentially with the follower's information sets. With chance or information of the follower the
//! problem is NP-hard, so that no method scales in every game.

use crate::form::Policy;
use crate::lp::{merge, settings, sparse};
use crate::tree::Tree;
use clarabel::solver::{DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT};
use game::StopFlag;
use game::regret::normalise;
use std::fmt;

/// The strategy to commit to.
#[derive(Clone, Debug)]
pub struct Commitment {
    /// The strategy of the leader, and the best response of the follower.
    pub policy: Policy,
    /// Pure strategies of the follower: one linear program each.
    pub programs: u64,
}

/// Why there is no commitment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommitError {
    /// The game does not have two roles besides nature, but this many.
    Roles(usize),
    /// The follower has more pure strategies than this limit.
    TooMany(u64),
    /// The flag was raised.
    Stopped,
    /// No linear program could be solved.
    Failed,
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitError::Roles(n) => {
                write!(f, "commitment is for two roles, and this game has {n} besides nature")
            }
            CommitError::TooMany(limit) => write!(
                f,
                "the follower has more than {limit} pure strategies, and each needs a linear program; smaller \
                 parameters make a smaller game"
            ),
            CommitError::Stopped => f.write_str("stopped before all strategies of the follower were tried"),
            CommitError::Failed => f.write_str("no linear program could be solved"),
        }
    }
}

impl std::error::Error for CommitError {}

/// Pure strategies of the follower at most.
const MOST_STRATEGIES: u64 = 20_000;

/// The strategy that a player should commit to. `progress` gets the programs that are solved, and their number.
///
/// # Errors
/// If the game is not of this kind or too large, or the flag was raised.
pub fn commitment(
    tree: &Tree,
    leader: usize,
    stop: &StopFlag,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Commitment, CommitError> {
    if tree.players.len() != 2 {
        return Err(CommitError::Roles(tree.players.len()));
    }
    let game = Bimatrix::new(tree, leader);
    let n = game.strategies(0);
    if n > MOST_STRATEGIES {
        return Err(CommitError::TooMany(MOST_STRATEGIES));
    }
    let mut best: Option<(f64, Vec<f64>, Vec<bool>)> = None;
    for number in 0..n {
        if stop.is_raised() {
            return Err(CommitError::Stopped);
        }
        let mut played = vec![false; game.n_follower];
        game.strategy(0, number, &mut played);
        if let Some((value, plan)) = game.solve(&played)
            && best.as_ref().is_none_or(|(most, ..)| value > most + BETTER)
        {
            best = Some((value, plan, played));
        }
        progress(number + 1, n);
    }
    let (_, plan, played) = best.ok_or(CommitError::Failed)?;
    let mut weights = vec![0.0; tree.n_sequences()];
    for (sequence, p) in plan.iter().enumerate() {
        weights[game.leader_first + sequence] = if *p < NEVER { 0.0 } else { *p };
    }
    for (sequence, played) in played.iter().enumerate() {
        weights[game.follower_first + sequence] = f64::from(u8::from(*played));
    }
    let mut policy = Policy(weights);
    tree.infosets()
        .iter()
        .for_each(|set| normalise(&mut policy.0[set.sequences()]));
    Ok(Commitment { policy, programs: n })
}

/// How much better a program has to be, in hundredths of the greatest goal, so that rounding chooses nothing.
const BETTER: f64 = 1e-9;

/// Probability below which a move is not played.
const NEVER: f64 = 1e-9;

/// What one side and the other get for each pair of sequences, and how the sequences are ordered.
struct Bimatrix {
    leader_first: usize,
    follower_first: usize,
    n_leader: usize,
    n_follower: usize,
    /// Sequences of leader and follower, and gains of both, times nature's probability.
    gains: Vec<(usize, usize, f64, f64)>,
    /// For each information set of the leader: the sequence before it, and its sequences.
    leader_sets: Vec<(usize, std::ops::Range<usize>)>,
    follower_sets: Vec<(usize, std::ops::Range<usize>)>,
    /// For each sequence of the follower, the information sets that follow.
    after: Vec<Vec<usize>>,
}

impl Bimatrix {
    fn new(tree: &Tree, leader: usize) -> Bimatrix {
        let follower = 1 - leader;
        let first = [tree.empty_sequence(0), tree.empty_sequence(1)];
        let n = [first[1], tree.n_sequences() - first[1]];
        let sets = |player: usize| -> Vec<(usize, std::ops::Range<usize>)> {
            let own = &tree.infosets()[tree.infosets_of(player)];
            let shift = |s: usize| s - first[player];
            own.iter()
                .map(|set| {
                    let range = set.sequences();
                    (shift(set.parent as usize), shift(range.start)..shift(range.end))
                })
                .collect()
        };
        let gains = (0..tree.n_terminals() as u32).map(|t| {
            let (leaf, chance) = (tree.leaf(t), tree.chance(t) / 100.0);
            let gain = |player: usize| chance * f64::from(tree.payoffs(t)[player]);
            let at = |player: usize| leaf[player] as usize - first[player];
            (at(leader), at(follower), gain(leader), gain(follower))
        });
        let follower_sets = sets(follower);
        let mut after = vec![Vec::new(); n[follower]];
        for (number, (parent, _)) in follower_sets.iter().enumerate() {
            after[*parent].push(number);
        }
        Bimatrix {
            leader_first: first[leader],
            follower_first: first[follower],
            n_leader: n[leader],
            n_follower: n[follower],
            gains: gains.collect(),
            leader_sets: sets(leader),
            follower_sets,
            after,
        }
    }

    /// Pure strategies of the follower after a sequence, those alike counted once.
    fn strategies(&self, sequence: usize) -> u64 {
        let sets = self.after[sequence].iter();
        let ways = |&set: &usize| {
            let actions = self.follower_sets[set].1.clone();
            actions.fold(0_u64, |sum, s| sum.saturating_add(self.strategies(s)))
        };
        sets.map(ways).fold(1, u64::saturating_mul)
    }

    /// Marks the sequences of a pure strategy, by number.
    fn strategy(&self, sequence: usize, mut number: u64, played: &mut [bool]) {
        played[sequence] = true;
        for &set in &self.after[sequence] {
            let actions = self.follower_sets[set].1.clone();
            let all: u64 = actions.clone().map(|s| self.strategies(s)).sum();
            let mut here = number % all;
            number /= all;
            for action in actions {
                let ways = self.strategies(action);
                if here < ways {
                    self.strategy(action, here, played);
                    break;
                }
                here -= ways;
            }
        }
    }

    /// The best plan of the leader to which a pure strategy is a best response, and what the leader gets.
    fn solve(&self, played: &[bool]) -> Option<(f64, Vec<f64>)> {
        // Unknowns: the plan, the value of the start, the values of the follower's information sets.
        let start = self.n_leader;
        let n = self.n_leader + 1 + self.follower_sets.len();
        let n_equal = 1 + self.leader_sets.len();
        let responds = n_equal + self.n_follower;
        let n_rows = responds + 1 + self.n_leader;
        let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        let mut cost = vec![0.0; n];
        columns[0].push((0, 1.0));
        for (number, (parent, actions)) in self.leader_sets.iter().enumerate() {
            columns[*parent].push((1 + number, -1.0));
            actions.clone().for_each(|s| columns[s].push((1 + number, 1.0)));
        }
        for &(own, other, gain, loss) in &self.gains {
            columns[own].push((n_equal + other, loss));
            if played[other] {
                columns[own].push((responds, -loss));
                cost[own] -= gain;
            }
        }
        columns[start].push((n_equal, -1.0));
        columns[start].push((responds, 1.0));
        for (number, (parent, actions)) in self.follower_sets.iter().enumerate() {
            let column = &mut columns[start + 1 + number];
            column.push((n_equal + parent, 1.0));
            actions.clone().for_each(|s| column.push((n_equal + s, -1.0)));
        }
        for (own, column) in columns[..self.n_leader].iter_mut().enumerate() {
            column.push((responds + 1 + own, -1.0));
        }
        columns.iter_mut().for_each(merge);
        let mut right = vec![0.0; n_rows];
        right[0] = 1.0;
        let cones = [ZeroConeT(n_equal), NonnegativeConeT(n_rows - n_equal)];
        let matrix = sparse(n_rows, &columns);
        let quadratic = clarabel::algebra::CscMatrix::zeros((n, n));
        let mut solver = DefaultSolver::new(&quadratic, &cost, &matrix, &right, &cones, settings()).ok()?;
        solver.solve();
        let solution = &solver.solution;
        // Most pure strategies are a best response to nothing. Only plans that keep to the constraints count.
        let good = matches!(
            solution.status,
            SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress
        ) && self.is_best_response(&solution.x[..self.n_leader], played);
        good.then(|| (-solution.obj_val, solution.x[..self.n_leader].to_vec()))
    }

    /// Whether a plan is one, and a pure strategy a best response to it, up to rounding.
    fn is_best_response(&self, plan: &[f64], played: &[bool]) -> bool {
        let sums = self.leader_sets.iter().map(|(parent, actions)| {
            let sum: f64 = actions.clone().map(|s| plan[s]).sum();
            (sum - plan[*parent]).abs()
        });
        let is_plan = (plan[0] - 1.0).abs() < ROUNDING
            && plan.iter().all(|p| *p > -ROUNDING)
            && sums.into_iter().all(|gap| gap < ROUNDING);
        let mut worth = vec![0.0; self.n_follower];
        let mut own = 0.0;
        for &(leader, follower, _, gain) in &self.gains {
            worth[follower] += gain * plan[leader];
            own += if played[follower] { gain * plan[leader] } else { 0.0 };
        }
        for (parent, actions) in self.follower_sets.iter().rev() {
            let best = worth[actions.clone()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            worth[*parent] += best;
        }
        is_plan && worth[0] - own < ROUNDING
    }
}

/// Distance up to which numbers are taken to be equal.
const ROUNDING: f64 = 1e-6;
