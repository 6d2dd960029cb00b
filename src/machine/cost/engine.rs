//! The cost of one instruction: how long its engine is held, and when its result is available.

use super::CostTable;
use crate::isa::{Engine, Op};
use ns_base::SimTime;

/// Cost of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionCost {
    /// From its start until the engine can start the next one.
    pub interval: SimTime,
    /// From its start until its result can be read. At least `interval`.
    pub latency: SimTime,
}

/// The cost of `op` on `engine`, by the NKI cost table (`max(MIN_II, N)` and its variants) and the architecture
/// guide's latency rules; see [`super::EngineCosts`] for each constant.
pub fn instruction_cost(costs: &CostTable, engine: Engine, op: &Op) -> InstructionCost {
    let e = &costs.engine;
    let at_least_min = |cycles: u32| u64::from(cycles.max(e.min_interval_cycles));
    let fixed = u64::from(e.static_overhead_cycles);
    let access = u64::from(e.memory_access_cycles);
    let cycles = |interval: u64, extra: u64| {
        let mhz = engine_mhz(costs, engine);
        // The instructions alternate between the physical cores of a logical core.
        let each = interval.div_ceil(u64::from(costs.core.physical_cores.max(1)));
        InstructionCost { interval: cycles_to_time(each, mhz), latency: cycles_to_time(interval + extra, mhz) }
    };
    match *op {
        // Its read of SBUF shows only when no matmul before it hides the read; the simulator takes care of that.
        Op::LdWeights { columns, .. } => {
            cycles(at_least_min(columns) / u64::from(e.fast_weight_load_factor.max(1)), access)
        }
        Op::Matmul { free, passes } => {
            let streamed = at_least_min(free) * u64::from(passes);
            // Below the minimum interval the array waits anyway; only streaming falls short of the peak.
            let interval = if free > e.min_interval_cycles {
                (streamed * 1_000).div_ceil(u64::from(e.sustained_matmul_permille))
            } else {
                streamed
            };
            // It reads SBUF and writes PSUM. The fixed overhead is documented for the vector and the scalar engine. The
            // simulator adds the crossing of its tile.
            cycles(interval, 2 * access + u64::from(e.array_latency_cycles))
        }
        Op::TensorScalar { free } | Op::TensorCopy { free } => cycles(at_least_min(free), fixed),
        Op::TensorReduce { free } => cycles(at_least_min(free.div_ceil(e.reduce_elements_per_cycle.max(1))), fixed),
        Op::TensorTensor { free, sbuf_only } => {
            cycles(at_least_min(if sbuf_only { free.saturating_mul(e.sbuf_pair_cycles) } else { free }), fixed)
        }
        Op::Memset { free } => cycles(at_least_min(free), if engine == Engine::GpSimd { 0 } else { fixed }),
        // The overhead holds the engine: instructions of 512 elements were measured 450 ns apart, 84 ns more than they stream.
        Op::Activate { free } => cycles(at_least_min(free) + fixed, access),
        // The cost table adds one minimum interval for reading the accumulator.
        Op::ActivateReduce { free } => cycles(at_least_min(free) + u64::from(e.min_interval_cycles) + fixed, access),
        Op::ActTableLoad => {
            let time = SimTime::from_ns(e.act_table_load_ns);
            InstructionCost { interval: time, latency: time }
        }
        Op::CustomElementwise { elements } => {
            let start = cycles_to_time(u64::from(e.gpsimd_start_cycles), engine_mhz(costs, engine));
            let time = start + SimTime(e.custom_element_ps).times(elements);
            InstructionCost { interval: time, latency: time }
        }
        Op::Kernel { cycles, .. } => kernel_cost(costs, engine, cycles),
        Op::CustomKernel { time_ps, mhz, .. } => {
            let now = u128::from(engine_mhz(costs, engine).max(1));
            let time = SimTime(u64::try_from(u128::from(time_ps) * u128::from(mhz) / now).unwrap_or(u64::MAX));
            InstructionCost { interval: time, latency: time }
        }
    }
}

/// The cost of an instruction of an NKI kernel that holds its engine for `cycles`.
fn kernel_cost(costs: &CostTable, engine: Engine, cycles: u32) -> InstructionCost {
    let k = &costs.kernel;
    let mhz = engine_mhz(costs, engine);
    let of_engine = |cycles: u32| cycles_to_time(u64::from(cycles), mhz);
    let (fixed, result) = match engine {
        Engine::Tensor => (SimTime(k.tensor_fixed_ps), SimTime::from_ns(k.tensor_result_ns)),
        Engine::Vector => (of_engine(k.vector_fixed_cycles), SimTime::ZERO),
        Engine::Scalar => {
            let fixed = SimTime::from_ns(k.scalar_fixed_ns);
            (fixed, SimTime::from_ns(k.scalar_latency_ns).saturating_sub(fixed))
        }
        Engine::GpSimd => (of_engine(costs.engine.gpsimd_start_cycles), SimTime::ZERO),
    };
    let interval = of_engine(cycles) + fixed;
    InstructionCost { interval, latency: interval + result }
}

