//! Whole random games on any number of threads.
//!
//! The work is cut into units that do not depend on the number of threads. Each unit has its own seed, and totals are
//! sums, so any number of threads gives the same bytes. Within a unit every lane plays until the unit's quota of games
//! has begun, and every game that has begun is finished: short games are not favoured. The exception is a raised stop
//! flag: then unfinished games are dropped.
//!
//! Where goals are cheap they are part of every step. Where goals are expensive (reversi), finished lanes freeze until
//! the steps that they have missed cost as much as computing the goals. For lanes that finish at a steady rate this is
//! the best moment.

use super::batch::write_states;
use super::cell::{LANES, Mask};
use super::code::Runnable;
use super::rng::LaneRng;
use super::segments::{Ended, Segment, StepKind};
use super::{Lanes, bit, new_frame};
use crate::{CompileError, Compiled, jit};
use game::limits::PLAYOUT_ROUNDS;
use game::{Meter, RoleId, RootTotals, Seed, State, StopFlag};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;

/// Options of [`playouts`].
#[derive(Clone, Copy, Debug)]
pub struct PlayoutOptions {
    /// Number of threads; the result does not depend on it.
    pub threads: usize,
    /// Whether every role's percepts are computed on every step, as in a player's simulation.
    pub percepts: bool,
    /// When goals are computed.
    pub goals: GoalTiming,
}

/// When the goals of finished games are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalTiming {
    /// Whichever should be faster.
    Auto,
    /// In every step.
    EveryStep,
    /// When enough lanes wait for it.
    WhenWorthIt,
}

impl Default for PlayoutOptions {
    fn default() -> Self {
        PlayoutOptions {
            threads: 1,
            percepts: false,
            goals: GoalTiming::Auto,
        }
    }
}

/// Totals of all playouts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutTotals {
    /// Per root, in the order given.
    pub roots: Vec<RootTotals>,
    /// States visited: joint moves made.
    pub meter: Meter,
}

/// Plays `per_root` random games from each root.
///
/// Once the flag is raised, the current step is the last. Games that have not ended by then are not counted, so the
/// totals of a stopped run lean towards short games: by at most one game per lane, which matters if few games have
/// ended. Code that is missing is made first, and a flag that is raised meanwhile ends that too: where moves have a
/// deadline, [`Compiled::prepare_players`] makes it beforehand.
pub fn playouts(
    game: &Compiled,
    roots: &[State],
    per_root: u64,
    seed: Seed,
    options: &PlayoutOptions,
    stop: &StopFlag,
) -> PlayoutTotals {
    let n_roles = game.roles().len();
    let empty = RootTotals {
        points: vec![0; n_roles],
        ..RootTotals::default()
    };
    let mut totals = PlayoutTotals {
        roots: vec![empty; roots.len()],
        meter: Meter::default(),
    };
    let Ok(open) = settle_finished_roots(game, roots, per_root, &mut totals, stop) else {
        return totals;
    };
    let Ok(job) = Job::new(game, roots, open, per_root, seed, options, stop) else {
        return totals;
    };
    let threads = options.threads.clamp(1, job.n_units.clamp(1, 1024) as usize);
    if threads == 1 {
        job.work(&mut totals);
        return totals;
    }
    let parts: Vec<PlayoutTotals> = std::thread::scope(|scope| {
        let start = |_| {
            let mut mine = PlayoutTotals {
                meter: Meter::default(),
                ..totals.clone()
            };
            mine.roots.iter_mut().for_each(|r| {
                *r = RootTotals {
                    points: vec![0; n_roles],
                    ..Default::default()
                }
            });
            let job = &job;
            scope.spawn(move || {
                job.work(&mut mine);
                mine
            })
        };
        let workers: Vec<_> = (0..threads).map(start).collect();
        let join =
            |worker: ScopedJoinHandle<'_, PlayoutTotals>| worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        workers.into_iter().map(join).collect()
    });
    parts.iter().for_each(|part| totals.add(part));
    totals
}

