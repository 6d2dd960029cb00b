//! Devices and instance sizes, each figure with its source.

mod instance;

pub use instance::{INSTANCES, Instance, instance};
