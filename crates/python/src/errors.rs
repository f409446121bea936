//! Errors of the library as Python exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::panic::{AssertUnwindSafe, catch_unwind};
use surmise::Error;
use surmise::gdl::Reading;
use surmise::gdl::diagnostic::locate;
use surmise::gdl::source::LineIndex;

pyo3::create_exception!(
    surmise,
    SurmiseError,
    PyRuntimeError,
    "Something that Surmise could not do; the message says why and what to do."
);
pyo3::create_exception!(
    surmise,
    RulesError,
    PyValueError,
    "Rules with mistakes. `diagnostics` lists them: code, severity, message, help, line and column."
);
pyo3::create_exception!(
    surmise,
    IllegalMoveError,
    PyValueError,
    "A move or an action that is not legal; nothing has changed."
);

/// Adds the exceptions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("SurmiseError", py.get_type::<SurmiseError>())?;
    module.add("RulesError", py.get_type::<RulesError>())?;
    module.add("IllegalMoveError", py.get_type::<IllegalMoveError>())
}

/// The exception of an error.
pub fn exception(error: Error) -> PyErr {
    match &error {
        Error::Rules { rendered, .. } => RulesError::new_err(rendered.clone()),
        Error::Io { .. } => PyOSError::new_err(error.to_string()),
        Error::Stopped { progress } => PyKeyboardInterrupt::new_err(progress.clone()),
        Error::NoGame { .. }
        | Error::NoRole { .. }
        | Error::Seating { .. }
        | Error::Player(_)
        | Error::Unsuitable { .. }
        | Error::View { .. }
        | Error::Option { .. }
        | Error::OtherMatch(_)
        | Error::OtherGame { .. }
        | Error::Format { .. }
        | Error::Record(_) => PyValueError::new_err(error.to_string()),
        _ => SurmiseError::new_err(error.to_string()),
    }
}

/// The exception of rules with mistakes, with their places.
pub fn rules_error(py: Python<'_>, name: &str, reading: &Reading) -> PyErr {
    let raised = RulesError::new_err(reading.render(name));
    let attached = diagnostics(py, reading).and_then(|list| raised.value(py).setattr("diagnostics", list));
    match attached {
        Ok(()) => raised,
        Err(error) => error,
    }
}

/// The findings about rules as a list of dicts.
pub fn diagnostics<'py>(py: Python<'py>, reading: &Reading) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    let lines = LineIndex::new(&reading.text);
    for located in locate(&reading.diagnostics, &reading.text, &lines) {
        let (found, dict) = (located.diagnostic, PyDict::new(py));
        dict.set_item("code", found.code.text())?;
        dict.set_item("severity", found.severity.word())?;
        dict.set_item("message", &found.message)?;
        dict.set_item("help", &found.help)?;
        dict.set_item("line", located.start.line)?;
        dict.set_item("column", located.start.column)?;
        dict.set_item("end_line", located.end.line)?;
        dict.set_item("end_column", located.end.column)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// Runs work of the library. A panic becomes an exception.
pub fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        SurmiseError::new_err("Surmise failed in a way that it should not; please report this with the rules used")
    })
}
