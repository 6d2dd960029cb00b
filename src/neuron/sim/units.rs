//! The units of a core.

use ns_machine::isa::{DmaQueue, Engine, Unit};

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
