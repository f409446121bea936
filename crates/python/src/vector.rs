//! Environments whose arrays are written in place.

use crate::errors::{IllegalMoveError, SurmiseError, exception, guarded};
use crate::game::PyGame;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadwriteArray1, PyReadwriteArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use surmise::{EnvironmentOptions, Environments, Observation, Written};

/// Arrays of one seat. Bytes are 0 or 1; a row holds all games.
struct SeatArrays {
    mask: Py<PyArray2<u8>>,
    told: Py<PyArray2<u8>>,
    last: Option<Py<PyArray2<u8>>>,
    current: Py<PyArray1<u8>>,
    reward: Py<PyArray1<f32>>,
}

struct Arrays {
    seats: Vec<SeatArrays>,
    terminated: Py<PyArray1<u8>>,
    truncated: Py<PyArray1<u8>>,
}

/// Games side by side.
#[pyclass(name = "Environments", module = "surmise._surmise", frozen)]
pub struct PyEnvironments {
    games: Mutex<Option<Games>>,
    arrays: Arrays,
    n: usize,
    seats: usize,
}

/// The games, and what their arrays hold.
struct Games {
    games: Environments,
    written: Vec<WrittenSeat>,
}

/// What the arrays of a seat hold.
#[derive(Default)]
struct WrittenSeat {
    mask: Written,
    told: Written,
    last: Written,
}

#[pymethods]
impl PyEnvironments {
    /// `view` is `None` for observations of the last round, or the number of rounds of a view: 0 for as many as are
    /// needed.
    #[new]
    fn new(
        py: Python<'_>,
        game: &PyGame,
        games: usize,
        seed: u64,
        max_rounds: u32,
        last: bool,
        view: Option<usize>,
    ) -> PyResult<Self> {
        let options = EnvironmentOptions {
            games,
            seed,
            max_rounds,
            observation: match view {
                None => Observation::Round,
                Some(0) => Observation::View(None),
                Some(rounds) => Observation::View(Some(rounds)),
            },
        };
        let made = py
            .detach(|| guarded(|| game.shared.game.environments(&options)))?
            .map_err(exception)?;
        let arrays = Arrays::new(py, &made, last);
        let this = PyEnvironments {
            n: made.len(),
            seats: made.seats().len(),
            games: Mutex::new(Some(Games {
                written: made.seats().iter().map(|_| WrittenSeat::default()).collect(),
                games: made,
            })),
            arrays,
        };
        this.write(py, |_| Ok(()))?;
        Ok(this)
    }

    /// Texts of the actions.
    #[getter]
    fn actions(&self) -> PyResult<Vec<String>> {
        self.with(|games| Ok(games.actions().to_vec()))
    }

    /// Texts of a seat's percepts.
    fn percepts(&self, seat: usize) -> PyResult<Vec<String>> {
        self.with(|games| match seat < self.seats {
            true => Ok(games.percepts(seat).to_vec()),
            false => Err(PyValueError::new_err(format!("there are {} seats", self.seats))),
        })
    }

    /// Rounds in an observation of the whole view; none if the last round is observed.
    #[getter]
    fn slots(&self) -> PyResult<Option<usize>> {
        self.with(|games| Ok(games.slots()))
    }

    /// Number of fluents.
    #[getter]
    fn n_fluents(&self) -> PyResult<usize> {
        self.with(|games| Ok(games.n_fluents()))
    }

    /// Mask, told, current, reward and last told of a seat.
    #[expect(clippy::type_complexity, reason = "a tuple of arrays, taken apart at once in Python")]
    fn seat_arrays(
        &self,
        py: Python<'_>,
        seat: usize,
    ) -> PyResult<(
        Py<PyArray2<u8>>,
        Py<PyArray2<u8>>,
        Py<PyArray1<u8>>,
        Py<PyArray1<f32>>,
        Option<Py<PyArray2<u8>>>,
    )> {
        let seat = self.arrays.seats.get(seat);
        let seat = seat.ok_or_else(|| PyValueError::new_err(format!("there are {} seats", self.seats)))?;
        Ok((
            seat.mask.clone_ref(py),
            seat.told.clone_ref(py),
            seat.current.clone_ref(py),
            seat.reward.clone_ref(py),
            seat.last.as_ref().map(|last| last.clone_ref(py)),
        ))
    }

