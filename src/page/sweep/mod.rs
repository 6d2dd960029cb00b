//! Decisions of a running sweep: which worker gets which configuration, when a configuration waits, when the run ends, what Pause and Cancel do.
//!
//! [`ns_bench::SweepState`] has the waiting, running and finished rows. [`Dispatch`] hands them out: a [`Step`] says what to do
//! next, and a [`Heard`] how to react to a worker's message. The shell, which has the workers, carries it out. A row depends on its
//! configuration alone, so neither the number of workers nor their order affects a result.

mod dispatch;
mod heard;
mod lane;
mod measured;
#[cfg(test)]
mod properties;
mod shown;
#[cfg(test)]
mod tests;

pub use dispatch::{Dispatch, HandOut, Measurement, Step};
pub use heard::Heard;
pub use lane::{Lane, Running, Worker};
pub use measured::{CpuRow, MOST_COPIES};
