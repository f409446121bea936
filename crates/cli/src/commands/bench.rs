//! `surmise bench`: how fast the engine is.

use crate::commands::JSON_VERSION;
use crate::open::{EngineArg, RewritingArg};
use crate::{cache, complete, interrupt, open, output, progress, threads};
use anyhow::{Result, bail};
use clap_complete::ArgValueCompleter;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use surmise::engine::{Engine, EngineKind, EngineOptions};
use surmise::game::limits::MATCH_ROUNDS;
use surmise::game::{Meter, RoleId, Seed, Simulator, StopFlag};
use surmise::gdl;
use surmise::propnet::{Compiled, PlayoutOptions, Scalar, playouts};

/// Measure the speed of the engine
///
/// Random playouts from the initial state with every goal summed (and, for games with `sees` rules, every percept of
/// every step computed), for --seconds of wall-clock time after the engine is made and warm. Set-up is timed by phase:
/// reading, grounding, compiling the network, and making code for the lanes.
#[derive(clap::Args)]
pub struct Args {
    /// Rules files or games of the catalogue
    #[arg(required = true, value_name = "GAME", add = ArgValueCompleter::new(complete::games))]
    games: Vec<String>,
    /// Seconds to play each game
    #[arg(long, default_value_t = 2.0, value_name = "S")]
    seconds: f64,
    /// Threads to play on (lanes engine)
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = threads::parse)]
    threads: usize,
    /// Which engine to measure
    #[arg(long, value_enum, default_value_t)]
    engine: EngineArg,
    /// Whether a compiled engine may rewrite the rules first
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    rewriting: RewritingArg,
    /// Interpret the network of the lanes engine instead of running machine code
    #[arg(long)]
    no_native: bool,
    /// Seed of the playouts
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// One JSON object a line for each game
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let Ok(time) = Duration::try_from_secs_f64(args.seconds) else {
        bail!("--seconds must be a number of seconds that is not negative");
    };
    let mut failed = false;
    for game in args.games.iter().take_while(|_| !interrupt::flag().is_raised()) {
        match bench_one(game, args, time) {
            Ok(report) if args.json => output::print(&format!("{}\n", report.json())),
            Ok(report) => output::print(&report.text()),
            Err(error) => {
                failed = true;
                output::error(&format!("{game}: {error:#}"));
            }
        }
    }
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        interrupt::exit_code()
    })
}

struct Report {
    game: String,
    engine: Engine,
    read_s: f64,
    code_s: f64,
    threads: usize,
    played: PlayedOut,
}

/// Playouts and the time they took.
#[derive(Default)]
struct PlayedOut {
    playouts: u64,
    stuck: u64,
    meter: Meter,
    points: Vec<u64>,
    seconds: f64,
}

fn bench_one(game: &str, args: &Args, time: Duration) -> Result<Report> {
    let started = Instant::now();
    let loaded = open::text(game)?;
    let reading = loaded.playable()?;
    let read_s = started.elapsed().as_secs_f64();
    let mut options = open::engine_options(args.engine.into(), !args.no_native);
    options.rewriting = args.rewriting.into();
    options.cache = cache::asked_folder();
    let engine = make_engine(&reading.rules, &options)?;
    let sees = reading.rules.has_sees();
    let seed = Seed(args.seed).child("bench");
    let started = Instant::now();
    let mut code_s = 0.0;
    let played = match (engine.compiled(), engine.kind) {
        (Some(game), EngineKind::Lanes) => {
            let options = playout_options(sees, args.threads);
            if game.prepare_playouts(&options, &interrupt::flag()).is_err() {
                bail!("stopped while machine code was made");
            }
            code_s = started.elapsed().as_secs_f64();
            lanes(game, seed, sees, args.threads, time)
        }
        (Some(game), _) => scalar(game, seed, sees, time),
        (None, _) => reference(engine.simulator().as_mut(), seed, sees, time)?,
    };
    Ok(Report {
        game: loaded.name,
        engine,
        read_s,
        code_s,
        threads: args.threads,
        played,
    })
}

