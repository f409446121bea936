//! The engine of a game: from rules to simulators.
//!
//! A game that grounds within its budget runs compiled: lanes for playouts and sampling, the scalar simulator for one
//! state at a time. Any other game, and any game while it is still being compiled, runs on the reference simulator.
//! [`Engine::why`] says which it is and why.

mod ways;

use crate::Error;
use crate::cache::Place;
use crate::players::AutoFacts;
use game::{Batch, Playouts, RoleId, Seed, Simulator, StopFlag};
use gdl::Rules;
use ground::{EvaluationLimits, GroundError, Limits, Passes, Program, Progress, Reference};
use propnet::{CompileError, CompileOptions, Compiled, LaneOptions, Lanes, OneLane, Rollouts, Scalar, compile_until};
use search::Tools;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};
use ways::{Way, Ways};

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

/// Whether rules may be rewritten before they are ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rewriting {
    /// If the rules as written are large, both forms are tried, and the smaller network is kept.
    #[default]
    Auto,
    /// Only the rules as written.
    Never,
    /// Only the rewritten rules, if any pass changes them.
    Always,
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
    /// Whether rules may be rewritten.
    pub rewriting: Rewriting,
    /// A folder in which compiled games are kept for the next time; none by default. It may be deleted at any time.
    pub cache: Option<PathBuf>,
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
            rewriting: Rewriting::Auto,
            cache: None,
        }
    }
}

/// Seconds of setting up, below which a compiled game is not kept on disk.
const WORTH_KEEPING: f64 = 0.5;
/// Seconds of setting up, from which on a compiled game is kept although time has ended the search for a better one.
const ALWAYS_KEPT: f64 = 15.0;

/// A program that is being compiled.
struct Compiling<'a> {
    worker: ScopedJoinHandle<'a, (Result<Compiled, CompileError>, Program, Way)>,
    shape: (usize, usize),
    /// Its entry in [`Setup::tried`].
    entry: usize,
}

/// Programs that are compiled at the same time, while the next one is ground. More would take memory and no less time.
const MOST_COMPILING: usize = 2;

/// One way that was tried to ground a game, and what came of it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The way, for people.
    pub way: String,
    /// Ground rules, if it was ground.
    pub ground_rules: Option<usize>,
    /// Two-input operations of the network, if it was compiled.
    pub ops: Option<usize>,
    /// Why there is no network, if there is none.
    pub why: Option<String>,
    /// Whether the engine runs this network.
    pub chosen: bool,
}

