//! Players written in Python.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};
use surmise::belief::{Options, SamplerKind};
use surmise::game::{Budget, Decision, Fault, Meter, Player, RoleId, Seed, StopFlag, Told};
use surmise::referee::Seat;
use surmise::search::Believer;
use surmise::{Entrant, Error, Game};

/// The first exception of a Python player; it ends the matches.
#[derive(Clone, Default)]
pub struct Raised {
    error: Arc<Mutex<Option<PyErr>>>,
    /// Ends the matches.
    pub stop: StopFlag,
}

impl Raised {
    /// Keeps an exception, if it is the first, and ends the matches.
    pub fn keep(&self, error: PyErr) {
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(error);
        self.stop.raise();
    }

    /// The exception, if there was one.
    pub fn take(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A class or a function that makes players of a role, in Python.
pub struct PythonEntrant {
    /// Name in records and tables.
    pub name: String,
    /// Called with role name and seed for every match; returns an object with `choose`.
    pub make: Py<PyAny>,
    /// Where exceptions go.
    pub raised: Raised,
}

impl Entrant for PythonEntrant {
    fn name(&self) -> &str {
        &self.name
    }

    fn seat(&self, game: &Game, role: RoleId, seed: Seed) -> Result<Seat, Error> {
        let name = game.roles()[usize::from(role.0)].clone();
        let made = Python::attach(|py| self.make.call1(py, (name, seed.0)));
        let object = made.map_err(|error| {
            self.raised.keep(error);
            Error::Fault(Fault::Stopped)
        })?;
        let believer = Believer::new(
            game.engine().tools(role, seed),
            SamplerKind::default(),
            &Options::default(),
        )?;
        Ok(Seat::Player(Box::new(PythonPlayer {
            object,
            believer,
            raised: self.raised.clone(),
        })))
    }
}

struct PythonPlayer {
    object: Py<PyAny>,
    believer: Believer,
    raised: Raised,
}

impl PythonPlayer {
    /// The moves that are legal in some state that the role holds possible.
    fn legal(&mut self, told: &[Told], budget: &Budget) -> Result<Vec<String>, Fault> {
        self.believer.update(told, budget)?;
        self.believer.possible_moves()
    }

    fn ask(&self, told: &[Told], legal: &[String]) -> PyResult<Decision> {
        Python::attach(|py| {
            let answer = self.object.call_method1(py, "choose", (view(py, told)?, legal))?;
            Ok(Decision::plain(answer.extract::<String>(py)?))
        })
    }
}

impl Player for PythonPlayer {
    fn choose(&mut self, told: &[Told], budget: &Budget) -> Result<Decision, Fault> {
        let legal = self.legal(told, budget)?;
        self.ask(told, &legal).map_err(|error| {
            self.raised.keep(error);
            Fault::Stopped
        })
    }

    fn meter(&self) -> Meter {
        Meter::default()
    }
}

/// A view as Python has it: a list with the own move and the percepts of every round.
pub fn view<'py>(py: Python<'py>, told: &[Told]) -> PyResult<Bound<'py, PyList>> {
    let round = |told: &Told| Ok((told.own.clone(), PyTuple::new(py, &told.sees)?));
    PyList::new(py, told.iter().map(round).collect::<PyResult<Vec<_>>>()?)
}

/// A view from Python: pairs of own move and percepts.
pub fn told(rounds: Vec<(String, Vec<String>)>) -> Vec<Told> {
    rounds.into_iter().map(|(own, sees)| Told::new(own, sees)).collect()
}

/// A player from Python: a text as on the command line, or something that makes players.
pub fn entrant(player: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<Box<dyn Entrant>> {
    if let Ok(text) = player.extract::<String>() {
        let spec = text
            .parse::<surmise::PlayerSpec>()
            .map_err(|error| crate::errors::exception(error.into()))?;
        return Ok(Box::new(spec));
    }
    Ok(Box::new(python_entrant(player, raised)?))
}

/// Something that makes players.
pub fn python_entrant(player: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<PythonEntrant> {
    let name = player.getattr("name").and_then(|name| name.extract::<String>());
    let named = name.or_else(|_| player.get_type().name().and_then(|name| name.extract()))?;
    let make = player.getattr("_seat")?;
    Ok(PythonEntrant {
        name: named,
        make: make.unbind(),
        raised: raised.clone(),
    })
}
