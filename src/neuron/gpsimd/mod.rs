//! Custom operators on the GPSIMD processors: what a kernel takes, and what that does to a network that uses it.
//!
//! [`kernel`](crate::kernel) runs a kernel for its values and its time; here a network around it is simulated (`network`), and
//! the host beside it is added (`host`).

mod advice;
mod host;
mod network;
mod reference;
mod report;
mod spec;
mod workload;

pub use host::HostCosts;
pub use report::{Breakdown, CustomOpReport, DiagnosticLine, LineReport};
pub use spec::{CustomOpError, CustomOpSpec, Workload};
pub use workload::{CustomOpRun, run, run_with_processors};
