//! The values that a NeuronCore computes. The optimised program is evaluated with the roundings of the chosen cast
//! and with sums in the order of the array, and compared with the reference in single precision.

mod arithmetic;
mod compare;
mod notes;
mod ranges;
mod report;
mod run;
mod spec;
mod watch;

pub use arithmetic::DeviceArithmetic;
pub use compare::compare;
pub use ranges::{ProductRanges, product_ranges};
pub use report::{MetricValues, NumericsReport, Origin, OutputComparison, Sample, value_text};
pub use run::{NumericsProgress, NumericsRun, SizeLimits, checked_instance};
pub use spec::{DEFAULT_TOLERANCE, NumericsSpec};
pub use watch::Exceptions;
