//! The constants. "Published" figures are from AWS documentation; "measured" ones were read off device traces or the
//! profiler's pictures that AWS published; "derived" ones are arithmetic on those. The register lists them with their
//! sources, and docs/costs.md is printed from it.

use super::entry::{CostStatus, Entry, cost_fields};
use super::generations::{INF2_THROTTLE, TRN1_THROTTLE};
use super::lazy::{RECORD_OP_NS, load_batch_ns};
use super::{Calibration, FITTED, KernelCosts, Throttle};
use crate::arch::{CoreSpec, NEURONCORE_V2};

cost_fields! {
    /// Costs of the compute engines, in cycles of the engine unless stated otherwise.
    #[derive(Clone, Debug, PartialEq)]
    pub struct EngineCosts in "Engines" {
        /// Shortest initiation interval of any instruction.
        min_interval_cycles: u32, "engine cycles", Published, "cost table: `MIN_II` ~ 64";
        /// Added once when an instruction of the vector, the scalar or the GpSimd engine is short or depends on the
        /// previous one.
        static_overhead_cycles: u32, "engine cycles", Published,
            "architecture guide: about 100 for short or dependent instructions";
        /// Access to SBUF or PSUM that pipelining does not hide. Charged where a dependent chain shows it: the array's
        /// read of a stationary tile after idle time, its read of the moving tile and its write to PSUM; the scalar
        /// engine's read of PSUM.
        memory_access_cycles: u32, "engine cycles", Published,
            "architecture guide: SBUF and PSUM access. 64 + 100 + 60 of the 264 cycles that the performance guide measured for a dependent scalar-engine chain";
        /// Cycles per element of an operation on two tensors in SBUF.
        sbuf_pair_cycles: u32, "cycles an element", Published,
            "cost table: two tensors in SBUF; 1 when all are 16 bits wide (`--auto-cast all`)";
        /// Engines that PSUM serves at once, of the vector and the scalar engine.
        psum_readers: u32, "engines at once", Published,
            "architecture guides: the vector and the scalar engine share a port of PSUM on v2, which v3 lifts. An instruction holds the port while its elements pass";
        /// Elements of a reduction per cycle.
        reduce_elements_per_cycle: u32, "elements", Published,
            "cost table: 1; 2 when they are 16 bits wide (`--auto-cast all`)";
        /// The array's part of a product's latency, for a tile of one quadrant.
        array_latency_cycles: u32, "engine cycles", Derived,
            "profiling tutorial: a product of one quadrant of the array and its load take 140 ns";
        /// Rows and columns of a quadrant of the array, the smallest part that a tile uses. Each row and column of a
        /// larger tile is a cycle more until the last result leaves the array: 206 ns instead of 137 were measured for
        /// 128 x 128.
        array_quadrant: u32, "rows, columns", Published,
            "architecture guide: the array is divided into tiles of 32 x 32. That each further row and column of a tile is a cycle until the last result leaves is derived: it gives the 158 ns beside the moving rows that were measured for 128 x 128";
        /// A stationary tile loads this many times faster than a moving tile of the same size streams.
        fast_weight_load_factor: u32, "times faster", Published, "architecture guide: \"up to 4x\"";
        /// Share of the rate at the limited clock that back-to-back matmuls sustain, in thousandths.
        sustained_matmul_permille: u32, "thousandths of the rate at the limited clock", Derived,
            "a profile of a product of 8192 x 8192 matrices on Trn1: 0.866 of the published clock's rate while the engine is active, over the limit of 7/8. v3 measured: a kernel of full tiles reaches 77.2 of 78.6 TFLOPS";
        /// Limit of the tensor engine's clock by its utilisation; `None` runs at the published clock.
        tensor_throttle: Option<Throttle>, "eighths of the clock", Measured,
            "profiles of dense and mixed products on Trn1 and Inf2: 7/8 whenever the engine works; Inf2 is held to 5/8 after a window that used more. Products count by the processing elements of their tile, rows times columns; loads do not count, since they run behind a product. That columns count was chosen with the rows in view: profiles with few columns are not public. Published for Trn2 and Trn3 (Neuron Explorer): half the rate until a window of about 3 us is half used";
        /// Loading another activation table, nanoseconds (1.29 us on Trn2).
        act_table_load_ns: u64, "ns", Measured,
            "112 profiles of products on Inf2, all 368; profiling tutorial's timelines: 420 to 550; v3: the Trn2 trace of the DMA overview";
        /// Extra cycles before a GpSimd instruction starts.
        gpsimd_start_cycles: u32, "engine cycles", Published, "cost table: `GPSIMD_START` ~ 150";
        /// Time per element of the element-wise custom ReLU that models call, picoseconds: a test runs its kernel again
        /// on [`GpsimdCosts`](super::GpsimdCosts).
        custom_element_ps: u64, "ps an element", Derived,
            "the kernel of an element-wise ReLU, run on the GPSIMD costs below: 2.5 accesses to device memory, 27 cycles";
        /// From one engine's completion to another engine's start, nanoseconds (measured: ~30 ns on the hardware path).
        semaphore_ns: u64, "ns", Measured, "DMA guide's traces: completion of one engine to the start on another";
    }
}

