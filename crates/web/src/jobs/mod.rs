//! Solver and training runs: a few at a time, each on a thread of its own, with progress and a stop.

mod solving;
mod training;

use crate::ApiError;
use crate::games::GameShelf;
use crate::options::ServeOptions;
use crate::requests::NewJob;
use crate::token;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use surmise::game::StopFlag;
use tokio::sync::watch;

/// All runs.
pub struct Jobs {
    jobs: Mutex<Vec<Arc<Job>>>,
    most: usize,
    time: Duration,
    data: Option<PathBuf>,
    stop: StopFlag,
}

/// Runs that are remembered; the oldest that have ended are forgotten.
const REMEMBERED: usize = 50;

/// Points of a curve; more are thinned out.
const POINTS: usize = 400;

/// Folder, below the server's data, of strategies that solver runs found.
pub const STRATEGIES: &str = "strategies";

/// Folder, below the server's data, of networks that training runs learned.
pub const TRAININGS: &str = "trainings";

/// A run.
pub struct Job {
    /// Name.
    pub id: String,
    kind: &'static str,
    game: String,
    options: Map<String, Value>,
    stop: StopFlag,
    now: Mutex<JobNow>,
    /// Counts changes.
    changes: watch::Sender<u64>,
}

/// How far a run is.
#[derive(Clone, Debug, Default)]
struct JobNow {
    state: JobState,
    note: String,
    curves: BTreeMap<String, Vec<Point>>,
    main_curve: String,
    player: Option<String>,
    result: Option<Value>,
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It goes on.
    #[default]
    Running,
    /// It has ended.
    Done,
    /// It was stopped; the result is what was found until then.
    Stopped,
    /// It failed.
    Failed,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    /// Iterations or games.
    pub x: f64,
    /// The value.
    pub y: f64,
}

/// A run as JSON.
#[derive(Debug, Serialize)]
pub struct JobJson {
    id: String,
    kind: &'static str,
    game: String,
    options: Map<String, Value>,
    state: JobState,
    note: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Vec<Point>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curves: Option<BTreeMap<String, Vec<Point>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
}

impl Jobs {
    /// No runs yet. The flag ends all of them.
    pub fn new(options: &ServeOptions, stop: StopFlag) -> Jobs {
        Jobs {
            jobs: Mutex::default(),
            most: options.limits.jobs,
            time: options.limits.job_time,
            data: options.data.clone(),
            stop,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All runs, the newest first.
    pub fn list(&self) -> Vec<JobJson> {
        self.lock().iter().rev().map(|job| job.json(false)).collect()
    }

    /// A run.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn find(&self, id: &str) -> Result<Arc<Job>, ApiError> {
        let found = self.lock().iter().find(|job| job.id == id).cloned();
        found.ok_or_else(|| ApiError::new(404, "no-job", "there is no such run", "GET /api/jobs lists them"))
    }

    /// Starts a run. The game is opened on the caller's thread.
    ///
    /// # Errors
    /// If the request is wrong, or there are too many runs.
    pub fn start(&self, request: &NewJob, shelf: &GameShelf) -> Result<JobJson, ApiError> {
        let work = match request.kind.as_str() {
            "solve" => Work::Solve(solving::options(request)?),
            "train" => Work::Train(training::options(request, self.folder(TRAININGS)?)?),
            _ => {
                return Err(ApiError::bad(
                    "request",
                    "kind is solve or train",
                    "docs/table.md has an example",
                ));
            }
        };
        let source = request.source()?;
        let game = shelf.open(&source)?;
        let id = token::id().ok_or_else(ApiError::internal)?;
        let (started, seconds) = (Instant::now(), self.time.as_secs_f64());
        let stop = StopFlag::by(move || started.elapsed().as_secs_f64() / seconds).under(&self.stop);
        let job = Arc::new(Job {
            id: id.clone(),
            kind: work.kind(),
            game: game.game.name().to_owned(),
            options: request.shown(),
            stop,
            now: Mutex::default(),
            changes: watch::Sender::new(0),
        });
        self.enter(job.clone())?;
        let folder = self.folder(STRATEGIES).ok();
        let (there, thread) = (job.clone(), std::thread::Builder::new().name("job".to_owned()));
        let started = thread.spawn(move || {
            let work = std::panic::AssertUnwindSafe(|| match work {
                Work::Solve(options) => solving::run(&there, &game.game, options, folder.as_deref()),
                Work::Train(options) => training::run(&there, &game.game, options),
            });
            let ended = std::panic::catch_unwind(work).unwrap_or_else(|_| Err(surmise::Error::Crashed));
            there.end(ended);
        });
        if started.is_err() {
            job.end(Err(surmise::Error::Crashed));
        }
        Ok(job.json(true))
    }

    fn enter(&self, job: Arc<Job>) -> Result<(), ApiError> {
        let mut jobs = self.lock();
        if jobs.iter().filter(|job| job.is_running()).count() >= self.most {
            return Err(ApiError::busy(format!("{} runs go on already", self.most)));
        }
        if jobs.len() >= REMEMBERED
            && let Some(oldest) = jobs.iter().position(|job| !job.is_running())
        {
            jobs.remove(oldest);
        }
        jobs.push(job);
        Ok(())
    }

    /// A folder of the server's data.
    fn folder(&self, name: &str) -> Result<PathBuf, ApiError> {
        let help = "start the server with --data DIR";
        let none = || ApiError::conflict("no-data", "the server keeps nothing on disk", help);
        let folder = self.data.as_deref().ok_or_else(none)?.join(name);
        std::fs::create_dir_all(&folder).map_err(|_| none())?;
        Ok(folder)
    }
}

enum Work {
    Solve(surmise::SolveOptions),
    Train((PathBuf, surmise::TrainOptions)),
}

impl Work {
    fn kind(&self) -> &'static str {
        match self {
            Work::Solve(_) => "solve",
            Work::Train(_) => "train",
        }
    }
}

