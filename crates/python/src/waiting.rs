//! Long calls: the interpreter is released, Ctrl-C is looked for, and a panic becomes an exception.

use crate::errors::{SurmiseError, exception};
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use surmise::Error;
use surmise::game::StopFlag;

/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(20);

/// Does work on a thread of its own. Ctrl-C raises the flag, waits for the work to end, and is raised as usual.
pub fn wait<T: Send>(py: Python<'_>, stop: &StopFlag, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        let worker = scope.spawn(move || {
            let _done = done;
            work()
        });
        let mut interrupted = None;
        // The channel is closed when the work has ended, also by a panic.
        let ended = Mutex::new(ended);
        let wait_a_little = || ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK);
        while py.detach(wait_a_little) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = py.check_signals() {
                stop.raise();
                interrupted.get_or_insert(error);
            }
        }
        let result = py.detach(|| worker.join());
        match (interrupted, result) {
            (Some(error), _) => Err(error),
            (None, Ok(Ok(value))) => Ok(value),
            (None, Ok(Err(error))) => Err(exception(error)),
            (None, Err(_)) => Err(SurmiseError::new_err(
                "Surmise failed in a way that it should not; please report this with the rules used",
            )),
        }
    })
}
