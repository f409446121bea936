//! Beliefs as arrays.

use crate::game::PyGame;
use crate::own_player::told;
use crate::waiting::wait;
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::collections::BTreeMap;
use surmise::belief::Options;
use surmise::game::StopFlag;
use surmise::{BeliefOptions, Error, NamedBelief, Showing};

/// What a role can believe, as a dict of arrays and lists.
#[pyfunction]
#[pyo3(signature = (game, role, view, sampler, models, seed))]
pub fn belief<'py>(
    game: &PyGame,
    py: Python<'py>,
    role: &str,
    view: Vec<(String, Vec<String>)>,
    sampler: Option<&str>,
    models: Option<usize>,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let (told, stop) = (told(view), StopFlag::default());
    let mut options = BeliefOptions {
        seed,
        stop: stop.clone(),
        ..BeliefOptions::default()
    };
    if let Some(sampler) = sampler {
        let wrong = |error: &dyn std::fmt::Display| pyo3::exceptions::PyValueError::new_err(error.to_string());
        options.sampler = sampler.parse().map_err(|error| wrong(&error))?;
    }
    options.options = Options {
        models: models.unwrap_or(options.options.models),
        ..options.options
    };
    let (belief, legal) = wait(py, &stop, || {
        let mut tracker = game.shared.game.follow(role, &options)?;
        tracker.update(&told)?;
        Ok((tracker.report(), tracker.legal()?))
    })?;
    let dict = arrays(py, &belief)?;
    dict.set_item("legal", legal)?;
    Ok(dict)
}

/// The picture of what a role knows, as SVG.
#[pyfunction]
#[pyo3(signature = (game, role, view, believed, seed))]
pub fn seat_svg(
    game: &PyGame,
    py: Python<'_>,
    role: &str,
    view: Vec<(String, Vec<String>)>,
    believed: bool,
    seed: u64,
) -> PyResult<String> {
    let (told, stop) = (told(view), StopFlag::default());
    let options = BeliefOptions {
        seed,
        stop: stop.clone(),
        ..BeliefOptions::default()
    };
    let showing = if believed { Showing::Belief } else { Showing::Certain };
    wait(py, &stop, || {
        let layout = game.shared.layout(&stop)?;
        let picture = game.shared.game.seat_picture(layout, role, &told, showing, &options)?;
        Ok::<_, Error>(surmise::draw::svg(&picture, &surmise::draw::SvgOptions::default()))
    })
}
fn arrays<'py>(py: Python<'py>, belief: &NamedBelief) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let names: Vec<&String> = belief.fluents.keys().collect();
    let column: BTreeMap<&String, usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let mut holds = Array2::from_elem((belief.states.len(), names.len()), false);
    for (row, (fluents, _)) in belief.states.iter().enumerate() {
        fluents.iter().for_each(|fluent| holds[(row, column[fluent])] = true);
    }
    let marginals: Vec<f64> = belief.fluents.values().copied().collect();
    let weights: Vec<f64> = belief.states.iter().map(|(_, p)| *p).collect();
    dict.set_item("fluents", names)?;
    dict.set_item("marginals", PyArray1::from_vec(py, marginals))?;
    dict.set_item("weights", PyArray1::from_vec(py, weights))?;
    dict.set_item("holds", PyArray2::from_owned_array(py, holds))?;
    let histories = belief.histories.iter().map(|(history, p)| {
        let rounds = history.iter().map(|joint| PyTuple::new(py, joint));
        Ok((rounds.collect::<PyResult<Vec<_>>>()?, *p))
    });
    dict.set_item("histories", histories.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("exact", belief.report.exact)?;
    Ok(dict)
}
