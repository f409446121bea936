//! Games and states.

use crate::errors::{IllegalMoveError, SurmiseError, diagnostics, exception, guarded, rules_error};
use crate::waiting::wait;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use surmise::draw::Layout;
use surmise::game::{Fault, MoveId, RoleId, Simulator, State, StopFlag};
use surmise::gdl::Information;
use surmise::{EngineOptions, Error, Game, GameText, catalogue};

/// A game, shared by everything that was made from it.
pub struct Shared {
    /// The game.
    pub game: Game,
    sim: Mutex<Box<dyn Simulator>>,
    layout: OnceLock<Layout>,
}

impl Shared {
    /// The simulator that names moves and states of this game in Python.
    pub fn sim(&self) -> MutexGuard<'_, Box<dyn Simulator>> {
        self.sim.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The layout of pictures, made when it is first asked for.
    pub fn layout(&self, stop: &StopFlag) -> Result<&Layout, Error> {
        if let Some(layout) = self.layout.get() {
            return Ok(layout);
        }
        let layout = self.game.layout(stop)?;
        Ok(self.layout.get_or_init(|| layout))
    }
}

/// A game that can be played, believed about, solved and learned.
#[pyclass(name = "Game", module = "surmise._surmise", subclass, frozen)]
pub struct PyGame {
    /// The game.
    pub shared: Arc<Shared>,
}

#[pymethods]
impl PyGame {
    #[new]
    #[pyo3(signature = (name, *, rules = None))]
    fn new(py: Python<'_>, name: &str, rules: Option<&str>) -> PyResult<PyGame> {
        let stop = StopFlag::default();
        let mut options = EngineOptions::default();
        options.limits.stop = stop.clone();
        options.evaluation_stop = stop.clone();
        let text = match rules {
            Some(rules) => GameText::new(name, rules),
            None => GameText::find(name).map_err(exception)?,
        };
        // Mistakes are reported with their places, which only the text has.
        let reading = guarded(|| surmise::gdl::read_bytes(&text.bytes, &surmise::gdl::Options::default()))?;
        if !reading.is_playable() {
            return Err(rules_error(py, name, &reading));
        }
        let game = wait(py, &stop, || Game::new(&text, &options))?;
        let sim = Mutex::new(game.simulator());
        let layout = OnceLock::new();
        Ok(PyGame {
            shared: Arc::new(Shared { game, sim, layout }),
        })
    }

    #[getter]
    fn name(&self) -> &str {
        self.shared.game.name()
    }

    #[getter]
    fn roles(&self) -> Vec<String> {
        self.shared.game.roles().to_vec()
    }

    #[getter]
    fn players(&self) -> Vec<String> {
        let roles = self.shared.game.roles();
        let played = self.shared.game.seating().played();
        played.iter().map(|&at| roles[at].clone()).collect()
    }

    #[getter]
    fn hidden(&self) -> bool {
        self.shared.game.information() == Information::Hidden
    }

    #[getter]
    fn rules(&self) -> String {
        self.shared.game.title().rules
    }

    #[getter]
    fn engine(&self) -> String {
        let engine = self.shared.game.engine();
        format!("{:?} ({})", engine.kind, engine.why).to_lowercase()
    }

    /// Every move that a role can ever have, in canonical order.
    fn moves(&self, role: &str) -> PyResult<Vec<String>> {
        let role = self.shared.game.role(role).map_err(exception)?;
        let compiled = self.compiled()?;
        let sim = self.shared.sim();
        let ids = (0..compiled.n_moves(role) as u32).map(MoveId);
        Ok(ids.map(|mv| sim.move_text(role, mv).to_owned()).collect())
    }

    /// Every percept that a role can ever have, in canonical order.
    fn percepts(&self, role: &str) -> PyResult<Vec<String>> {
        let role = self.shared.game.role(role).map_err(exception)?;
        let compiled = self.compiled()?;
        let sim = self.shared.sim();
        let ids = (0..compiled.n_percepts(role) as u32).map(surmise::game::PerceptId);
        Ok(ids.map(|percept| sim.percept_text(role, percept).to_owned()).collect())
    }

