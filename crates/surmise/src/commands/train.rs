//! `surmise train`: learning a game by self-play.

use crate::engine::{Engine, EngineOptions};
use crate::learned::{self, Folder};
use crate::load::load;
use crate::players::{Net, PlayerSpec, tools};
use crate::{interrupt, output, progress, threads};
use anyhow::{Context, Result, bail};
use belief::SamplerKind;
use game::{RoleId, Seed, StopFlag};
use indicatif::ProgressBar;
use learn::{Blueprint, CacheUse, Loss, Settings, Trainer, Worker};
use referee::{Clock, Match, Seat};
use search::CfrOptions;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Learn a game by self-play
///
/// Plays generations of games in which every role tries all its moves wherever it has a choice, and keeps what it regrets: a table of the
/// views that come up often, and a network that generalises from it, values and policies for every state. Both are written to --out
/// now and then, and `cfr:net=DIR` plays with them; on the way they are tried against random players and against what they were
/// at the last checkpoint.
///
/// The same seed and number of games give the same bytes on any number of threads. Ctrl-C keeps everything; --resume goes on
/// exactly from there.
#[derive(clap::Args)]
pub struct Args {
    /// Rules file or game of the catalogue
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
    /// Go on with what is in the folder
    #[arg(long)]
    resume: bool,
    /// Seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Threads; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    threads: Option<usize>,
    /// How games are played: regrets (ours) or paper (CFR from true and from sampled states)
    #[arg(long, default_value = "regrets", value_name = "M")]
    method: String,
    /// Width of the hidden layers; that of the input, but between 128 and 512, if not given
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Share of games in which everybody but the learner moves at random, from 0 to 1: what is learned makes more of weak players,
    /// and can be exploited more
    #[arg(long, value_name = "SHARE")]
    beginners: Option<f32>,
    /// Memory for states and steps that self-play comes across again and again, for all threads together, in MiB; 0 for none.
    /// It makes no difference to what is learned
    #[arg(long, default_value_t = 256, value_name = "MIB")]
    cache: u64,
    /// Seconds between checkpoints
    #[arg(long, default_value_t = 60.0, value_name = "S")]
    every: f64,
    /// Games in each role against random players, and against the last checkpoint, at every checkpoint; fewer where they take long
    #[arg(long, default_value_t = 50, value_name = "N")]
    trials: u64,
    /// One JSON object in the end instead of lines
    #[arg(long)]
    json: bool,
}

/// MiB that may be asked for to remember steps.
const MOST_CACHE: u64 = 1 << 20;

pub fn run(args: &Args) -> Result<ExitCode> {
    let minutes = args.minutes.or(if args.games.is_some() { None } else { Some(10.0) });
    let time = match minutes.map(|m| Duration::try_from_secs_f64(m * 60.0)) {
        None => Duration::MAX,
        Some(Ok(time)) => time,
        Some(Err(_)) => bail!("--minutes must be a number that is not negative"),
    };
    let Ok(every) = Duration::try_from_secs_f64(args.every) else {
        bail!("--every must be a number of seconds that is not negative");
    };
    if args.width.is_some_and(|w| !(1..=4096).contains(&w)) {
        bail!("--width must be between 1 and 4096");
    }
    if args.beginners.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
        bail!("--beginners must be a share between 0 and 1");
    }
    if args.cache > MOST_CACHE {
        bail!("--cache must be between 0 and {MOST_CACHE} MiB");
    }
    let loaded = load(&args.game)?;
    let mut rules = loaded.playable()?.rules;
    rules.announce_moves();
    let engine = Engine::new(&rules, &EngineOptions::default())?;
    let folder = Folder::new(&args.out);
    let (trainer, before) = begin(args, &engine, &folder)?;
    let threads = args.threads.unwrap_or_else(threads::all_cores);
    let school = School {
        args,
        game: loaded.name,
        engine: &engine,
        folder,
        trained_before: before["seconds"].as_f64().unwrap_or(0.0),
        last: Arc::new(Blueprint::of(&trainer)),
        trainer,
        started: Instant::now(),
        reports: before["reports"].as_array().cloned().unwrap_or_default(),
        threads,
        cache: CacheUse::default(),
    };
    school.run(time, every)
}

