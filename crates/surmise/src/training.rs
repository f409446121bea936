//! Learning a game by self-play: generations, checkpoints, and trials against random players and earlier checkpoints.

use crate::engine::Engine;
use crate::players::{LearnedSpec, PlayerSpec};
use crate::training_folder::{self, TrainingFolder};
use crate::training_shards::ShardFolder;
use crate::{Error, Game};
use belief::SamplerKind;
use game::{RoleId, Seed, StopFlag};
use learn::{Blueprint, CacheUse, Loss, Method, Settings, Trainer, Worker};
use referee::{Clock, Match, Seat};
use search::CfrOptions;
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a game is learned.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// Time to train.
    pub time: Option<Duration>,
    /// Games to train at most, in whole generations.
    pub games: Option<u64>,
    /// Whether to go on with the training in the folder.
    pub resume: bool,
    /// Seed; 1 for a new training if none is given.
    pub seed: Option<u64>,
    /// Threads. What is learned does not depend on it.
    pub threads: usize,
    /// How games of self-play are played; as usual for a new training if nothing is given.
    pub method: Option<Method>,
    /// Width of the hidden layers.
    pub width: Option<usize>,
    /// Share of games in which all roles but the learner's move at random.
    pub beginners: Option<f32>,
    /// Memory of the transition cache, for all threads together, in MiB.
    pub cache_mib: u64,
    /// Time between checkpoints.
    pub every: Duration,
    /// Trial games per role and opponent at every checkpoint.
    pub trials: u64,
    /// Whether other processes may play shards, with [`Game::work_for`].
    pub shared: bool,
    /// Ends the training with a checkpoint.
    pub stop: StopFlag,
}

impl Default for TrainOptions {
    fn default() -> Self {
        TrainOptions {
            time: Some(Duration::from_secs(600)),
            games: None,
            resume: false,
            seed: None,
            threads: 1,
            method: None,
            width: None,
            beginners: None,
            cache_mib: 256,
            every: Duration::from_secs(60),
            trials: 50,
            shared: false,
            stop: StopFlag::default(),
        }
    }
}

/// MiB that the transition cache may have.
const MOST_CACHE: u64 = 1 << 20;

impl TrainOptions {
    /// Whether the options are within their ranges.
    ///
    /// # Errors
    /// If one is not.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |option, must: String| Err(Error::Option { option, must });
        if self.width.is_some_and(|w| !(1..=4096).contains(&w)) {
            return wrong("--width", "must be between 1 and 4096".to_owned());
        }
        if self.beginners.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return wrong("--beginners", "must be a share between 0 and 1".to_owned());
        }
        if self.cache_mib > MOST_CACHE {
            return wrong("--cache", format!("must be between 0 and {MOST_CACHE} MiB"));
        }
        Ok(())
    }
}

impl TrainOptions {
    /// Refuses to go on with a training by other settings than it began with.
    fn agrees_with(&self, folder: &Path, trainer: &Trainer) -> Result<(), Error> {
        let (settings, width) = (&trainer.settings, trainer.network.shape().width);
        let mut wrong = Vec::new();
        let mut compare = |option: &str, asked: Option<String>, is: String| {
            if let Some(asked) = asked.filter(|asked| *asked != is) {
                wrong.push(format!("{option} {is}, not {asked}"));
            }
        };
        let text = |method: Method| format!("{method:?}").to_lowercase();
        compare("--seed", self.seed.map(|s| s.to_string()), settings.seed.to_string());
        compare("--method", self.method.map(text), text(settings.method));
        compare("--width", self.width.map(|w| w.to_string()), width.to_string());
        let beginners = self.beginners.map(|b| b.to_string());
        compare("--beginners", beginners, settings.beginners.to_string());
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(Error::format(
                folder,
                format!(
                    "holds a training with other settings, which --resume keeps: {}",
                    wrong.join("; ")
                ),
            )),
        }
    }
}

/// How far a training is.
pub enum TrainProgress<'a> {
    /// The training begins.
    Begun(&'a Training<'a>),
    /// A generation was played.
    Generation(&'a Training<'a>),
    /// A checkpoint was written and tried.
    Checkpoint(&'a Training<'a>, &'a Value),
}