cost_fields! {
    /// Costs of DMA.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DmaCosts in "DMA" {
        /// From the trigger to the first data, nanoseconds.
        trigger_to_data_ns: u64, "ns", Measured,
            "DMA guide's traces: 740 on a GpSimd queue to about 900 on a Sync queue";
        /// Shortest interval between two DMAs of one queue, nanoseconds.
        issue_interval_ns: u64, "ns", Derived,
            "profiling tutorial: five loads keep DMA busy for 2.1 us, of which one load's latency is about 1 us. v3: published for its descriptor engines, 575 to 914 measured";
        /// Shortest data phase, nanoseconds.
        min_data_ns: u64, "ns", Measured, "DMA guide's traces: 8 descriptors of 256 B on one engine";
        /// From the last data to the semaphore being visible, nanoseconds.
        completion_ns: u64, "ns", Measured, "DMA guide's traces: last data to semaphore";
        /// From the visible semaphore to the dependent engine's start, nanoseconds.
        semaphore_to_engine_ns: u64, "ns", Measured,
            "DMA guide's traces: about 300 from the end of a DMA to the dependent start, less the 190 above";
        /// Usable rate of one DMA engine, bytes per microsecond.
        engine_bytes_per_us: u64, "bytes/us", Published, "DMA guide: 17, 23 and 33 B/ns";
        /// Time of one descriptor beside its bytes with all engines of a core at work, picoseconds.
        descriptor_ps: u64, "ps a descriptor", Derived,
            "for each row that lies in one piece, beside its bytes: 43 ns on one of sixteen engines explain measured reads of 128 rows of 128 B, 2 KiB, 4 KiB and 32 KiB on Inf2 (40.8, 207.5, 220, 270.8 GB/s) within 5 %. v3: loads and stores of 1 KiB at 259 GB/s beside 354 for 4 KiB; v4 in proportion to the published bandwidth";
        /// SBUF partitions that one DMA engine serves.
        partitions_per_engine: u32, "partitions", Published, "DMA guide: engine e serves partitions 8e to 8e + 7";
        /// Rate of all engines of a core together, bytes per microsecond.
        aggregate_bytes_per_us: u64, "bytes/us", Published,
            "DMA guide: 272 GB/s, at which the weights of the published rows stream, too. v3 measured with descriptors of 4 KiB (368 GB/s published), v4 published";
    }
}

cost_fields! {
    /// Costs around an execution, on the device and on the host.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RuntimeCosts in "Runtime" {
        /// Device-side start-up before a traced model's first operation, nanoseconds.
        setup_traced_ns: u64, "ns", Measured, "profiling tutorial: before a traced model";
        /// The same for a lazily executed graph, nanoseconds.
        setup_mark_step_ns: u64, "ns", Measured, "profiling tutorial: before a lazily executed graph";
        /// Device-side tear-down, nanoseconds.
        teardown_ns: u64, "ns", Measured, "profiling tutorial: after either";
        /// Host time of one inference call, nanoseconds ([`Calibration::host_call_ns`]).
        host_call_ns: u64, "ns", Fitted, "see below";
        /// Effective rate at which a call copies its inputs to the device and its outputs back, bytes per microsecond
        /// ([`Calibration::host_copy_bytes_per_us`]).
        host_copy_bytes_per_us: u64, "bytes/us", Fitted, "see below";
        /// Bytes of a result from which it comes back at [`Self::large_result_bytes_per_us`].
        large_result_bytes: u64, "bytes", Chosen, "results above 100 MB come back at 2.5 to 3.5 GB/s; smaller ones of the rows at the rate above";
        /// Rate at which a large result comes back, bytes per microsecond.
        large_result_bytes_per_us: u64, "bytes/us", Measured, "from the device to the host, up to 16 MiB, on Trn1: 2.9 GB/s";
        /// Loading one model, nanoseconds.
        load_ns: u64, "ns", Measured, "NeuronPerf's sample results, one copy of a toy model";
        /// Added to the load for each other copy that loads at the same time, nanoseconds.
        load_beside_ns: u64, "ns for each other copy", Derived,
            "NeuronPerf's sample results: 62 ms for one copy, 294 to 304 for sixteen. The 114 ms of one copy with two workers do not fit and are left out";
        /// Rate of the link between the host and one device, bytes per microsecond.
        link_bytes_per_us: u64, "bytes/us of a device", Published,
            "driver: PCIe copies at 16 GB/s on v2. Devices have DMA engines of their own for the host, so each has a link of its own";
        /// Time of a call with the compiler and runtime of PyTorch 1, in thousandths of its time with those of PyTorch
        /// 2.
        torch_1_permille: u32, "thousandths", Fitted, "see below";
        /// Warm-up time beyond the inference itself, nanoseconds.
        warmup_ns: u64, "ns", Measured, "NeuronPerf's sample results: 2.6 to 4.4 ms";
        /// Host time of each op that a step of lazy tensors records, nanoseconds ([`super::training_ops`]).
        record_op_ns: u64, "ns for each op that a lazy step records", Derived,
            "MLP tutorial: 409 steps/s of a traced model (one op) and 95 steps/s of training with `mark_step` (51 ops). Recording, hashing and looking the graph up are published together only";
        /// Host time of a training or evaluation loop between two steps, nanoseconds: fetching a batch.
        load_batch_ns: u64, "ns a step of a loop", Derived,
            "MLP tutorial: a step of the traced model less `host_call_ns` and its copies. Only loops that load a batch have it: `customop`";
    }
}

