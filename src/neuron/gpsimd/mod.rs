//! Custom operators on the GPSIMD processors: how long a kernel takes, and how that affects a network that uses it.
//!
//! [`kernel`](ns_kernel) runs a kernel for its values and its time. Here a network around it is simulated (`network`), and
//! the loop around the network is added.

mod advice;
mod network;
mod reference;
mod report;
mod spec;
#[cfg(test)]
mod tests;
mod workload;

pub use report::{Breakdown, CustomOpReport, DiagnosticLine, Fault, LineReport, LoopReport, StepReport, customop_json};
pub use spec::{CustomOpSpec, Workload};
pub use workload::{CustomOpRun, run, run_with_processors};
