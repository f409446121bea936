//! Solving, rating and learning.

use crate::errors::exception;
use crate::game::PyGame;
use crate::waiting::wait;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::Duration;
use surmise::game::StopFlag;
use surmise::{Error, SolveOptions, SolveProgress, Strategy, TrainOptions, TrainProgress};

fn seconds(value: Option<f64>) -> PyResult<Option<Duration>> {
    let wrong = || PyValueError::new_err("seconds are a positive number");
    let time = |s: f64| Duration::try_from_secs_f64(s).ok().filter(|time| !time.is_zero());
    value.map(|s| time(s).ok_or_else(wrong)).transpose()
}

/// Tells Python how far the work is: a word and a number. An exception there ends the work.
struct Teller<'a> {
    progress: Option<&'a Py<PyAny>>,
    stop: &'a StopFlag,
}

impl Teller<'_> {
    fn tell(&self, what: &str, number: f64) {
        let Some(progress) = self.progress else {
            return;
        };
        Python::attach(|py| {
            if let Err(error) = progress.call1(py, (what, number)) {
                error.write_unraisable(py, None);
                self.stop.raise();
            }
        });
    }

    fn solving(&self, progress: &SolveProgress<'_>) {
        match progress {
            SolveProgress::Histories(histories) => self.tell("histories", *histories as f64),
            SolveProgress::Program(steps, _) => self.tell("steps", f64::from(*steps)),
            SolveProgress::Iterations(iterations, _) => self.tell("iterations", *iterations as f64),
            SolveProgress::Asked(asked, _) => self.tell("asked", *asked as f64),
            SolveProgress::Commitment(solved, _) => self.tell("programs", *solved as f64),
            SolveProgress::Responded(found, _) => self.tell("responses", *found as f64),
            SolveProgress::Fallback(_) => self.tell("fallback", 0.0),
        }
    }
}

/// Solves the game, or rates a strategy or player if `rate` names one or `strategy` is one; JSON as
/// `surmise solve --save` writes it.
#[pyfunction]
#[pyo3(signature = (game, algorithm, iterations, time, until, histories, seed, threads, rate, strategy, progress))]
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments have names and defaults in surmise/__init__.py"
)]
pub fn solve(
    game: &PyGame,
    py: Python<'_>,
    algorithm: &str,
    iterations: Option<u64>,
    time: Option<f64>,
    until: Option<f64>,
    histories: Option<u64>,
    seed: u64,
    threads: usize,
    rate: Option<&str>,
    strategy: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let stop = StopFlag::default();
    let defaults = SolveOptions::default();
    let options = SolveOptions {
        method: algorithm.parse().map_err(exception)?,
        iterations,
        time: seconds(time)?,
        until,
        histories: histories.unwrap_or(defaults.histories),
        seed,
        threads: threads.clamp(1, 256),
        stop: stop.clone(),
        ..defaults
    };
    options.check().map_err(exception)?;
    let strategy = strategy.map(|text| {
        let value = serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Strategy::from_value("the policy", &value).map_err(exception)
    });
    let strategy = strategy.transpose()?;
    wait(py, &stop, || {
        let teller = Teller {
            progress: progress.as_ref(),
            stop: &options.stop,
        };
        let mut tell = |progress: SolveProgress<'_>| teller.solving(&progress);
        let tree = game.shared.game.tree(&options, &mut tell)?;
        let solution = match (&strategy, rate) {
            (Some(strategy), _) => tree.rate_strategy(strategy, &options)?,
            (None, Some(what)) => tree.rate(what, &options, &mut tell)?,
            (None, None) => tree.solve(&options, &mut tell)?,
        };
        Ok(solution.to_json())
    })
}

/// The game as an extensive form file.
#[pyfunction]
#[pyo3(signature = (game, histories))]
pub fn efg(game: &PyGame, py: Python<'_>, histories: Option<u64>) -> PyResult<String> {
    let stop = StopFlag::default();
    let defaults = SolveOptions::default();
    let options = SolveOptions {
        histories: histories.unwrap_or(defaults.histories),
        stop: stop.clone(),
        ..defaults
    };
    wait(py, &stop, || {
        let tree = game.shared.game.tree(&options, &mut |_| {})?;
        let mut text = Vec::new();
        tree.write_efg(&mut text).map_err(|source| Error::Io {
            doing: "cannot write",
            path: PathBuf::from("the extensive form"),
            source,
        })?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    })
}

/// Learns the game by self-play into a folder.
#[pyfunction]
#[pyo3(signature = (game, out, time, games, resume, seed, threads, trials, progress))]
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments have names and defaults in surmise/__init__.py"
)]
pub fn train(
    game: &PyGame,
    py: Python<'_>,
    out: PathBuf,
    time: Option<f64>,
    games: Option<u64>,
    resume: bool,
    seed: Option<u64>,
    threads: usize,
    trials: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let stop = StopFlag::default();
    let options = TrainOptions {
        time: seconds(time)?,
        games,
        resume,
        seed,
        threads: threads.clamp(1, 256),
        trials,
        stop: stop.clone(),
        ..TrainOptions::default()
    };
    options.check().map_err(exception)?;
    wait(py, &stop, || {
        let teller = Teller {
            progress: progress.as_ref(),
            stop: &options.stop,
        };
        game.shared.game.train(&out, &options, &mut |progress| match progress {
            TrainProgress::Begun(training) | TrainProgress::Generation(training) => {
                teller.tell("games", training.trainer.games as f64);
            }
            TrainProgress::Checkpoint(training, _) => teller.tell("checkpoint", training.trainer.games as f64),
        })?;
        Ok(())
    })
}