impl Job {
    fn lock(&self) -> MutexGuard<'_, JobNow> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the run goes on.
    pub fn is_running(&self) -> bool {
        self.lock().state == JobState::Running
    }

    /// Stops the run; what was found is kept.
    pub fn stop(&self) {
        self.stop.raise();
    }

    /// Changes of the run, as a count.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn change(&self, change: impl FnOnce(&mut JobNow)) {
        change(&mut self.lock());
        self.changes.send_modify(|count| *count += 1);
    }

    /// Says how far the run is.
    fn note(&self, note: String) {
        self.change(|now| now.note = note);
    }

    /// Adds a point to a curve. The first curve is the main one.
    fn point(&self, curve: &str, x: f64, y: f64) {
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        self.change(|now| {
            if now.main_curve.is_empty() {
                now.main_curve = curve.to_owned();
            }
            let points = now.curves.entry(curve.to_owned()).or_default();
            points.push(Point { x, y });
            if points.len() > POINTS {
                // Every second point is dropped, the last one kept.
                let last = points.len() - 1;
                let mut at = 0;
                points.retain(|_| {
                    at += 1;
                    (at - 1) % 2 == 0 || at - 1 == last
                });
            }
        });
    }

    fn end(&self, ended: Result<Value, surmise::Error>) {
        let stopped = self.stop.is_raised();
        self.change(|now| match ended {
            Ok(result) => {
                now.state = if stopped { JobState::Stopped } else { JobState::Done };
                now.result = Some(result);
            }
            Err(error) => {
                now.state = if stopped { JobState::Stopped } else { JobState::Failed };
                now.note = error.to_string();
            }
        });
        tracing::info!(job = %self.id, game = %self.game, "a run has ended");
    }

    /// The run as JSON, with its curves and its result or without.
    pub fn json(&self, whole: bool) -> JobJson {
        let now = self.lock().clone();
        let main = now.curves.get(&now.main_curve).cloned().unwrap_or_default();
        JobJson {
            id: self.id.clone(),
            kind: self.kind,
            game: self.game.clone(),
            options: self.options.clone(),
            state: now.state,
            note: now.note,
            player: now.player,
            curve: whole.then_some(main),
            curves: (whole && self.kind == "train").then_some(now.curves),
            result: now.result.filter(|_| whole),
        }
    }
}

/// The name of a file or folder in its folder.
fn name_of(path: &Path) -> Value {
    json!(path.file_name().map(|name| name.to_string_lossy().into_owned()))
}