impl PlayoutTotals {
    fn add(&mut self, other: &PlayoutTotals) {
        self.meter.add(other.meter);
        for (mine, theirs) in self.roots.iter_mut().zip(&other.roots) {
            mine.playouts += theirs.playouts;
            mine.stuck += theirs.stuck;
            mine.points.iter_mut().zip(&theirs.points).for_each(|(a, b)| *a += b);
        }
    }
}

/// Counts the games of roots that are terminal; returns the other roots.
fn settle_finished_roots(
    game: &Compiled,
    roots: &[State],
    per_root: u64,
    totals: &mut PlayoutTotals,
    stop: &StopFlag,
) -> Result<Vec<usize>, CompileError> {
    game.code_until(Segment::Eval, stop)?;
    let mut lanes = Lanes::new(game, Seed(0));
    let mut open = Vec::new();
    for (chunk_at, chunk) in roots.chunks(LANES).enumerate() {
        let states: Vec<&State> = chunk.iter().collect();
        write_states(&states, lanes.state_cells());
        let over = lanes.eval();
        let here = Mask::first(chunk.len());
        if !(over & here).is_empty() {
            game.code_until(Segment::Goals, stop)?;
            lanes.eval_goals();
        }
        for lane in 0..chunk.len() {
            let root = chunk_at * LANES + lane;
            if !over.get(lane) {
                open.push(root);
                continue;
            }
            let total = &mut totals.roots[root];
            total.playouts += per_root;
            for (role, points) in total.points.iter_mut().enumerate() {
                *points += per_root * u64::from(lanes.goal(RoleId(role as u16), lane).points());
            }
        }
    }
    Ok(open)
}

/// The playouts to be made, cut into units.
struct Job<'a> {
    game: &'a Compiled,
    roots: &'a [State],
    open: Vec<usize>,
    per_root: u64,
    unit: u64,
    n_units: u64,
    next_unit: AtomicU64,
    seed: Seed,
    stop: &'a StopFlag,
    mode: Mode,
    step: Arc<Runnable>,
    finish: Option<(Arc<Runnable>, Arc<Runnable>)>,
    /// Cell, role and points of every goal that counts.
    goals: Vec<(usize, usize, u64)>,
    n_random: usize,
    /// Units that one thread plays side by side.
    side_by_side: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Goals in every step.
    Fused,
    /// Goals when the waiting lanes have missed so many operations.
    Deferred { step_ops: u64, goal_ops: u64 },
}

