//! A compiled game: the network, and the code that is made from it on first use.

use crate::build::{build, naive_ops};
use crate::lanes::bit;
use crate::lanes::cell::Mask;
use crate::lanes::code::{LaneOptions, Runnable};
use crate::lanes::layout::{Layout, ONE};
use crate::lanes::plan::ChoicePlan;
use crate::lanes::playouts::{PlayoutOptions, prepare_playouts};
use crate::lanes::rng::LaneRng;
use crate::lanes::segments::{Ended, Segment, Source, StepKind};
use crate::network::{Network, Signal};
use crate::passes::chains::merge_chains;
use crate::passes::constants::{Known, fold_constants};
use crate::passes::dead::remove_dead;
use crate::passes::mutex::{Samples, as_choices, exclusive_families};
use crate::passes::pairs::{PairBudget, extract_common};
use crate::passes::{count_gates, count_ops, count_ops_for, rebuild};
use crate::scalar::{ScalarMode, Shared};
use crate::store;
use crate::tuning::{Bounds, Tuning};
use game::{RoleId, Seed, State, StopFlag};
use ground::Program;
use rustc_hash::FxHashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Options of [`compile`].
#[derive(Clone, Copy, Debug, Default)]
pub struct CompileOptions {
    /// How the lanes simulator runs circuits.
    pub lanes: LaneOptions,
    /// How the scalar simulator keeps values up to date.
    pub scalar: ScalarMode,
    /// Work budget of the extraction of common parts.
    pub pairs: PairBudget,
    /// Thresholds of choices between ways to run the game.
    pub tuning: Tuning,
}

/// Sizes after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassStats {
    /// Name of the pass.
    pub name: &'static str,
    /// Gates left.
    pub gates: usize,
    /// Two-input operations left.
    pub ops: usize,
}

/// Sizes before, between and after the passes.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Literals in the ground rules.
    pub naive_ops: usize,
    /// Sizes after each pass, in order.
    pub passes: Vec<PassStats>,
    /// Two-input operations for legal and terminal.
    pub legal_ops: usize,
    /// Two-input operations for goals alone.
    pub goal_ops: usize,
    /// Two-input operations for next.
    pub next_ops: usize,
    /// Two-input operations for percepts.
    pub sees_ops: usize,
}

impl Stats {
    /// Two-input operations in all: the cost by which two ways to ground a game are compared.
    pub fn ops(&self) -> usize {
        self.passes.last().map_or(0, |p| p.ops)
    }

    /// Gates in all.
    pub fn gates(&self) -> usize {
        self.passes.last().map_or(0, |p| p.gates)
    }
}

/// Frequencies of fluents in random games, as sampled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits<'g> {
    /// How often each fluent holds.
    pub likely: &'g [f32],
    /// How often each fluent changes in a step.
    pub changes: &'g [f32],
}

/// Names of roles, fluents, moves and percepts.
#[derive(Debug)]
pub(crate) struct Names {
    pub roles: Vec<String>,
    pub fluents: Vec<String>,
    pub moves: Vec<Vec<String>>,
    pub percepts: Vec<Vec<String>>,
}

/// A compiled game; cloning shares it.
#[derive(Clone)]
pub struct Compiled(Arc<Inner>);

struct Inner {
    names: Names,
    net: Network,
    /// The network before the extraction of common parts: wider gates, fewer levels.
    flat: Network,
    initial: Vec<bool>,
    known: Known,
    families: Vec<Vec<u32>>,
    /// How often each fluent holds in random games.
    likely: Vec<f32>,
    /// How often each fluent changes in a step of random games.
    changes: Vec<f32>,
    /// Per role: the move that it most often has as its only one.
    noop_moves: Vec<Option<u32>>,
    layout: Layout,
    plan: ChoicePlan,
    options: CompileOptions,
    stats: Stats,
    codes: Mutex<FxHashMap<Segment, Arc<Runnable>>>,
    /// Operations of segments that were counted without code.
    counted: Mutex<FxHashMap<Segment, usize>>,
    scalar: OnceLock<Arc<Shared>>,
}