    /// Which games were over, and which were cut short.
    fn ends(&self, py: Python<'_>) -> (Py<PyArray1<u8>>, Py<PyArray1<u8>>) {
        (
            self.arrays.terminated.clone_ref(py),
            self.arrays.truncated.clone_ref(py),
        )
    }

    fn reset(&self, py: Python<'_>, seed: u64) -> PyResult<()> {
        self.write(py, |games| {
            games.reset(seed);
            Ok(())
        })
    }

    /// Makes a move in every game. `actions` has a row per seat.
    fn step(&self, py: Python<'_>, actions: PyReadonlyArray2<'_, i32>) -> PyResult<()> {
        let shape = actions.as_array().dim();
        if shape != (self.seats, self.n) {
            let (rows, columns) = shape;
            let expected = format!("({}, {})", self.seats, self.n);
            return Err(PyValueError::new_err(format!(
                "actions have the shape ({rows}, {columns}), and should have {expected}: seats, games"
            )));
        }
        let actions = actions
            .as_slice()
            .map_err(|_| PyValueError::new_err("actions must be C-contiguous"))?;
        self.write(py, |games| {
            games.step(actions).map_err(|wrong| {
                let (game, seat, action) = (wrong.game, wrong.seat, wrong.action);
                IllegalMoveError::new_err(format!(
                    "action {action} of seat {seat} is not legal in game {game}; see `action_mask`"
                ))
            })
        })
    }

    /// Draws random legal actions.
    fn sample(&self, py: Python<'_>, out: &Bound<'_, PyArray2<i32>>) -> PyResult<()> {
        let mut out = out.try_readwrite()?;
        let actions = out
            .as_slice_mut()
            .map_err(|_| PyValueError::new_err("actions must be C-contiguous"))?;
        if actions.len() != self.n * self.seats {
            return Err(PyValueError::new_err(
                "actions have a row per seat and a column per game",
            ));
        }
        self.with(|games| py.detach(|| guarded(|| games.sample_actions(actions))))
    }

    /// Writes the states: a row per fluent.
    fn states(&self, py: Python<'_>, out: &Bound<'_, PyArray2<u8>>) -> PyResult<()> {
        let mut out = out.try_readwrite()?;
        let bytes = out
            .as_slice_mut()
            .map_err(|_| PyValueError::new_err("the array must be C-contiguous"))?;
        self.with(|games| {
            if bytes.len() != games.n_fluents() * games.len() {
                return Err(PyValueError::new_err(
                    "the array has a row per fluent and a column per game",
                ));
            }
            py.detach(|| guarded(|| games.write_states(bytes)))
        })
    }

