//! The hardware as data: devices, instances and their prices, engines, instruction costs, executables.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod arch;
pub mod cost;
mod executable;
pub mod isa;
mod op_table;
mod phase;

pub use executable::{Executable, MemoryPlan, SourceEntry, SourceId, SourceMap, SourceMember};
pub use op_table::{EngineOp, OpId, OpTable};
pub use phase::{Phase, STEP_SCOPE};
