//! Decisions of a running sweep: which worker gets which row, when a row waits, when the run ends, what Pause and Cancel do.
//!
//! [`ns_bench::SweepOf`] has the waiting, running and finished rows. [`Dispatch`] hands them out: a [`Step`] says what to do
//! next, and a [`Heard`] how to react to a worker's message. The shell, which has the workers, carries it out. A row depends on its
//! configuration alone, so neither the number of workers nor their order affects a result.

mod benchmarks;
mod dispatch;
mod experiments;
mod heard;
mod lane;
mod measured;
mod news;
#[cfg(test)]
mod properties;
mod shown;
#[cfg(test)]
mod tests;
mod view;

pub use benchmarks::{HandOut, Measurement, Step};
pub use dispatch::{Dispatch, Handed};
pub use experiments::ExperimentStep;
pub use heard::Heard;
pub use lane::{Lane, Running, Worker};
pub use measured::{CpuRow, MOST_COPIES};
pub use news::SweepNews;
pub use view::{SweepView, overall_share};
