//! Matches and explanations.

use crate::game::PyGame;
use crate::own_player::{Raised, entrant};
use crate::waiting::wait;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use surmise::game::{Decision, StopFlag};
use surmise::referee::{Clock, Record};
use surmise::{Entrant, ExplainOptions, Explanation, MatchOptions};

/// Plays matches; returns the records as JSON texts, in order. `progress` is called with the number of matches done.
#[pyfunction]
#[pyo3(signature = (game, players, games, seed, swap, threads, seconds, max_rounds, record, progress))]
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments have names and defaults in surmise/__init__.py"
)]
pub fn play(
    game: &PyGame,
    py: Python<'_>,
    players: Vec<Bound<'_, PyAny>>,
    games: u64,
    seed: u64,
    swap: bool,
    threads: usize,
    seconds: Option<f64>,
    max_rounds: Option<usize>,
    record: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let raised = Raised::default();
    let entrants = players.iter().map(|player| entrant(player, &raised));
    let entrants: Vec<Box<dyn Entrant>> = entrants.collect::<PyResult<_>>()?;
    let options = MatchOptions {
        games,
        seed,
        swap,
        threads,
        clock: clock(seconds)?,
        max_rounds: max_rounds.unwrap_or(surmise::game::limits::MATCH_ROUNDS),
        record,
        stop: raised.stop.clone(),
        ..MatchOptions::default()
    };
    let results = wait(py, &raised.stop, || {
        let entrants: Vec<&dyn Entrant> = entrants.iter().map(|player| player.as_ref()).collect();
        let (done, results) = (AtomicU64::new(0), std::sync::Mutex::new(Vec::new()));
        game.shared.game.play_each(&entrants, &options, &|result| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            let mut results = results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            results.push((result.number, result.outcome.record.to_json().to_string()));
            if let Some(progress) = &progress {
                tell(progress, done, &options.stop);
            }
        })?;
        let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        results.sort();
        Ok(results.into_iter().map(|(_, record)| record).collect())
    });
    match raised.take() {
        Some(error) => Err(error),
        None => results,
    }
}

/// Why a player decides as it does in a round of a record.
#[pyfunction]
#[pyo3(signature = (game, record, round, role, player, top, ahead))]
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments have names and defaults in surmise/__init__.py"
)]
pub fn explain<'py>(
    game: &PyGame,
    py: Python<'py>,
    record: &str,
    round: Option<usize>,
    role: Option<String>,
    player: Option<String>,
    top: usize,
    ahead: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(format!("this is no record: {error}"));
    let value: serde_json::Value = serde_json::from_str(record).map_err(|error| wrong(&error))?;
    let record = Record::from_json(&value).map_err(|error| wrong(&error))?;
    let stop = StopFlag::default();
    let options = ExplainOptions {
        round,
        role,
        player,
        others: None,
        top,
        ahead,
        stop: stop.clone(),
    };
    let found = wait(py, &stop, || game.shared.game.explain(&record, &options))?;
    explanation(py, &found)
}

/// The moves of a role that may be legal, given what it was told.
#[pyfunction]
pub fn known_legal(
    game: &PyGame,
    py: Python<'_>,
    role: &str,
    view: Vec<(String, Vec<String>)>,
) -> PyResult<Vec<String>> {
    let stop = StopFlag::default();
    let told = crate::own_player::told(view);
    let options = surmise::BeliefOptions {
        stop: stop.clone(),
        ..surmise::BeliefOptions::default()
    };
    wait(py, &stop, || game.shared.game.known_legal(role, &told, &options))
}
fn clock(seconds: Option<f64>) -> PyResult<Clock> {
    let Some(seconds) = seconds else {
        return Ok(Clock::None);
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if seconds > 0.0 => Ok(Clock::PerMove {
            time,
            grace: Duration::ZERO,
        }),
        _ => Err(PyValueError::new_err(
            "the time for a move is a positive number of seconds",
        )),
    }
}

/// Tells a Python function how far the work is. An exception ends the work.
fn tell(progress: &Py<PyAny>, done: u64, stop: &StopFlag) {
    Python::attach(|py| {
        if let Err(error) = progress.call1(py, (done,)) {
            error.write_unraisable(py, None);
            stop.raise();
        }
    });
}

fn explanation<'py>(py: Python<'py>, found: &Explanation) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("role", &found.roles[found.role])?;
    dict.set_item("round", found.round)?;
    dict.set_item("player", &found.player)?;
    add_decision(&dict, &found.decision)?;
    let likely = PyList::empty(py);
    for state in &found.likely {
        let entry = PyDict::new(py);
        entry.set_item("p", state.p)?;
        entry.set_item("state", &state.fluents)?;
        entry.set_item("line", &state.line.rounds)?;
        likely.append(entry)?;
    }
    dict.set_item("likely", likely)?;
    let uncertain = PyDict::new(py);
    for (fluent, p) in &found.uncertain {
        uncertain.set_item(fluent, p)?;
    }
    dict.set_item("uncertain", uncertain)?;
    Ok(dict)
}

fn add_decision(dict: &Bound<'_, PyDict>, decision: &Decision) -> PyResult<()> {
    let py = dict.py();
    dict.set_item("move", &decision.mv)?;
    dict.set_item("belief", &decision.belief)?;
    let candidates = PyList::empty(py);
    for candidate in &decision.candidates {
        let entry = PyDict::new(py);
        entry.set_item("move", &candidate.mv)?;
        entry.set_item("mean", candidate.mean)?;
        entry.set_item("stderr", candidate.stderr)?;
        entry.set_item("visits", candidate.visits)?;
        candidates.append(entry)?;
    }
    dict.set_item("candidates", candidates)?;
    let policy = PyDict::new(py);
    for (mv, p) in &decision.policy {
        policy.set_item(mv, p)?;
    }
    dict.set_item("policy", policy)
}
