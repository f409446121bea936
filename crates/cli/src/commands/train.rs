//! `surmise train`: learning a game by self-play.

use crate::{complete, interrupt, open, output, progress, threads};
use anyhow::{Context, Result, bail};
use clap_complete::ArgValueCompleter;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use surmise::lab::slurm;
use surmise::learn::{CacheUse, Method};
use surmise::{TrainOptions, TrainProgress, Training, WorkDone, WorkOptions, files};

/// Learn a game by self-play
///
/// Plays generations of games in which every role tries all its moves wherever it has a choice, and keeps their
/// regrets: a table of the views that come up often, and a network of values and policies for every state, which
/// generalises from the table. Both are written to --out at every checkpoint, and `cfr:net=DIR` plays with them. Each
/// checkpoint plays trial games against random players and against the last checkpoint.
///
/// The same seed and number of games give the same bytes on any number of threads. Ctrl-C keeps everything; --resume
/// goes on exactly from there.
///
/// With --shared other processes help, on this machine or on others that see the same folder: each runs `surmise train
/// GAME --out DIR --work`, and may be started and killed at any time. --slurm N queues N such workers as a job array.
/// The bytes stay the same.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
    #[arg(add = ArgValueCompleter::new(complete::games))]
    game: String,
    /// Minutes to train; 10 if neither minutes nor games are given
    #[arg(long, value_name = "M")]
    minutes: Option<f64>,
    /// Games to train at most, in whole generations
    #[arg(long, value_name = "N")]
    games: Option<u64>,
    /// Folder for what is learned
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Go on with what is in the folder; other settings than the training began with are refused
    #[arg(long)]
    resume: bool,
    /// Seed; 1 if not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Threads; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
    /// How games are played: regrets (ours, if not given) or paper (CFR from true and sampled states)
    #[arg(long, value_name = "M")]
    method: Option<Method>,
    /// Width of the hidden layers; that of the input, but between 128 and 512, if not given
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Share of games, from 0 to 1, in which all roles but the learner's move at random: gains more from weak players,
    /// and can be exploited more
    #[arg(long, value_name = "SHARE")]
    beginners: Option<f32>,
    /// Memory of the transition cache, for all threads together, in MiB; 0 for none. What is learned does not depend
    /// on it
    #[arg(long, default_value_t = 256, value_name = "MIB")]
    cache: u64,
    /// Seconds between checkpoints
    #[arg(long, default_value_t = 60.0, value_name = "S")]
    every: f64,
    /// Trial games in each role against random players, and against the last checkpoint; fewer where they take long
    #[arg(long, default_value_t = 50, value_name = "N")]
    trials: u64,
    /// Let other processes play for this training (see --work)
    #[arg(long)]
    shared: bool,
    /// Play for the shared training in --out, until it ends
    #[arg(long, conflicts_with_all = ["shared", "resume", "slurm", "seed", "method", "width", "beginners"])]
    work: bool,
    /// Queue so many workers as a job array of Slurm; implies --shared
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    slurm: Option<u64>,
    /// With --slurm: threads of each worker
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = threads::parse)]
    worker_threads: usize,
    /// With --slurm: partition to run in
    #[arg(long, requires = "slurm")]
    partition: Option<String>,
    /// With --slurm: time limit of a worker, as Slurm writes it
    #[arg(long, requires = "slurm")]
    time: Option<String>,
    /// One JSON object in the end instead of lines
    #[arg(long)]
    json: bool,
}

/// How long a worker waits for a generation before it takes the training for dead.
const PATIENCE: Duration = Duration::from_secs(600);

/// Plays shards for a training elsewhere.
fn work(args: &Args) -> Result<ExitCode> {
    let options = WorkOptions {
        threads: args.threads.unwrap_or_else(threads::all_cores),
        cache_mib: args.cache,
        patience: PATIENCE,
        stop: interrupt::flag(),
    };
    let game = open::game(&args.game)?;
    let shown = progress::spinner("working");
    let done = game.work_for(&args.out, &options, &mut |done| {
        shown.set_message(|| format!("{} shards, {} games", done.shards, done.games));
    });
    shown.finish();
    let WorkDone { shards, games } = done?;
    output::print(&format!("{shards} shards with {games} games played\n"));
    Ok(interrupt::exit_code())
}

