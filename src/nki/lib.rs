//! NKI kernels: the list of instructions that the recorder makes of a kernel file, and what it means on a core.
//!
//! ```text
//! List::read -> lower (hoisted) -> room (spills) -> joined (drains, short loops) -> engines -> schedule -> Executable -> simulate -> Answer
//! ```
//!
//! Start with [`answer`].

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod answer;
mod engines;
mod instructions;
mod join;
mod kernel;
mod limits;
mod lint;
mod list;
mod lower;
mod order;
mod ranking;
mod room;
mod schedule;
mod settings;
mod setup;
#[cfg(test)]
mod tests;
mod widen;

pub use answer::{Answer, Busy, HbmBytes, Line, Occupancy, SpillBytes, answer, executable_of};
pub use list::{Check, List, Problem};
pub use ranking::{Ranked, Ranking};
pub use settings::{Settings, WITH_LIMITS, combinations};
pub use setup::{Setup, chip_of, instance_of_chip};

/// What the compiler does to a kernel that changes its time. Each can be left out, to see what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decisions {
    /// What a loop repeats without a change is done once; the first dialect only.
    pub hoist: bool,
    /// Copies from PSUM to neighbouring columns are joined; the first dialect only.
    pub join_drains: bool,
    /// Iterations of short affine loops are joined; the first dialect only.
    pub widen: bool,
    /// Copies are spread over the vector and the scalar engine.
    pub spread: bool,
    /// Instructions among which the next one is chosen; 1 is program order.
    pub window: usize,
    /// SBUF and PSUM are as large as they are.
    pub sbuf: bool,
    pub psum: bool,
    /// DMA engines serve their own partitions only.
    pub own_partitions: bool,
}

impl Default for Decisions {
    fn default() -> Self {
        Self {
            hoist: true,
            join_drains: true,
            widen: true,
            spread: true,
            window: ns_machine::cost::decisions::WINDOW,
            sbuf: true,
            psum: true,
            own_partitions: true,
        }
    }
}
