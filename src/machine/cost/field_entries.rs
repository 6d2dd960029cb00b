//! The entries of the register that are fields of the cost tables: core, engines, DMA, runtime.

use super::entry::{CostStatus, Entry};
use super::{CostTable, DmaCosts, EngineCosts, GpsimdCosts, RuntimeCosts, Throttle};
use crate::arch::CoreSpec;
use CostStatus::{Chosen, Derived, Fitted, Measured, Published};
use ns_base::units::format_count;

/// The cost tables of NeuronCore-v2, v3 and v4.
type Generations<'a> = [&'a CostTable; 3];

/// An entry whose value is read from each generation's table.
fn read(
    group: &'static str,
    tables: &Generations<'_>,
    value: impl Fn(&CostTable) -> u64,
    (name, unit): (&'static str, &'static str),
    status: CostStatus,
    source: &'static str,
) -> Entry {
    Entry { group, name, values: tables.map(|t| format_count(value(t))), unit, status, source }
}

#[expect(clippy::too_many_lines, reason = "a table: a line for each field")]
pub(super) fn core(tables: &Generations<'_>) -> Vec<Entry> {
    // A field that is added to the specification must be listed here.
    let CoreSpec {
        name: _,
        tensor_mhz: _,
        vector_mhz: _,
        scalar_mhz: _,
        gpsimd_mhz: _,
        partitions: _,
        moving_free_max: _,
        sbuf_bytes: _,
        psum_bytes: _,
        psum_banks: _,
        dma_engines: _,
        hbm_bytes: _,
        hbm_bytes_per_us: _,
        fp8_rows_per_partition: _,
        physical_cores: _,
    } = &tables[0].core;
    let row = |value: fn(&CoreSpec) -> u64, name, unit, status, source| {
        read("Core", tables, move |t| value(&t.core), (name, unit), status, source)
    };
    let guide = "architecture guides of NKI for each generation";
    vec![
        row(|c| c.tensor_mhz.into(), "tensor_mhz", "MHz", Published, guide),
        row(|c| c.vector_mhz.into(), "vector_mhz", "MHz", Published, guide),
        row(|c| c.scalar_mhz.into(), "scalar_mhz", "MHz", Published, guide),
        row(|c| c.gpsimd_mhz.into(), "gpsimd_mhz", "MHz", Published, guide),
        row(|c| c.partitions.into(), "partitions", "rows, columns, partitions", Published, guide),
        row(
            |c| c.moving_free_max.into(),
            "moving_free_max",
            "elements",
            Published,
            "architecture guide: one PSUM bank of fp32",
        ),
        row(|c| c.sbuf_bytes, "sbuf_bytes", "bytes", Published, guide),
        row(|c| c.psum_bytes, "psum_bytes", "bytes", Published, guide),
        row(|c| c.psum_banks.into(), "psum_banks", "banks of a partition", Published, guide),
        row(|c| c.dma_engines.into(), "dma_engines", "engines", Published, guide),
        row(
            |c| c.hbm_bytes,
            "hbm_bytes",
            "bytes",
            Derived,
            "memory of a device over its cores; decides what fits, no time",
        ),
        row(
            |c| c.hbm_bytes_per_us,
            "hbm_bytes_per_us",
            "bytes/us",
            Derived,
            "bandwidth of a device's memory over its cores (820 GB/s for two cores of v2); metrics only: no transfer is timed by it",
        ),
        row(
            |c| c.fp8_rows_per_partition.into(),
            "fp8_rows_per_partition",
            "rows of one pass",
            Published,
            "architecture guide of Trainium2: the double row mode of 8-bit products",
        ),
        row(
            |c| c.physical_cores.into(),
            "physical_cores",
            "cores",
            Published,
            "one, unless `--lnc` joins two; work is split evenly and nothing is exchanged between them",
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table: a line for each field")]
pub(super) fn engines(tables: &Generations<'_>) -> Vec<Entry> {
    let EngineCosts {
        min_interval_cycles: _,
        static_overhead_cycles: _,
        memory_access_cycles: _,
        sbuf_pair_cycles: _,
        psum_readers: _,
        reduce_elements_per_cycle: _,
        array_latency_cycles: _,
        array_quadrant: _,
        fast_weight_load_factor: _,
        sustained_matmul_permille: _,
        tensor_throttle: _,
        act_table_load_ns: _,
        gpsimd_start_cycles: _,
        custom_element_ps: _,
        semaphore_ns: _,
    } = &tables[0].engine;
    let row = |value: fn(&EngineCosts) -> u64, name, unit, status, source| {
        read("Engines", tables, move |t| value(&t.engine), (name, unit), status, source)
    };
    let throttle = |t: &&CostTable| {
        t.engine.tensor_throttle.map_or_else(
            || "none".to_owned(),
            |Throttle { light_eighths, dense_eighths, threshold_permille, window_ns }| {
                format!(
                    "{light_eighths}/8, {dense_eighths}/8 after {} ns at {threshold_permille} thousandths",
                    format_count(window_ns)
                )
            },
        )
    };
    vec![
        row(
            |e| e.min_interval_cycles.into(),
            "min_interval_cycles",
            "engine cycles",
            Published,
            "cost table: `MIN_II` ~ 64",
        ),
        row(
            |e| e.static_overhead_cycles.into(),
            "static_overhead_cycles",
            "engine cycles",
            Published,
            "architecture guide: about 100 for short or dependent instructions",
        ),
        row(
            |e| e.memory_access_cycles.into(),
            "memory_access_cycles",
            "engine cycles",
            Published,
            "architecture guide: SBUF and PSUM access. 64 + 100 + 60 of the 264 cycles that the performance guide measured for a dependent scalar-engine chain",
        ),
        row(
            |e| e.sbuf_pair_cycles.into(),
            "sbuf_pair_cycles",
            "cycles an element",
            Published,
            "cost table: two tensors in SBUF; 1 when all are 16 bits wide (`--auto-cast all`)",
        ),
        row(
            |e| e.psum_readers.into(),
            "psum_readers",
            "engines at once",
            Published,
            "architecture guides: the vector and the scalar engine share a port of PSUM on v2, which v3 lifts. An instruction holds the port while its elements pass",
        ),
        row(
            |e| e.reduce_elements_per_cycle.into(),
            "reduce_elements_per_cycle",
            "elements",
            Published,
            "cost table: 1; 2 when they are 16 bits wide (`--auto-cast all`)",
        ),
        row(
            |e| e.array_latency_cycles.into(),
            "array_latency_cycles",
            "engine cycles",
            Derived,
            "profiling tutorial: a product of one quadrant of the array and its load take 140 ns",
        ),
        row(
            |e| e.array_quadrant.into(),
            "array_quadrant",
            "rows, columns",
            Published,
            "architecture guide: the array is divided into tiles of 32 x 32. That each further row and column of a tile is a cycle until the last result leaves is derived: it gives the 158 ns beside the moving rows that were measured for 128 x 128",
        ),
        row(
            |e| e.fast_weight_load_factor.into(),
            "fast_weight_load_factor",
            "times faster",
            Published,
            "architecture guide: \"up to 4x\"",
        ),
        row(
            |e| e.sustained_matmul_permille.into(),
            "sustained_matmul_permille",
            "thousandths of the rate at the limited clock",
            Derived,
            "a profile of a product of 8192 x 8192 matrices on Trn1: 0.866 of the published clock's rate while the engine is active, over the limit of 7/8. v3 measured: a kernel of full tiles reaches 77.2 of 78.6 TFLOPS",
        ),
        Entry {
            group: "Engines",
            name: "tensor_throttle",
            values: [throttle(&tables[0]), throttle(&tables[1]), throttle(&tables[2])],
            unit: "eighths of the clock",
            status: Measured,
            source: "profiles of dense and mixed products on Trn1 and Inf2: 7/8 whenever the engine works; Inf2 is held to 5/8 after a window that used more. Products count by the processing elements of their tile, rows times columns; loads do not count, since they run behind a product. That columns count was chosen with the rows in view: profiles with few columns are not public. Published for Trn2 and Trn3 (Neuron Explorer): half the rate until a window of about 3 us is half used",
        },
        row(
            |e| e.act_table_load_ns,
            "act_table_load_ns",
            "ns",
            Measured,
            "112 profiles of products on Inf2, all 368; profiling tutorial's timelines: 420 to 550; v3: the Trn2 trace of the DMA overview",
        ),
        row(
            |e| e.gpsimd_start_cycles.into(),
            "gpsimd_start_cycles",
            "engine cycles",
            Published,
            "cost table: `GPSIMD_START` ~ 150",
        ),
        row(
            |e| e.custom_element_ps,
            "custom_element_ps",
            "ps an element",
            Derived,
            "the kernel of an element-wise ReLU, run on the GPSIMD costs below: 2.5 accesses to device memory, 27 cycles",
        ),
        row(
            |e| e.semaphore_ns,
            "semaphore_ns",
            "ns",
            Measured,
            "DMA guide's traces: completion of one engine to the start on another",
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table: a line for each field")]
pub(super) fn dma(tables: &Generations<'_>) -> Vec<Entry> {
    let DmaCosts {
        trigger_to_data_ns: _,
        issue_interval_ns: _,
        min_data_ns: _,
        completion_ns: _,
        semaphore_to_engine_ns: _,
        engine_bytes_per_us: _,
        descriptor_ps: _,
        partitions_per_engine: _,
        aggregate_bytes_per_us: _,
    } = &tables[0].dma;
    let row = |value: fn(&DmaCosts) -> u64, name, unit, status, source| {
        read("DMA", tables, move |t| value(&t.dma), (name, unit), status, source)
    };
    vec![
        row(
            |d| d.trigger_to_data_ns,
            "trigger_to_data_ns",
            "ns",
            Measured,
            "DMA guide's traces: 740 on a GpSimd queue to about 900 on a Sync queue",
        ),
        row(
            |d| d.issue_interval_ns,
            "issue_interval_ns",
            "ns",
            Derived,
            "profiling tutorial: five loads keep DMA busy for 2.1 us, of which one load's latency is about 1 us. v3: published for its descriptor engines, 575 to 914 measured",
        ),
        row(
            |d| d.min_data_ns,
            "min_data_ns",
            "ns",
            Measured,
            "DMA guide's traces: 8 descriptors of 256 B on one engine",
        ),
        row(|d| d.completion_ns, "completion_ns", "ns", Measured, "DMA guide's traces: last data to semaphore"),
        row(
            |d| d.semaphore_to_engine_ns,
            "semaphore_to_engine_ns",
            "ns",
            Measured,
            "DMA guide's traces: about 300 from the end of a DMA to the dependent start, less the 190 above",
        ),
        row(|d| d.engine_bytes_per_us, "engine_bytes_per_us", "bytes/us", Published, "DMA guide: 17, 23 and 33 B/ns"),
        row(
            |d| d.descriptor_ps,
            "descriptor_ps",
            "ps a descriptor",
            Derived,
            "for each row that lies in one piece, beside its bytes: 43 ns on one of sixteen engines explain measured reads of 128 rows of 128 B, 2 KiB, 4 KiB and 32 KiB on Inf2 (40.8, 207.5, 220, 270.8 GB/s) within 5 %. v3: loads and stores of 1 KiB at 259 GB/s beside 354 for 4 KiB; v4 in proportion to the published bandwidth",
        ),
        row(
            |d| d.partitions_per_engine.into(),
            "partitions_per_engine",
            "partitions",
            Published,
            "DMA guide: engine e serves partitions 8e to 8e + 7",
        ),
        row(
            |d| d.aggregate_bytes_per_us,
            "aggregate_bytes_per_us",
            "bytes/us",
            Published,
            "DMA guide: 272 GB/s, at which the weights of the published rows stream, too. v3 measured with descriptors of 4 KiB (368 GB/s published), v4 published",
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table: a line for each field")]
pub(super) fn runtime(tables: &Generations<'_>) -> Vec<Entry> {
    let RuntimeCosts {
        setup_traced_ns: _,
        setup_mark_step_ns: _,
        teardown_ns: _,
        host_call_ns: _,
        host_copy_bytes_per_us: _,
        load_ns: _,
        load_beside_ns: _,
        link_bytes_per_us: _,
        torch_1_permille: _,
        warmup_ns: _,
        record_op_ns: _,
        load_batch_ns: _,
    } = &tables[0].runtime;
    let row = |value: fn(&RuntimeCosts) -> u64, name, unit, status, source| {
        read("Runtime", tables, move |t| value(&t.runtime), (name, unit), status, source)
    };
    vec![
        row(|r| r.setup_traced_ns, "setup_traced_ns", "ns", Measured, "profiling tutorial: before a traced model"),
        row(
            |r| r.setup_mark_step_ns,
            "setup_mark_step_ns",
            "ns",
            Measured,
            "profiling tutorial: before a lazily executed graph",
        ),
        row(|r| r.teardown_ns, "teardown_ns", "ns", Measured, "profiling tutorial: after either"),
        row(|r| r.host_call_ns, "host_call_ns", "ns", Fitted, "see below"),
        row(|r| r.host_copy_bytes_per_us, "host_copy_bytes_per_us", "bytes/us", Fitted, "see below"),
        row(|r| r.load_ns, "load_ns", "ns", Measured, "NeuronPerf's sample results, one copy of a toy model"),
        row(
            |r| r.load_beside_ns,
            "load_beside_ns",
            "ns for each other copy",
            Derived,
            "NeuronPerf's sample results: 62 ms for one copy, 294 to 304 for sixteen. The 114 ms of one copy with two workers do not fit and are left out",
        ),
        row(
            |r| r.link_bytes_per_us,
            "link_bytes_per_us",
            "bytes/us of a device",
            Published,
            "driver: PCIe copies at 16 GB/s on v2. Devices have DMA engines of their own for the host, so each has a link of its own",
        ),
        row(|r| r.torch_1_permille.into(), "torch_1_permille", "thousandths", Fitted, "see below"),
        row(|r| r.warmup_ns, "warmup_ns", "ns", Measured, "NeuronPerf's sample results: 2.6 to 4.4 ms"),
        row(
            |r| r.record_op_ns,
            "record_op_ns",
            "ns for each op that a lazy step records",
            Derived,
            "MLP tutorial: 409 steps/s of a traced model (one op) and 95 steps/s of training with `mark_step` (51 ops). Recording, hashing and looking the graph up are published together only",
        ),
        row(
            |r| r.load_batch_ns,
            "load_batch_ns",
            "ns a step of a loop",
            Derived,
            "MLP tutorial: a step of the traced model less `host_call_ns` and its copies. Only loops that load a batch have it: `customop`",
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table: a line for each field")]
pub(super) fn gpsimd(tables: &Generations<'_>) -> Vec<Entry> {
    let GpsimdCosts {
        processors: _,
        tcm_pool_bytes: _,
        clock_mhz: _,
        start_cycles: _,
        integer_cycles: _,
        float_cycles: _,
        jump_cycles: _,
        tcm_cycles: _,
        divide_cycles: _,
        call_cycles: _,
        function_cycles: _,
        double_factor: _,
        hbm_access_ns: _,
        dma_start_ns: _,
        dma_end_ns: _,
        dma_bytes_per_us: _,
    } = GpsimdCosts::of(tables[0]);
    let row = |value: fn(&GpsimdCosts) -> u64, name, unit, status, source| {
        read("GPSIMD processors", tables, move |t| value(&GpsimdCosts::of(t)), (name, unit), status, source)
    };
    let guide = "architecture guide of NeuronCore-v2";
    let typical = "typical of in-order cores of this clock; the tutorial's TCM row, which it decides, was in view";
    let assumed = "order of magnitude of a scalar core; the pipeline is not public";
    vec![
        row(|g| g.processors.into(), "processors", "processors", Published, guide),
        row(
            |g| g.tcm_pool_bytes,
            "tcm_pool_bytes",
            "bytes",
            Published,
            "custom operator API reference: pool of `tcm_malloc`",
        ),
        row(|g| g.clock_mhz.into(), "clock_mhz", "MHz", Published, guide),
        row(|g| g.start_cycles.into(), "start_cycles", "cycles", Published, "cost table: `GPSIMD_START` ~ 150"),
        row(|g| g.tcm_cycles.into(), "tcm_cycles", "cycles an access", Published, guide),
        row(
            |g| g.hbm_access_ns,
            "hbm_access_ns",
            "ns an element",
            Derived,
            "a DMA's first data comes 740 ns after its trigger, after three crossings: trigger, descriptor, data. The tutorial's element-wise row was in view",
        ),
        row(
            |g| g.dma_start_ns,
            "dma_start_ns",
            "ns",
            Measured,
            "DMA guide's traces: trigger to first data on a GpSimd queue",
        ),
        row(
            |g| g.dma_end_ns,
            "dma_end_ns",
            "ns",
            Measured,
            "DMA guide's traces: `completion_ns` and `semaphore_to_engine_ns`",
        ),
        row(|g| g.dma_bytes_per_us, "dma_bytes_per_us", "bytes/us", Published, "DMA guide: one engine"),
        row(
            |g| g.integer_cycles.into(),
            "integer_cycles",
            "cycles",
            Chosen,
            "one instruction a cycle: addresses, tests, counters",
        ),
        row(|g| g.float_cycles.into(), "float_cycles", "cycles", Chosen, typical),
        row(|g| g.jump_cycles.into(), "jump_cycles", "cycles", Chosen, typical),
        row(|g| g.divide_cycles.into(), "divide_cycles", "cycles", Chosen, assumed),
        row(|g| g.call_cycles.into(), "call_cycles", "cycles", Chosen, assumed),
        row(|g| g.function_cycles.into(), "function_cycles", "cycles", Chosen, assumed),
        row(
            |g| g.double_factor.into(),
            "double_factor",
            "times",
            Chosen,
            "no lanes for double precision are documented: software",
        ),
    ]
}