    /// Frees the games.
    fn close(&self) {
        *self.games.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl PyEnvironments {
    fn with<T>(&self, work: impl FnOnce(&mut Environments) -> PyResult<T>) -> PyResult<T> {
        self.with_written(|games| work(&mut games.games))
    }

    fn with_written<T>(&self, work: impl FnOnce(&mut Games) -> PyResult<T>) -> PyResult<T> {
        // Another thread that steps the same games keeps the lock while it has released the interpreter.
        let mut games = self.games.try_lock().map_err(|_| {
            SurmiseError::new_err("these games are being stepped by another thread; give each thread its own")
        })?;
        match games.as_mut() {
            Some(games) => work(games),
            None => Err(SurmiseError::new_err(
                "these games were closed; make new ones with surmise.vector",
            )),
        }
    }

    /// Does work, then writes all arrays.
    fn write(&self, py: Python<'_>, work: impl FnOnce(&mut Environments) -> PyResult<()> + Send) -> PyResult<()> {
        self.with_written(|Games { games, written }| {
            let mut borrowed = self.arrays.borrow(py)?;
            let slices = borrowed.slices()?;
            py.detach(|| {
                guarded(|| {
                    work(games)?;
                    slices.write(games, written);
                    Ok(())
                })?
            })
        })
    }
}

impl Arrays {
    fn new(py: Python<'_>, games: &Environments, last: bool) -> Arrays {
        let n = games.len();
        let bits = |rows: usize| PyArray2::zeros(py, [rows, n], false).unbind();
        let seat = |seat: usize| {
            let (moves, told) = (games.actions().len(), games.observation_rows(seat));
            SeatArrays {
                mask: bits(moves),
                told: bits(told),
                last: last.then(|| bits(told)),
                current: PyArray1::zeros(py, n, false).unbind(),
                reward: PyArray1::zeros(py, n, false).unbind(),
            }
        };
        Arrays {
            seats: (0..games.seats().len()).map(seat).collect(),
            terminated: PyArray1::zeros(py, n, false).unbind(),
            truncated: PyArray1::zeros(py, n, false).unbind(),
        }
    }

    fn borrow<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'py>> {
        let seats = self.seats.iter().map(|seat| {
            Ok(BorrowedSeat {
                mask: seat.mask.bind(py).try_readwrite()?,
                told: seat.told.bind(py).try_readwrite()?,
                last: seat
                    .last
                    .as_ref()
                    .map(|last| last.bind(py).try_readwrite())
                    .transpose()?,
                current: seat.current.bind(py).try_readwrite()?,
                reward: seat.reward.bind(py).try_readwrite()?,
            })
        });
        Ok(Borrowed {
            seats: seats.collect::<PyResult<_>>()?,
            terminated: self.terminated.bind(py).try_readwrite()?,
            truncated: self.truncated.bind(py).try_readwrite()?,
        })
    }
}

struct BorrowedSeat<'py> {
    mask: PyReadwriteArray2<'py, u8>,
    told: PyReadwriteArray2<'py, u8>,
    last: Option<PyReadwriteArray2<'py, u8>>,
    current: PyReadwriteArray1<'py, u8>,
    reward: PyReadwriteArray1<'py, f32>,
}

struct Borrowed<'py> {
    seats: Vec<BorrowedSeat<'py>>,
    terminated: PyReadwriteArray1<'py, u8>,
    truncated: PyReadwriteArray1<'py, u8>,
}

struct SeatSlices<'a> {
    mask: &'a mut [u8],
    told: &'a mut [u8],
    last: Option<&'a mut [u8]>,
    current: &'a mut [u8],
    reward: &'a mut [f32],
}

struct Slices<'a> {
    seats: Vec<SeatSlices<'a>>,
    terminated: &'a mut [u8],
    truncated: &'a mut [u8],
}

impl Borrowed<'_> {
    fn slices(&mut self) -> PyResult<Slices<'_>> {
        let seats = self.seats.iter_mut().map(|seat| {
            Ok(SeatSlices {
                mask: seat.mask.as_slice_mut()?,
                told: seat.told.as_slice_mut()?,
                last: seat.last.as_mut().map(|last| last.as_slice_mut()).transpose()?,
                current: seat.current.as_slice_mut()?,
                reward: seat.reward.as_slice_mut()?,
            })
        });
        Ok(Slices {
            seats: seats.collect::<PyResult<_>>()?,
            terminated: self.terminated.as_slice_mut()?,
            truncated: self.truncated.as_slice_mut()?,
        })
    }
}

impl Slices<'_> {
    fn write(self, games: &Environments, written: &mut [WrittenSeat]) {
        for (at, (seat, written)) in self.seats.into_iter().zip(written).enumerate() {
            games.write_mask(at, &mut written.mask, seat.mask);
            games.write_told(at, &mut written.told, seat.told);
            if let Some(last) = seat.last {
                games.write_final_told(at, &mut written.last, last);
            }
            games.write_decides(at, seat.current);
            games.write_rewards(at, seat.reward);
        }
        games.write_terminated(self.terminated);
        games.write_truncated(self.truncated);
    }
}
