//! Sweeps on the page: configurations run over a pool of workers, one session each, and kept as they finish.
//!
//! [`crate::bench::SweepState`] says what waits, runs and is done; this hands it out and brings it back. A row depends on its
//! configuration alone, so neither the number of workers nor their order shows in a result.

mod cpu;
mod keeper;
mod lane;
mod listing;
mod measuring;
mod runner;
mod showing;

pub use keeper::{KeptSweep, kept_results, kept_sweeps};
pub use runner::SweepRunner;