impl<'a> Job<'a> {
    fn new(
        game: &'a Compiled,
        roots: &'a [State],
        open: Vec<usize>,
        per_root: u64,
        seed: Seed,
        options: &PlayoutOptions,
        stop: &'a StopFlag,
    ) -> Result<Job<'a>, CompileError> {
        let total = per_root.saturating_mul(open.len() as u64);
        // Large enough that the last games of a unit, which keep few lanes busy, cost little.
        let unit = (total / 16).clamp(1, 16_384).next_multiple_of(256);
        let from_initial = roots.len() == 1 && roots[0] == game.initial_state();
        let code = PlayoutCode::of(game, options, from_initial, stop)?;
        let n_units = total.div_ceil(unit);
        let side_by_side = match code.step.is_in_pieces() {
            true => (n_units / options.threads.max(1) as u64).clamp(1, game.lane_options().most_groups as u64) as usize,
            false => 1,
        };
        Ok(Job {
            game,
            roots,
            open,
            per_root,
            unit,
            n_units,
            next_unit: AtomicU64::new(0),
            seed,
            stop,
            mode: code.mode,
            step: code.step,
            finish: code.finish,
            goals: goals_that_count(game),
            n_random: game.plan().random_bits().into_iter().sum(),
            side_by_side,
        })
    }

    /// A frame that is large enough for all code.
    fn frame(&self) -> Vec<Mask> {
        let mut frame = new_frame(self.game);
        let mut cells = self.step.n_cells().max(frame.len());
        if let Some((points, restart)) = &self.finish {
            cells = cells.max(points.n_cells()).max(restart.n_cells());
        }
        frame.resize(cells, Mask::ZERO);
        frame
    }

    fn work(&self, totals: &mut PlayoutTotals) {
        jit::wide(
            #[inline(always)]
            || match self.side_by_side {
                1 => self.work_one_by_one(totals),
                _ => self.work_side_by_side(totals),
            },
        );
    }

    #[inline(always)]
    fn work_one_by_one(&self, totals: &mut PlayoutTotals) {
        let mut frame = self.frame();
        while let Some(mut unit) = self.next_unit(&mut frame) {
            unit.run(totals);
        }
    }

    /// Plays several units, a step of each in turn; a unit that has ended is replaced by the next one.
    #[inline(always)]
    fn work_side_by_side(&self, totals: &mut PlayoutTotals) {
        let mut frames: Vec<Vec<Mask>> = (0..self.side_by_side).map(|_| self.frame()).collect();
        let mut units: Vec<Unit> = frames.iter_mut().map_while(|frame| self.next_unit(frame)).collect();
        while !units.is_empty() {
            units.iter_mut().for_each(Unit::begin_step);
            let mut frames: Vec<&mut [Mask]> = units.iter_mut().map(|unit| &mut *unit.frame).collect();
            self.step.run_all(&mut frames);
            let stopped = self.stop.is_raised();
            units.iter_mut().for_each(|unit| unit.end_step(stopped, totals));
            if stopped {
                return;
            }
            let mut at = 0;
            while at < units.len() {
                if units[at].n_active > 0 {
                    at += 1;
                    continue;
                }
                let Unit { frame, .. } = units.swap_remove(at);
                units.extend(self.next_unit(frame));
            }
        }
    }

    /// The next unit, unless there is none or the flag is raised.
    fn next_unit<'f>(&self, frame: &'f mut [Mask]) -> Option<Unit<'f, '_>> {
        if self.stop.is_raised() {
            return None;
        }
        let number = self.next_unit.fetch_add(1, Ordering::Relaxed);
        (number < self.n_units).then(|| Unit::new(self, frame, number))
    }

    /// The roots and numbers of games of a unit.
    fn tasks(&self, number: u64) -> Vec<(usize, u64)> {
        let total = self.per_root.saturating_mul(self.open.len() as u64);
        let (mut at, end) = (number * self.unit, ((number + 1).saturating_mul(self.unit)).min(total));
        let mut tasks = Vec::new();
        while at < end {
            let root = at / self.per_root;
            let upto = ((root + 1).saturating_mul(self.per_root)).min(end);
            tasks.push((self.open[root as usize], upto - at));
            at = upto;
        }
        tasks
    }
}

/// The code of playouts, and when goals are computed.
pub(super) struct PlayoutCode {
    pub(super) mode: Mode,
    pub(super) step: Arc<Runnable>,
    /// Goals that count, and the return of finished lanes to their roots, if goals are not part of every step.
    pub(super) finish: Option<(Arc<Runnable>, Arc<Runnable>)>,
}

impl PlayoutCode {
    /// The code for playouts from the initial state alone or from any states. The first is a little faster; the second
    /// does as well, and is taken if it is there already.
    fn of(
        game: &Compiled,
        options: &PlayoutOptions,
        from_initial: bool,
        stop: &StopFlag,
    ) -> Result<PlayoutCode, CompileError> {
        let has = |ended| {
            let kind = |points| StepKind {
                ended,
                points,
                percepts: options.percepts,
            };
            game.has_met(Segment::Step(kind(true))) || game.has_met(Segment::Step(kind(false)))
        };
        let ended = match from_initial && (has(Ended::ToInitial) || !has(Ended::ToRoot)) {
            true => Ended::ToInitial,
            false => Ended::ToRoot,
        };
        PlayoutCode::new(game, options, ended, stop)
    }

