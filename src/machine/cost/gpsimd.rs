//! Costs of kernels on the GPSIMD processors: eight in-order cores, each with local memory (TCM), in front of device memory.
//!
//! All kernels share one set of figures. docs/costs.md gives the source of each.

use super::CostTable;
use super::entry::{CostStatus, Entry, cost_fields};

const GUIDE: &str = "architecture guide of NeuronCore-v2";
const TYPICAL: &str = "typical of in-order cores of this clock; the tutorial's TCM row, which it decides, was in view";
const ASSUMED: &str = "order of magnitude of a scalar core; the pipeline is not public";

cost_fields! {
    /// Costs of one GPSIMD processor, and how many there are.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct GpsimdCosts in "GPSIMD processors" {
        /// Processors of the engine.
        processors: u32, "processors", Published, GUIDE;
        /// Local memory of each processor that `tcm_malloc` gives out, bytes (16 KB of 64 KB).
        tcm_pool_bytes: u64, "bytes", Published, "custom operator API reference: pool of `tcm_malloc`";
        /// Their clock, MHz.
        clock_mhz: u32, "MHz", Published, GUIDE;
        /// Cycles before the first processor begins.
        start_cycles: u32, "cycles", Published, "cost table: `GPSIMD_START` ~ 150";
        /// Cycles of an access to local memory.
        tcm_cycles: u32, "cycles an access", Published, GUIDE;
        /// One element access to device memory, nanoseconds.
        hbm_access_ns: u64, "ns an element", Derived,
            "a DMA's first data comes 740 ns after its trigger, after three crossings: trigger, descriptor, data. The tutorial's element-wise row was in view";
        /// From a DMA's trigger to its first data, nanoseconds.
        dma_start_ns: u64, "ns", Measured, "DMA guide's traces: trigger to first data on a GpSimd queue";
        /// From its last data until the processor continues, nanoseconds: semaphore visible and dependent start.
        dma_end_ns: u64, "ns", Measured, "DMA guide's traces: `completion_ns` and `semaphore_to_engine_ns`";
        /// Rate of the one DMA engine that a copy uses, bytes per microsecond.
        dma_bytes_per_us: u64, "bytes/us", Published, "DMA guide: one engine";
        /// Cycles of an integer operation, an address or a test.
        integer_cycles: u32, "cycles", Chosen, "one instruction a cycle: addresses, tests, counters";
        /// Cycles until an operation in single precision has its result.
        float_cycles: u32, "cycles", Chosen, TYPICAL;
        /// Cycles to fetch again after a jump that is taken: the front of an in-order pipeline.
        jump_cycles: u32, "cycles", Chosen, TYPICAL;
        /// Cycles of a division: an iterative unit, 4 bits a cycle.
        divide_cycles: u32, "cycles", Chosen, ASSUMED;
        /// Cycles of a call and its return: two jumps and two accesses to the stack.
        call_cycles: u32, "cycles", Chosen, ASSUMED;
        /// Cycles of an exponential, a logarithm or a similar function: range reduction and a polynomial of about ten
        /// terms.
        function_cycles: u32, "cycles", Chosen, ASSUMED;
        /// Factor of the time of double precision, for which the processors have no lanes.
        double_factor: u32, "times", Chosen, "no lanes for double precision are documented: software";
    }
}

/// Processors of the engine on every core (published).
pub const GPSIMD_PROCESSORS: u32 = 8;
/// Memory of each processor that `tcm_malloc` gives out (published: 16 KB of 64 KB).
const TCM_POOL_BYTES: u64 = 16 * 1024;

/// Crossings between engine and device memory in the first 740 ns of a DMA: trigger, descriptor, data.
const CROSSINGS_OF_A_DMA: u64 = 3;

impl Default for GpsimdCosts {
    /// The costs of NeuronCore-v2.
    fn default() -> Self {
        Self::of(&CostTable::neuroncore_v2())
    }
}

impl GpsimdCosts {
    /// The processors of a core.
    #[must_use]
    pub fn of(costs: &CostTable) -> Self {
        let dma_start_ns = 740;
        let (jump_cycles, tcm_cycles) = (4, 3);
        Self {
            processors: GPSIMD_PROCESSORS,
            tcm_pool_bytes: TCM_POOL_BYTES,
            clock_mhz: costs.core.gpsimd_mhz,
            start_cycles: costs.engine.gpsimd_start_cycles,
            integer_cycles: 1,
            float_cycles: 4,
            jump_cycles,
            tcm_cycles,
            divide_cycles: 8,
            call_cycles: 2 * (jump_cycles + tcm_cycles),
            function_cycles: 60,
            double_factor: 10,
            hbm_access_ns: (dma_start_ns + CROSSINGS_OF_A_DMA / 2) / CROSSINGS_OF_A_DMA,
            dma_start_ns,
            dma_end_ns: costs.dma.completion_ns + costs.dma.semaphore_to_engine_ns,
            dma_bytes_per_us: costs.dma.engine_bytes_per_us,
        }
    }

    /// Cycles as picoseconds.
    pub const fn cycles_ps(&self, cycles: u32) -> u64 {
        let mhz = if self.clock_mhz == 0 { 1 } else { self.clock_mhz };
        cycles as u64 * 1_000_000 / mhz as u64
    }

    /// Time of a DMA copy that the processor waits for, picoseconds.
    pub const fn dma_ps(&self, bytes: u64) -> u64 {
        let rate = if self.dma_bytes_per_us == 0 { 1 } else { self.dma_bytes_per_us };
        (self.dma_start_ns + self.dma_end_ns) * 1_000 + bytes.saturating_mul(1_000_000) / rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_takes_about_the_documented_fixed_time() {
        let costs = GpsimdCosts::of(&CostTable::neuroncore_v2());
        // The DMA guide names about 1.3 us for a small copy between engines.
        let chunk_ns = costs.dma_ps(4_096) / 1_000;
        assert!((1_200..1_400).contains(&chunk_ns), "{chunk_ns}");
        assert_eq!(costs.hbm_access_ns, 247);
        assert_eq!(costs.cycles_ps(14), 10_000);
    }
}
