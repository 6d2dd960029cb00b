//! Costs of the instructions and transfers that the author of an NKI kernel wrote.
//!
//! They are kept apart from those of compiled models: measured kernels show what single instructions cost, published rows of models what the
//! compiler's code costs in the mean.

use super::CostTable;
use super::entry::{CostStatus, Entry, cost_fields};
use crate::isa::{Engine, KernelOpcode};

cost_fields! {
    /// Costs of NKI kernels.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct KernelCosts in "NKI kernels" {
        /// Time of a product beside its columns, picoseconds.
        tensor_fixed_ps: u64, "ps", Measured, "77.2 of 78.6 TFLOPS: 3.9 ns for each product of 512 columns";
        /// From the last column of a product until PSUM holds its result, nanoseconds.
        tensor_result_ns: u64, "ns", Measured, "158 ns beside the columns in 112 profiles on Inf2";
        /// Cycles for each column of a transpose in fp32 by the array.
        transpose_cycles: u32, "cycles a column", Published,
            "fp32 takes four passes; v3 has a transpose mode that takes two. 16 bit: 1";
        /// Cycles of an instruction of the vector engine beside its elements.
        vector_fixed_cycles: u32, "cycles", Published,
            "architecture guide: about 100; the vector engine's time in measured kernels on Trn2 gives 80 to 115 ns";
        /// Cycles an element of two tensors in SBUF, of 32 bits.
        pair_cycles: u32, "cycles an element", Published,
            "cost table: 2; v3 derived: 1,729 us for what 1 cycle takes 1,638 and 2 cycles 3,277";
        /// Cycles an element of a scan.
        scan_cycles: u32, "cycles an element", Published, "cost table, and the vector engine's time in a scan on Trn2";
        /// Cycles of a reciprocal on the vector engine, thousandths of a cycle an element.
        reciprocal_permille: u32, "thousandths of a cycle an element", Derived,
            "985 us of the vector engine in a kernel on Trn1; the cost table says 8,000";
        /// Cycles for each element of a partition in a transpose by the vector engine.
        vector_transpose_cycles: u32, "cycles an element", Derived, "256 transposes of 128 x 128: 65 to 857 us";
        /// Elements of 16 bits that a copy between tiles of SBUF moves in a cycle; half as many from or to PSUM or with a stride.
        copy_elements: u32, "elements a cycle", Published, "architecture guide: v3 moves four in a cycle";
        /// Time of an instruction of the scalar engine beside its elements, when the next one waits, nanoseconds.
        scalar_fixed_ns: u64, "ns", Measured, "84 ns in 112 profiles on Inf2; v3: 225 to 245 where it is the bottleneck";
        /// The same until its result can be read.
        scalar_latency_ns: u64, "ns", Measured, "139 ns in 112 profiles on Inf2; v3: 295 in a picture of a Trn2 profile";
        /// Cycles an element of an instruction of the GpSimd engine that is no constant, count or selection.
        gpsimd_cycles: u32, "cycles an element", Chosen, "no document says it; selections take one (cost table)";
        /// Rate of one DMA engine in a kernel, bytes per microsecond.
        dma_engine_bytes_per_us: u64, "bytes/us of an engine", Published,
            "DMA guide: 17 B/ns; v3 derived: 25.0 +- 0.4 in kernels that only stream (406 GB/s, read and written), beside the guide's 23";
        /// Time of one descriptor on its engine beside its bytes, picoseconds.
        dma_descriptor_ps: u64, "ps a descriptor", Measured, "eight of 256 B on one engine take 97 ns";
        /// Shortest interval between two DMAs of a queue with static descriptors, or of the core with one descriptor engine, nanoseconds.
        dma_issue_ns: u64, "ns", Measured,
            "65,536 loads of a product on Trn1 take 39.0 ms; 127,000 of a kernel on Trn2 76.7 ms; with a descriptor engine 0.49 to 0.63";
        /// SBUF of a partition that a kernel cannot use, bytes.
        sbuf_reserved_bytes: u64, "bytes a partition", Derived,
            "of 224 KiB on Trn2, 208 and more spill in 221 of 221 settings of a product";
        /// SBUF of a partition that is free after values were spilled, beside what cannot be used, bytes.
        spill_room_bytes: u64, "bytes a partition", Derived,
            "bytes moved by the settings of a product that spill: what is above 192 KiB leaves and comes back";
        /// Time of a call in the times that `nki.benchmark` prints, nanoseconds.
        call_ns: u64, "ns", Derived, "15, 28 and 26 us for kernels of 4, 13 and 11 us; only the first dialect has `nki.benchmark`";
    }
}

impl KernelCosts {
    /// NeuronCore-v2.
    pub(super) const V2: Self = Self {
        tensor_fixed_ps: 3_900,
        tensor_result_ns: 160,
        transpose_cycles: 4,
        vector_fixed_cycles: 100,
        pair_cycles: 2,
        scan_cycles: 2,
        reciprocal_permille: 1_200,
        vector_transpose_cycles: 23,
        copy_elements: 1,
        scalar_fixed_ns: 84,
        scalar_latency_ns: 139,
        gpsimd_cycles: 2,
        dma_engine_bytes_per_us: 17_000,
        dma_descriptor_ps: 2_000,
        dma_issue_ns: 600,
        sbuf_reserved_bytes: 16 << 10,
        spill_room_bytes: 16 << 10,
        call_ns: 11_000,
    };

    /// NeuronCore-v3.
    pub(super) const V3: Self = Self {
        transpose_cycles: 2,
        pair_cycles: 1,
        copy_elements: 4,
        scalar_fixed_ns: 230,
        scalar_latency_ns: 295,
        dma_engine_bytes_per_us: 25_000,
        ..Self::V2
    };
}

