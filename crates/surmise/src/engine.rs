//! The engine of a game: from rules to simulators.
//!
//! A game that grounds within its budget runs compiled: lanes for playouts and sampling, the scalar simulator for one
//! state at a time. Any other game, and any game while it is still being compiled, runs on the reference simulator.
//! [`Engine::why`] says which it is and why.

use crate::Error;
use game::{Batch, Playouts, RoleId, Seed, Simulator, StopFlag};
use gdl::Rules;
use ground::{EvaluationLimits, GroundError, Limits, Program, Progress, Reference, Splitting};
use propnet::{CompileError, CompileOptions, Compiled, LaneOptions, Lanes, OneLane, Rollouts, Scalar, compile_until};
use search::Tools;
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// Which engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// Compiled if the game grounds within its budget, else the reference.
    #[default]
    Auto,
    /// Evaluates the rules directly.
    Reference,
    /// The compiled network, one state at a time.
    Scalar,
    /// The compiled network, 256 games at a time.
    Lanes,
}

/// Which engine to make, and its limits.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Which engine.
    pub kind: EngineKind,
    /// Limits of grounding.
    pub limits: Limits,
    /// Limits of the reference simulator.
    pub evaluation: EvaluationLimits,
    /// Ends questions to the reference simulator.
    pub evaluation_stop: StopFlag,
    /// Time for grounding.
    pub time: Duration,
    /// Time for grounding and compiling together.
    pub compile_time: Duration,
    /// Whether lanes may run machine code.
    pub native: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            kind: EngineKind::Auto,
            limits: Limits::default(),
            evaluation: EvaluationLimits::default(),
            evaluation_stop: StopFlag::default(),
            time: Duration::from_secs(30),
            compile_time: Duration::from_secs(180),
            native: true,
        }
    }
}

/// A program that is being compiled.
type Compiling<'a> = ScopedJoinHandle<'a, (Result<Compiled, CompileError>, Program)>;

/// Instances that every further way of splitting rules may use, however small the first result was.
const MIN_INSTANCES: usize = 2_000;

/// A game that can be run.
pub struct Engine {
    /// The engine chosen: never [`EngineKind::Auto`].
    pub kind: EngineKind,
    /// The reason of the choice, for people.
    pub why: String,
    /// Times and sizes of the set-up.
    pub setup: Setup,
    /// The rules that the engine runs.
    pub rules: Rules,
    /// The reference simulator, behind a lock so that any thread can fork it.
    reference: Mutex<Reference>,
    compiled: Option<Compiled>,
}

/// Times and sizes of making an engine.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Seconds of grounding.
    pub ground_s: f64,
    /// Seconds of compiling the network that were not spent grounding at the same time.
    pub compile_s: f64,
    /// Ground rules.
    pub ground_rules: usize,
    /// Ground atoms.
    pub atoms: usize,
    /// Propositions of a state.
    pub propositions: usize,
    /// Moves of each role.
    pub moves: Vec<usize>,
}

impl Engine {
    /// Makes the engine that was asked for.
    ///
    /// # Errors
    /// If the rules cannot be run, or not on the engine that was asked for.
    pub fn new(rules: &Rules, options: &EngineOptions) -> Result<Engine, Error> {
        Engine::with_progress(rules, options, &mut |_| {})
    }

    /// As [`Engine::new`], with reports of how far grounding is.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn with_progress(
        rules: &Rules,
        options: &EngineOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Engine, Error> {
        let reference = Reference::with(rules, options.evaluation, options.evaluation_stop.clone())?;
        let mut engine = Engine {
            kind: EngineKind::Reference,
            why: "asked for".to_owned(),
            setup: Setup::default(),
            rules: rules.clone(),
            reference: Mutex::new(reference),
            compiled: None,
        };
        if options.kind == EngineKind::Reference {
            return Ok(engine);
        }
        match engine.compile(rules, options, progress) {
            Ok(()) => {
                engine.kind = match options.kind {
                    EngineKind::Auto => EngineKind::Lanes,
                    kind => kind,
                };
                engine.why = match options.kind {
                    EngineKind::Auto => "the game grounds within its budget".to_owned(),
                    _ => "asked for".to_owned(),
                };
                Ok(engine)
            }
            Err(error @ (GroundError::Invalid(_) | GroundError::NegativeCycle { .. })) => Err(Error::Engine(error)),
            Err(error) if options.kind == EngineKind::Auto => {
                engine.why = error.to_string();
                Ok(engine)
            }
            Err(error) => Err(Error::NoEngine(error)),
        }
    }

