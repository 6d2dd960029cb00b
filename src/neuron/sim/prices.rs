//! What an engine's instructions cost, computed once for tiles that repeat.

use ns_base::SimTime;
use ns_machine::cost::{CostTable, InstructionCost, instruction_cost, psum_time, tile_crossing};
use ns_machine::isa::{Engine, Op};

use super::throttle::paces;

/// Everything about an instruction that depends only on its operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    /// Of which operation.
    key: Key,
    /// The time for which it holds its engine at the published clock.
    pub interval: SimTime,
    /// Its cost after a window of light work and after one of dense work.
    pub paces: [InstructionCost; 2],
    /// The time for which it holds the port of PSUM if it reads from there.
    pub psum: SimTime,
    /// Of the load of a stationary tile: how much later the results of its products leave the array; zero for any other.
    pub crossing: SimTime,
}

/// The prices of an engine's last operations, each in the slot of its kind and size: few kinds and sizes alternate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices([Price; SLOTS]);

/// Eight prices answer for 49 of 50 operations of BERT and ResNet; sixteen answer for no more.
const SLOTS: usize = 8;

impl Prices {
    /// No price is known.
    pub const fn new() -> Self {
        const FREE: InstructionCost = InstructionCost { interval: SimTime::ZERO, latency: SimTime::ZERO };
        const UNKNOWN: Price = Price {
            key: Key::NONE,
            interval: SimTime::ZERO,
            paces: [FREE; 2],
            psum: SimTime::ZERO,
            crossing: SimTime::ZERO,
        };
        Self([UNKNOWN; SLOTS])
    }

    /// The slot of the price of `op`, which is there until another one is asked for.
    #[inline]
    pub fn find(&mut self, costs: &CostTable, engine: Engine, op: &Op) -> usize {
        let key = Key::of(op);
        let slot = key.slot();
        let last = &mut self.0[slot];
        if last.key != key {
            *last = price(costs, engine, op, key);
        }
        slot
    }

    /// The price in a slot.
    #[inline]
    pub fn at(&self, slot: usize) -> &Price {
        &self.0[slot % SLOTS]
    }
}

/// An operation as numbers, which are compared faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    kind: u32,
    size: u32,
    rest: u64,
}

impl Key {
    /// That of no operation.
    const NONE: Self = Self::new(u32::MAX, 0, 0);

    const fn new(kind: u32, size: u32, rest: u64) -> Self {
        Self { kind, size, rest }
    }

    #[inline]
    fn of(op: &Op) -> Self {
        match *op {
            Op::LdWeights { rows, columns } => Self::new(0, columns, rows.into()),
            Op::Matmul { free, passes } => Self::new(1, free, passes.into()),
            Op::TensorScalar { free } => Self::new(2, free, 0),
            Op::TensorTensor { free, sbuf_only } => Self::new(3, free, sbuf_only.into()),
            Op::TensorReduce { free } => Self::new(4, free, 0),
            Op::TensorCopy { free } => Self::new(5, free, 0),
            Op::Memset { free } => Self::new(6, free, 0),
            Op::Activate { free } => Self::new(7, free, 0),
            Op::ActivateReduce { free } => Self::new(8, free, 0),
            Op::ActTableLoad => Self::new(9, 0, 0),
            Op::CustomElementwise { elements } => Self::new(10, 0, elements),
            Op::CustomKernel { time_ps, .. } => Self::new(11, 0, time_ps),
        }
    }

    /// Where its price is kept. Sizes are often multiples of 16.
    #[inline]
    const fn slot(self) -> usize {
        (self.kind.wrapping_mul(3).wrapping_add(self.size / 16)) as usize % SLOTS
    }
}

#[inline(never)]
fn price(costs: &CostTable, engine: Engine, op: &Op, key: Key) -> Price {
    let cost = instruction_cost(costs, engine, op);
    let paces = match costs.engine.tensor_throttle {
        Some(throttle) if engine == Engine::Tensor => paces(throttle, cost),
        _ => [cost; 2],
    };
    let crossing = match *op {
        Op::LdWeights { rows, columns } => tile_crossing(costs, rows, columns),
        _ => SimTime::ZERO,
    };
    Price { key, interval: cost.interval, paces, psum: psum_time(costs, engine, op), crossing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_price_is_that_of_its_operation() {
        let costs = CostTable::inferentia2();
        let mut prices = Prices::new();
        for round in 0..3 {
            for free in [1, 17, 64, 65, 512, 2_048] {
                for op in [
                    Op::TensorScalar { free },
                    Op::TensorTensor { free, sbuf_only: false },
                    Op::TensorTensor { free, sbuf_only: true },
                    Op::TensorReduce { free },
                    Op::Memset { free },
                    Op::Activate { free },
                    Op::ActivateReduce { free },
                    Op::ActTableLoad,
                    Op::CustomElementwise { elements: free.into() },
                    Op::CustomKernel { elements: 1, time_ps: free.into() },
                ] {
                    let slot = prices.find(&costs, Engine::Vector, &op);
                    let (found, cost) = (*prices.at(slot), instruction_cost(&costs, Engine::Vector, &op));
                    assert_eq!((found.interval, found.paces), (cost.interval, [cost; 2]), "{round}: {op:?}");
                    assert_eq!(found.psum, psum_time(&costs, Engine::Vector, &op));
                }
            }
        }
    }

    #[test]
    fn the_limits_of_the_clock_are_in_the_prices_of_the_tensor_engine() {
        let costs = CostTable::inferentia2();
        let throttle = costs.engine.tensor_throttle.unwrap();
        let mut prices = Prices::new();
        for op in [
            Op::Matmul { free: 512, passes: 1 },
            Op::LdWeights { rows: 128, columns: 128 },
            Op::Matmul { free: 512, passes: 4 },
        ] {
            let slot = prices.find(&costs, Engine::Tensor, &op);
            assert_eq!(prices.at(slot).paces, paces(throttle, instruction_cost(&costs, Engine::Tensor, &op)));
        }
    }
}