impl Tried {
    /// A way of which nothing has come yet.
    fn by(way: Way) -> Tried {
        Tried {
            way: way.to_string(),
            ground_rules: None,
            ops: None,
            why: None,
            chosen: false,
        }
    }
}

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
    /// Whether the network was made from other rules than those of the text.
    rewritten: bool,
    /// What the player `auto` found out about the game.
    pub(crate) auto: AutoFacts,
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
    /// The ways that were tried to ground the game, in order.
    pub tried: Vec<Tried>,
    /// Whether the network was found in the cache; what was tried is then what was tried when it was made.
    pub from_cache: bool,
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
            rewritten: false,
            auto: AutoFacts::default(),
        };
        if options.kind == EngineKind::Reference {
            return Ok(engine);
        }
        let made = match engine.recall(options) {
            true => Ok(()),
            false => engine.compile(rules, options, progress),
        };
        match made {
            Ok(()) => {
                engine.kind = match options.kind {
                    EngineKind::Auto => EngineKind::Lanes,
                    kind => kind,
                };
                engine.why = match options.kind {
                    EngineKind::Auto => "the game grounds within its budget".to_owned(),
                    _ => "asked for".to_owned(),
                };
                if let Some(reason) = engine.why_rewritten() {
                    engine.why = format!("{}; {reason}", engine.why);
                }
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

    /// Takes the network from the cache; false if it is not there.
    fn recall(&mut self, options: &EngineOptions) -> bool {
        let Some(folder) = &options.cache else { return false };
        let started = Instant::now();
        let Some(kept) = Place::of(folder, &self.rules, options).load(&compile_options(options)) else {
            return false;
        };
        self.compiled = Some(kept.compiled);
        self.rewritten = kept.rewritten;
        self.setup = kept.setup;
        self.setup.compile_s = started.elapsed().as_secs_f64();
        true
    }

    /// Keeps the network in the cache.
    pub(crate) fn keep(&self, options: &EngineOptions) {
        if let (Some(folder), Some(compiled)) = (&options.cache, &self.compiled) {
            Place::of(folder, &self.rules, options).store(compiled, &self.setup, self.rewritten);
        }
    }

    /// Which way to rewrite and split rules gives the smallest network depends on the game. All ways are tried, as far
    /// as they are not much larger than what there is already, and the network with the fewest operations is kept.
    /// While some are being compiled, the next is ground. What is kept does not depend on how long each takes.
    fn compile(
        &mut self,
        rules: &Rules,
        options: &EngineOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), GroundError> {
        let mut limits = options.limits.clone();
        limits.stop = within(options.time, &options.limits.stop);
        let stop = within(options.compile_time, &options.limits.stop);
        let (mut failed, mut failed_at) = (None, 0);
        let started = Instant::now();
        std::thread::scope(|scope| {
            let mut compiling: VecDeque<Compiling<'_>> = VecDeque::new();
            let mut ways = Ways::new(options.rewriting, limits.instances);
            while let Some((way, most)) = ways.next() {
                if let Some(expected) = ways.is_hopeless(way, most) {
                    self.setup.tried.push(Tried {
                        why: Some(format!("about {expected} rule instances are too many")),
                        ..Tried::by(way)
                    });
                    continue;
                }
                let limits = Limits {
                    splitting: way.splitting,
                    instances: most,
                    static_atoms: Some(ways.static_atoms(most)),
                    ..limits.clone()
                };
                let grounding = Instant::now();
                let program = ground_by(way, rules, &limits, progress);
                self.setup.ground_s += grounding.elapsed().as_secs_f64();
                ways.note(&program);
                let new = program.as_ref().ok().and_then(Option::as_ref).map(|(p, _)| shape(p));
                // Whether a program is one that is known already is decided when all before it are compiled.
                let waits = |engine: &Engine, compiling: &VecDeque<Compiling<'_>>| {
                    let is_known = |new| engine.has_shape(new) || compiling.iter().any(|c| c.shape == new);
                    new.is_some_and(|new| compiling.len() >= MOST_COMPILING || is_known(new))
                };
                while waits(self, &compiling) {
                    let Some(first) = compiling.pop_front() else { break };
                    failed = self.consider(first).err().or(failed.take());
                }
                match program {
                    Ok(Some((program, way))) if !self.has_shape(shape(&program)) => {
                        let (stop, shape) = (stop.clone(), shape(&program));
                        let worker = scope.spawn(move || {
                            let compiled = compile_until(&program, &compile_options(options), &stop);
                            (compiled, program, way)
                        });
                        compiling.push_back(Compiling {
                            worker,
                            shape,
                            entry: self.setup.tried.len(),
                        });
                        self.setup.tried.push(Tried {
                            ground_rules: Some(shape.0),
                            ..Tried::by(way)
                        });
                    }
                    Ok(_) => {}
                    Err(error) => {
                        self.setup.tried.push(Tried {
                            why: Some(error.to_string()),
                            ..Tried::by(way)
                        });
                        // The failure under the widest limit says most.
                        if failed.is_none() || most > failed_at {
                            (failed, failed_at) = (Some(error), most);
                        }
                    }
                }
                let stopped = limits.stop.is_raised() && compiling.is_empty() && self.compiled.is_none();
                if stopped || options.limits.stop.is_raised() {
                    break;
                }
            }
            for each in compiling {
                failed = self.consider(each).err().or(failed.take());
            }
        });
        let took = started.elapsed().as_secs_f64();
        self.setup.compile_s += took - self.setup.ground_s;
        // Where time ran out, another way might be chosen with more time.
        let stopped = GroundError::Stopped.to_string();
        let is_final = self.setup.tried.iter().all(|t| t.why.as_ref() != Some(&stopped));
        if took >= WORTH_KEEPING && (is_final || took >= ALWAYS_KEPT) && !options.limits.stop.is_raised() {
            self.keep(options);
        }
        match (&self.compiled, failed) {
            (None, Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether what there is has been made from a program of these numbers.
    fn has_shape(&self, shape: (usize, usize)) -> bool {
        self.compiled.is_some() && shape == (self.setup.ground_rules, self.setup.atoms)
    }

    /// Waits for a compiled program and keeps it if it is smaller than what there is.
    fn consider(&mut self, compiling: Compiling<'_>) -> Result<(), GroundError> {
        let joined = compiling.worker.join();
        let (compiled, program, way) = joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let ops = |c: &Compiled| c.stats().ops();
        match compiled {
            Ok(compiled) => {
                self.setup.tried[compiling.entry].ops = Some(ops(&compiled));
                if self.compiled.as_ref().is_none_or(|c| ops(&compiled) < ops(c)) {
                    self.setup.tried.iter_mut().for_each(|t| t.chosen = false);
                    self.setup.tried[compiling.entry].chosen = true;
                    self.note_sizes(&program);
                    self.rewritten = way.is_rewritten();
                    self.compiled = Some(compiled);
                }
                Ok(())
            }
            Err(_) => {
                self.setup.tried[compiling.entry].why = Some(GroundError::Stopped.to_string());
                Err(GroundError::Stopped)
            }
        }
    }

    /// What the rewritten rules were chosen over, if they were.
    fn why_rewritten(&self) -> Option<String> {
        let tried = &self.setup.tried;
        let chosen = tried.iter().find(|t| t.chosen && self.rewritten)?;
        let size = |t: &Tried| match (&t.why, t.ops) {
            (Some(why), _) => why.clone(),
            (None, Some(ops)) => format!("{ops} operations"),
            (None, None) => "not compiled".to_owned(),
        };
        let others: Vec<String> = tried
            .iter()
            .filter(|t| !t.chosen)
            .map(|t| format!("{}: {}", t.way, size(t)))
            .collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            format!(", where {}", others.join("; "))
        };
        Some(format!("{}: {}{others}", chosen.way, size(chosen)))
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

/// Numbers by which programs are recognised.
fn shape(program: &Program) -> (usize, usize) {
    (program.rules.len(), program.n_atoms as usize)
}

/// Grounds rules in one way; `None` if rewriting does not change them.
fn ground_by(
    way: Way,
    rules: &Rules,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<(Program, Way)>, GroundError> {
    if way.passes == Passes::NONE {
        let limits = Limits {
            asked: way.asked,
            ..limits.clone()
        };
        return ground::ground(rules, &limits, progress).map(|program| Some((program, way)));
    }
    let rewritten = ground::ground_rewritten(rules, way.passes, limits, progress)?;
    Ok(rewritten.map(|(program, passes)| (program, Way { passes, ..way })))
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
        let make = move || {
            let engine = Engine::new(&rules, &there)?;
            if let Some(compiled) = &engine.compiled {
                // Otherwise the first move would make it. Whoever raises the flag does not want the engine any more.
                let _ = compiled.prepare_players(&there.limits.stop);
            }
            Ok(engine)
        };
        Ok(Pending {
            worker: Some(std::thread::spawn(make)),
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
