//! Why a run cannot begin or go on.

use thiserror::Error;

use crate::bench::measured::measurement::MAX_INFERENCES;

/// Why a configuration cannot be run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// No worker, or more than can be numbered.
    #[error(
        "n_models {n_models} x workers_per_model {workers_per_model} makes {workers} workers; from 1 to {max} can be simulated"
    )]
    Workers {
        /// Model copies.
        n_models: u32,
        /// Workers of each.
        workers_per_model: u32,
        /// Their product.
        workers: u64,
        /// The limit.
        max: u64,
    },
    /// More cores than can be numbered.
    #[error(
        "n_models x pipeline_size makes {cores} NeuronCores; at most {max} can be simulated; use fewer models or stages"
    )]
    Cores {
        /// NeuronCores of all copies.
        cores: u64,
        /// The limit.
        max: u64,
    },
    /// An inference that took no time.
    #[error(
        "worker {worker} finished an inference in zero time, so the clock would never move; give a stage a time above zero"
    )]
    ZeroLatency {
        /// Which worker, over all models.
        worker: u32,
    },
    /// Too many latencies to keep.
    #[error("more than {MAX_INFERENCES} inferences would be recorded ({after_s} s into the run); shorten the duration")]
    TooManyInferences {
        /// When the limit was met, whole seconds of the window.
        after_s: u64,
    },
    /// The duration is over before anything is ready.
    #[error(
        "the duration of {duration_s} s is over before the models are loaded and warm, which takes {bring_up_s} s; use a longer duration, or the accounting that starts when they are warm"
    )]
    TooShort {
        /// The duration, as text.
        duration_s: String,
        /// How long bringing up takes, as text.
        bring_up_s: String,
    },
    /// The memory for the latencies is not there.
    #[error("no memory for the latencies of {inferences} inferences (8 bytes each); shorten the duration")]
    OutOfMemory {
        /// How many were expected.
        inferences: u64,
    },
}