    fn initial(&self) -> PyResult<PyState> {
        let state = guarded(|| self.shared.sim().initial())?;
        self.state_of(state.map_err(failed)?)
    }

    /// The state in which exactly these fluents hold.
    fn state(&self, fluents: Vec<String>) -> PyResult<PyState> {
        let state = guarded(|| self.shared.sim().state_of(&fluents))?;
        let state = state.ok_or_else(|| PyValueError::new_err("no state of this game has such fluents"))?;
        self.state_of(state)
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let make = py.import("surmise")?.getattr("_unpickle_game")?;
        let title = self.shared.game.title();
        Ok((make, (title.game, title.rules)))
    }
}

impl PyGame {
    fn state_of(&self, state: State) -> PyResult<PyState> {
        Ok(PyState {
            shared: Arc::clone(&self.shared),
            state,
        })
    }

    fn compiled(&self) -> PyResult<&surmise::propnet::Compiled> {
        let engine = self.shared.game.engine();
        engine.compiled().ok_or_else(|| {
            let why = engine.why.clone();
            exception(Error::NotCompiled { why })
        })
    }
}

/// A state of a game: everything that holds, as nobody at the table but the referee may know it.
#[pyclass(name = "State", module = "surmise._surmise", frozen)]
pub struct PyState {
    shared: Arc<Shared>,
    state: State,
}

#[pymethods]
impl PyState {
    #[getter]
    fn fluents(&self) -> Vec<String> {
        self.shared.sim().fluents(&self.state)
    }

    #[getter]
    fn terminal(&self) -> PyResult<bool> {
        let over = guarded(|| self.shared.sim().terminal(&self.state))?;
        over.map_err(failed)
    }

    /// The legal moves of a role.
    fn legal(&self, role: &str) -> PyResult<Vec<String>> {
        let role = self.shared.game.role(role).map_err(exception)?;
        let mut sim = self.shared.sim();
        let moves = guarded(|| legal(sim.as_mut(), &self.state, role))?.map_err(failed)?;
        Ok(moves.iter().map(|&mv| sim.move_text(role, mv).to_owned()).collect())
    }

    /// The state after a move of every role: a dict from role to move, or a list in the order of the roles.
    fn next(&self, moves: &Bound<'_, PyAny>) -> PyResult<PyState> {
        let joint = self.joint(moves)?;
        let next = guarded(|| self.shared.sim().next(&self.state, &joint))?;
        Ok(PyState {
            shared: Arc::clone(&self.shared),
            state: next.map_err(failed)?,
        })
    }

    /// What every role perceives of the moves.
    fn percepts<'py>(&self, py: Python<'py>, moves: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let joint = self.joint(moves)?;
        let dict = PyDict::new(py);
        let mut sim = self.shared.sim();
        for (at, name) in self.shared.game.roles().iter().enumerate() {
            let role = RoleId(at as u16);
            let mut seen = Vec::new();
            let found = guarded(|| sim.percepts(&self.state, &joint, role, &mut seen))?;
            found.map_err(failed)?;
            let texts: Vec<&str> = seen.iter().map(|&percept| sim.percept_text(role, percept)).collect();
            dict.set_item(name, texts)?;
        }
        Ok(dict)
    }

    /// The payoff of every role, as the rules give it in this state.
    fn goals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let mut sim = self.shared.sim();
        for (at, name) in self.shared.game.roles().iter().enumerate() {
            let goal = guarded(|| sim.goal(&self.state, RoleId(at as u16)))?;
            dict.set_item(name, goal.map_err(failed)?.points())?;
        }
        Ok(dict)
    }

    /// The picture of the whole state, as SVG.
    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        let fluents = self.fluents();
        let stop = StopFlag::default();
        wait(py, &stop, || {
            let layout = self.shared.layout(&stop)?;
            let picture = self.shared.game.full_picture(layout, &fluents);
            Ok(surmise::draw::svg(&picture, &surmise::draw::SvgOptions::default()))
        })
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __eq__(&self, other: &PyState) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) && self.state == other.state
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.state.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("State({})", self.fluents().join(" "))
    }
}

