//! Slow work on a thread of its own: checks of what can hold, grounding and random games.
//!
//! The checks begin at once. Grounding and play wait until a document has been left alone for a moment. A newer version
//! of the document replaces its jobs, and stops the one that runs already.

use crate::facts::{self, Extents, Name, Played};
use crossbeam_channel::Sender;
use game::StopFlag;
use gdl::{Diagnostic, Options, Rules};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What to find out about a version of a document.
pub struct Job {
    /// The name of the document.
    pub uri: String,
    /// The version.
    pub version: i32,
    /// What to do.
    pub task: Task,
    /// Time for each part of the work.
    pub limit: Duration,
    /// How long the document must be left alone first.
    pub delay: Duration,
}

/// A kind of work.
pub enum Task {
    /// Checks of what can hold.
    Lint {
        /// The text.
        text: String,
        /// How to read it.
        options: Options,
    },
    /// Grounding and random games.
    Play(PlayTask),
}

/// Grounding and random games.
pub struct PlayTask {
    /// The rules.
    pub rules: Rules,
    /// The relations of the text.
    pub relations: Vec<Name>,
    /// How the text was read.
    pub options: Options,
    /// Random games to play.
    pub games: u32,
}

impl Task {
    /// Tasks of a document, in the order in which they are due.
    fn rank(&self) -> u8 {
        match self {
            Task::Lint { .. } => 0,
            Task::Play(_) => 1,
        }
    }
}

/// A result.
pub struct Found {
    /// The name of the document.
    pub uri: String,
    /// The version that it is about.
    pub version: i32,
    /// What was found.
    pub what: What,
}

/// A part of the results.
pub enum What {
    /// Findings about what can hold.
    Lints(Vec<Diagnostic>),
    /// What can hold.
    Extents(Extents),
    /// What play has shown.
    Played(Played),
}

/// The thread and its jobs.
pub struct Background {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The waiting jobs of each document, and when they are due.
    jobs: BTreeMap<(String, u8), (Instant, Job)>,
    /// The document that is worked on, and what stops the work.
    running: Option<(String, StopFlag)>,
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Background {
    /// Starts the thread. Results go to `results`.
    pub fn start(results: Sender<Found>) -> std::io::Result<Background> {
        let shared = Arc::new(Shared::default());
        let worker = shared.clone();
        let thread = thread::Builder::new()
            .name("lsp-background".to_owned())
            .spawn(move || work(&worker, &results))?;
        Ok(Background {
            shared,
            thread: Some(thread),
        })
    }

    /// Adds a job of a document. Cancel older ones before.
    pub fn submit(&self, job: Job) {
        let due = Instant::now() + job.delay;
        let key = (job.uri.clone(), job.task.rank());
        self.shared.lock().jobs.insert(key, (due, job));
        self.shared.changed.notify_all();
    }

    /// Drops the jobs of a document, also while one runs.
    pub fn cancel(&self, uri: &str) {
        let mut state = self.shared.lock();
        state.jobs.retain(|(of, _), _| of != uri);
        if let Some((running, stop)) = &state.running
            && running == uri
        {
            stop.raise();
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.jobs.clear();
        if let Some((_, stop)) = &state.running {
            stop.raise();
        }
        drop(state);
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(shared: &Shared, results: &Sender<Found>) {
    while let Some((job, stop)) = next(shared) {
        let part = |what| {
            let found = Found {
                uri: job.uri.clone(),
                version: job.version,
                what,
            };
            let _ = results.send(found);
        };
        // A mistake of ours must not end the server; the document just has no such facts.
        let _ = catch_unwind(AssertUnwindSafe(|| match &job.task {
            Task::Lint { text, options } => {
                let lints = gdl::lint(&gdl::read(text, options));
                if !stop.is_raised() {
                    part(What::Lints(lints));
                }
            }
            Task::Play(task) => play(task, job.limit, &stop, &part),
        }));
        shared.lock().running = None;
    }
}

fn play(task: &PlayTask, limit: Duration, stop: &StopFlag, part: &dyn Fn(What)) {
    let extents = facts::extents(&task.rules, &task.relations, &timed(stop, limit));
    if stop.is_raised() {
        return;
    }
    part(What::Extents(extents));
    if task.games > 0 {
        let played = facts::play(&task.rules, task.games, task.options.mode, &timed(stop, limit));
        if !stop.is_raised() {
            part(What::Played(played));
        }
    }
}

/// A flag that is raised after a time, or with another one.
pub fn timed(stop: &StopFlag, limit: Duration) -> StopFlag {
    let started = Instant::now();
    let limit = limit.as_secs_f64().max(1e-6);
    StopFlag::by(move || started.elapsed().as_secs_f64() / limit).under(stop)
}

/// Waits for the first job that is due.
fn next(shared: &Shared) -> Option<(Job, StopFlag)> {
    let mut state = shared.lock();
    loop {
        if state.closed {
            return None;
        }
        let now = Instant::now();
        let first = state.jobs.iter().min_by_key(|(_, (due, _))| *due);
        match first.map(|(key, (due, _))| (key.clone(), *due)) {
            Some((key, due)) if due <= now => {
                let (_, job) = state.jobs.remove(&key).expect("just seen");
                let stop = StopFlag::default();
                state.running = Some((key.0, stop.clone()));
                return Some((job, stop));
            }
            Some((_, due)) => {
                let wait = shared.changed.wait_timeout(state, due - now);
                state = wait.unwrap_or_else(PoisonError::into_inner).0;
            }
            None => state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::unbounded;

    const LAMP: &str = "(role me) (init (lamp off)) (<= (legal me press) (true (lamp off)))
        (<= (next (lamp on)) (does me press)) (<= terminal (true (lamp on))) (<= (goal me 100) terminal)";
    /// Never ends by itself within any patience.
    const ENDLESS: &str = "(role me) (init (n 0)) (legal me go) (<= (next (n (s ?x))) (true (n ?x)))
        (<= (slow ?a ?b ?c ?d ?e ?f ?g) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f) (d ?g))
        (d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9)
        (<= terminal (slow ?a ?b ?c ?d ?e ?f ?g) (true (n ?a))) (goal me 1)";

    fn job(text: &str, version: i32, delay: u64) -> Job {
        Job {
            uri: "file:///x".to_owned(),
            version,
            task: Task::Play(PlayTask {
                rules: gdl::read(text, &gdl::Options::default()).rules,
                relations: Vec::new(),
                options: gdl::Options::default(),
                games: 5,
            }),
            limit: Duration::from_secs(600),
            delay: Duration::from_millis(delay),
        }
    }

    #[test]
    fn a_newer_version_stops_the_older_one() {
        let (sender, receiver) = unbounded();
        let background = Background::start(sender).unwrap();
        background.submit(job(ENDLESS, 1, 0));
        background.cancel("file:///x");
        background.submit(job(LAMP, 2, 0));
        let versions: Vec<i32> = (0..2).map(|_| receiver.recv().unwrap().version).collect();
        assert_eq!(versions, [2, 2]);
        // Ending does not wait for the work either.
        background.submit(job(ENDLESS, 3, 0));
        drop(background);
        assert!(receiver.try_iter().all(|found| found.version == 3));
    }

    #[test]
    fn a_job_waits_for_its_delay_and_may_be_dropped() {
        let (sender, receiver) = unbounded();
        let background = Background::start(sender).unwrap();
        background.submit(job(LAMP, 1, 3_600_000));
        background.cancel("file:///x");
        background.submit(job(LAMP, 2, 1));
        assert_eq!(receiver.recv().unwrap().version, 2);
    }
}
