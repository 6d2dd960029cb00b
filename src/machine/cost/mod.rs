//! What things cost: every constant of the timing model in one table, each with its source.

mod calibration;
mod engine;
mod generations;
mod gpsimd;
mod table;

pub use calibration::{Calibration, FITTED};
pub use engine::{InstructionCost, instruction_cost};
pub use generations::Throttle;
pub use gpsimd::GpsimdCosts;
pub use table::{CostTable, DmaCosts, EngineCosts, RuntimeCosts};
