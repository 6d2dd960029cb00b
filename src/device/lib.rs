//! From a model and an instance to the duration of a call: compiles, simulates and adds the host.
//!
//! ```text
//! model, instance -> Device::compilation -> Executable -> simulate -> InferenceCosts -> ServiceTimes
//! ```
//!
//! A model is a specification of the zoo ([`Device::compilation`]) or a file that the user brings
//! ([`Device::run_program`]). Benchmarks, studies and predictions all start here; this module depends on none of
//! them.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod brought;
mod compile;
mod error;
mod library;
mod lowered;
mod removed;
mod service;
mod values;

pub use brought::BroughtRun;
pub use compile::{Compilation, Device, is_simulated};
pub use error::{DeviceError, StageError};
pub use library::{
    BatchRule, FIXED_MODEL, FIXED_PARAMETERS, FixedError, FixedModel, Instantiated, LibraryError, ModelFile,
    ModelFileRef, ModelFileRefError, ModelFileSettings, ModelKind, ModelLibrary, ModelRef, ModelRefError, OpenedModel,
    model_label,
};
pub use lowered::EstimatedOp;
pub use removed::RemovedProducts;
pub use service::{MAX_SERVICE, ServiceError, ServiceTimes};
pub use values::{MAX_VALUE_MFLOP, ModelFileValues, ModelFileValuesError, casts_of};