    /// Which way of splitting rules gives the smallest network depends on the game. All ways are tried, as far as they
    /// are not much larger than what there is already, and the network with the fewest operations is kept. While one
    /// is being compiled, the next is grounded.
    fn compile(
        &mut self,
        rules: &Rules,
        options: &EngineOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), GroundError> {
        let mut limits = options.limits.clone();
        limits.stop = within(options.time, &options.limits.stop);
        let stop = within(options.compile_time, &options.limits.stop);
        let mut failed = None;
        let started = Instant::now();
        std::thread::scope(|scope| {
            let mut compiling = None;
            for splitting in [Splitting::Full, Splitting::Components, Splitting::Off] {
                limits.splitting = splitting;
                let grounding = Instant::now();
                let program = ground::ground(rules, &limits, progress);
                self.setup.ground_s += grounding.elapsed().as_secs_f64();
                if let Some(worker) = compiling.take() {
                    failed = self.consider(worker).err().or(failed.take());
                }
                match program {
                    Ok(program) => {
                        limits.instances = limits.instances.min((3 * program.rules.len()).max(MIN_INSTANCES));
                        if !self.has_shape(&program) {
                            let stop = stop.clone();
                            compiling = Some(scope.spawn(move || {
                                let compiled = compile_until(&program, &compile_options(options), &stop);
                                (compiled, program)
                            }));
                        }
                    }
                    Err(error) => failed = Some(failed.take().unwrap_or(error)),
                }
                let stopped = limits.stop.is_raised() && compiling.is_none() && self.compiled.is_none();
                if stopped || options.limits.stop.is_raised() {
                    break;
                }
            }
            if let Some(worker) = compiling {
                failed = self.consider(worker).err().or(failed.take());
            }
        });
        self.setup.compile_s += started.elapsed().as_secs_f64() - self.setup.ground_s;
        match (&self.compiled, failed) {
            (None, Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether what there is has been made from a program just like this one.
    fn has_shape(&self, program: &Program) -> bool {
        let shape = (program.rules.len(), program.n_atoms as usize);
        self.compiled.is_some() && shape == (self.setup.ground_rules, self.setup.atoms)
    }

    /// Waits for a compiled program and keeps it if it is smaller than what there is.
    fn consider(&mut self, worker: Compiling<'_>) -> Result<(), GroundError> {
        let (compiled, program) = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let compiled = compiled.map_err(|_: CompileError| GroundError::Stopped)?;
        let ops = |c: &Compiled| c.stats().ops();
        if self.compiled.as_ref().is_none_or(|c| ops(&compiled) < ops(c)) {
            self.note_sizes(&program);
            self.compiled = Some(compiled);
        }
        Ok(())
    }

    fn note_sizes(&mut self, program: &Program) {
        self.setup.ground_rules = program.rules.len();
        self.setup.atoms = program.n_atoms as usize;
        self.setup.propositions = program.fluents.len();
        self.setup.moves = program.moves.iter().map(Vec::len).collect();
    }

    /// The compiled network, if there is one.
    pub fn compiled(&self) -> Option<&Compiled> {
        self.compiled.as_ref()
    }

    /// The fastest simulator for one state at a time, whatever engine was asked for.
    pub fn state_simulator(&self) -> Box<dyn Simulator> {
        match &self.compiled {
            Some(game) => Box::new(Scalar::new(game)),
            None => self.reference.lock().unwrap_or_else(PoisonError::into_inner).fork(),
        }
    }

    /// A simulator on this engine.
    pub fn simulator(&self) -> Box<dyn Simulator> {
        match (&self.compiled, self.kind) {
            (Some(game), EngineKind::Lanes) => Box::new(OneLane::new(game)),
            _ => self.state_simulator(),
        }
    }

    /// The game many states at a time, if it is compiled.
    pub fn batch(&self, seed: Seed) -> Option<Box<dyn Batch>> {
        let compiled = self.compiled.as_ref()?;
        Some(Box::new(Lanes::new(compiled, seed)))
    }

    /// What a player of a role is given: simulators, its role and its seed.
    pub fn tools(&self, role: RoleId, seed: Seed) -> Tools {
        let rollouts = |game| Box::new(Rollouts::new(game, 1)) as Box<dyn Playouts>;
        Tools {
            sim: self.state_simulator(),
            batch: self.batch(seed),
            playouts: self.compiled.as_ref().map(rollouts),
            others: None,
            role,
            seed,
        }
    }
}

fn compile_options(options: &EngineOptions) -> CompileOptions {
    let lanes = LaneOptions {
        native: options.native,
        ..LaneOptions::default()
    };
    CompileOptions {
        lanes,
        ..CompileOptions::default()
    }
}

/// A flag that is raised when time is up, or when another one is.
fn within(time: Duration, stop: &StopFlag) -> StopFlag {
    let started = Instant::now();
    let time = time.as_secs_f64().max(1e-9);
    StopFlag::by(move || started.elapsed().as_secs_f64() / time).under(stop)
}

/// A game that can already be played while it is being compiled.
pub struct Pending {
    worker: Option<std::thread::JoinHandle<Result<Engine, Error>>>,
    stop: StopFlag,
    reference: Reference,
}

impl Pending {
    /// Starts compiling in the background.
    ///
    /// # Errors
    /// If the rules cannot be run at all.
    pub fn start(rules: &Rules, options: &EngineOptions) -> Result<Pending, Error> {
        let reference = Reference::with(rules, options.evaluation, options.evaluation_stop.clone())?;
        let (rules, there) = (rules.clone(), options.clone());
        Ok(Pending {
            worker: Some(std::thread::spawn(move || Engine::new(&rules, &there))),
            stop: options.limits.stop.clone(),
            reference,
        })
    }

    /// A simulator to play on until the engine is ready.
    pub fn reference(&self) -> Box<dyn Simulator> {
        self.reference.fork()
    }

    /// The engine, once it is ready. Only the first such call returns it.
    pub fn poll(&mut self) -> Option<Result<Engine, Error>> {
        if !self.worker.as_ref()?.is_finished() {
            return None;
        }
        let made = self.worker.take()?.join();
        Some(made.unwrap_or(Err(Error::Crashed)))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.stop.raise();
    }
}
