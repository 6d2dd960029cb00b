//! Why a row cannot be predicted.

use thiserror::Error;

use ns_bench::{ConfigError, TimesError};
use ns_device::DeviceError;
use ns_model::SpecError;
use ns_neuron::sim::SimError;

/// Why a published row cannot be predicted. `validate` prints the reason for each row that it leaves out.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PredictError {
    /// The row names no model.
    #[error("no model")]
    NoModel,
    /// A model that the zoo does not have.
    #[error("no model '{0}' in the zoo")]
    UnknownModel(String),
    /// The zoo has the model, but not with these settings.
    #[error(transparent)]
    Specification(#[from] SpecError),
    /// The row measures something else, such as training.
    #[error("a row of kind {0}, not inference")]
    NotInference(String),
    /// The row's throughput is not in samples.
    #[error("throughput in {0}, which is not samples a second")]
    NotSamples(String),
    /// The model takes images of another size.
    #[error("images of {found}; the zoo's models take {taken} x {taken}")]
    OtherImage {
        /// The size in the row.
        found: String,
        /// Side of the images that the zoo's models take.
        taken: u64,
    },
    /// The row names no instance.
    #[error("no instance")]
    NoInstance,
    /// The text names no instance that is known.
    #[error("unknown instance '{0}'")]
    UnknownInstance(String),
    /// The row says no batch size.
    #[error("no batch size")]
    NoBatchSize,
    /// The benchmark of the row is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The benchmark of the row has no configuration.
    #[error("no configuration")]
    NoConfiguration,
    /// The model does not run on the device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The benchmark has no stage times.
    #[error(transparent)]
    Times(#[from] TimesError),
    /// The run of the benchmark failed; this is the sentence of its report.
    #[error("{0}")]
    Run(String),
}
