//! Costs: every constant of the timing model in one table, each with its source.

mod calibration;
mod collectives;
mod core_entries;
pub mod decisions;
mod engine;
mod entry;
mod generations;
mod gpsimd;
mod kernel;
mod lazy;
mod limits;
mod register;
mod table;

pub use calibration::{Calibration, FITTED};
pub use collectives::{Collective, CollectiveCosts, all_reduce};
pub use engine::{InstructionCost, element_time, instruction_cost, psum_time, tile_crossing};
pub use entry::{CostStatus, Entry};
pub use generations::Throttle;
pub use gpsimd::{GPSIMD_PROCESSORS, GpsimdCosts};
pub use kernel::{KernelCosts, KernelWork, kernel_cycles};
pub use lazy::{TRACED_OPS, training_ops};
pub use limits::{Gains, Limit, limit_words};
pub use register::{register, register_markdown};
pub use table::{CostTable, DmaCosts, EngineCosts, RuntimeCosts};
