//! The exact equilibrium of two roles whose goals sum to a constant: a linear program over sequences (Romanovsky,
//! *Reduction of a Game with Complete Memory to a Matrix Game*, 1962; Koller, Megiddo and von Stengel, *Fast Algorithms
//! for Finding Randomized Strategies in Game Trees*, 1994).
//!
//! A strategy is a *realisation plan* x: the reach probability of each sequence. Plans are those x ≥ 0 with 1 for the
//! empty sequence and, at every information set, the same total over its actions as for the sequence that leads there.
//! The first role maximises its worst case, with a value v for each information set of the second role:
//!
//! ```text
//! maximise   v of the start
//! such that  x is a plan, and for every sequence s of the second role
//!            v where s is chosen  ≤  gain of s against x  +  v of the information sets that s leads to
//! ```
//!
//! The multipliers of these inequalities are an optimal plan of the second role. A primal-dual interior point method
//! finds both at once. It ends inside the set of equilibria, so that every action of some equilibrium is played. A plan
//! does not determine the policy of information sets that it does not reach. Information sets that are never reached
//! also get best replies to the other role's strategy; they do not affect the value.
//!
//! The solver is Clarabel (Goulart and Chen, 2024): pure Rust, so that only a Rust compiler is needed. The simplex
//! method of the crate `microlp` took 35 times as long on Leduc poker, had an error of 5e-7 points there, and finds the
//! plan of one role only; HiGHS needs a C++ compiler and CMake.

use crate::form::{Form, Policy};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultInfo, DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};
use game::StopFlag;
use game::regret::normalise;
use std::fmt;

/// An equilibrium up to floating-point error; [`Form::nash_conv`] gives the error.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// Strategies of both roles.
    pub policy: Policy,
    /// Steps of the interior point method.
    pub steps: u32,
}

/// Why there is no equilibrium by linear program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LpError {
    /// The game does not have two roles besides nature, but this many.
    Roles(usize),
    /// The goals do not sum to a constant.
    NotConstantSum,
    /// The flag was raised.
    Stopped,
    /// The interior point method ended without a solution.
    Failed(LpFailure),
}

/// How the interior point method ended without a solution. The program of a game has a solution, so each case comes
/// from the limits of floating point, or is a mistake in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LpFailure {
    /// The solver did not accept the program or its settings; the solver's message.
    Refused(String),
    /// The solver takes the program, or its dual, for infeasible.
    Infeasible,
    /// The number of steps or the time that the solver allows was used up.
    OutOfSteps,
    /// The numbers became too inexact to go on.
    Numerical,
}

impl fmt::Display for LpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LpFailure::Refused(message) => write!(f, "the solver refused it ({message})"),
            LpFailure::Infeasible => f.write_str("the solver takes it for infeasible"),
            LpFailure::OutOfSteps => f.write_str("the solver ran out of steps"),
            LpFailure::Numerical => f.write_str("the numbers became too inexact"),
        }
    }
}

impl fmt::Display for LpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LpError::Roles(n) => write!(
                f,
                "the linear program is for two roles whose goals sum to a constant, and this game has {n} besides \
                 nature"
            ),
            LpError::NotConstantSum => {
                f.write_str("the linear program is for two roles whose goals sum to a constant, and here they do not")
            }
            LpError::Stopped => f.write_str("stopped before the linear program was solved"),
            LpError::Failed(why) => write!(f, "the linear program could not be solved: {why}"),
        }
    }
}

impl std::error::Error for LpError {}

/// Called after every step with the number of steps and the remaining gap in points.
pub type LpProgress = Box<dyn FnMut(u32, f64) + Send + Sync>;

/// The equilibrium of a game.
///
/// # Errors
/// If the game is not of this kind, the flag was raised, or the numbers do not let the solver finish.
pub fn equilibrium(form: &Form<'_>, stop: &StopFlag, mut progress: LpProgress) -> Result<Equilibrium, LpError> {
    let tree = form.tree();
    if tree.players.len() != 2 {
        return Err(LpError::Roles(tree.players.len()));
    }
    if tree.constant_sum().is_none() {
        return Err(LpError::NotConstantSum);
    }
    let program = LinearProgram::new(form);
    let mut solver = DefaultSolver::new(
        &program.quadratic,
        &program.cost,
        &program.matrix,
        &program.right,
        &[
            ZeroConeT(program.n_equal),
            NonnegativeConeT(program.right.len() - program.n_equal),
        ],
        settings(),
    )
    .map_err(|error| LpError::Failed(LpFailure::Refused(error.to_string())))?;
    let flag = stop.clone();
    let scale = scale(form);
    solver.set_termination_callback(move |info: &DefaultInfo<f64>| {
        progress(info.iterations, info.gap_abs * scale);
        flag.is_raised()
    });
    solver.solve();
    let solution = &solver.solution;
    check(solution.status)?;
    let first = &solution.x[..program.n_first];
    let second = &solution.z[program.n_equal..][..program.n_second];
    let plan: Vec<f64> = first.iter().chain(second).map(|p| p.max(0.0)).collect();
    Ok(Equilibrium {
        policy: policy_of(form, &plan),
        steps: solution.iterations,
    })
}

/// Whether a solver that ended in this status has a solution.
pub(crate) fn check(status: SolverStatus) -> Result<(), LpError> {
    match status {
        // Insufficient progress is the usual end: the tolerances are smaller than floating point can meet.
        SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress => Ok(()),
        SolverStatus::CallbackTerminated => Err(LpError::Stopped),
        SolverStatus::PrimalInfeasible
        | SolverStatus::DualInfeasible
        | SolverStatus::AlmostPrimalInfeasible
        | SolverStatus::AlmostDualInfeasible => Err(LpError::Failed(LpFailure::Infeasible)),
        SolverStatus::Unsolved | SolverStatus::MaxIterations | SolverStatus::MaxTime => {
            Err(LpError::Failed(LpFailure::OutOfSteps))
        }
        SolverStatus::NumericalError => Err(LpError::Failed(LpFailure::Numerical)),
    }
}

