//! How long `neuronx-cc` takes: a model of one parameter, calibrated on one figure.

use crate::machine::Executable;
use crate::machine::cost::decisions::COMPILE_MS_PER_OPERATION;

/// Modelled compile time, seconds. It grows with the operations of the program, as unrolled loops show, and with nothing
/// else: no other figure is published. The same on any machine, unlike the real one; good to a factor, not to a percent.
#[must_use]
pub fn modelled_compile_s(executable: &Executable) -> f64 {
    executable.sources.len() as f64 * COMPILE_MS_PER_OPERATION / 1e3
}
