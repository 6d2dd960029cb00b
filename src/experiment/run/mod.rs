//! Running experiments: the suites' models, measured on the processor or simulated on a NeuronCore, as records.

mod error;
mod experiment;
mod fingerprint;
mod matmul;
mod network;
mod noise;
mod on_neuroncore;
mod on_processor;
mod operation;
mod settings;
mod suite;
mod verify;

pub use error::RunError;
pub use experiment::{Experiment, FinishedExperiment, Verification, run_experiment, run_experiment_of};
pub use fingerprint::{DoneBefore, Fingerprint};
pub use matmul::matmul_ms;
pub use noise::NoiseReport;
pub use settings::RunSettings;
pub use suite::{Suite, SuiteModel};