fn make_engine(rules: &gdl::Rules, options: &EngineOptions) -> Result<Engine> {
    let spinner = progress::spinner("setting up");
    let engine = Engine::with_progress(rules, options, &mut |p| {
        spinner.set_message(|| format!("{} rule instances, {} atoms", p.instances, p.atoms));
    });
    spinner.finish();
    Ok(engine?)
}

fn playout_options(percepts: bool, threads: usize) -> PlayoutOptions {
    PlayoutOptions {
        threads,
        percepts,
        ..PlayoutOptions::default()
    }
}

/// Plays until time is up; games that have not ended by then do not count.
fn lanes(game: &Compiled, seed: Seed, sees: bool, threads: usize, time: Duration) -> PlayedOut {
    let options = playout_options(sees, threads);
    let stop = StopFlag::default();
    let watch = stop.clone();
    let interrupted = interrupt::flag();
    let started = Instant::now();
    let alarm = std::thread::spawn(move || {
        while started.elapsed() < time && !interrupted.is_raised() {
            std::thread::sleep(Duration::from_millis(20).min(time.saturating_sub(started.elapsed())));
        }
        watch.raise();
    });
    let totals = playouts(game, &[game.initial_state()], u64::MAX / 2, seed, &options, &stop);
    let seconds = started.elapsed().as_secs_f64();
    let _ = alarm.join();
    PlayedOut {
        playouts: totals.roots[0].playouts,
        stuck: totals.roots[0].stuck,
        meter: totals.meter,
        points: totals.roots[0].points.clone(),
        seconds,
    }
}

fn scalar(game: &Compiled, seed: Seed, sees: bool, time: Duration) -> PlayedOut {
    let mut sim = Scalar::new(game);
    let root = game.initial_state();
    let n_roles = game.roles().len();
    let mut played = PlayedOut {
        points: vec![0; n_roles],
        ..PlayedOut::default()
    };
    let mut rng = seed.rng();
    let interrupted = interrupt::flag();
    let started = Instant::now();
    // Looking at the clock takes longer than a playout of a small game; a playout of a large one may take seconds.
    let mut before_look = 1;
    while started.elapsed() < time && !interrupted.is_raised() {
        if played.playouts == 1 && started.elapsed() < Duration::from_millis(1) {
            before_look = 16;
        }
        for _ in 0..before_look {
            let one = if sees {
                sim.playout_seeing(&root, &mut rng)
            } else {
                sim.playout(&root, &mut rng)
            };
            played.playouts += 1;
            played.stuck += u64::from(one.stuck);
            for (role, points) in played.points.iter_mut().enumerate() {
                *points += u64::from(sim.points(RoleId(role as u16)));
            }
        }
    }
    played.seconds = started.elapsed().as_secs_f64();
    played.meter = *sim.meter();
    played
}

fn reference(sim: &mut dyn Simulator, seed: Seed, sees: bool, time: Duration) -> Result<PlayedOut> {
    let n_roles = sim.roles().len();
    let mut played = PlayedOut {
        points: vec![0; n_roles],
        ..PlayedOut::default()
    };
    let mut rng = seed.rng();
    let (mut legal, mut seen) = (Vec::new(), Vec::new());
    let interrupted = interrupt::flag();
    let started = Instant::now();
    while started.elapsed() < time && !interrupted.is_raised() {
        let mut state = sim.initial()?;
        let mut rounds = 0;
        while !sim.terminal(&state)? {
            rounds += 1;
            if rounds > (MATCH_ROUNDS as u32) {
                played.stuck += 1;
                break;
            }
            let mut joint = Vec::with_capacity(n_roles);
            for role in 0..n_roles {
                sim.legal(&state, RoleId(role as u16), &mut legal)?;
                if legal.is_empty() {
                    break;
                }
                joint.push(*rng.pick(&legal));
            }
            if joint.len() < n_roles {
                played.stuck += 1;
                break;
            }
            for role in (0..n_roles).filter(|_| sees) {
                sim.percepts(&state, &joint, RoleId(role as u16), &mut seen)?;
            }
            state = sim.next(&state, &joint)?;
        }
        played.playouts += 1;
        for (role, points) in played.points.iter_mut().enumerate() {
            *points += u64::from(sim.goal(&state, RoleId(role as u16))?.points());
        }
    }
    played.seconds = started.elapsed().as_secs_f64();
    played.meter = *sim.meter();
    Ok(played)
}