/// A training to begin or to go on with, and what was noted about it.
fn begin(args: &Args, engine: &Engine, folder: &Folder) -> Result<(Trainer, Value)> {
    let codec = learned::codec(engine)?;
    if args.resume {
        return folder.resume(&codec);
    }
    if folder.has_checkpoint() {
        bail!(
            "there is already a training in `{}`; --resume goes on with it, or choose another folder",
            args.out.display()
        );
    }
    let usual = Settings::of(args.method.parse()?);
    let settings = Settings {
        seed: args.seed,
        width: args.width,
        beginners: args.beginners.unwrap_or(usual.beginners),
        ..usual
    };
    Ok((Trainer::new(codec, settings), Value::Null))
}

/// A training in progress.
struct School<'a> {
    args: &'a Args,
    game: String,
    engine: &'a Engine,
    folder: Folder,
    trainer: Trainer,
    /// As it was at the last checkpoint.
    last: Arc<Blueprint>,
    started: Instant,
    trained_before: f64,
    reports: Vec<Value>,
    threads: usize,
    cache: CacheUse,
}

impl School<'_> {
    fn run(mut self, time: Duration, every: Duration) -> Result<ExitCode> {
        let bytes = (self.args.cache << 20) as usize / self.threads;
        let worker = |_| Worker::new(self.engine.state_simulator(), bytes);
        let mut workers: Vec<Worker> = (0..self.threads).map(worker).collect();
        if !self.args.json {
            output::print(&self.headline());
        }
        let spinner = progress::spinner("training");
        let most = self.args.games.unwrap_or(u64::MAX);
        let started = self.started;
        let enough = StopFlag::by(move || started.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9));
        let mut saved = Instant::now();
        let mut loss = Loss::default();
        let mut new = 0;
        while self.trainer.games < most && self.started.elapsed() < time && !interrupt::flag().is_raised() {
            let Some(latest) = self.trainer.generation(&mut workers, &interrupt::flag(), &enough)? else {
                break;
            };
            loss = latest;
            new += 1;
            self.cache = workers
                .iter()
                .map(Worker::cache_use)
                .fold(CacheUse::default(), CacheUse::and);
            self.show(&spinner, loss);
            if saved.elapsed() >= every && time.saturating_sub(self.started.elapsed()) > every / 4 {
                self.checkpoint(loss, &spinner)?;
                (saved, new) = (Instant::now(), 0);
            }
        }
        if new > 0 || self.trainer.games == 0 {
            self.checkpoint(loss, &spinner)?;
        }
        spinner.finish_and_clear();
        if self.args.json {
            output::print(&format!("{}\n", self.about()));
        } else {
            let dir = self.args.out.display();
            output::print(&self.cache_line());
            output::print(&format!(
                "play with it: surmise match {} cfr:net={dir} …\n",
                self.args.game
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn headline(&self) -> String {
        let shape = self.trainer.network.shape();
        let heads: Vec<String> = shape.moves.iter().map(usize::to_string).collect();
        format!(
            "{}: {} bits in, hidden layers of {}, policies of {} moves, {} weights; seed {}, {} threads\n",
            self.game,
            shape.inputs,
            shape.width,
            heads.join(" and "),
            self.trainer.network.parameters().len(),
            self.trainer.settings.seed,
            self.threads,
        )
    }

    /// What the cache was good for; nothing if nothing was played.
    fn cache_line(&self) -> String {
        let CacheUse {
            steps,
            known,
            states,
            bytes,
        } = self.cache;
        if steps == 0 {
            return String::new();
        }
        format!(
            "cache: {:.1}% of {steps} steps made by heart, {states} states in {:.1} MiB\n",
            100.0 * known as f64 / steps as f64,
            bytes as f64 / f64::from(1 << 20),
        )
    }

    fn seconds(&self) -> f64 {
        self.trained_before + self.started.elapsed().as_secs_f64()
    }

    fn show(&self, spinner: &ProgressBar, loss: Loss) {
        if !spinner.is_hidden() {
            let games = self.trainer.games;
            let rate = games as f64 / self.seconds().max(1e-3);
            spinner.set_message(format!(
                "{games} games ({rate:.0}/s), {} views, loss: values {:.4}, policies {:.4}",
                self.trainer.table.len(),
                loss.value,
                loss.policy
            ));
        }
    }

    /// Saves everything, and tries it.
    fn checkpoint(&mut self, loss: Loss, spinner: &ProgressBar) -> Result<()> {
        let now = Arc::new(Blueprint::of(&self.trainer));
        let seconds = self.seconds();
        let against_random = self.trials(&now, None)?;
        let against_last = self.trials(&now, Some(&self.last))?;
        let report = json!({
            "seconds": seconds,
            "generations": self.trainer.generations,
            "games": self.trainer.games,
            "games_per_second": self.trainer.games as f64 / seconds.max(1e-3),
            "states": self.trainer.states,
            "cache": {
                "steps": self.cache.steps,
                "known": self.cache.known,
                "states": self.cache.states,
                "bytes": self.cache.bytes,
            },
            "views": self.trainer.table.len(),
            "value_loss": loss.value,
            "policy_loss": loss.policy,
            "against_random": against_random,
            "against_last": against_last,
        });
        if !self.args.json {
            let scores = |list: &[f64]| {
                let list: Vec<String> = list.iter().map(|s| format!("{s:.0}")).collect();
                list.join(" / ")
            };
            let line = format!(
                "{seconds:>6.0} s  {:>9} games ({:.0}/s)  {:>7} views  loss: values {:.4}, policies {:.4}  \
                 against random {}, against the last {}\n",
                self.trainer.games,
                self.trainer.games as f64 / seconds.max(1e-3),
                self.trainer.table.len(),
                loss.value,
                loss.policy,
                scores(&against_random),
                scores(&against_last),
            );
            spinner.suspend(|| output::print(&line));
        }
        self.reports.push(report);
        self.last = now;
        self.folder.save(&self.trainer, &self.about())
    }

    fn about(&self) -> Value {
        json!({
            "game": self.game,
            "settings": self.trainer.settings.to_json(),
            "width": self.trainer.network.shape().width,
            "weights": self.trainer.network.parameters().len(),
            "threads": self.threads,
            "seconds": self.seconds(),
            "games": self.trainer.games,
            "reports": self.reports,
        })
    }

    /// The mean score of each role, everybody else being somebody else. Long games are tried less often, so that most of the time
    /// is spent learning; at least one is played.
    fn trials(&self, ours: &Arc<Blueprint>, theirs: Option<&Arc<Blueprint>>) -> Result<Vec<f64>> {
        let roles = &self.trainer.codec.roles;
        let patience = Duration::from_secs_f64((self.args.every / 40.0).clamp(0.5, 60.0));
        let mut means = Vec::new();
        for &tried in &self.trainer.codec.players {
            let (mut sum, mut played) = (0.0, 0_u64);
            let begun = Instant::now();
            for number in 0..self.args.trials {
                if number > 0 && (begun.elapsed() > patience || interrupt::flag().is_raised()) {
                    break;
                }
                let seed = Seed(self.trainer.settings.seed).child("trials").nth(number);
                let mut seats = Vec::new();
                for role in 0..roles.len() {
                    seats.push(match (Some(role) == self.trainer.codec.nature, role == tried, theirs) {
                        (true, ..) => Seat::Nature,
                        (_, true, _) => self.seat(ours, role, seed)?,
                        (_, false, Some(theirs)) => self.seat(theirs, role, seed)?,
                        (_, false, None) => PlayerSpec::parse("random")?.seat(
                            self.engine,
                            RoleId(role as u16),
                            seed.nth(role as u64),
                        )?,
                    });
                }
                sum += self.play(seats, seed, tried)?;
                played += 1;
            }
            means.push(sum / played.max(1) as f64);
        }
        Ok(means)
    }

    fn seat(&self, blueprint: &Arc<Blueprint>, role: usize, seed: Seed) -> Result<Seat> {
        let tools = tools(self.engine, RoleId(role as u16), seed.nth(role as u64));
        let belief = belief::Options {
            models: 32,
            ..belief::Options::default()
        };
        let options = CfrOptions {
            depth: Some(0),
            ..CfrOptions::default()
        };
        let net = Net::of(blueprint.clone());
        Ok(Seat::Player(net.player(
            self.engine,
            tools,
            SamplerKind::Trellis,
            &belief,
            options,
        )?))
    }

    fn play(&self, seats: Vec<Seat>, seed: Seed, role: usize) -> Result<f64> {
        let mut sim = self.engine.state_simulator();
        let table = Match {
            sim: sim.as_mut(),
            names: vec![String::new(); seats.len()],
            seats,
            seed,
            // A view that is hard to explain must not hold up the training.
            clock: Clock::PerMove {
                time: Duration::from_millis(250),
                grace: Duration::from_millis(500),
            },
            max_rounds: 2_000,
            stop: StopFlag::default(),
        };
        let outcome = table.play().context("a trial match")?;
        Ok(outcome.record.goals.get(role).map_or(0.0, |&g| f64::from(g)))
    }
}
