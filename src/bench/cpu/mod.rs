//! The measured device: a model that really runs, on the processor of the machine, timed with a clock that a shell brings.
//!
//! One copy of the model is one [`CpuRun`], which a shell steps on a thread or in a worker of its own; the
//! [`CpuTimers`] of all copies together make a row, which says that it was measured and where.

mod model;
mod report;
mod run;

pub use model::{CpuError, CpuModel};
pub(in crate::bench) use report::fill_samples;
pub use report::{HostSamples, Machine, cpu_row};
pub use run::{CpuRun, CpuStage, CpuTimers, side_by_side};
