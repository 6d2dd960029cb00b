//! The constants. "Published" figures are from AWS documentation; "measured" ones were read off device traces or the
//! profiler's pictures that AWS published; "derived" ones are arithmetic on those. The register lists them with their
//! sources, and docs/costs.md is printed from it.

use super::generations::{INF2_THROTTLE, TRN1_THROTTLE};
use super::lazy::{RECORD_OP_NS, load_batch_ns};
use super::{Calibration, FITTED, Throttle};
use crate::arch::{CoreSpec, NEURONCORE_V2};

/// Costs of the compute engines, in cycles of the engine unless stated otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineCosts {
    /// Shortest initiation interval of any instruction (published, NKI cost table: `MIN_II` ~ 64).
    pub min_interval_cycles: u32,
    /// Added once when an instruction of the vector, the scalar or the GpSimd engine is short or depends on the previous
    /// one (published, NKI architecture guide: ~100 engine cycles).
    pub static_overhead_cycles: u32,
    /// Access to SBUF or PSUM that pipelining does not hide (published: ~60 cycles on NeuronCore-v2). Charged where a
    /// dependent chain shows it: the array's read of a stationary tile after idle time, its read of the moving tile and
    /// its write to PSUM; the scalar engine's read of PSUM. A dependent scalar engine chain was measured at 264 cycles,
    /// of which `64 + 100 + 60` are these three.
    pub memory_access_cycles: u32,
    /// Cycles per element of an operation on two tensors in SBUF (published, NKI cost table: 2, and 1 when all are 16
    /// bits wide).
    pub sbuf_pair_cycles: u32,
    /// Engines that PSUM serves at once, of the vector and the scalar engine (published, NKI architecture guides: they share a
    /// port on NeuronCore-v2, and no longer on v3).
    pub psum_readers: u32,
    /// Elements of a reduction per cycle (published, NKI cost table: 1, and 2 when they are 16 bits wide).
    pub reduce_elements_per_cycle: u32,
    /// The array's part of a product's latency, for a tile of one quadrant (derived: a product and its load take 140 ns in the
    /// operator tables of the profiling tutorial).
    pub array_latency_cycles: u32,
    /// Rows and columns of a quadrant of the array, the smallest part that a tile uses (published: 32). Each row and column of a
    /// larger tile is a cycle more until the last result leaves the array: 206 ns instead of 137 were measured for 128 x 128.
    pub array_quadrant: u32,
    /// A stationary tile loads this many times faster than a moving tile of the same size streams (published: up to 4).
    pub fast_weight_load_factor: u32,
    /// Share of the rate at the limited clock that back-to-back matmuls sustain, in thousandths (derived: a product of
    /// 8192 x 8192 matrices on Trn1 keeps the engine active for 1 / 0.866 of its time at the published clock, of which the
    /// limit of 7/8 explains all but this).
    pub sustained_matmul_permille: u32,
    /// Limit of the tensor engine's clock by its utilisation; `None` runs at the published clock.
    pub tensor_throttle: Option<Throttle>,
    /// Loading another activation table, nanoseconds (measured: 368 in 112 profiles of Inf2; 0.42 to 0.55 us in the pictures
    /// of the profiling tutorial; 1.29 us on Trn2).
    pub act_table_load_ns: u64,
    /// Extra cycles before a GpSimd instruction starts (published: ~150).
    pub gpsimd_start_cycles: u32,
    /// Time per element of the element-wise custom ReLU that models call, picoseconds (derived: its kernel run on
    /// [`GpsimdCosts`](super::GpsimdCosts), 2.5 accesses to device memory and 27 cycles; a test runs it again).
    pub custom_element_ps: u64,
    /// From one engine's completion to another engine's start, nanoseconds (measured: ~30 ns on the hardware path).
    pub semaphore_ns: u64,
}

