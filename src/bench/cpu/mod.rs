//! The measured device: a model that really runs, on the machine's processor, timed with a clock that the shell provides.
//!
//! One copy of the model is one [`CpuRun`], which a shell steps on a thread or in a worker of its own; the
//! [`CpuTimers`] of all copies together make a row, which states that it was measured, and on which machine.

mod model;
mod report;
mod run;

pub use model::{CpuModel, file_values};
pub(crate) use report::fill_samples;
pub use report::{HostSamples, Machine, cpu_row};
pub use run::{CpuRun, CpuStage, CpuTimers, side_by_side};
