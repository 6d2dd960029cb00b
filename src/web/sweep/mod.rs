//! Sweeps on the page: configurations run over a pool of workers, one session each, and kept as they finish.
//!
//! [`ns_page::sweep`] decides which worker runs what, and when a run has ended; this module has the workers, the clock and the store.

mod keeper;
mod listing;
mod measuring;
mod runner;
mod showing;

pub use keeper::{KeptSweep, kept_results, kept_sweeps};
pub use runner::SweepRunner;