/// What the cycles of a kernel's instruction depend on.
#[derive(Clone, Copy, Debug)]
pub struct KernelWork {
    /// Which engine runs it.
    pub engine: Engine,
    /// What it does.
    pub opcode: KernelOpcode,
    /// Elements per partition.
    pub free: u32,
    /// Whether all operands have at most 16 bits.
    pub is_narrow: bool,
    /// Whether an operand is in PSUM.
    pub in_psum: bool,
    /// Whether an operand has gaps between its elements.
    pub has_gaps: bool,
}

/// Cycles that the elements of an instruction hold its engine, beside what every instruction costs.
pub fn kernel_cycles(costs: &CostTable, work: &KernelWork) -> u32 {
    let KernelWork { engine, opcode, free, is_narrow, in_psum, has_gaps } = *work;
    let (k, n) = (&costs.kernel, u64::from(free));
    let cycles = match (engine, opcode) {
        // A product in fp32 is two instructions of two passes.
        (Engine::Tensor, KernelOpcode::Matmul) => n.max(64) * if is_narrow { 1 } else { 2 },
        (Engine::Tensor, _) => n.max(64) * if is_narrow { 1 } else { u64::from(k.transpose_cycles) },
        (Engine::Scalar, KernelOpcode::ActivateReduce) => n.max(64) + 64,
        (Engine::Vector, KernelOpcode::TensorTensor | KernelOpcode::ScalarTensorTensor) => {
            n * if in_psum || is_narrow { 1 } else { u64::from(k.pair_cycles) }
        }
        (Engine::Vector, KernelOpcode::Scan) => n * u64::from(k.scan_cycles),
        (Engine::Vector, KernelOpcode::Transpose) => n * u64::from(k.vector_transpose_cycles),
        (Engine::Vector, KernelOpcode::Reciprocal) => (n * u64::from(k.reciprocal_permille)).div_ceil(1_000),
        (Engine::Vector, KernelOpcode::BnAggregate) => 13 * n.div_ceil(3),
        (Engine::Vector, KernelOpcode::Reduce) if is_narrow => n.div_ceil(2),
        (Engine::Vector, KernelOpcode::Copy | KernelOpcode::TensorScalar) if is_narrow => {
            let elements = if in_psum || has_gaps { k.copy_elements.div_ceil(2) } else { k.copy_elements };
            n.div_ceil(u64::from(elements.max(1)))
        }
        (Engine::GpSimd, KernelOpcode::Memset | KernelOpcode::Select) | (Engine::Vector | Engine::Scalar, _) => n,
        (Engine::GpSimd, _) => n * u64::from(k.gpsimd_cycles),
    };
    u32::try_from(cycles.max(64)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::instruction_cost;
    use crate::isa::Op;

    fn ns(costs: &CostTable, engine: Engine, opcode: KernelOpcode, free: u32, is_narrow: bool) -> f64 {
        let work = KernelWork { engine, opcode, free, is_narrow, in_psum: false, has_gaps: false };
        let op = Op::Kernel { opcode, free, cycles: kernel_cycles(costs, &work) };
        instruction_cost(costs, engine, &op).interval.0 as f64 / 1e3
    }

    #[test]
    fn instructions_take_what_kernels_on_trn2_show() {
        let v3 = CostTable::neuroncore_v3().unwrap();
        let of = |engine, opcode, free, is_narrow| ns(&v3, engine, opcode, free, is_narrow);
        // A product of 2048 x 2048 x 2048 in fp32 keeps the array busy for 883 us in its best settings.
        let product = 2.0 * of(Engine::Tensor, KernelOpcode::Matmul, 512, false);
        assert!((1024.0 * product / 883e3 - 1.0).abs() < 0.005, "{product}");
        let transpose = of(Engine::Vector, KernelOpcode::Transpose, 128, false);
        assert!((transpose / 3_100.0 - 1.0).abs() < 0.05, "{transpose}");
        let pair = of(Engine::Vector, KernelOpcode::TensorTensor, 512, false);
        assert!((600.0..660.0).contains(&pair), "{pair}");
        let narrow = of(Engine::Vector, KernelOpcode::Copy, 512, true);
        assert!(narrow < pair / 2.0, "{narrow}");
    }

    #[test]
    fn instructions_across_partitions_take_what_the_documents_say() {
        let v3 = CostTable::neuroncore_v3().unwrap();
        let cycles = |engine, opcode| {
            kernel_cycles(
                &v3,
                &KernelWork { engine, opcode, free: 512, is_narrow: true, in_psum: false, has_gaps: false },
            )
        };
        // A cycle for each element, whatever its type; of a reduction over partitions no figure is published.
        assert_eq!(cycles(Engine::Vector, KernelOpcode::Shuffle), 512);
        assert_eq!(cycles(Engine::GpSimd, KernelOpcode::PartitionReduce), cycles(Engine::GpSimd, KernelOpcode::Other));
    }

    #[test]
    fn more_elements_never_take_less() {
        for costs in [CostTable::neuroncore_v2(), CostTable::neuroncore_v3().unwrap()] {
            for engine in Engine::ALL {
                for opcode in KernelOpcode::ALL {
                    let times = [1, 63, 64, 65, 128, 512, 2_048].map(|free| ns(&costs, engine, opcode, free, false));
                    assert!(times.is_sorted() && times[0] > 0.0, "{engine:?} {opcode:?} {times:?}");
                }
            }
        }
    }
}