/// Why a program was not compiled, or a simulator not prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileError {
    /// The stop flag was raised.
    Stopped,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Stopped => f.write_str("compiling was stopped"),
        }
    }
}

impl Error for CompileError {}

/// Compiles a ground program, however long that takes.
pub fn compile(program: &Program, options: &CompileOptions) -> Compiled {
    compile_until(program, options, &StopFlag::default()).expect("nobody else has the flag")
}

/// Compiles a ground program, unless the flag is raised.
///
/// Machine code is made when a simulator first needs it, which may take as long as compiling.
/// [`Compiled::prepare_scalar`] and [`Compiled::prepare_lanes`] make it at once and can be stopped too.
pub fn compile_until(program: &Program, options: &CompileOptions, stop: &StopFlag) -> Result<Compiled, CompileError> {
    let bounds = Bounds {
        tuning: &options.tuning,
        stop,
    };
    let compiled = compile_within(program, options, &bounds);
    compiled.filter(|_| !stop.is_raised()).ok_or(CompileError::Stopped)
}

/// Nodes from which on some of the sampled steps do, to see which moves are made out of turn.
const MANY_NODES: usize = 100_000;

/// Compiles a ground program. The result is meaningless if the flag was raised.
fn compile_within(program: &Program, options: &CompileOptions, bounds: &Bounds) -> Option<Compiled> {
    let mut initial = vec![false; program.fluents.len()];
    program.initial.iter().for_each(|&f| initial[f as usize] = true);
    let mut stats = Stats {
        naive_ops: naive_ops(program),
        ..Stats::default()
    };
    let mut log = |name, net: &Network| {
        stats.passes.push(PassStats {
            name,
            gates: count_gates(net),
            ops: count_ops(net),
        });
    };
    let net = build(program, bounds)?;
    log("build", &net);
    let (net, known) = fold_constants(&net, &initial, bounds)?;
    log("constants", &net);
    let net = remove_dead(&net, bounds)?;
    bounds.go_on()?;
    let samples = sample_states(&net, &initial, bounds)?;
    let families = exclusive_families(&net, &program.fluents, &initial, &samples, bounds);
    bounds.go_on()?;
    let net = with_choices(&net, &families, bounds)?;
    log("exclusive", &net);
    bounds.go_on()?;
    let flat = merge_chains(&net, bounds)?;
    log("chains", &flat);
    bounds.go_on()?;
    // Roles that take turns have passed in some of the steps that are left, unless there are five of them.
    let every = if flat.len() < MANY_NODES { 1 } else { 5 };
    // The common parts change no function, so what moves have as a choice can be found in `flat` meanwhile.
    let (net, plan, noop_moves) = std::thread::scope(|scope| {
        let choice = scope.spawn(|| {
            (
                ChoicePlan::merged(&flat, bounds),
                samples.noop_moves(&flat, every, bounds),
            )
        });
        let net = extract_common(&flat, options.pairs, bounds);
        let (plan, noop_moves) = choice.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Some((net?, plan, noop_moves?))
    })?;
    log("common", &net);
    bounds.go_on()?;
    segment_stats(&net, &mut stats);
    let names = Names {
        roles: program.roles.clone(),
        fluents: program.fluents.clone(),
        moves: program.moves.clone(),
        percepts: program.percepts.clone(),
    };
    Some(Compiled(Arc::new(Inner {
        names,
        layout: Layout::new(&net),
        plan,
        families,
        likely: samples.frequencies(),
        changes: samples.changes(),
        noop_moves,
        net,
        flat,
        initial,
        known,
        options: *options,
        stats,
        codes: Mutex::default(),
        counted: Mutex::default(),
        scalar: OnceLock::new(),
    })))
}

