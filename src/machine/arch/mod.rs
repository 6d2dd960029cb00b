//! Devices and instance sizes, each figure with its source.

mod core;
mod features;
mod instance;

pub use core::{CoreSpec, NEURONCORE_V2};
pub use features::{CoreFeatures, features};
pub use instance::{INSTANCES, Instance, instance};