    fn fused(game: &Compiled, kind: StepKind, stop: &StopFlag) -> Result<PlayoutCode, CompileError> {
        Ok(PlayoutCode {
            mode: Mode::Fused,
            step: game.code_until(Segment::Step(kind), stop)?,
            finish: None,
        })
    }

    pub(super) fn new(
        game: &Compiled,
        options: &PlayoutOptions,
        ended: Ended,
        stop: &StopFlag,
    ) -> Result<PlayoutCode, CompileError> {
        let kind = StepKind {
            ended,
            points: true,
            percepts: options.percepts,
        };
        let fused = match options.goals {
            GoalTiming::EveryStep => true,
            GoalTiming::WhenWorthIt => false,
            GoalTiming::Auto => {
                // Freezing costs two operations per state bit and a share of idle lanes. The rest of a step has most of
                // the operations of legal moves and of the next state, so that it is seldom worth counting.
                let stats = game.stats();
                let least = (stats.next_ops.max(stats.legal_ops)) / 2;
                if stats.goal_ops <= least / 3 + 2 * game.n_fluents() {
                    return PlayoutCode::fused(game, kind, stop);
                }
                let rest = StepKind { points: false, ..kind };
                let rest = game.count_ops_until(Segment::Step(rest), stop)?;
                game.stats().goal_ops <= rest / 3 + 2 * game.n_fluents()
            }
        };
        if fused {
            return PlayoutCode::fused(game, kind, stop);
        }
        let frozen = StepKind {
            ended: Ended::Frozen,
            points: false,
            ..kind
        };
        let step = game.code_until(Segment::Step(frozen), stop)?;
        let points = game.code_until(Segment::Points, stop)?;
        let restart = game.code_until(Segment::Restart, stop)?;
        Ok(PlayoutCode {
            mode: Mode::Deferred {
                step_ops: step.ops as u64,
                goal_ops: (points.ops + restart.ops) as u64,
            },
            step,
            finish: Some((points, restart)),
        })
    }
}

/// Cell, role and points of every goal that counts.
pub(super) fn goals_that_count(game: &Compiled) -> Vec<(usize, usize, u64)> {
    let mut goals = Vec::new();
    for role in 0..game.roles().len() {
        let start = game.layout().goals[role] as usize;
        let values = game.goal_values(RoleId(role as u16)).enumerate();
        goals.extend(
            values
                .filter(|(_, value)| *value > 0)
                .map(|(at, value)| (start + at, role, value.min(100) as u64)),
        );
    }
    goals
}

/// Makes the code of playouts from the initial state, or from any state, unless the flag is raised.
pub(crate) fn prepare_playouts(
    game: &Compiled,
    options: &PlayoutOptions,
    ended: Ended,
    stop: &StopFlag,
) -> Result<(), CompileError> {
    game.code_until(Segment::Eval, stop)?;
    PlayoutCode::new(game, options, ended, stop).map(drop)
}

/// A unit in progress.
struct Unit<'f, 'j> {
    job: &'j Job<'j>,
    frame: &'f mut [Mask],
    rng: LaneRng,
    /// Lanes whose games count.
    active: Mask,
    n_active: u64,
    /// Games still to begin, per task.
    left: Vec<u64>,
    total_left: u64,
    tasks: Vec<(usize, u64)>,
    /// The task of each lane; empty if there is only one.
    lane_task: Vec<u32>,
    /// Operations that finished lanes have missed while they wait for goals.
    missed: u64,
    /// Steps since a game ended.
    fruitless: usize,
}

impl<'f, 'j> Unit<'f, 'j> {
    fn new(job: &'j Job<'j>, frame: &'f mut [Mask], number: u64) -> Self {
        let tasks = job.tasks(number);
        let mut unit = Unit {
            job,
            frame,
            rng: LaneRng::new(job.seed.nth(number)),
            active: Mask::ZERO,
            n_active: 0,
            left: tasks.iter().map(|&(_, n)| n).collect(),
            total_left: tasks.iter().map(|&(_, n)| n).sum(),
            tasks,
            lane_task: Vec::new(),
            missed: 0,
            fruitless: 0,
        };
        unit.deal_lanes();
        unit
    }