impl PyState {
    /// Moves as numbers; every move must be legal.
    fn joint(&self, moves: &Bound<'_, PyAny>) -> PyResult<Vec<MoveId>> {
        let roles = self.shared.game.roles();
        let texts = texts_of(moves, roles)?;
        let mut sim = self.shared.sim();
        let mut joint = Vec::with_capacity(roles.len());
        for (at, text) in texts.iter().enumerate() {
            let role = RoleId(at as u16);
            let legal = guarded(|| legal(sim.as_mut(), &self.state, role))?.map_err(failed)?;
            let found = legal.iter().find(|&&mv| sim.move_text(role, mv) == text);
            joint.push(*found.ok_or_else(|| illegal(sim.as_ref(), role, text, &legal))?);
        }
        Ok(joint)
    }
}

fn legal(sim: &mut dyn Simulator, state: &State, role: RoleId) -> Result<Vec<MoveId>, Fault> {
    let mut moves = Vec::new();
    sim.legal(state, role, &mut moves)?;
    Ok(moves)
}

fn illegal(sim: &dyn Simulator, role: RoleId, text: &str, legal: &[MoveId]) -> PyErr {
    let name = &sim.roles()[usize::from(role.0)];
    let some: Vec<&str> = legal.iter().take(12).map(|&mv| sim.move_text(role, mv)).collect();
    let more = if legal.len() > 12 { ", …" } else { "" };
    IllegalMoveError::new_err(format!(
        "`{text}` is not legal for {name}; legal: {}{more}",
        some.join(", ")
    ))
}

/// The texts of a joint move, in the order of the roles.
fn texts_of(moves: &Bound<'_, PyAny>, roles: &[String]) -> PyResult<Vec<String>> {
    if let Ok(dict) = moves.cast::<PyDict>() {
        let mut texts = Vec::with_capacity(roles.len());
        for role in roles {
            let text = dict.get_item(role)?;
            let text = text.ok_or_else(|| PyValueError::new_err(format!("there is no move of {role}")))?;
            texts.push(text.extract()?);
        }
        return match dict.len() == roles.len() {
            true => Ok(texts),
            false => Err(PyValueError::new_err(format!(
                "moves are for the roles {}",
                roles.join(", ")
            ))),
        };
    }
    if moves.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "moves are a dict from role to move, or a list in the order of the roles",
        ));
    }
    let texts: Vec<String> = moves.extract()?;
    match texts.len() == roles.len() {
        true => Ok(texts),
        false => Err(PyValueError::new_err(format!(
            "there are {} moves for the {} roles {}",
            texts.len(),
            roles.len(),
            roles.join(", ")
        ))),
    }
}

fn failed(fault: Fault) -> PyErr {
    exception(Error::Fault(fault))
}

/// The games of the catalogue: name, title, description and parameters.
#[pyfunction]
pub fn games(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in catalogue::games() {
        let dict = PyDict::new(py);
        dict.set_item("name", entry.name)?;
        dict.set_item("title", entry.title)?;
        dict.set_item("about", entry.about.join("\n\n"))?;
        let parameters = PyDict::new(py);
        for parameter in &entry.parameters {
            parameters.set_item(parameter.name, (parameter.min, parameter.max, parameter.default))?;
        }
        dict.set_item("parameters", parameters)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// The findings about rules, without opening the game.
#[pyfunction]
#[pyo3(signature = (rules, *, strict = false))]
pub fn check<'py>(py: Python<'py>, rules: &str, strict: bool) -> PyResult<Bound<'py, PyList>> {
    let mut options = surmise::gdl::Options::default();
    if strict {
        options.mode = surmise::gdl::Mode::Strict;
    }
    let reading = guarded(|| surmise::gdl::read(rules, &options))?;
    diagnostics(py, &reading).map_err(|error| SurmiseError::new_err(error.to_string()))
}