/// The states of a few hundred random games, step by step; `None` if the work was stopped.
fn sample_states(net: &Network, initial: &[bool], bounds: &Bounds) -> Option<Samples> {
    const STEPS: usize = 48;
    let (layout, plan) = (Layout::new(net), ChoicePlan::separate(net));
    let source = Source {
        net,
        layout: &layout,
        initial,
        plan: &plan,
    };
    let kind = StepKind {
        ended: Ended::ToInitial,
        points: false,
        percepts: false,
    };
    let circuit = source.circuit(Segment::Step(kind));
    bounds.go_on()?;
    let options = LaneOptions {
        native: false,
        ..LaneOptions::default()
    };
    let code = Runnable::new(&circuit, layout.len, options, bounds.stop)?;
    let mut frame = vec![Mask::ZERO; code.n_cells().max(layout.len as usize)];
    frame[ONE as usize] = Mask::ONE;
    frame[layout.ended as usize] = Mask::ONE;
    let mut rng = LaneRng::new(Seed(0).child("families"));
    let (state, random) = (layout.state as usize, layout.random as usize);
    let n_random: usize = plan.random_bits().into_iter().sum();
    let mut samples = Samples {
        words: vec![Vec::new(); net.n_fluents()],
    };
    for _ in 0..STEPS {
        bounds.go_on()?;
        rng.fill(&mut frame[random..random + n_random]);
        code.run(&mut frame);
        // A stuck lane made no move, so its next state is meaningless.
        let stuck = frame[layout.stuck as usize];
        for (f, words) in samples.words.iter_mut().enumerate() {
            words.extend((frame[state + f] & !stuck).0);
        }
    }
    Some(samples)
}

/// The same network, simplified by the exclusive families.
fn with_choices(net: &Network, families: &[Vec<u32>], bounds: &Bounds) -> Option<Network> {
    let mut fresh = net.same_leaves();
    for choice in as_choices(&fresh, families) {
        fresh.add_choice(choice);
    }
    rebuild(net, fresh, bounds, |_, _| None)
}

fn segment_stats(net: &Network, stats: &mut Stats) {
    let out = &net.outputs;
    let mut legal: Vec<Signal> = out.legal.iter().flatten().copied().collect();
    legal.push(out.terminal);
    let goals: Vec<Signal> = out.goals.iter().flatten().map(|&(_, s)| s).collect();
    let sees: Vec<Signal> = out.sees.iter().flatten().copied().collect();
    stats.legal_ops = count_ops_for(net, &legal);
    stats.goal_ops = count_ops_for(net, &goals);
    stats.next_ops = count_ops_for(net, &out.next);
    stats.sees_ops = count_ops_for(net, &sees);
}

impl Compiled {
    /// Sizes before, between and after the passes.
    pub fn stats(&self) -> &Stats {
        &self.0.stats
    }

