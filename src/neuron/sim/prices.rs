//! What the operations of an executable cost, computed once for the instructions that share one.

use ns_base::{IndexVec, SimTime};
use ns_machine::cost::{CostTable, InstructionCost, instruction_cost, psum_time, tile_crossing};
use ns_machine::isa::{Engine, Op};
use ns_machine::{EngineOp, OpId, OpTable};

use super::throttle::paces;

/// Everything about an instruction that depends only on its operation. Most are numbers instead of a case for each operation, because a
/// processor cannot guess which comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Price {
    /// Its cost after a window of light work and after one of dense work.
    pub paces: [Pace; 2],
    /// How much earlier it can start than when the engine is free: a stationary tile loads while the matmul before it still streams, and
    /// never delays the next one. Zero for any other.
    pub overlap: SimTime,
    /// The time for which it holds the port of PSUM if it reads from there.
    pub psum: SimTime,
    /// The stationary tile that it loads.
    pub tile: Option<Tile>,
    /// Whether its results cross the array.
    pub is_product: bool,
}

/// A stationary tile in the array of the tensor engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tile {
    /// Processing elements that it uses.
    pub elements: u64,
    /// How much later the results of its products leave the array than those of a quadrant.
    pub crossing: SimTime,
}

/// The cost of an instruction at a limit of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// From its start until the engine can start the next one.
    pub interval: SimTime,
    /// The same on an idle engine. The array reads a stationary tile after the matmuls before it; an idle array waits for it.
    pub idle_interval: SimTime,
    /// From its start until its result can be read.
    pub latency: SimTime,
    /// The time that counts as work of the tensor engine. Loads do not count: a tile is loaded while the product before it streams.
    pub work: SimTime,
}

/// The prices of an executable's operations.
pub(super) type Prices = IndexVec<OpId, Price>;

/// The price of each operation of a table.
pub(super) fn prices(costs: &CostTable, ops: &OpTable) -> Prices {
    let cost = |entry: &EngineOp| instruction_cost(costs, entry.engine, &entry.op);
    ops.iter().map(|entry| Price::of_cost(costs, *entry, cost(entry))).collect()
}

impl Price {
    /// The price of an operation that costs this at the published clock.
    pub fn of_cost(costs: &CostTable, EngineOp { engine, op }: EngineOp, cost: InstructionCost) -> Self {
        let paces = match costs.engine.tensor_throttle {
            Some(throttle) if engine == Engine::Tensor => paces(throttle, cost),
            _ => [cost; 2],
        };
        let array = u64::from(costs.core.partitions).pow(2);
        let tile = match op {
            Op::LdWeights { rows, columns } => Some(Tile {
                elements: (u64::from(rows) * u64::from(columns)).min(array),
                crossing: tile_crossing(costs, rows, columns),
            }),
            _ => None,
        };
        let is_load = tile.is_some();
        Self {
            paces: paces.map(|cost| Pace {
                interval: cost.interval,
                idle_interval: if is_load { cost.latency } else { cost.interval },
                latency: cost.latency,
                work: if is_load { SimTime::ZERO } else { cost.interval },
            }),
            overlap: if is_load { cost.interval } else { SimTime::ZERO },
            psum: psum_time(costs, engine, &op),
            tile,
            is_product: matches!(op, Op::Matmul { .. }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prices of operations, and the cost of each at the published clock.
    fn of(costs: &CostTable, engine: Engine, list: &[Op]) -> Vec<(Price, InstructionCost)> {
        let mut ops = OpTable::default();
        let ids: Vec<OpId> = list.iter().map(|op| ops.id_of(engine, *op)).collect();
        let prices = prices(costs, &ops);
        ids.into_iter().zip(list).map(|(id, op)| (prices[id], instruction_cost(costs, engine, op))).collect()
    }

    #[test]
    fn a_load_overlaps_the_product_before_it_and_is_no_work() {
        let costs = CostTable::neuroncore_v3().unwrap();
        let list = [Op::LdWeights { rows: 128, columns: 64 }, Op::Matmul { free: 512, passes: 1 }];
        let [(load, load_cost), (product, product_cost)] = of(&costs, Engine::Tensor, &list).try_into().unwrap();
        let pace = load.paces.map(|pace| (pace.idle_interval == pace.latency, pace.work));
        assert_eq!((load.overlap, pace), (load_cost.interval, [(true, SimTime::ZERO); 2]));
        assert_eq!(load.tile.map(|tile| tile.elements), Some(128 * 64));
        let pace = product.paces.map(|pace| pace.idle_interval == pace.interval && pace.work == pace.interval);
        assert_eq!((product.overlap, product.tile, pace), (SimTime::ZERO, None, [true; 2]));
        assert!(product.is_product && !load.is_product && product.paces[1].interval >= product_cost.interval);
    }

    #[test]
    fn other_engines_have_their_cost_whatever_limits_the_tensor_engine() {
        let costs = CostTable::inferentia2();
        let list = [
            Op::TensorScalar { free: 17 },
            Op::TensorTensor { free: 512, sbuf_only: true },
            Op::TensorTensor { free: 512, sbuf_only: false },
            Op::CustomElementwise { elements: 9 },
            Op::CustomKernel { elements: 1, time_ps: 77, mhz: 1_400 },
        ];
        for ((price, cost), op) in of(&costs, Engine::Vector, &list).into_iter().zip(list) {
            let paces = price.paces.map(|pace| (pace.interval, pace.idle_interval, pace.latency));
            assert_eq!(paces, [(cost.interval, cost.interval, cost.latency); 2], "{op:?}");
            assert_eq!((price.psum, price.is_product), (psum_time(&costs, Engine::Vector, &op), false));
        }
    }
}