/// Costs of DMA.
#[derive(Clone, Debug, PartialEq)]
pub struct DmaCosts {
    /// From the trigger to the first data, nanoseconds (measured: 740 on a GpSimd queue to ~900 on a Sync queue).
    pub trigger_to_data_ns: u64,
    /// Shortest interval between two DMAs of one queue, nanoseconds (derived: the five loads of the published two-layer
    /// example keep DMA busy for 2.1 us, of which one load's latency is about 1 us. On Trn2 575 to 914 were measured).
    pub issue_interval_ns: u64,
    /// Shortest data phase, nanoseconds (measured: 97 for 8 descriptors of 256 B on one engine).
    pub min_data_ns: u64,
    /// From the last data to the semaphore being visible, nanoseconds (measured: ~190).
    pub completion_ns: u64,
    /// From the visible semaphore to the dependent engine's start, nanoseconds (measured: ~300 from DMA end to the
    /// dependent start, less the 190 above).
    pub semaphore_to_engine_ns: u64,
    /// Usable rate of one DMA engine, bytes per microsecond (published: 17 B/ns on NeuronCore-v2).
    pub engine_bytes_per_us: u64,
    /// Time of one descriptor beside its bytes with all engines of a core at work, picoseconds (derived: 43 ns on one of
    /// sixteen engines of Inf2 explains reads of 128 rows of 128 B, 2 KiB, 4 KiB and 32 KiB within 5 %).
    pub descriptor_ps: u64,
    /// SBUF partitions that one DMA engine serves (published: engine `e` serves partitions `8e..8e+8`).
    pub partitions_per_engine: u32,
    /// Rate of all engines of a core together, bytes per microsecond (published: 272 GB/s).
    pub aggregate_bytes_per_us: u64,
}

/// Costs around an execution, on the device and on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeCosts {
    /// Device-side start-up before a traced model's first operation, nanoseconds (measured: 5.1 us).
    pub setup_traced_ns: u64,
    /// The same for a lazily executed graph, nanoseconds (measured: 8.45 us).
    pub setup_mark_step_ns: u64,
    /// Device-side tear-down, nanoseconds (measured: 4.3 us).
    pub teardown_ns: u64,
    /// Host time of one inference call, nanoseconds (fitted, [`Calibration::host_call_ns`]).
    pub host_call_ns: u64,
    /// Effective rate at which a call copies its inputs to the device and its outputs back, bytes per microsecond (fitted,
    /// [`Calibration::host_copy_bytes_per_us`]; measured on Trn1 for up to 16 MiB: 11.55 GB/s there and 2.9 back).
    pub host_copy_bytes_per_us: u64,
    /// Loading one model, nanoseconds (measured on the published toy model: 62 ms).
    pub load_ns: u64,
    /// Added to the load for each other copy that loads at the same time, nanoseconds (derived: 62 ms for one copy, 294 to
    /// 304 for sixteen in NeuronPerf's sample results).
    pub load_beside_ns: u64,
    /// Rate of the link between the host and one device, bytes per microsecond (published: the driver's PCIe copies run at
    /// 16 GB/s on v2; each device has a link of its own, as it has DMA engines of its own for the host).
    pub link_bytes_per_us: u64,
    /// Time of a call with the compiler and runtime of PyTorch 1, in thousandths of its time with those of PyTorch 2
    /// (fitted).
    pub torch_1_permille: u32,
    /// Warm-up time beyond the inference itself, nanoseconds (measured: 2.6 to 4.4 ms for the toy model).
    pub warmup_ns: u64,
    /// Host time of each op that a step of lazy tensors records, nanoseconds (derived, see [`super::training_ops`]).
    pub record_op_ns: u64,
    /// Host time of a training or evaluation loop between two steps, nanoseconds: fetching a batch (derived).
    pub load_batch_ns: u64,
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
            runtime: RuntimeCosts {
                setup_traced_ns: 5_100,
                setup_mark_step_ns: 8_450,
                teardown_ns: 4_300,
                host_call_ns: fitted.host_call_ns,
                host_copy_bytes_per_us: fitted.host_copy_bytes_per_us,
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
