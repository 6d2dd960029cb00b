//! Devices and instance sizes, each figure with its source.

mod core;
mod instance;

pub use core::{CoreSpec, NEURONCORE_V2};
pub use instance::{INSTANCES, Instance, instance};