/// Queues workers.
fn queue(args: &Args, tasks: u64) -> Result<()> {
    let folder = args.out.join("slurm");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let absolute = |path: &Path| std::path::absolute(path).with_context(|| format!("no place {}", path.display()));
    let (out, program) = (
        absolute(&args.out)?,
        std::env::current_exe().context("cannot find this program's file")?,
    );
    // A rules file is found from anywhere; a game of the catalogue is a name.
    let game = match Path::new(&args.game).is_file() {
        true => absolute(Path::new(&args.game))?.display().to_string(),
        false => args.game.clone(),
    };
    let job = slurm::WorkerJob {
        tasks,
        threads: args.worker_threads,
        partition: args.partition.clone(),
        time: args.time.clone(),
        output: out.join("slurm/worker-%a.log"),
        command: vec![
            program.display().to_string(),
            "train".to_owned(),
            game,
            "--out".to_owned(),
            out.display().to_string(),
            "--work".to_owned(),
            "--threads".to_owned(),
            args.worker_threads.to_string(),
        ],
    };
    let script = folder.join("workers.sh");
    files::write(&script, slurm::worker_script(&job).as_bytes())?;
    let number = slurm::submit_script(&absolute(&script)?)?;
    output::note(&format!(
        "job {number}: {tasks} workers; `scancel {number}` ends them, and the training goes on"
    ));
    Ok(())
}

pub fn run(args: &Args) -> Result<ExitCode> {
    if args.work {
        return work(args);
    }
    let minutes = args.minutes.or(if args.games.is_some() { None } else { Some(10.0) });
    let time = match minutes.map(|m| Duration::try_from_secs_f64(m * 60.0)) {
        None => None,
        Some(Ok(time)) => Some(time),
        Some(Err(_)) => bail!("--minutes must be a number that is not negative"),
    };
    let Ok(every) = Duration::try_from_secs_f64(args.every) else {
        bail!("--every must be a number of seconds that is not negative");
    };
    let options = TrainOptions {
        time,
        games: args.games,
        resume: args.resume,
        seed: args.seed,
        threads: args.threads.unwrap_or_else(threads::all_cores),
        method: args.method,
        width: args.width,
        beginners: args.beginners,
        cache_mib: args.cache,
        every,
        trials: args.trials,
        shared: args.shared || args.slurm.is_some(),
        stop: interrupt::flag(),
    };
    options.check()?;
    let game = open::game(&args.game)?;
    if let Some(tasks) = args.slurm {
        queue(args, tasks)?;
    }
    let shown = progress::spinner("training");
    let mut cache = CacheUse::default();
    let about = game.train(&args.out, &options, &mut |event| match event {
        TrainProgress::Begun(_) | TrainProgress::Checkpoint(..) if args.json => {}
        TrainProgress::Begun(training) => shown.print(&headline(training, options.threads)),
        TrainProgress::Checkpoint(training, report) => shown.print(&line(training, report)),
        TrainProgress::Generation(training) => {
            cache = training.cache;
            shown.set_message(|| message(training));
        }
    });
    shown.finish();
    let about = about?;
    if args.json {
        output::json(&about);
    } else {
        let (name, dir) = (&args.game, args.out.display());
        output::print(&cache_line(cache));
        output::print(&format!("play with it: surmise match {name} cfr:net={dir} …\n"));
    }
    Ok(interrupt::exit_code())
}

fn headline(training: &Training<'_>, threads: usize) -> String {
    let shape = training.trainer.network.shape();
    let heads: Vec<String> = shape.moves.iter().map(usize::to_string).collect();
    format!(
        "{}: {} bits in, hidden layers of {}, policies of {} moves, {} weights; seed {}, {threads} threads\n",
        training.game(),
        shape.inputs,
        shape.width,
        heads.join(" and "),
        training.trainer.network.parameters().len(),
        training.trainer.settings.seed,
    )
}

fn message(training: &Training<'_>) -> String {
    format!(
        "{} games ({:.0}/s), {} views, loss: values {:.4}, policies {:.4}",
        training.trainer.games,
        training.rate(),
        training.trainer.table.len(),
        training.loss.value,
        training.loss.policy
    )
}

/// A checkpoint as a line.
fn line(training: &Training<'_>, report: &Value) -> String {
    let scores = |key: &str| {
        let list = report[key].as_array().into_iter().flatten();
        let list: Vec<String> = list.map(|s| format!("{:.0}", s.as_f64().unwrap_or(0.0))).collect();
        list.join(" / ")
    };
    format!(
        "{:>6.0} s  {:>9} games ({:.0}/s)  {:>7} views  loss: values {:.4}, policies {:.4}  \
         against random {}, against the last {}\n",
        report["seconds"].as_f64().unwrap_or(0.0),
        training.trainer.games,
        report["games_per_second"].as_f64().unwrap_or(0.0),
        training.trainer.table.len(),
        training.loss.value,
        training.loss.policy,
        scores("against_random"),
        scores("against_last"),
    )
}

/// The use of the transition cache; empty if nothing was played.
fn cache_line(cache: CacheUse) -> String {
    if cache.steps == 0 {
        return String::new();
    }
    format!(
        "cache: {:.1}% hits of {} steps, {} states in {:.1} MiB\n",
        100.0 * cache.known as f64 / cache.steps as f64,
        cache.steps,
        cache.states,
        cache.bytes as f64 / f64::from(1 << 20),
    )
}
