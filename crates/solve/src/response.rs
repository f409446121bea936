//! Exact responses to a model of the other role, for two roles whose goals sum to a constant, by linear program over
//! sequences (see [`crate::lp`] for the form of the program).
//!
//! - *Restricted Nash response* (Johanson, Zinkevich and Bowling, *Computing Robust Counter-Strategies*, 2007): the
//!   other role follows the model with probability P in the whole match and is free otherwise. As a program over
//!   plans x of the responding role: maximise P · (gain of x against the model) + (1 − P) · (worst case of x).
//! - *Data-biased response* (Johanson and Bowling, *Data Biased Robust Counter Strategies*, 2009): in each of its
//!   information sets the other role follows the model with a probability of its own, large where there is much data,
//!   and is free otherwise. The value of a set is then the mean of its moves by the model and its least move.
//! - *Safe best response* (Ganzfried and Sandholm, *Safe Opponent Exploitation*, 2015): the most that can be gained
//!   against the model while the worst case stays above a bound.
//!
//! Where we differ: the papers iterate CFR, the programs here are exact up to rounding. Weights 0 and 1 are taken as
//! [`LEAST`] and 1 − [`LEAST`]: of all equilibrium strategies the one that gains most against the model, and of all
//! best responses the one that risks least.

use crate::form::{Form, Policy};
use crate::lp::{LpError, LpFailure, check, settings, sparse};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultInfo, DefaultSolver, IPSolver, NonnegativeConeT, ZeroConeT};
use game::StopFlag;
use game::regret::normalise;
use std::ops::Range;

/// The least weight of what is not asked for, so that it decides ties.
pub const LEAST: f64 = 1e-6;

/// How far the other role is taken to follow the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Trust {
    /// With this probability in the whole match.
    Match(f64),
    /// With a probability in each of its information sets, in the order of [`crate::Tree::infosets_of`].
    Sets(Vec<f64>),
    /// Altogether, as long as the worst case is at least this many points.
    Safe(f64),
}

/// A response to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The response, and the model as the strategy of the other role.
    pub policy: Policy,
    /// Points against the model.
    pub gain: f64,
    /// Points against the other role's best response.
    pub worst: f64,
    /// Steps of the interior point method.
    pub steps: u32,
}

/// The response of a player to the other player's strategy in `model`.
///
/// # Errors
/// If the game does not have two roles whose goals sum to a constant, the flag was raised, or the numbers do not let
/// the solver finish.
pub fn response(
    form: &Form<'_>,
    player: usize,
    model: &Policy,
    trust: &Trust,
    stop: &StopFlag,
) -> Result<Response, LpError> {
    let tree = form.tree();
    if tree.players.len() != 2 {
        return Err(LpError::Roles(tree.players.len()));
    }
    let sum = f64::from(tree.constant_sum().ok_or(LpError::NotConstantSum)?);
    let program = ResponseProgram::new(form, player, model, trust);
    let (plan, steps) = program.solve(stop)?;
    let mut policy = policy_of(form, player, model, &plan);
    if matches!(trust, Trust::Match(p) if *p >= 1.0) {
        let mut pure = model.clone();
        let best = form.best_response(player, &mut pure);
        // The program cannot tell apart moves whose difference is smaller than its rounding.
        if best - form.values(&policy)[player] > LEAST {
            policy = pure;
        }
    }
    Ok(Response {
        gain: form.values(&policy)[player],
        worst: sum - form.best_response(1 - player, &mut policy.clone()),
        policy,
        steps,
    })
}

/// The program: minimise cost · z such that matrix · z + slack = right, with slack 0 in the first `n_equal` rows and at
/// least 0 in the others. Unknowns are the plan, the worst value of the start and of the other player's information
/// sets, and the value of each move in the sets where the model is trusted.
struct ResponseProgram {
    columns: Vec<Vec<(usize, f64)>>,
    cost: Vec<f64>,
    right: Vec<f64>,
    n_equal: usize,
    n_plan: usize,
}

