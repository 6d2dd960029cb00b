//! The hardware as data: devices, instances and their prices, engines, instruction costs, executables.

pub mod arch;
pub mod cost;
mod executable;
pub mod isa;

pub use executable::{Executable, MemoryPlan, SourceEntry, SourceId, SourceMap};