impl Report {
    fn setup_s(&self) -> f64 {
        self.read_s + self.engine.setup.ground_s + self.engine.setup.compile_s + self.code_s
    }

    fn kind(&self) -> &'static str {
        match self.engine.kind {
            EngineKind::Auto | EngineKind::Lanes => "lanes",
            EngineKind::Scalar => "scalar",
            EngineKind::Reference => "reference",
        }
    }

    fn json(&self) -> Value {
        let setup = &self.engine.setup;
        let stats = self.engine.compiled().map(Compiled::stats);
        let rate = |n: u64| n as f64 / self.played.seconds;
        let passes: Vec<Value> = stats
            .iter()
            .flat_map(|s| &s.passes)
            .map(|p| json!({"pass": p.name, "gates": p.gates, "ops": p.ops}))
            .collect();
        let tried: Vec<Value> = setup
            .tried
            .iter()
            .map(|t| {
                json!({"way": t.way, "ground_rules": t.ground_rules, "ops": t.ops, "why": t.why, "chosen": t.chosen})
            })
            .collect();
        let mean = |&points: &u64| points as f64 / self.played.playouts.max(1) as f64;
        let mean_goals: Vec<f64> = self.played.points.iter().map(mean).collect();
        json!({
            "version": JSON_VERSION,
            "game": self.game,
            "engine": self.kind(),
            "why": self.engine.why,
            "threads": self.threads,
            "playouts_per_s": rate(self.played.playouts),
            "moves_per_s": rate(self.played.meter.states),
            "playouts": self.played.playouts,
            "states_visited": self.played.meter.states,
            "stuck": self.played.stuck,
            "mean_goals": mean_goals,
            "seconds": self.played.seconds,
            "setup_s": self.setup_s(),
            "setup": {
                "read_s": self.read_s, "ground_s": setup.ground_s, "compile_s": setup.compile_s, "code_s": self.code_s,
            },
            "propositions": setup.propositions,
            "moves": setup.moves,
            "ground_rules": setup.ground_rules,
            "gates": stats.map(|s| s.gates()),
            "gates_before": stats.and_then(|s| s.passes.first()).map(|p| p.gates),
            "passes": passes,
            "tried": tried,
            "from_cache": setup.from_cache,
            "bytes": peak_bytes(),
        })
    }

    fn text(&self) -> String {
        let setup = &self.engine.setup;
        let mut out = String::new();
        let rate = |n: u64| human(n as f64 / self.played.seconds);
        let _ = writeln!(out, "{}", self.game);
        let _ = writeln!(out, "  engine     {} ({})", self.kind(), self.engine.why);
        let _ = writeln!(
            out,
            "  speed      {} playouts/s, {} joint moves/s on {} thread{}",
            rate(self.played.playouts),
            rate(self.played.meter.states),
            self.threads,
            if self.threads == 1 { "" } else { "s" }
        );
        let _ = writeln!(
            out,
            "  set-up     {:.3} s: read {:.3}, ground {:.3}, network {:.3}, code {:.3}",
            self.setup_s(),
            self.read_s,
            setup.ground_s,
            setup.compile_s,
            self.code_s
        );
        if let Some(stats) = self.engine.compiled().map(Compiled::stats) {
            let before = stats.passes.first().map_or(0, |p| p.gates);
            let _ = writeln!(
                out,
                "  network    {} propositions, moves {:?}, {} ground rules, {} gates ({} before the passes), \
                 {} two-input operations",
                setup.propositions,
                setup.moves,
                setup.ground_rules,
                stats.gates(),
                before,
                stats.ops()
            );
        }
        let _ = writeln!(
            out,
            "  played     {} playouts, {} states visited, {} stuck, {} MiB at most",
            self.played.playouts,
            self.played.meter.states,
            self.played.stuck,
            peak_bytes().map_or(0, |b| b >> 20)
        );
        out
    }
}

/// The most memory that this process has held, where the system says it.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

fn human(rate: f64) -> String {
    match rate {
        r if r >= 1e6 => format!("{:.2} M", r / 1e6),
        r if r >= 1e3 => format!("{:.1} k", r / 1e3),
        r => format!("{r:.1}"),
    }
}
