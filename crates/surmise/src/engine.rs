//! Choosing the engine: one entry from rules to something that runs.
//!
//! A game that grounds within its budget runs compiled: lanes for playouts and sampling, the scalar simulator for one
//! state at a time. Any other game, and any game while it is still being compiled, runs on the reference simulator.
//! Which it is, and why, is always said.

use anyhow::{Result, anyhow, bail};
use game::{Simulator, StopFlag};
use gdl::Rules;
use ground::{GroundError, Limits, Program, Reference, Splitting};
use propnet::{CompileOptions, Compiled, LaneOptions, OneLane, Scalar, compile};
use std::time::{Duration, Instant};

/// Which engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineKind {
    /// Compiled if the game grounds within its budget, else the reference
    #[default]
    Auto,
    /// Evaluate the rules directly
    Reference,
    /// The compiled network, one state at a time
    Scalar,
    /// The compiled network, 256 games at a time
    Lanes,
}

/// What an engine may use up while it is being made.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Which engine.
    pub kind: EngineKind,
    /// Limits of grounding.
    pub limits: Limits,
    /// Time for grounding.
    pub time: Duration,
    /// Whether lanes may run machine code.
    pub native: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            kind: EngineKind::Auto,
            limits: Limits::default(),
            time: Duration::from_secs(30),
            native: true,
        }
    }
}

/// A game that can be run.
pub struct Engine {
    /// Which engine it is: never [`EngineKind::Auto`].
    pub kind: EngineKind,
    /// Why it is that one, for people.
    pub why: String,
    /// What it took to make it.
    pub setup: Setup,
    reference: Reference,
    compiled: Option<Compiled>,
}

/// Times and sizes of making an engine.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Seconds of grounding.
    pub ground_s: f64,
    /// Seconds of compiling the network.
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
    /// Makes the engine that was asked for, or says why it cannot be had.
    pub fn new(rules: &Rules, options: &EngineOptions) -> Result<Engine> {
        let reference = Reference::new(rules)?;
        let mut engine = Engine {
            kind: EngineKind::Reference,
            why: "asked for".to_owned(),
            setup: Setup::default(),
            reference,
            compiled: None,
        };
        if options.kind == EngineKind::Reference {
            return Ok(engine);
        }
        match engine.compile(rules, options) {
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
            Err(GroundError::Invalid(what)) => bail!(what),
            Err(error @ GroundError::NegativeCycle { .. }) => Err(anyhow!(error)),
            Err(error) if options.kind == EngineKind::Auto => {
                engine.why = error.to_string();
                Ok(engine)
            }
            Err(error) => {
                bail!(
                    "the compiled engine cannot run this game: {error} (the reference engine can: `--engine reference`)"
                )
            }
        }
    }

    fn compile(&mut self, rules: &Rules, options: &EngineOptions) -> Result<(), GroundError> {
        let stop = options.limits.stop.clone();
        let finished = StopFlag::default();
        let alarm = raise_after(options.time, stop, finished.clone());
        let made = self.compile_until_stopped(rules, options);
        finished.raise();
        alarm.thread().unpark();
        made
    }

    fn compile_until_stopped(&mut self, rules: &Rules, options: &EngineOptions) -> Result<(), GroundError> {
        let started = Instant::now();
        let program = ground::ground(rules, &options.limits, &mut |_| {});
        self.setup.ground_s = started.elapsed().as_secs_f64();
        let program = program?;
        let started = Instant::now();
        let compile_options = CompileOptions {
            lanes: LaneOptions {
                native: options.native,
                ..LaneOptions::default()
            },
            ..CompileOptions::default()
        };
        let compiled = compile(&program, &compile_options);
        self.setup.compile_s = started.elapsed().as_secs_f64();
        self.note_sizes(&program);
        self.compiled = Some(compiled);
        self.try_unsplit(rules, options, &compile_options, program.rules.len());
        Ok(())
    }

    /// What is smallest depends on the game: small games are also compiled without splitting rules, and the network
    /// with fewer operations is kept.
    fn try_unsplit(&mut self, rules: &Rules, options: &EngineOptions, compile_options: &CompileOptions, size: usize) {
        if options.limits.splitting == Splitting::Off {
            return;
        }
        let started = Instant::now();
        let limits = Limits {
            splitting: Splitting::Off,
            // Looking for something smaller should not cost more than what there is.
            instances: (4 * size).clamp(2_000, 400_000),
            ..options.limits.clone()
        };
        let program = ground::ground(rules, &limits, &mut |_| {});
        self.setup.ground_s += started.elapsed().as_secs_f64();
        let Ok(program) = program else {
            return;
        };
        let started = Instant::now();
        let compiled = compile(&program, compile_options);
        self.setup.compile_s += started.elapsed().as_secs_f64();
        let ops = |c: &Compiled| c.stats().ops();
        if self.compiled.as_ref().is_some_and(|c| ops(&compiled) < ops(c)) {
            self.note_sizes(&program);
            self.compiled = Some(compiled);
        }
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

    /// A simulator on this engine.
    pub fn simulator(&self) -> Box<dyn Simulator> {
        match (&self.compiled, self.kind) {
            (Some(game), EngineKind::Lanes) => Box::new(OneLane::new(game)),
            (Some(game), _) => Box::new(Scalar::new(game)),
            (None, _) => self.reference.fork(),
        }
    }
}

/// Raises a flag when time is up, unless the work is finished by then.
fn raise_after(time: Duration, flag: StopFlag, finished: StopFlag) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let started = Instant::now();
        while !finished.is_raised() {
            match time.checked_sub(started.elapsed()) {
                Some(left) if !left.is_zero() => std::thread::park_timeout(left),
                _ => {
                    flag.raise();
                    return;
                }
            }
        }
    })
}

/// A game that can already be played while it is being compiled.
pub struct Pending {
    worker: Option<std::thread::JoinHandle<Result<Engine>>>,
    stop: StopFlag,
    reference: Reference,
}

impl Pending {
    /// Starts compiling in the background.
    pub fn start(rules: &Rules, options: &EngineOptions) -> Result<Pending> {
        let reference = Reference::new(rules)?;
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

    /// The engine, once it is ready. It is given away: later calls have nothing.
    pub fn poll(&mut self) -> Option<Result<Engine>> {
        if !self.worker.as_ref()?.is_finished() {
            return None;
        }
        let made = self.worker.take()?.join();
        Some(made.unwrap_or_else(|_| Err(anyhow!("compiling the game failed; please report this"))))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.stop.raise();
    }
}
