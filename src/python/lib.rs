//! The native half of the Python package. A `Shell` runs commands of the command line in a thread of its own; `Columns` are the tables that
//! they print.
//!
//! Python asks with the arguments of a command and gets what the command prints. So every figure is the command line's, and the Python half
//! (`python/neuronscope/`) only turns calls into arguments and JSON into objects. The thread keeps what a call has opened for the next one.

mod columns;
mod shell;
mod worker;

use std::ffi::OsString;

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use columns::{Columns, Numbers};
use shell::Shell;

create_exception!(
    neuronscope,
    Error,
    PyRuntimeError,
    "A call could not be done. The message says what was wrong, where, and what to do."
);
create_exception!(
    neuronscope,
    UsageError,
    PyValueError,
    "An argument does not exist, or has a value that it does not take."
);

/// Runs the command line in place of this process: it writes to the process's own outputs. Returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| ns_cli::run(words))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Shell>()?;
    module.add_class::<Columns>()?;
    module.add_class::<Numbers>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("UsageError", module.py().get_type::<UsageError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