/// Points that are 1 in the program.
pub(crate) fn scale(form: &Form<'_>) -> f64 {
    let (least, most) = form.tree().range(0);
    f64::from(most.saturating_sub(least).max(1)) / 2.0
}

/// Tolerances below floating-point accuracy: the method continues until a step makes no progress.
pub(crate) fn settings() -> DefaultSettings<f64> {
    DefaultSettings {
        verbose: false,
        max_threads: 1,
        tol_gap_abs: 1e-12,
        tol_gap_rel: 1e-12,
        tol_feas: 1e-12,
        ..DefaultSettings::default()
    }
}

/// The program in the solver's form: minimise cost · z such that matrix · z + slack = right, with slack 0 in the first
/// `n_equal` rows and at least 0 in the others.
struct LinearProgram {
    quadratic: CscMatrix<f64>,
    cost: Vec<f64>,
    matrix: CscMatrix<f64>,
    right: Vec<f64>,
    n_equal: usize,
    n_first: usize,
    n_second: usize,
}

impl LinearProgram {
    /// Unknowns are the first role's plan, then a value for the start and for each information set of the second role.
    /// Rows are the equations of the plan, the inequalities of the second role's sequences, and that plans are not
    /// negative.
    fn new(form: &Form<'_>) -> LinearProgram {
        let tree = form.tree();
        let [empty, second_empty] = [0, 1].map(|player| tree.empty_sequence(player));
        let [first_sets, second_sets] = [0, 1].map(|player| form.infosets_of(player));
        let (n_first, n_second) = (second_empty - empty, tree.n_sequences() - second_empty);
        let n_equal = 1 + first_sets.len();
        let n_rows = n_equal + n_second + n_first;
        let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n_first + 1 + second_sets.len()];
        columns[0].push((0, 1.0));
        for (number, set) in first_sets.iter().enumerate() {
            for sequence in set.sequences() {
                columns[sequence - empty].push((1 + number, 1.0));
            }
            columns[set.parent as usize - empty].push((1 + number, -1.0));
        }
        let scale = 1.0 / scale(form);
        for (sequence, column) in columns[..n_first].iter_mut().enumerate() {
            let gains = form.gains_of(sequence);
            column.extend(gains.map(|(other, w)| (n_equal + other - second_empty, -w * scale)));
            column.push((n_equal + n_second + sequence, -1.0));
        }
        columns[n_first].push((n_equal, 1.0));
        for (number, set) in second_sets.iter().enumerate() {
            let column = &mut columns[n_first + 1 + number];
            column.push((n_equal + set.parent as usize - second_empty, -1.0));
            column.extend(set.sequences().map(|s| (n_equal + s - second_empty, 1.0)));
        }
        let mut cost = vec![0.0; columns.len()];
        cost[n_first] = -1.0;
        let mut right = vec![0.0; n_rows];
        right[0] = 1.0;
        LinearProgram {
            quadratic: CscMatrix::zeros((columns.len(), columns.len())),
            cost,
            matrix: sparse(n_rows, &columns),
            right,
            n_equal,
            n_first,
            n_second,
        }
    }
}

/// A matrix from its columns, whose entries are sorted by row.
pub(crate) fn sparse(n_rows: usize, columns: &[Vec<(usize, f64)>]) -> CscMatrix<f64> {
    let mut starts = vec![0];
    for column in columns {
        debug_assert!(column.is_sorted_by_key(|(row, _)| *row));
        starts.push(starts.last().map_or(0, |s| s + column.len()));
    }
    let (rows, numbers) = columns.iter().flatten().copied().unzip();
    CscMatrix::new(n_rows, columns.len(), starts, rows, numbers)
}

/// Sorts the entries of a column and adds up those of one row.
pub(crate) fn merge(column: &mut Vec<(usize, f64)>) {
    column.sort_by_key(|(row, _)| *row);
    column.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
}

/// Probability below which an information set counts as not reached.
const NEVER: f64 = 1e-9;

/// The policy of plans.
fn policy_of(form: &Form<'_>, plan: &[f64]) -> Policy {
    let tree = form.tree();
    let mut policy = Policy(plan.to_vec());
    for set in tree.infosets() {
        let actions = &mut policy.0[set.sequences()];
        actions.iter_mut().filter(|p| **p < NEVER).for_each(|p| *p = 0.0);
        normalise(actions);
    }
    let reach = form.reach_all(&policy);
    let mut gain = vec![0.0; reach.len()];
    for player in 0..tree.players.len() {
        form.gain(player, &reach, &mut gain);
        for set in form.infosets_of(player).iter().rev() {
            let (gain_here, actions) = (&gain[set.sequences()], &mut policy.0[set.sequences()]);
            if plan[set.sequences()].iter().all(|&p| p < NEVER) {
                best_of(gain_here, actions);
            }
            let value: f64 = gain_here.iter().zip(&*actions).map(|(g, p)| g * p).sum();
            gain[set.parent as usize] += value;
        }
    }
    policy
}

/// The best action; ties are played with equal probability.
fn best_of(gain: &[f64], actions: &mut [f64]) {
    let best = gain.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for (p, g) in actions.iter_mut().zip(gain) {
        *p = f64::from(u8::from(best - g <= NEVER));
    }
    normalise(actions);
}