/// Published DMA bandwidth of a core, GB/s.
const DMA_GB_PER_S: u64 = 272;

/// All costs of one kind of NeuronCore, with its specification.
#[derive(Clone, Debug, PartialEq)]
pub struct CostTable {
    /// The core.
    pub core: CoreSpec,
    /// Compute engines.
    pub engine: EngineCosts,
    /// DMA.
    pub dma: DmaCosts,
    /// NKI kernels.
    pub kernel: KernelCosts,
    /// Runtime.
    pub runtime: RuntimeCosts,
}

impl CostTable {
    /// NeuronCore-v2 (Trn1, Inf2).
    #[must_use]
    pub fn neuroncore_v2() -> Self {
        Self::calibrated(&FITTED)
    }

    /// NeuronCore-v2 with other fitted numbers.
    #[must_use]
    pub fn calibrated(fitted: &Calibration) -> Self {
        Self {
            core: NEURONCORE_V2,
            engine: EngineCosts {
                min_interval_cycles: 64,
                static_overhead_cycles: 100,
                memory_access_cycles: 60,
                sbuf_pair_cycles: 2,
                psum_readers: 1,
                reduce_elements_per_cycle: 1,
                array_latency_cycles: 128,
                array_quadrant: 32,
                fast_weight_load_factor: 4,
                sustained_matmul_permille: 990,
                tensor_throttle: Some(TRN1_THROTTLE),
                act_table_load_ns: 368,
                gpsimd_start_cycles: 150,
                custom_element_ps: 637_000,
                semaphore_ns: 30,
            },
            dma: DmaCosts {
                trigger_to_data_ns: 900,
                issue_interval_ns: 500,
                min_data_ns: 97,
                completion_ns: 190,
                semaphore_to_engine_ns: 110,
                engine_bytes_per_us: 17_000,
                descriptor_ps: 2_688,
                partitions_per_engine: 8,
                aggregate_bytes_per_us: DMA_GB_PER_S * 1_000,
            },
            kernel: KernelCosts::V2,
            runtime: RuntimeCosts {
                setup_traced_ns: 5_100,
                setup_mark_step_ns: 8_450,
                teardown_ns: 4_300,
                host_call_ns: fitted.host_call_ns,
                host_copy_bytes_per_us: fitted.host_copy_bytes_per_us,
                large_result_bytes: 100_000_000,
                large_result_bytes_per_us: 2_900,
                load_ns: 62_000_000,
                load_beside_ns: 15_800_000,
                link_bytes_per_us: 16_000,
                torch_1_permille: fitted.torch_1_permille,
                warmup_ns: 2_600_000,
                record_op_ns: RECORD_OP_NS,
                load_batch_ns: load_batch_ns(fitted.host_call_ns, fitted.host_copy_bytes_per_us),
            },
        }
    }

    /// The same core for programs whose values are at most 16 bits wide between operations (`--auto-cast all`): the
    /// vector engine's faster modes apply.
    #[must_use]
    pub fn with_16_bit_values(mut self) -> Self {
        self.engine.sbuf_pair_cycles = 1;
        self.engine.reduce_elements_per_cycle = 2;
        self
    }

    /// The NeuronCore-v2 of Inferentia2: the same core, whose tensor engine is held back further once it is busy.
    #[must_use]
    pub fn inferentia2() -> Self {
        Self::calibrated_inferentia2(&FITTED)
    }

    /// The NeuronCore-v2 of Inferentia2 with other fitted numbers.
    #[must_use]
    pub fn calibrated_inferentia2(fitted: &Calibration) -> Self {
        let mut table = Self::calibrated(fitted);
        table.engine.tensor_throttle = Some(INF2_THROTTLE);
        table
    }
}