    /// Gives every lane a root, in proportion to the games asked for.
    fn deal_lanes(&mut self) {
        let n_lanes = self.total_left.min(LANES as u64) as usize;
        self.active = Mask::first(n_lanes);
        self.n_active = n_lanes as u64;
        if let [(root, _)] = self.tasks[..] {
            self.fill_root(root);
            self.left[0] -= n_lanes as u64;
            self.total_left -= n_lanes as u64;
        } else {
            self.lane_task = vec![0; LANES];
            let total = self.total_left;
            let (mut task, mut before) = (0, self.tasks[0].1);
            let mut roots: Vec<&State> = Vec::with_capacity(n_lanes);
            for lane in 0..n_lanes {
                // The game in the middle of this lane's share decides the root of the lane.
                let middle = (lane as u64 * 2 + 1) * total / (n_lanes as u64 * 2);
                while middle >= before {
                    task += 1;
                    before += self.tasks[task].1;
                }
                let wanted = Some(task).filter(|&t| self.left[t] > 0);
                let wanted = wanted.or_else(|| self.left.iter().position(|&n| n > 0));
                let wanted = wanted.unwrap_or(0);
                roots.push(&self.job.roots[self.tasks[wanted].0]);
                self.count_begin(lane, wanted);
            }
            let start = self.job.game.layout().root as usize;
            let n_fluents = self.job.game.n_fluents();
            write_states(&roots, &mut self.frame[start..start + n_fluents]);
        }
        let layout = self.job.game.layout();
        self.frame[layout.ended as usize] = Mask::ONE;
        if self.job.mode != Mode::Fused {
            let (state, root, n) = (layout.state as usize, layout.root as usize, self.job.game.n_fluents());
            self.frame.copy_within(root..root + n, state);
        }
    }

    fn fill_root(&mut self, root: usize) {
        let start = self.job.game.layout().root as usize;
        for f in 0..self.job.game.n_fluents() {
            self.frame[start + f] = if bit(&self.job.roots[root], f) {
                Mask::ONE
            } else {
                Mask::ZERO
            };
        }
    }

    /// Makes a task's root the root of a lane, for one game to begin there.
    fn begin(&mut self, lane: usize, task: usize) {
        let start = self.job.game.layout().root as usize;
        let root = &self.job.roots[self.tasks[task].0];
        for f in 0..self.job.game.n_fluents() {
            self.frame[start + f].set(lane, bit(root, f));
        }
        self.count_begin(lane, task);
    }

    fn count_begin(&mut self, lane: usize, task: usize) {
        self.lane_task[lane] = task as u32;
        self.left[task] -= 1;
        self.total_left -= 1;
    }

    /// Plays the unit to its end.
    #[inline(always)]
    fn run(&mut self, totals: &mut PlayoutTotals) {
        while self.n_active > 0 {
            self.begin_step();
            self.job.step.run(self.frame);
            let stopped = self.job.stop.is_raised();
            self.end_step(stopped, totals);
            if stopped {
                return;
            }
        }
    }

    /// Draws the random bits of a step.
    #[inline(always)]
    fn begin_step(&mut self) {
        let random = self.job.game.layout().random as usize;
        self.rng.fill(&mut self.frame[random..random + self.job.n_random]);
    }

