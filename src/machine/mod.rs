//! What the hardware is, as data: devices, instances and their prices, engines, instruction costs, executables.

#![cfg_attr(
    not(test),
    warn(
        clippy::cast_lossless,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss
    )
)]

pub mod arch;
pub mod cost;
mod executable;
pub mod isa;

pub use executable::{Executable, MemoryPlan, SourceEntry, SourceId, SourceMap};