/// What an information set of the other player is worth to us, as a sum over unknowns.
struct SetValue {
    /// The set's moves, from the player's empty sequence on.
    moves: Range<usize>,
    parent: usize,
    /// The unknown that is the least of its moves, unless the model is followed for certain.
    least: Option<usize>,
    /// The first of the unknowns that are the values of its moves, if the model is trusted at all.
    values: Option<usize>,
    /// Probability of each move by the model, times the trust in the model.
    trusted: Vec<f64>,
}

impl SetValue {
    /// Unknowns and their factors.
    fn terms(&self) -> impl Iterator<Item = (usize, f64)> {
        let free = 1.0 - self.trusted.iter().sum::<f64>();
        let least = self.least.map(|unknown| (unknown, free));
        let values = self.values.into_iter().flat_map(|first| {
            let trusted = self.trusted.iter().enumerate();
            trusted.map(move |(at, p)| (first + at, *p))
        });
        least.into_iter().chain(values)
    }
}

impl ResponseProgram {
    fn new(form: &Form<'_>, player: usize, model: &Policy, trust: &Trust) -> ResponseProgram {
        let tree = form.tree();
        let other = 1 - player;
        let (own_first, other_first) = (tree.empty_sequence(player), tree.empty_sequence(other));
        let (n_own, n_other) = (form.n_sequences_of(player), form.n_sequences_of(other));
        let own_sets = form.infosets_of(player);
        let scale = 1.0 / crate::lp::scale(form);
        let start = n_own;
        let (sets, n_unknowns) = set_values(form, other, model, trust, start + 1);
        let n_values: usize = sets.iter().filter(|s| s.values.is_some()).map(|s| s.moves.len()).sum();
        let n_equal = 1 + own_sets.len() + n_values;
        // Rows of the other player's sequences that bound something: the start and the moves of sets with a least.
        let n_bounds = 1 + sets
            .iter()
            .filter(|s| s.least.is_some())
            .map(|s| s.moves.len())
            .sum::<usize>();
        let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n_unknowns];
        columns[0].push((0, 1.0));
        for (number, set) in own_sets.iter().enumerate() {
            columns[set.parent as usize - own_first].push((1 + number, -1.0));
            set.sequences()
                .for_each(|s| columns[s - own_first].push((1 + number, 1.0)));
        }
        // For each sequence of the other player, the rows in which its value stands, with a sign.
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); n_other];
        let (mut equal, mut bound) = (1 + own_sets.len(), n_equal);
        rows[0].push(bound);
        columns[start].push((bound, 1.0));
        bound += 1;
        for set in &sets {
            for (at, sequence) in set.moves.clone().enumerate() {
                if let Some(first) = set.values {
                    rows[sequence].push(equal);
                    columns[first + at].push((equal, 1.0));
                    if let Some(least) = set.least {
                        // The least is at most the value.
                        columns[least].push((bound, 1.0));
                        columns[first + at].push((bound, -1.0));
                        bound += 1;
                    }
                    equal += 1;
                } else if let Some(least) = set.least {
                    rows[sequence].push(bound);
                    columns[least].push((bound, 1.0));
                    bound += 1;
                }
            }
        }
        debug_assert_eq!((equal, bound), (n_equal, n_equal + n_bounds));
        for set in &sets {
            for &row in &rows[set.parent] {
                set.terms()
                    .for_each(|(unknown, factor)| columns[unknown].push((row, -factor)));
            }
        }
        let reach = form.reach_all(model);
        let mut cost = vec![0.0; n_unknowns];
        let (weight, safe) = match trust {
            Trust::Match(p) => (p.clamp(LEAST, 1.0 - LEAST), None),
            Trust::Sets(_) => (0.0, None),
            // A little of the worst case decides ties.
            Trust::Safe(worst) => (1.0 - LEAST, Some(*worst)),
        };
        let n_rows = n_equal + n_bounds + n_own + usize::from(safe.is_some());
        for (sequence, column) in columns[..n_own].iter_mut().enumerate() {
            for (against, gain) in form.gains_against(player, sequence) {
                for &row in &rows[against - other_first] {
                    column.push((row, -gain * scale));
                }
                cost[sequence] -= weight * gain * reach[against] * scale;
            }
            column.push((n_equal + n_bounds + sequence, -1.0));
        }
        cost[start] -= 1.0 - weight;
        let mut right = vec![0.0; n_rows];
        right[0] = 1.0;
        if let Some(worst) = safe {
            columns[start].push((n_rows - 1, -1.0));
            right[n_rows - 1] = -(worst - tree.middle(player)) * scale;
        }
        columns.iter_mut().for_each(crate::lp::merge);
        ResponseProgram {
            columns,
            cost,
            right,
            n_equal,
            n_plan: n_own,
        }
    }

    /// The plan, and the steps that it took.
    fn solve(&self, stop: &StopFlag) -> Result<(Vec<f64>, u32), LpError> {
        let n = self.columns.len();
        let matrix = sparse(self.right.len(), &self.columns);
        let cones = [
            ZeroConeT(self.n_equal),
            NonnegativeConeT(self.right.len() - self.n_equal),
        ];
        let quadratic = CscMatrix::zeros((n, n));
        let made = DefaultSolver::new(&quadratic, &self.cost, &matrix, &self.right, &cones, settings());
        let mut solver = made.map_err(|error| LpError::Failed(LpFailure::Refused(error.to_string())))?;
        let flag = stop.clone();
        solver.set_termination_callback(move |_: &DefaultInfo<f64>| flag.is_raised());
        solver.solve();
        check(solver.solution.status)?;
        Ok((
            solver.solution.x[..self.n_plan].iter().map(|p| p.max(0.0)).collect(),
            solver.solution.iterations,
        ))
    }
}

