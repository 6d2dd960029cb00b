//! Why a configuration has no stage times, and why a run cannot begin or go on.

use thiserror::Error;

use super::estimate::TooManyInferences;
use crate::config::configuration::ConfigurationError;
use crate::config::inputs::OtherInputs;
use crate::measured::measurement::MAX_INFERENCES;
use ns_device::{DeviceError, LibraryError, ServiceError};

/// Why a configuration cannot be run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// No worker, or more workers than can be numbered.
    #[error(
        "n_models {n_models} x workers_per_model {workers_per_model} makes {workers} workers; use a product from 1 to {max}"
    )]
    Workers {
        /// Model copies.
        n_models: u32,
        workers_per_model: u32,
        /// Their product.
        workers: u64,
        max: u64,
    },
    /// More cores than can be numbered.
    #[error(
        "n_models x pipeline_size makes {cores} NeuronCores; at most {max} can be simulated; use fewer models or stages"
    )]
    Cores {
        /// NeuronCores of all copies.
        cores: u64,
        max: u64,
    },
    /// An inference that took no time.
    #[error(
        "worker {worker} finished an inference in zero time, so the clock would never advance; give at least one stage a time above zero"
    )]
    ZeroLatency {
        /// Number of the worker, counted over all models.
        worker: u32,
    },
    /// Too many latencies to record.
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
        /// How long bring-up takes, as text.
        bring_up_s: String,
    },
    /// There is not enough memory for the latencies.
    #[error("no memory for the latencies of {inferences} inferences (8 bytes each); shorten the duration")]
    OutOfMemory {
        /// How many were expected.
        inferences: u64,
    },
}

/// Why the run of a configuration cannot begin.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StartError {
    /// The configuration cannot run on its instance.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// Its stage times cannot be simulated.
    #[error(transparent)]
    Times(#[from] ServiceError),
    /// The run would be too long.
    #[error(transparent)]
    TooLong(#[from] TooManyInferences),
    /// The scheduler refuses it.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Why a configuration has no stage times. The texts say what to do.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TimesError {
    /// The configuration cannot run on its instance.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// Its device is the processor of the machine.
    #[error(
        "device_type cpu: a processor is measured and has no simulated times; MLPerf scenarios and timelines of a run need device_type neuron"
    )]
    Processor,
    /// The model does not run on the device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The model takes other inputs.
    #[error(transparent)]
    Inputs(#[from] ModelInputsError),
    /// The work around the call has no time.
    #[error(transparent)]
    Step(#[from] UntimedStep),
}

/// A step around the call whose time depends on the size of its data, which is not known.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{field}: the size of the data of {model} is not known; give a time such as 0.25ms")]
pub struct UntimedStep {
    /// The option that has the step: `preprocess` or `postprocess`.
    pub field: &'static str,
    pub model: String,
}

/// Why inputs, or the work before the call that names them, do not fit a model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelInputsError {
    /// The inputs of the model are not known.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The model takes other inputs than the given ones.
    #[error(transparent)]
    Other(#[from] OtherInputs),
    /// The work before the call names more inputs than the model has.
    #[error("preprocess: '{step}' names {named} inputs, {model} has {has}; its inputs are x, y, z in their order")]
    Named {
        /// The expression of the work.
        step: String,
        /// How many inputs it names.
        named: usize,
        /// The model's usual name.
        model: String,
        /// How many inputs the model has.
        has: usize,
    },
}
