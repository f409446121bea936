//! Thresholds by which compiling chooses between ways to run a game.
//!
//! No threshold changes what a simulator answers, only how fast it answers and how long compiling takes.

use game::StopFlag;

/// Thresholds of compiling; the default is what ships.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Operations of an average step by cones, beyond which changes are propagated gate by gate instead. Measured:
    /// amazons (3,700) is a little slower by cones, skirmish (4,100) twice as fast.
    pub most_cone_ops: f32,
    /// Cost of a step by cones beside its operations, in operations of a whole step. Measured with
    /// [`cone_op`](Tuning::cone_op): breakthrough on 6×6 (1,040 as a whole, 98 by cones) is a little faster by cones,
    /// pentago (826, 217) is as fast either way.
    pub cone_step: f32,
    /// Cost of an operation by cones, in operations of a whole step.
    pub cone_op: f32,
    /// Operations of a whole step, beyond which random games are not played by whole steps if there are no cones.
    pub largest_step: f32,

    /// Joint moves, beyond which cones prepare only those in which all roles but one make their noop move.
    pub cone_joint_moves: usize,
    /// Operations of all cones and joint moves together, beyond which there are no cones.
    pub cone_total_ops: usize,
    /// Gates visited for all joint moves together, beyond which there are no cones.
    pub cofactor_visits: usize,

    /// Moves that must share a head for heads to be used.
    pub fewest_headed: usize,
    /// Heads of one signal, at most.
    pub most_heads: usize,
    /// Cost of calling a head's code and packing its results, in operations.
    pub head_call: f32,
    /// Part of the operations that heads may leave for heads to be used.
    pub worth_heads: f32,

    /// Moves that must share a guard for the guard to be taken out.
    pub fewest_guarded: usize,
    /// Guards of one role, at most: the moves of a role may belong to phases of its turn.
    pub most_guards: usize,
    /// Guards whose values may select the case of terminal, at most; more than 6 count as 6.
    pub most_ends: usize,

    /// Operations of goals, below which goals are not split into cases.
    pub fewest_goal_ops: usize,
    /// Part of the operations that the worst case may leave for goals to be split into cases.
    pub worth_cases: f32,
    /// Operations of all cases together, at most: more code would not stay in the cache.
    pub most_case_ops: usize,
    /// Gates visited in the search for the best family of cases, at most.
    pub case_visits: usize,
    /// Fluents of a family of cases, at least.
    pub smallest_family: usize,
    /// Fluents of a family of cases, at most.
    pub largest_family: usize,

    /// Joint moves, beyond which whole steps have code only for those in which all roles but one make their noop move.
    pub step_joint_moves: usize,
    /// Operations of the code for all joint moves together, beyond which there is only the code for any joint move:
    /// more code would not stay in the cache.
    pub step_special_ops: usize,

    /// Readers of a node, beyond which the gates that read it count their false operands.
    pub most_paired: usize,
    /// Other operands in one word, below which a node tests them one by one.
    pub fewest_grouped: usize,
    /// How many times as often a node must change as another node that keeps a copy for it.
    pub copy_worth: u32,
    /// Readers of a disjunction, beyond which it does not get a rare condition of its own for each of them.
    pub most_focused: usize,
    /// Operands of a disjunction, beyond which it gets no rare condition.
    pub widest_focus: usize,
    /// Frequency of a condition, beyond which it is not rare.
    pub likeliest_focus: f32,
    /// Levels of gates into which a rare condition is moved, at most.
    pub deepest_focus: usize,
    /// Gates made by moving rare conditions, as a part of all gates, at most.
    pub focus_growth: f32,
    /// Part of a trial's work that rare conditions in disjunctions may leave for them to be kept. Counted: chess of
    /// others 0.59, hex 0.40, amazons 0.93, our own chess 1.54.
    pub worth_focus: f32,
    /// Operands, beyond which a gate does not share a prefix with others.
    pub widest_prefix: usize,
    /// Frequency, beyond which a shared prefix is not worth a gate.
    pub likeliest_prefix: f32,
    /// Operands, beyond which a gate is not split into a chain of pairs.
    pub widest_chain: usize,
    /// Cost of updating a gate of two operands, where updating a wider gate costs 1; from counted instructions.
    pub pair_cost: f32,
    /// Cost of changing a gate, where updating a wider gate costs 1; from counted instructions.
    pub change_cost: f32,
    /// Part of the cost that a chain of pairs may leave for a gate to be split.
    pub worth_chain: f32,
    /// Steps of the trial games.
    pub trial_steps: usize,
    /// Joint moves of one trial game, at most.
    pub longest_trial: usize,

    /// Nodes visited before one proof is given up.
    pub proof_effort: u64,
    /// Nested case distinctions of a proof, at most.
    pub proof_depth: u32,
    /// Nodes visited before the search for exclusive fluents ends.
    pub families_effort: u64,
    /// Fluents of a family that says whose turn it is, at most.
    pub most_phases: usize,
    /// Families tried as those that say whose turn it is.
    pub turn_families: usize,
    /// Comparisons of moves, beyond which every further move gets its own column.
    pub column_comparisons: usize,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            most_cone_ops: 5_000.0,
            cone_step: 600.0,
            cone_op: 1.6,
            largest_step: 9_000.0,
            cone_joint_moves: 1_500,
            cone_total_ops: 2_500_000,
            cofactor_visits: 30_000_000,
            fewest_headed: 12,
            most_heads: 64,
            head_call: 40.0,
            worth_heads: 0.7,
            fewest_guarded: 12,
            most_guards: 3,
            most_ends: 4,
            fewest_goal_ops: 300,
            worth_cases: 0.4,
            most_case_ops: 160_000,
            case_visits: 3_000_000,
            smallest_family: 4,
            largest_family: 1_024,
            step_joint_moves: 64,
            step_special_ops: 30_000,
            most_paired: 20_000,
            fewest_grouped: 3,
            copy_worth: 2,
            most_focused: 4,
            widest_focus: 64,
            likeliest_focus: 0.2,
            deepest_focus: 12,
            focus_growth: 4.0,
            worth_focus: 0.9,
            widest_prefix: 24,
            likeliest_prefix: 0.4,
            widest_chain: 8,
            pair_cost: 0.5,
            change_cost: 3.0,
            worth_chain: 0.7,
            trial_steps: 400,
            longest_trial: 200,
            proof_effort: 60_000,
            proof_depth: 5,
            families_effort: 15_000_000,
            most_phases: 40,
            turn_families: 6,
            column_comparisons: 6_000_000,
        }
    }
}

