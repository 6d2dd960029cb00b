//! Sweeps on the page: rows run over a pool of workers, one session each, and kept as they finish.
//!
//! [`ns_page::sweep`] decides which worker runs what, and when a run has ended; this module has the workers, the clock and the store.

mod benchmarks;
mod experiments;
mod keeper;
mod listing;
mod on_processor;
mod progress;
mod runner;

pub use experiments::{ExperimentRunner, KeptExperiments};
pub use keeper::{KeptSweep, kept_results, kept_sweeps, use_kept_sweeps};
pub use runner::SweepRunner;
