//! The native part of the Python package `surmise`: conversion between Python objects and the library, and nothing
//! else. The package's own modules in `python/surmise/` give it a Python shape.
//!
//! Long calls release the interpreter, look for Ctrl-C every few milliseconds, and never let a panic through.

mod beliefs;
mod errors;
mod game;
mod lab;
mod matches;
mod own_player;
mod solving;
mod vector;
mod waiting;

use pyo3::prelude::*;

/// The native part of the package; import `surmise` instead.
#[pymodule]
fn _surmise(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<game::PyGame>()?;
    module.add_class::<game::PyState>()?;
    module.add_class::<vector::PyEnvironments>()?;
    module.add_function(wrap_pyfunction!(game::games, module)?)?;
    module.add_function(wrap_pyfunction!(game::check, module)?)?;
    module.add_function(wrap_pyfunction!(matches::play, module)?)?;
    module.add_function(wrap_pyfunction!(matches::explain, module)?)?;
    module.add_function(wrap_pyfunction!(matches::known_legal, module)?)?;
    module.add_function(wrap_pyfunction!(lab::lab_run, module)?)?;
    module.add_function(wrap_pyfunction!(beliefs::belief, module)?)?;
    module.add_function(wrap_pyfunction!(beliefs::seat_svg, module)?)?;
    module.add_function(wrap_pyfunction!(solving::solve, module)?)?;
    module.add_function(wrap_pyfunction!(solving::efg, module)?)?;
    module.add_function(wrap_pyfunction!(solving::train, module)?)?;
    errors::register(module)
}