/// The time for which `op` holds `engine` because of its elements: beyond the minimum interval, which it is held for whatever
/// the instruction does.
pub fn element_time(costs: &CostTable, engine: Engine, op: &Op) -> SimTime {
    let interval = |op: &Op| instruction_cost(costs, engine, op).interval.0;
    SimTime(interval(op).saturating_sub(interval(&op.of_one_element())))
}

/// The time for which `op` holds the port of PSUM: while its elements pass, without the overhead of the instruction.
pub fn psum_time(costs: &CostTable, engine: Engine, op: &Op) -> SimTime {
    let elements = op.free_elements().unwrap_or(0).max(costs.engine.min_interval_cycles);
    cycles_to_time(elements.into(), engine_mhz(costs, engine))
}

/// How much later the last result of a product leaves the array because its stationary tile is larger than a quadrant.
pub fn tile_crossing(costs: &CostTable, rows: u32, columns: u32) -> SimTime {
    let quadrant = costs.engine.array_quadrant.max(1);
    let further = |n: u32| n.min(costs.core.partitions).next_multiple_of(quadrant).saturating_sub(quadrant);
    cycles_to_time(u64::from(further(rows)) + u64::from(further(columns)), engine_mhz(costs, Engine::Tensor))
}

/// The published clock of an engine.
fn engine_mhz(costs: &CostTable, engine: Engine) -> u32 {
    match engine {
        Engine::Tensor => costs.core.tensor_mhz,
        Engine::Vector => costs.core.vector_mhz,
        Engine::Scalar => costs.core.scalar_mhz,
        Engine::GpSimd => costs.core.gpsimd_mhz,
    }
}

/// Cycles to time, rounded to the nearest picosecond once per instruction.
fn cycles_to_time(cycles: u64, mhz: u32) -> SimTime {
    let mhz = u64::from(mhz.max(1));
    SimTime((cycles.saturating_mul(1_000_000) + mhz / 2) / mhz)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency_ns(engine: Engine, op: Op) -> u64 {
        instruction_cost(&CostTable::neuroncore_v2(), engine, &op).latency.to_ns()
    }

    #[test]
    fn small_instructions_land_on_the_published_operator_times() {
        // Operator tables of the two-layer example: one dot ~140 ns (279 for two), tanh 159 ns.
        let dot = latency_ns(Engine::Tensor, Op::LdWeights { rows: 4, columns: 4 })
            + latency_ns(Engine::Tensor, Op::Matmul { free: 4, passes: 1 });
        assert!((133..=146).contains(&dot), "{dot}");
        let tanh = latency_ns(Engine::Scalar, Op::Activate { free: 4 });
        assert!((151..=167).contains(&tanh), "{tanh}");
    }

    /// 112 profiles of Inf2: 157.8 ns and 0.348 ns for each moving row, with a tile of 128 x 128.
    #[test]
    fn a_product_takes_the_measured_latency() {
        let costs = CostTable::inferentia2();
        for (free, measured) in [(128, 206.0), (256, 240.5), (384, 298.0), (512, 330.0)] {
            let product = instruction_cost(&costs, Engine::Tensor, &Op::Matmul { free, passes: 1 }).latency;
            let here = (product + tile_crossing(&costs, 128, 128)).to_secs_f64() * 1e9;
            assert!((here / measured - 1.0).abs() < 0.05, "{free}: {here} ns, measured {measured}");
        }
        assert_eq!(tile_crossing(&costs, 4, 32), SimTime::ZERO);
        assert_eq!(tile_crossing(&costs, 256, 128), tile_crossing(&costs, 128, 128));
        assert!(tile_crossing(&costs, 33, 1) == tile_crossing(&costs, 64, 1));
    }

    #[test]
    fn min_interval_is_the_measured_58_6_ns_on_vector() {
        let costs = CostTable::neuroncore_v2();
        let tiny = instruction_cost(&costs, Engine::Vector, &Op::TensorTensor { free: 1, sbuf_only: false });
        assert!((tiny.interval.to_ns() as f64 - 58.6).abs() < 2.0);
    }

    #[test]
    fn elements_below_the_minimum_interval_take_no_time_of_their_own() {
        let costs = CostTable::neuroncore_v2();
        let of = |free| element_time(&costs, Engine::Vector, &Op::TensorScalar { free }).0;
        let min = costs.engine.min_interval_cycles;
        assert_eq!((of(1), of(min)), (0, 0));
        let cycles = of(min + 1_120) as f64 * f64::from(costs.core.vector_mhz) / 1e6;
        assert!((cycles - 1_120.0).abs() < 1.0, "{cycles}");
        let pair = element_time(&costs, Engine::Vector, &Op::TensorTensor { free: 512, sbuf_only: true });
        assert!(pair.0 > 2 * of(512), "two tensors of SBUF take two cycles an element");
    }

    #[test]
    fn fp32_takes_four_passes() {
        let costs = CostTable::neuroncore_v2();
        let mm = instruction_cost(&costs, Engine::Tensor, &Op::Matmul { free: 512, passes: 1 });
        let fp32 = instruction_cost(&costs, Engine::Tensor, &Op::Matmul { free: 512, passes: 4 });
        let ratio = fp32.interval.to_secs_f64() / mm.interval.to_secs_f64();
        assert!((ratio - 4.0).abs() < 0.01, "fp32 takes four passes, not {ratio}");
    }
}
