//! Decisions of a running sweep: which worker gets which row, when a row waits, when the run ends, what Pause and Cancel do.
//!
//! [`ns_bench::SweepOf`] has the waiting, running and finished rows. [`Dispatch`] hands them out: a [`Step`] says what to do
//! next, and a [`NextAction`] how to react to a worker's message. The shell, which has the workers, carries it out. A row depends on its
//! configuration alone, so neither the number of workers nor their order affects a result.

mod benchmarks;
mod dispatch;
mod dispatch_view;
mod experiments;
mod lane;
mod news;
mod next_action;
mod on_processor;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
mod view;

pub use benchmarks::{HandOut, Measurement, Step};
pub use dispatch::{Dispatch, WorkerSweep};
pub use experiments::ExperimentStep;
pub use lane::{Lane, Running, Worker};
pub use news::SweepNews;
pub use next_action::NextAction;
pub use on_processor::{CpuRow, MOST_COPIES};
pub use view::{SweepView, overall_share};
