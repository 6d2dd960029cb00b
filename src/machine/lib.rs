//! The hardware as data: devices, instances and their prices, engines, instruction costs, executables.
//!
//! Start with:
//! - [`arch`]: cores, devices and instance sizes, each figure with its source.
//! - [`cost::CostTable`]: every constant of the timing model, with the source or the fit that each comes from (`docs/costs.md` is written from it).
//! - [`Executable`]: what the compiler makes and the simulator runs, with a [`SourceMap`] back to the operations of the model.
//!
//! Invariants:
//! - No figure without a source; a cost that no field describes does not compile.
//! - An executable holds each different operation once ([`OpTable`]); an instruction is an [`OpId`] and its waits.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod arch;
pub mod cost;
mod executable;
pub mod isa;
mod op_table;
mod phase;
mod seen_waits;

pub use executable::{Executable, MemoryPlan, SourceEntry, SourceId, SourceMap, SourceMember};
pub use op_table::{EngineOp, OpId, OpTable};
pub use phase::{Phase, STEP_SCOPE};
pub use seen_waits::SeenWaits;
