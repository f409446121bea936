//! Experiments with players written in Python.

use crate::errors::SurmiseError;
use crate::own_player::{Raised, python_entrant};
use crate::waiting::wait;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use surmise::lab::{self, Size, presets};
use surmise::{ExperimentOptions, LabPlayer, OwnLabGames, run_experiment};

/// A player of one's own: its name in the spec, what makes it, and the files it is written in.
type Own<'py> = (String, Bound<'py, PyAny>, Vec<PathBuf>);

/// Time between two calls of `progress`.
const TELL_MS: u64 = 50;

/// Plays an experiment and writes its report; returns the folder, whether no match is missing, and the report as JSON.
/// `text` is the spec; without it `spec` is the name of a preset.
#[pyfunction]
#[pyo3(signature = (spec, text, players, size, set, out, threads, progress))]
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments have names and defaults in surmise/_lab.py"
)]
pub fn lab_run(
    py: Python<'_>,
    spec: String,
    text: Option<String>,
    players: Vec<Own<'_>>,
    size: Option<&str>,
    set: Vec<(String, String)>,
    out: Option<PathBuf>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(PathBuf, bool, String)> {
    let size = size.map(Size::parse).transpose().map_err(lab_exception)?;
    let (text, size) = match text {
        Some(text) => (text, size.unwrap_or(Size::Plain)),
        None => {
            let preset = presets::find(&spec).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "there is no file and no preset `{spec}`; `surmise lab list` names them"
                ))
            })?;
            (preset.text.to_owned(), size.unwrap_or(Size::Quick))
        }
    };
    let raised = Raised::default();
    let mut source = OwnLabGames::default();
    for (name, player, files) in &players {
        let entrant = Arc::new(python_entrant(player, &raised)?);
        let added = source.add(
            name,
            LabPlayer {
                entrant,
                files: files.clone(),
            },
        );
        added.map_err(crate::errors::exception)?;
    }
    let begun = Instant::now();
    // The time from which on progress is told again.
    let next = AtomicU64::new(0);
    let tell = |done: u64, all: u64| {
        let now = begun.elapsed().as_millis() as u64;
        let Some(progress) = &progress else {
            return;
        };
        if done < all && now < next.load(Ordering::Relaxed) {
            return;
        }
        next.store(now + TELL_MS, Ordering::Relaxed);
        Python::attach(|py| {
            if let Err(error) = progress.call1(py, ("matches", done)) {
                raised.keep(error);
            }
        });
    };
    let options = ExperimentOptions {
        command: format!("surmise.lab({spec:?})"),
        origin: spec,
        text,
        size,
        set,
        out,
        threads,
        stop: raised.stop.clone(),
        progress: &tell,
    };
    let done = wait(py, &raised.stop, || Ok(run_experiment(&source, &options)));
    if let Some(error) = raised.take() {
        return Err(error);
    }
    let report = done?.map_err(lab_exception)?;
    let path = report.folder.file("report.json");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| PyOSError::new_err(format!("cannot read `{}`: {error}", path.display())))?;
    Ok((report.folder.path, report.run.complete, text))
}

/// An error of the lab: of the spec, of a file, or of a game.
fn lab_exception(error: lab::Error) -> PyErr {
    let text = lab::error::full(&error);
    match error {
        lab::Error::Spec { .. } | lab::Error::Cell { .. } | lab::Error::UnknownSize(_) => PyValueError::new_err(text),
        lab::Error::Io { .. } => PyOSError::new_err(text),
        _ => SurmiseError::new_err(text),
    }
}