/// A training in progress.
pub struct Training<'g> {
    /// Lock of the folder.
    _lock: File,
    game: &'g Game,
    folder: TrainingFolder,
    options: &'g TrainOptions,
    /// Networks, tables and counts.
    pub trainer: Trainer,
    /// The state at the last checkpoint.
    last: Arc<Blueprint>,
    started: Instant,
    /// Seconds of the training before it was resumed.
    before: f64,
    reports: Vec<Value>,
    /// Use of the transition cache.
    pub cache: CacheUse,
    /// Losses of the last generation.
    pub loss: Loss,
}

impl Game {
    /// Learns the game by self-play. What is learned is written to a folder now and then, and at the end; the player
    /// `cfr:net=DIR` plays with it. Returns the description of the training that is also in `run.json`.
    ///
    /// # Errors
    /// If the game cannot be learned or the folder cannot be written, or holds another training.
    pub fn train(
        &self,
        folder: &Path,
        options: &TrainOptions,
        progress: &mut dyn FnMut(TrainProgress<'_>),
    ) -> Result<Value, Error> {
        options.check()?;
        let codec = training_folder::codec(self.engine())?;
        let files = TrainingFolder::new(folder);
        if options.resume && !files.has_checkpoint() {
            files.resume(&codec)?;
        }
        let lock = files.lock()?;
        let (trainer, run) = match (options.resume, files.has_checkpoint()) {
            (true, _) => {
                let (trainer, run) = files.resume(&codec)?;
                options.agrees_with(folder, &trainer)?;
                (trainer, run)
            }
            (false, true) => {
                let wrong = "holds a training already; --resume goes on with it, or choose another folder";
                return Err(Error::format(folder, wrong));
            }
            (false, false) => {
                let usual = Settings::of(options.method.unwrap_or_default());
                let settings = Settings {
                    seed: options.seed.unwrap_or(usual.seed),
                    width: options.width,
                    beginners: options.beginners.unwrap_or(usual.beginners),
                    ..usual
                };
                (Trainer::new(codec, settings), Value::Null)
            }
        };
        let training = Training {
            _lock: lock,
            game: self,
            folder: files,
            options,
            last: Arc::new(Blueprint::of(&trainer)),
            trainer,
            started: Instant::now(),
            before: run["seconds"].as_f64().unwrap_or(0.0),
            reports: run["reports"].as_array().cloned().unwrap_or_default(),
            cache: CacheUse::default(),
            loss: Loss::default(),
        };
        training.run(progress)
    }
}

impl Training<'_> {
    /// Name of the game.
    pub fn game(&self) -> &str {
        self.game.name()
    }

    /// Seconds of training, those before a resumption included.
    pub fn seconds(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }

    /// Games per second.
    pub fn rate(&self) -> f64 {
        self.trainer.games as f64 / self.seconds().max(1e-3)
    }

    fn engine(&self) -> &Engine {
        self.game.engine()
    }

    fn run(mut self, progress: &mut dyn FnMut(TrainProgress<'_>)) -> Result<Value, Error> {
        let options = self.options;
        let threads = options.threads.max(1);
        let bytes = (options.cache_mib << 20) as usize / threads;
        let mut workers: Vec<Worker> = (0..threads)
            .map(|_| Worker::new(self.engine().state_simulator(), bytes))
            .collect();
        progress(TrainProgress::Begun(&self));
        let (most, time) = (options.games.unwrap_or(u64::MAX), options.time.unwrap_or(Duration::MAX));
        let started = self.started;
        let enough = StopFlag::by(move || started.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-9));
        let mut saved = Instant::now();
        let mut unsaved = 0;
        let shards = options.shared.then(|| self.folder.shards());
        shards.iter().try_for_each(ShardFolder::open)?;
        while self.trainer.games < most && started.elapsed() < time && !options.stop.is_raised() {
            let loss = match &shards {
                Some(shards) => shards.lead(&mut self.trainer, &mut workers, &options.stop)?,
                None => self.trainer.generation(&mut workers, &options.stop, &enough)?,
            };
            let Some(loss) = loss else {
                break;
            };
            self.loss = loss;
            unsaved += 1;
            let used = workers.iter().map(Worker::cache_use);
            self.cache = used.fold(CacheUse::default(), CacheUse::and);
            progress(TrainProgress::Generation(&self));
            if saved.elapsed() >= options.every && time.saturating_sub(started.elapsed()) > options.every / 4 {
                self.checkpoint(progress)?;
                (saved, unsaved) = (Instant::now(), 0);
            }
        }
        // Workers end even if the last checkpoint cannot be written.
        let ended = shards.iter().try_for_each(ShardFolder::end);
        if unsaved > 0 || self.trainer.games == 0 {
            self.checkpoint(progress)?;
        }
        ended?;
        Ok(self.about())
    }

