//! Observers of the simulation: they are told what ran and when.

use ns_base::{Interval, SimTime};
use ns_machine::isa::{DmaQueue, Engine};

/// Receives every item once its time is known. Items of one unit arrive in order and do not overlap within an engine; a unit may be
/// ahead of another.
pub trait Observer {
    /// Instruction `index` of `engine` ran during `span`.
    fn instruction(&mut self, engine: Engine, index: usize, span: Interval<SimTime>);
    /// DMA `index` of `queue` was triggered at `triggered` and moved data during `span`.
    fn dma(&mut self, queue: DmaQueue, index: usize, triggered: SimTime, span: Interval<SimTime>);
    /// The clock of the tensor engine is limited to `eighths` of the published one, from an instruction at `at` on.
    fn clock_limit(&mut self, _at: SimTime, _eighths: u32) {}
    /// Whether it wants to be told anything. The loop that tells nobody is faster.
    fn listens(&self) -> bool {
        true
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn instruction(&mut self, _: Engine, _: usize, _: Interval<SimTime>) {}
    fn dma(&mut self, _: DmaQueue, _: usize, _: SimTime, _: Interval<SimTime>) {}
    fn listens(&self) -> bool {
        false
    }
}
