//! The state of one unit during a simulation.

use ns_base::SimTime;
use ns_machine::isa::{DmaQueue, Engine, Unit, Wait};

/// Whether a unit's next item can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// The next item starts at this time.
    At(SimTime),
    /// The next item waits until another unit completes more items.
    Blocked(Wait),
    /// All items are done.
    Finished,
}

/// One engine or queue.
#[derive(Clone, Debug)]
pub(super) struct UnitState {
    /// Next item.
    pub next: usize,
    /// Items in total.
    pub len: usize,
    /// When the unit can start another item.
    pub free_at: SimTime,
    /// Completion time of each item so far, never decreasing.
    pub completed: Vec<SimTime>,
    /// Whether the next item can start.
    pub readiness: Readiness,
}

impl UnitState {
    pub fn new(len: usize) -> Self {
        Self {
            next: 0,
            len,
            free_at: SimTime::ZERO,
            completed: Vec::with_capacity(len),
            readiness: Readiness::Finished,
        }
    }

    /// Records the completion of the next item; in-order units never complete out of order.
    pub fn complete(&mut self, at: SimTime) {
        let at = self.completed.last().map_or(at, |last| at.max(*last));
        self.completed.push(at);
        self.next += 1;
    }

    /// The time at which `count` items are complete, if that is known.
    pub fn completion_of(&self, count: u32) -> Option<SimTime> {
        match count.checked_sub(1) {
            None => Some(SimTime::ZERO),
            Some(i) => self.completed.get(i as usize).copied(),
        }
    }
}

/// Every unit of a core by [`Unit::index`].
pub(super) const UNITS: [Unit; Unit::COUNT] = [
    Unit::Engine(Engine::Tensor),
    Unit::Engine(Engine::Vector),
    Unit::Engine(Engine::Scalar),
    Unit::Engine(Engine::GpSimd),
    Unit::Queue(DmaQueue::Io),
    Unit::Queue(DmaQueue::Weights),
    Unit::Queue(DmaQueue::Custom),
    Unit::Queue(DmaQueue::Spill),
];

/// A unit's name in messages.
pub(super) const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Engine(e) => e.name(),
        Unit::Queue(q) => q.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_units_is_in_index_order() {
        for (i, unit) in UNITS.iter().enumerate() {
            assert_eq!(unit.index(), i);
        }
    }
}