/// The bounds of compiling: thresholds, and a flag that ends the work.
///
/// Work that finds the flag raised may return any result at once. The caller checks the flag again and discards the
/// result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds<'b> {
    pub tuning: &'b Tuning,
    pub stop: &'b StopFlag,
}

impl Bounds<'_> {
    /// Whether the work should end now.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_raised()
    }

    /// Nothing, or `None` if the work should end now.
    pub fn go_on(&self) -> Option<()> {
        (!self.is_stopped()).then_some(())
    }

    /// As [`Bounds::is_stopped`], for loops with short rounds: checks the flag once in many rounds.
    pub fn is_stopped_at(&self, round: usize) -> bool {
        round.is_multiple_of(4_096) && self.is_stopped()
    }
}

#[cfg(test)]
impl Bounds<'_> {
    /// Calls a function with the thresholds that ship and a flag that is never raised.
    pub fn shipped<R>(f: impl FnOnce(&Bounds) -> R) -> R {
        f(&Bounds {
            tuning: &Tuning::default(),
            stop: &StopFlag::default(),
        })
    }
}

#[cfg(test)]
impl Tuning {
    /// Thresholds for the small games of tests: everything that is worth its trouble only in large games is done.
    pub fn small() -> Tuning {
        Tuning {
            fewest_goal_ops: 4,
            worth_cases: 1.0,
            fewest_headed: 1,
            fewest_guarded: 2,
            likeliest_focus: 1.0,
            worth_focus: f32::INFINITY,
            ..Tuning::default()
        }
    }
}
