//! From a model and an instance to the duration of a call: compiles, simulates and adds the host.
//!
//! ```text
//! text -> ModelRef -> Device::pipeline -> Device::generate -> Executable -> Device::step -> StepCosts -> ServiceTimes
//! ```
//!
//! A model is a specification of the zoo or a file ([`ModelRef`]), compiled by a [`Pipeline`](ns_compiler::Pipeline).
//! Benchmarks, studies and predictions all start here; this module depends on none of them.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod compile;
mod estimated_op;
mod kernels;
mod library;
mod limits;
mod removed_products;
mod service;
mod values;

pub use compile::{Compilation, Device, is_simulated};
pub use estimated_op::{EstimateMark, EstimatedOp, marked_time, note_of_times};
pub use kernels::OperatorKernels;
pub use library::{
    BatchRule, FIXED_MODEL, FIXED_PARAMETERS, FileModelProgram, FixedModel, ModelFile, ModelFileRef, ModelFileSettings,
    ModelKind, ModelLibrary, ModelRef, OpenedModel, content_name, model_label,
};
pub use limits::GainsRun;
pub use ns_compiler::StageError;
pub use removed_products::RemovedProducts;
pub use service::{CallParts, MAX_SERVICE, ServiceTimes};
pub use values::{MAX_VALUE_MFLOP, ModelFileValues, casts_of};