/// The values of the other player's information sets, with unknowns numbered from `first` on; and the number after the
/// last unknown.
fn set_values(form: &Form<'_>, other: usize, model: &Policy, trust: &Trust, first: usize) -> (Vec<SetValue>, usize) {
    let empty = form.tree().empty_sequence(other);
    let mut next = first;
    let mut take = |n: usize| {
        next += n;
        next - n
    };
    let sets = form.infosets_of(other).iter().enumerate().map(|(number, set)| {
        let trust = match trust {
            Trust::Sets(each) => each.get(number).map_or(0.0, |p| p.clamp(0.0, 1.0)),
            Trust::Match(_) | Trust::Safe(_) => 0.0,
        };
        let moves = set.sequences().start - empty..set.sequences().end - empty;
        SetValue {
            parent: set.parent as usize - empty,
            least: (trust < 1.0 - LEAST).then(|| take(1)),
            values: (trust > 0.0).then(|| take(moves.len())),
            trusted: model.0[set.sequences()].iter().map(|p| trust * p).collect(),
            moves,
        }
    });
    let sets: Vec<SetValue> = sets.collect();
    (sets, next)
}

/// Probability below which a move is not played.
const NEVER: f64 = 1e-9;

/// The policy of a plan of one player, and the model. Where the plan never gets, the best move against the model.
pub(crate) fn policy_of(form: &Form<'_>, player: usize, model: &Policy, plan: &[f64]) -> Policy {
    let first = form.tree().empty_sequence(player);
    let mut policy = model.clone();
    form.best_response(player, &mut policy);
    for set in form.infosets_of(player) {
        let here = &plan[set.sequences().start - first..set.sequences().end - first];
        if here.iter().any(|&p| p >= NEVER) {
            let actions = &mut policy.0[set.sequences()];
            let played = |p: &f64| if *p < NEVER { 0.0 } else { *p };
            actions.iter_mut().zip(here).for_each(|(to, p)| *to = played(p));
            normalise(actions);
        }
    }
    policy
}