    /// Counts the games that a step has ended.
    #[inline(always)]
    fn end_step(&mut self, stopped: bool, totals: &mut PlayoutTotals) {
        let layout = self.job.game.layout();
        let ended = self.frame[layout.ended as usize] & self.active;
        let stuck = self.frame[layout.stuck as usize] & self.active;
        self.fruitless += 1;
        match self.job.mode {
            Mode::Fused => {
                // A stuck lane made no move; all others did.
                totals.meter.states += self.n_active - u64::from(stuck.count());
                if !ended.is_empty() {
                    self.fruitless = 0;
                    self.account(ended, stuck, totals);
                }
            }
            Mode::Deferred { step_ops, goal_ops } => {
                let waiting = u64::from(ended.count());
                totals.meter.states += self.n_active - waiting;
                self.missed += waiting * step_ops;
                let due = self.missed >= goal_ops * LANES as u64 || waiting == self.n_active;
                if due || stopped {
                    (self.missed, self.fruitless) = (0, 0);
                    self.finish(ended, stuck, totals);
                }
            }
        }
        // Nothing in a game's rules makes it end.
        if self.fruitless >= PLAYOUT_ROUNDS && !stopped {
            self.give_up(totals);
        }
    }

    /// Counts the unfinished games as stuck and begins no others, because they seem never to end.
    #[cold]
    fn give_up(&mut self, totals: &mut PlayoutTotals) {
        for lane in self.active.lanes() {
            let task = self.lane_task.get(lane).map_or(0, |&t| t as usize);
            let total = &mut totals.roots[self.tasks[task].0];
            total.playouts += 1;
            total.stuck += 1;
        }
        self.active = Mask::ZERO;
        self.n_active = 0;
    }

    /// Computes the goals that lanes are waiting for, and lets those lanes go on.
    fn finish(&mut self, ended: Mask, stuck: Mask, totals: &mut PlayoutTotals) {
        let Some((points, restart)) = &self.job.finish else {
            return;
        };
        points.run(self.frame);
        self.account(ended, stuck, totals);
        self.frame[self.job.game.layout().mask as usize] = ended;
        restart.run(self.frame);
    }

    #[inline(always)]
    fn account(&mut self, ended: Mask, stuck: Mask, totals: &mut PlayoutTotals) {
        if self.lane_task.is_empty() {
            self.account_one_root(ended, stuck, totals);
        } else {
            self.account_many_roots(ended, stuck, totals);
        }
    }

    #[inline(always)]
    fn account_one_root(&mut self, ended: Mask, stuck: Mask, totals: &mut PlayoutTotals) {
        let total = &mut totals.roots[self.tasks[0].0];
        let n_ended = u64::from(ended.count());
        total.playouts += n_ended;
        total.stuck += u64::from(stuck.count());
        let earned = ended & !stuck;
        for &(cell, role, points) in &self.job.goals {
            total.points[role] += points * u64::from((self.frame[cell] & earned).count());
        }
        if n_ended <= self.total_left {
            self.total_left -= n_ended;
            return;
        }
        // Fewer games are left to begin than lanes are free: the other lanes are done.
        let begin = self.total_left as usize;
        let done = ended
            .lanes()
            .skip(begin)
            .fold(Mask::ZERO, |done, lane| done | Mask::single(lane));
        self.active &= !done;
        self.n_active -= n_ended - self.total_left;
        self.total_left = 0;
    }

