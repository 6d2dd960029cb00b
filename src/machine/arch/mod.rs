//! Devices and instance sizes, each figure with its source.

mod core_spec;
mod cores;
mod devices;
mod features;
mod figure;
mod instance;

pub use core_spec::{CoreSpec, NEURONCORE_V2, core_spec};
pub use cores::{CORES, CoreData, core_data};
pub use devices::{DEVICES, DeviceData, device_of};
pub use features::{CoreFeatures, features};
pub use figure::{Figure, FigureStatus};
pub use instance::{INSTANCES, Instance, instance, instances_like, known_instance, size_name};
