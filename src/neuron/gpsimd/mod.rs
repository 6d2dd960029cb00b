//! Custom operators on the GPSIMD processors: what a kernel takes, and what that does to a network that uses it.
//!
//! [`kernel`](crate::kernel) runs a kernel for its values and tells what it does; here that work gets its time
//! ([`operator`]), a network around it is simulated ([`network`]), and the host beside it is added ([`host`]).

mod fill;
mod host;
mod library;
mod meter;
mod network;
mod operator;
mod reference;
mod report;
mod spec;
mod workload;

pub use fill::{Fill, filled};
pub use host::HostCosts;
pub use library::{BUILT_IN, BuiltIn, built_in};
pub use meter::{CoreMeter, Kind, LineCost, Segment};
pub use operator::{CallCost, OperatorRun, run_operator};
pub use report::{Breakdown, CustomOpReport, DiagnosticLine, LineReport};
pub use spec::{CustomOpError, CustomOpSpec, Workload};
pub use workload::{run, run_with_processors};