    fn account_many_roots(&mut self, ended: Mask, stuck: Mask, totals: &mut PlayoutTotals) {
        for &(cell, role, points) in &self.job.goals {
            for lane in (self.frame[cell] & ended & !stuck).lanes() {
                let root = self.tasks[self.lane_task[lane] as usize].0;
                totals.roots[root].points[role] += points;
            }
        }
        for lane in ended.lanes() {
            let task = self.lane_task[lane] as usize;
            let total = &mut totals.roots[self.tasks[task].0];
            total.playouts += 1;
            total.stuck += u64::from(stuck.get(lane));
            if self.left[task] > 0 {
                self.left[task] -= 1;
                self.total_left -= 1;
            } else if let Some(other) = (self.total_left > 0)
                .then(|| self.left.iter().position(|&n| n > 0))
                .flatten()
            {
                self.begin(lane, other);
            } else {
                self.active.set(lane, false);
                self.n_active -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;
    use crate::random_program::random_program;
    use ground::{AtomId, Output, Program};

    /// One role and two moves: to go on, or to switch on what may end the game.
    fn walk(terminal: Output) -> Program {
        let [on, go, switch] = [0, 1, 2].map(AtomId);
        Program {
            roles: vec!["r".into()],
            fluents: vec!["on".into()],
            moves: vec![vec!["go".into(), "switch".into()]],
            percepts: vec![vec![]],
            n_atoms: 3,
            true_atoms: vec![on],
            does_atoms: vec![vec![go, switch]],
            next: vec![Output::Atom(switch)],
            legal: vec![vec![Output::Always; 2]],
            sees: vec![vec![]],
            goals: vec![vec![(100, Output::Always)]],
            terminal,
            names: vec!["(true on)".into(), "(does r go)".into(), "(does r switch)".into()],
            otherwise: None,
            ..Program::default()
        }
    }

    /// Begins a unit of very many games, raises the flag, and lets the unit run.
    fn run_stopped(terminal: Output, goals: GoalTiming) -> PlayoutTotals {
        let game = compile(&walk(terminal), &Default::default());
        let stop = StopFlag::default();
        let options = PlayoutOptions {
            goals,
            ..PlayoutOptions::default()
        };
        let roots = [game.initial_state()];
        let job = Job::new(&game, &roots, vec![0], 1 << 30, Seed(1), &options, &stop).expect("not stopped yet");
        let mut totals = PlayoutTotals {
            roots: vec![RootTotals {
                points: vec![0],
                ..RootTotals::default()
            }],
            meter: Meter::default(),
        };
        let mut frame = job.frame();
        let mut unit = Unit::new(&job, &mut frame, 0);
        stop.raise();
        unit.run(&mut totals);
        totals
    }

    /// A worker that panics must not leave totals that are short.
    #[test]
    #[should_panic(expected = "the clock is broken")]
    fn the_panic_of_a_worker_is_passed_on() {
        let game = compile(&walk(Output::Atom(AtomId(0))), &Default::default());
        let stop = StopFlag::by(|| panic!("the clock is broken"));
        let options = PlayoutOptions {
            threads: 2,
            ..PlayoutOptions::default()
        };
        playouts(&game, &[game.initial_state()], 10_000, Seed(1), &options, &stop);
    }

    #[test]
    fn a_raised_flag_ends_a_unit_after_the_step_at_hand() {
        for goals in [GoalTiming::EveryStep, GoalTiming::WhenWorthIt] {
            let endless = run_stopped(Output::Never, goals);
            assert_eq!((endless.roots[0].playouts, endless.meter.states), (0, 256), "{goals:?}");
        }
        // Half of the games end with their first move: they count, the others do not.
        let half = run_stopped(Output::Atom(AtomId(0)), GoalTiming::EveryStep);
        assert!((90..166).contains(&half.roots[0].playouts), "{half:?}");
        assert_eq!(half.roots[0].points[0], 100 * half.roots[0].playouts);
        assert_eq!(half.meter.states, 256);
    }

    /// Whether goals are computed in every step does not depend on whether the rest of a step was counted for that.
    #[test]
    fn steps_that_are_not_counted_are_large_enough() {
        let mut n_fused = 0;
        for case in 0..200 {
            let program = random_program(&mut Seed(7).nth(case).rng());
            let game = compile(&program, &crate::CompileOptions::default());
            let stop = StopFlag::default();
            let code = PlayoutCode::new(&game, &PlayoutOptions::default(), Ended::ToInitial, &stop).unwrap();
            let rest = StepKind {
                ended: Ended::ToInitial,
                points: false,
                percepts: PlayoutOptions::default().percepts,
            };
            let rest = game.count_ops_until(Segment::Step(rest), &stop).unwrap();
            let is_fused = game.stats().goal_ops <= rest / 3 + 2 * game.n_fluents();
            assert_eq!(matches!(code.mode, Mode::Fused), is_fused, "case {case}");
            n_fused += usize::from(is_fused);
        }
        assert!((20..=200).contains(&n_fused), "{n_fused}");
    }
}