    /// Saves everything, and tries it.
    fn checkpoint(&mut self, progress: &mut dyn FnMut(TrainProgress<'_>)) -> Result<(), Error> {
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
            "value_loss": self.loss.value,
            "policy_loss": self.loss.policy,
            "against_random": against_random,
            "against_last": against_last,
        });
        progress(TrainProgress::Checkpoint(self, &report));
        self.reports.push(report);
        self.last = now;
        self.folder.save(&self.trainer, &self.about())
    }

    fn about(&self) -> Value {
        json!({
            "version": 1,
            "game": self.game.name(),
            "settings": self.trainer.settings.to_json(),
            "width": self.trainer.network.shape().width,
            "weights": self.trainer.network.parameters().len(),
            "threads": self.options.threads,
            "seconds": self.seconds(),
            "games": self.trainer.games,
            "reports": self.reports,
        })
    }

    /// The mean score of each role against random players or an earlier blueprint. Long games are tried less often, so
    /// that most of the time is spent learning; at least one is played, unless the training was stopped.
    fn trials(&self, ours: &Arc<Blueprint>, theirs: Option<&Arc<Blueprint>>) -> Result<Vec<f64>, Error> {
        let patience = Duration::from_secs_f64((self.options.every.as_secs_f64() / 40.0).clamp(0.5, 60.0));
        let random = PlayerSpec::parse("random")?;
        let mut means = Vec::new();
        for &tried in self.game.seating().played() {
            let (mut sum, mut played) = (0.0, 0_u64);
            let begun = Instant::now();
            for number in 0..self.options.trials {
                if number > 0 && begun.elapsed() > patience || self.options.stop.is_raised() {
                    break;
                }
                let seed = Seed(self.trainer.settings.seed).child("trials").nth(number);
                let seats = (0..self.game.roles().len()).map(|role| {
                    let nature = self.game.seating().player_of(role, 0).is_none();
                    match (nature, role == tried, theirs) {
                        (true, ..) => Ok(Seat::Nature),
                        (_, true, _) => self.seat(ours, role, seed),
                        (_, false, Some(theirs)) => self.seat(theirs, role, seed),
                        (_, false, None) => random.seat(self.engine(), RoleId(role as u16), seed.nth(role as u64)),
                    }
                });
                sum += self.play(seats.collect::<Result<_, _>>()?, seed, tried)?;
                played += 1;
            }
            means.push(sum / played.max(1) as f64);
        }
        Ok(means)
    }

    fn seat(&self, blueprint: &Arc<Blueprint>, role: usize, seed: Seed) -> Result<Seat, Error> {
        let tools = self.engine().tools(RoleId(role as u16), seed.nth(role as u64));
        let belief = belief::Options {
            models: 32,
            ..belief::Options::default()
        };
        let options = CfrOptions {
            depth: Some(0),
            ..CfrOptions::default()
        };
        let learned = LearnedSpec::of(blueprint.clone());
        let player = learned.player(self.engine(), tools, SamplerKind::Trellis, &belief, options)?;
        Ok(Seat::Player(player))
    }

    fn play(&self, seats: Vec<Seat>, seed: Seed, role: usize) -> Result<f64, Error> {
        let mut sim = self.engine().state_simulator();
        let names = vec![String::new(); seats.len()];
        let trial = Match {
            // A view that is hard to explain must not hold up the training.
            clock: Clock::PerMove {
                time: Duration::from_millis(250),
                grace: Duration::from_millis(500),
            },
            stop: self.options.stop.clone(),
            ..Match::new(sim.as_mut(), seats, names, seed)
        };
        let outcome = trial.play()?;
        Ok(outcome.record.goals.get(role).copied().map_or(0.0, f64::from))
    }
}
