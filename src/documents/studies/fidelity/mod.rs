//! Figures of devices beside what the model predicts.

mod calibration;
mod document;
mod run;
mod table;

pub use calibration::calibrated;
pub use ns_fidelity::{KernelComparison, KernelRow, compare_kernel};
pub(super) use run::start;
pub use table::{FigureAnswer, FigureTable};