    /// The game as bytes, without machine code; `None` if its network cannot be stored.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let inner = &*self.0;
        store::write(&store::Parts {
            names: &inner.names,
            net: &inner.net,
            flat: &inner.flat,
            initial: &inner.initial,
            known: &inner.known,
            families: &inner.families,
            likely: &inner.likely,
            changes: &inner.changes,
            noop_moves: &inner.noop_moves,
            plan: &inner.plan,
            stats: &inner.stats,
            options: &inner.options,
        })
    }

    /// The game of bytes that [`Compiled::to_bytes`] made; `None` if they are damaged or of another version or other
    /// options.
    pub fn from_bytes(bytes: &[u8], options: &CompileOptions) -> Option<Compiled> {
        let stored = store::read(bytes, options)?;
        Some(Compiled(Arc::new(Inner {
            layout: Layout::new(&stored.net),
            names: stored.names,
            net: stored.net,
            flat: stored.flat,
            initial: stored.initial,
            known: stored.known,
            families: stored.families,
            likely: stored.likely,
            changes: stored.changes,
            noop_moves: stored.noop_moves,
            plan: stored.plan,
            options: *options,
            stats: stored.stats,
            codes: Mutex::default(),
            counted: Mutex::default(),
            scalar: OnceLock::new(),
        })))
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.0.net
    }

    /// The network before common parts of gates were taken out.
    pub(crate) fn flat_network(&self) -> &Network {
        &self.0.flat
    }

    /// Names of the roles, in joint-move order.
    pub fn roles(&self) -> &[String] {
        &self.0.names.roles
    }

    pub(crate) fn names(&self) -> &Names {
        &self.0.names
    }

    /// How often each fluent holds in random games, roughly.
    pub(crate) fn likelihoods(&self) -> &[f32] {
        &self.0.likely
    }

    /// Frequencies of fluents in random games, as sampled.
    pub(crate) fn habits(&self) -> Habits<'_> {
        Habits {
            likely: &self.0.likely,
            changes: &self.0.changes,
        }
    }

    /// The move that each role most often has as its only one, if it ever has only one.
    pub(crate) fn noop_moves(&self) -> &[Option<u32>] {
        &self.0.noop_moves
    }

    pub(crate) fn lane_options(&self) -> LaneOptions {
        self.0.options.lanes
    }

    pub(crate) fn scalar_mode(&self) -> ScalarMode {
        self.0.options.scalar
    }

    /// Thresholds and stop flag for the preparation of simulators.
    pub(crate) fn bounds<'b>(&'b self, stop: &'b StopFlag) -> Bounds<'b> {
        Bounds {
            tuning: &self.0.options.tuning,
            stop,
        }
    }

    /// The part that scalar simulators share, made on first use.
    pub(crate) fn scalar_shared(&self) -> Arc<Shared> {
        let make = || Shared::new(self, &self.bounds(&StopFlag::default())).expect("nobody else has the flag");
        self.0.scalar.get_or_init(|| Arc::new(make())).clone()
    }

    /// Makes all code that [`Scalar`](crate::Scalar) needs, unless the flag is raised.
    pub fn prepare_scalar(&self, stop: &StopFlag) -> Result<(), CompileError> {
        let bounds = self.bounds(stop);
        let shared = match self.0.scalar.get() {
            Some(shared) => shared.clone(),
            None => {
                let made = Shared::new(self, &bounds).filter(|_| !stop.is_raised());
                let made = Arc::new(made.ok_or(CompileError::Stopped)?);
                self.0.scalar.get_or_init(|| made).clone()
            }
        };
        let has_percepts = self.0.names.percepts.iter().any(|row| !row.is_empty());
        [false, true][..=usize::from(has_percepts)]
            .iter()
            .try_for_each(|&seeing| shared.prepare_step(self, seeing, &bounds))
    }

    /// Makes all code that [`playouts`](crate::playouts) from the initial state and the usual calls of
    /// [`Lanes`](crate::Lanes) need, unless the flag is raised.
    pub fn prepare_lanes(&self, options: &PlayoutOptions, stop: &StopFlag) -> Result<(), CompileError> {
        let segments = [Segment::Eval, Segment::Goals, Segment::Next];
        segments.iter().try_for_each(|&s| self.code_until(s, stop).map(drop))?;
        self.prepare_playouts(options, stop)
    }

    /// Makes all code that [`playouts`](crate::playouts) from the initial state need, unless the flag is raised.
    pub fn prepare_playouts(&self, options: &PlayoutOptions, stop: &StopFlag) -> Result<(), CompileError> {
        prepare_playouts(self, options, Ended::ToInitial, stop)
    }

    /// Makes all code that players need, on two threads, unless the flag is raised: the scalar simulator, the calls of
    /// [`Batch`](game::Batch), and [`playouts`](crate::playouts) from any state. A move with a deadline should not be
    /// the first to need it.
    pub fn prepare_players(&self, stop: &StopFlag) -> Result<(), CompileError> {
        let lanes = || {
            let sees = (0..self.roles().len()).map(|role| Segment::Sees(role as u16));
            let mut segments = [Segment::Eval, Segment::Goals, Segment::Next].into_iter().chain(sees);
            segments.try_for_each(|s| self.code_until(s, stop).map(drop))?;
            prepare_playouts(self, &PlayoutOptions::default(), Ended::ToRoot, stop)
        };
        std::thread::scope(|scope| {
            let scalar = scope.spawn(|| self.prepare_scalar(stop));
            let lanes = lanes();
            let scalar = scalar.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            lanes.and(scalar)
        })
    }

    /// Whether a state satisfies everything that compiling has proven about reachable states.
    pub fn can_represent(&self, state: &State) -> bool {
        let crowded = |family: &Vec<u32>| family.iter().filter(|&&f| bit(state, f as usize)).count() > 1;
        if self.0.families.iter().any(crowded) {
            return false;
        }
        let Known { constant, same_as } = &self.0.known;
        (0..self.n_fluents()).all(|f| {
            let value = bit(state, f);
            constant[f].is_none_or(|c| c == value) && value == bit(state, same_as[f] as usize)
        })
    }

    /// Number of fluents of a state.
    pub fn n_fluents(&self) -> usize {
        self.0.initial.len()
    }

    /// Number of moves of a role.
    pub fn n_moves(&self, role: RoleId) -> usize {
        self.0.names.moves[role.0 as usize].len()
    }

    /// Number of percepts of a role.
    pub fn n_percepts(&self, role: RoleId) -> usize {
        self.0.names.percepts[role.0 as usize].len()
    }

    /// The goal values of a role, ascending.
    pub fn goal_values(&self, role: RoleId) -> impl Iterator<Item = i32> + '_ {
        self.0.net.outputs.goals[role.0 as usize].iter().map(|&(v, _)| v)
    }

    /// The initial state.
    pub fn initial_state(&self) -> State {
        let mut state = State(smallvec::smallvec![0; self.n_fluents().div_ceil(64)]);
        for (f, _) in self.0.initial.iter().enumerate().filter(|(_, b)| **b) {
            state.0[f / 64] |= 1 << (f % 64);
        }
        state
    }

    pub(crate) fn plan(&self) -> &ChoicePlan {
        &self.0.plan
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// Number of columns from which moves are chosen in a playout step: fewer than moves where roles move in turn.
    pub fn n_columns(&self) -> usize {
        self.0.plan.n_columns()
    }

    /// Families of fluents of which at most one holds in any reachable state; proven.
    pub fn exclusive_fluents(&self) -> &[Vec<u32>] {
        &self.0.families
    }

    /// Sizes of the code made so far, as text.
    pub fn code_stats(&self) -> String {
        let codes = self.0.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts: Vec<String> = codes
            .iter()
            .map(|(segment, code)| {
                format!(
                    "{segment:?}: {} ops, {} cells, {} bytes",
                    code.ops,
                    code.n_cells(),
                    code.code_bytes()
                )
            })
            .collect();
        parts.sort_unstable();
        parts.join("; ")
    }

    /// Runnable code of a segment, made on first use.
    pub fn code(&self, segment: Segment) -> Arc<Runnable> {
        self.code_until(segment, &StopFlag::default())
            .expect("nobody else has the flag")
    }

    /// Whether the code of a segment was made already, or its operations counted.
    pub(crate) fn has_met(&self, segment: Segment) -> bool {
        let codes = self.0.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = self.0.counted.lock().unwrap_or_else(PoisonError::into_inner);
        codes.contains_key(&segment) || counted.contains_key(&segment)
    }

    /// Two-input operations of a segment, unless the flag is raised. Makes no code for it.
    pub(crate) fn count_ops_until(&self, segment: Segment, stop: &StopFlag) -> Result<usize, CompileError> {
        let mut counted = self.0.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&ops) = counted.get(&segment) {
            return Ok(ops);
        }
        let ops = self.source().circuit(segment).cost();
        if stop.is_raised() {
            return Err(CompileError::Stopped);
        }
        Ok(*counted.entry(segment).or_insert(ops))
    }

    fn source(&self) -> Source<'_> {
        let inner = &*self.0;
        Source {
            net: &inner.net,
            layout: &inner.layout,
            initial: &inner.initial,
            plan: &inner.plan,
        }
    }

    /// Runnable code of a segment, made on first use, unless the flag is raised.
    pub fn code_until(&self, segment: Segment, stop: &StopFlag) -> Result<Arc<Runnable>, CompileError> {
        let mut codes = self.0.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = codes.get(&segment) {
            return Ok(code.clone());
        }
        let inner = &*self.0;
        let circuit = self.source().circuit(segment);
        if stop.is_raised() {
            return Err(CompileError::Stopped);
        }
        let code = Runnable::new(&circuit, inner.layout.len, inner.options.lanes, stop).ok_or(CompileError::Stopped)?;
        Ok(codes.entry(segment).or_insert(Arc::new(code)).clone())
    }
}
