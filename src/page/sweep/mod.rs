//! What a running sweep decides: which worker gets which configuration, when one waits, when the run ends, what Pause and Cancel do.
//!
//! [`crate::bench::SweepState`] says what waits, runs and is done. [`Dispatch`] hands that out: it says in a [`Step`] what to do next,
//! and in a [`Heard`] what a worker's message means. Whoever has workers does it. A row depends on its configuration alone, so neither
//! the number of workers nor their order shows in a result.

mod dispatch;
mod heard;
mod lane;
mod measured;
#[cfg(test)]
mod properties;
mod shown;
#[cfg(test)]
mod tests;

pub use dispatch::{Dispatch, HandOut, Measurement, Step, Sweep};
pub use heard::Heard;
pub use lane::{Lane, Running, Worker};
pub use measured::{CpuRow, MOST_COPIES};
