//! The generations of NeuronCores, figure by figure.

use serde::Serialize;

use super::figure::{Figure, derived, measured, published, unpublished};

/// One generation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoreData {
    /// Name as the documentation writes it.
    pub name: &'static str,
    /// Generation, 1 to 4.
    pub version: u8,
    /// Devices that have it.
    pub devices: &'static str,
    /// Its figures.
    pub figures: &'static [Figure],
}

impl CoreData {
    /// A figure by name.
    pub fn figure(&self, name: &str) -> Option<&'static Figure> {
        self.figures.iter().find(|f| f.name == name)
    }
}

/// The generation with this number.
pub fn core_data(version: u8) -> Option<&'static CoreData> {
    CORES.iter().find(|c| c.version == version)
}

const V1_PAGE: &str = "NeuronCore-v1 page of the Neuron documentation";
const V2_PAGE: &str = "NeuronCore-v2 page of the Neuron documentation";
const V3_PAGE: &str = "NeuronCore-v3 page of the Neuron documentation";
const V4_PAGE: &str = "NeuronCore-v4 page of the Neuron documentation";
const V2_GUIDE: &str = "NKI architecture guide, Trainium and Inferentia2";
const V3_GUIDE: &str = "NKI architecture guide, Trainium2";
const V4_GUIDE: &str = "NKI architecture guide, Trainium3";
const DMA_GUIDE: &str = "NKI DMA bandwidth guide: usable rate";
const DMA_OVERVIEW: &str = "NKI DMA overview: theoretical rate";
const DRIVER: &str = "aws-neuron-driver, address map";
const NOT_THERE: &str = "not in the documentation of this generation";
const KIB: f64 = 1024.0;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// All generations, oldest first.
pub const CORES: &[CoreData] = &[
    CoreData { name: "NeuronCore-v1", version: 1, devices: "Inferentia (Inf1)", figures: V1 },
    CoreData { name: "NeuronCore-v2", version: 2, devices: "Inferentia2 (Inf2), Trainium (Trn1, Trn1n)", figures: V2 },
    CoreData { name: "NeuronCore-v3", version: 3, devices: "Trainium2 (Trn2)", figures: V3 },
    CoreData { name: "NeuronCore-v4", version: 4, devices: "Trainium3 (Trn3)", figures: V4 },
];

const V1: &[Figure] = &[
    unpublished("tensor_mhz", "MHz", NOT_THERE),
    unpublished("vector_mhz", "MHz", NOT_THERE),
    unpublished("scalar_mhz", "MHz", NOT_THERE),
    unpublished("gpsimd_mhz", "MHz", "this generation has no GpSimd engine"),
    unpublished("partitions", "rows of the array", NOT_THERE),
    unpublished("moving_free_max", "elements", NOT_THERE),
    unpublished("sbuf_bytes", "bytes", "\"on-chip SRAM\", without a size"),
    derived("weight_cache_bytes", 10e6, "bytes", "pipeline guide: 4 cores for 2e7 weights of 2 bytes are 40 MB for 4"),
    unpublished("psum_bytes", "bytes", NOT_THERE),
    unpublished("psum_banks", "banks", NOT_THERE),
    published("dma_engines", 3.0, "engines", DRIVER),
    published("dma_queues_per_engine", 16.0, "queues", DRIVER),
    unpublished("dma_engine_bytes_per_us", "bytes/us", NOT_THERE),
    unpublished("dma_aggregate_bytes_per_us", "bytes/us", NOT_THERE),
    derived("hbm_bytes", 2.0 * GIB, "bytes", "8 GiB of DRAM of a device, shared by four cores"),
    derived("hbm_bytes_per_us", 12.5 * GIB / 1e6, "bytes/us", "50 GiB/s of a device, shared by four cores"),
    published("semaphores", 32.0, "semaphores", DRIVER),
    published("events", 256.0, "events", DRIVER),
    published("vector_flop_per_cycle", 256.0, "FLOP/cycle", V1_PAGE),
    published("scalar_flop_per_cycle", 512.0, "FLOP/cycle", V1_PAGE),
    published("fp8_rows_per_partition", 0.0, "rows", "data types page: this generation has no FP8"),
    published("bf16_tflops", 16.0, "TFLOPS", V1_PAGE),
    published("int8_tops", 32.0, "TOPS", "128 TOPS of a device with four cores"),
];

const V2: &[Figure] = &[
    published("tensor_mhz", 2_800.0, "MHz", V2_GUIDE),
    published("vector_mhz", 1_120.0, "MHz", V2_GUIDE),
    published("scalar_mhz", 1_400.0, "MHz", V2_GUIDE),
    published("gpsimd_mhz", 1_400.0, "MHz", V2_GUIDE),
    published("partitions", 128.0, "rows of the array", V2_GUIDE),
    published("moving_free_max", 512.0, "elements", "architecture guide: one PSUM bank of fp32"),
    published("sbuf_bytes", 128.0 * 192.0 * KIB, "bytes", V2_GUIDE),
    published("psum_bytes", 128.0 * 16.0 * KIB, "bytes", V2_GUIDE),
    published("psum_banks", 8.0, "banks", V2_GUIDE),
    published("dma_engines", 16.0, "engines", V2_GUIDE),
    published("dma_queues_per_engine", 16.0, "queues", "NKI DMA overview"),
    published("dma_engine_theoretical_bytes_per_us", 27_200.0, "bytes/us", DMA_OVERVIEW),
    published("dma_engine_bytes_per_us", 17_000.0, "bytes/us", DMA_GUIDE),
    published("dma_aggregate_bytes_per_us", 272_000.0, "bytes/us", DMA_GUIDE),
    derived("hbm_bytes", 16.0 * GIB, "bytes", "32 GiB of a device, shared by two cores"),
    derived("hbm_bytes_per_us", 410_000.0, "bytes/us", "820 GB/s of a device, shared by two cores"),
    published("semaphores", 256.0, "semaphores", DRIVER),
    published("events", 256.0, "events", DRIVER),
    published("vector_elements_per_cycle", 128.0, "elements/cycle", V2_GUIDE),
    published("scalar_elements_per_cycle", 128.0, "elements/cycle", V2_GUIDE),
    published("fp8_rows_per_partition", 1.0, "rows", "NeuronCore-v2 page: FP8 has the rate of BF16"),
    published("vector_gpsimd_share_sbuf_port", 1.0, "yes/no", V2_GUIDE),
    published("vector_scalar_share_psum_port", 1.0, "yes/no", V2_GUIDE),
    derived("tensor_throttle", 0.0, "yes/no", "documented for Trn2 and Trn3 only"),
    published("bf16_tflops", 92.0, "TFLOPS", V2_PAGE),
    published("tf32_tflops", 92.0, "TFLOPS", V2_PAGE),
    published("fp8_tflops", 92.0, "TFLOPS", V2_PAGE),
    published("fp32_tflops", 23.0, "TFLOPS", V2_PAGE),
    published("int8_tops", 190.0, "TOPS", "380 TOPS of a device with two cores"),
];

const V3: &[Figure] = &[
    published("tensor_mhz", 2_400.0, "MHz", V3_GUIDE),
    published("vector_mhz", 960.0, "MHz", V3_GUIDE),
    published("scalar_mhz", 1_200.0, "MHz", V3_GUIDE),
    published("gpsimd_mhz", 1_200.0, "MHz", V3_GUIDE),
    published("partitions", 128.0, "rows of the array", V3_GUIDE),
    published("moving_free_max", 512.0, "elements", "architecture guide: one PSUM bank of fp32"),
    published("sbuf_bytes", 128.0 * 224.0 * KIB, "bytes", V3_GUIDE),
    published("psum_bytes", 128.0 * 16.0 * KIB, "bytes", V3_GUIDE),
    published("psum_banks", 8.0, "banks", V3_GUIDE),
    published("dma_engines", 16.0, "engines", V3_GUIDE),
    published("dma_queues_per_engine", 16.0, "queues", "NKI DMA overview"),
    published("dma_engine_theoretical_bytes_per_us", 27_200.0, "bytes/us", DMA_OVERVIEW),
    published("dma_engine_bytes_per_us", 23_000.0, "bytes/us", DMA_GUIDE),
    published("dma_aggregate_bytes_per_us", 368_000.0, "bytes/us", DMA_GUIDE),
    measured("dma_aggregate_measured_bytes_per_us", 354_000.0, "bytes/us", "kernel profile with 4 KiB descriptors"),
    derived("hbm_bytes", 12.0 * GIB, "bytes", "24 GiB of a stack, shared by two cores"),
    derived("hbm_bytes_per_us", 358_400.0, "bytes/us", "716.8 GB/s of a stack, shared by two cores"),
    published("semaphores", 256.0, "semaphores", DRIVER),
    published("events", 256.0, "events", DRIVER),
    published("vector_elements_per_cycle", 256.0, "elements/cycle", "architecture guide; 512 for BF16 and FP16"),
    published("scalar_elements_per_cycle", 128.0, "elements/cycle", V3_GUIDE),
    published("fp8_rows_per_partition", 2.0, "rows", "architecture guide: perf_mode double_row contracts 256"),
    published("vector_gpsimd_share_sbuf_port", 0.0, "yes/no", V3_GUIDE),
    published("vector_scalar_share_psum_port", 0.0, "yes/no", "architecture guide: unless both use the same bank"),
    published(
        "tensor_throttle",
        1.0,
        "yes/no",
        "Neuron Explorer, overview page: half the rate, full after 3 us of work",
    ),
    published("bf16_tflops", 79.0, "TFLOPS", V3_PAGE),
    published("tf32_tflops", 79.0, "TFLOPS", V3_PAGE),
    published("fp8_tflops", 158.0, "TFLOPS", V3_PAGE),
    published("fp32_tflops", 20.0, "TFLOPS", V3_PAGE),
    published("sparse_tflops", 316.0, "TFLOPS", V3_PAGE),
];

const V4: &[Figure] = &[
    published("tensor_mhz", 2_400.0, "MHz", V4_GUIDE),
    published("vector_mhz", 1_200.0, "MHz", V4_GUIDE),
    published("scalar_mhz", 1_200.0, "MHz", V4_GUIDE),
    published("gpsimd_mhz", 1_200.0, "MHz", V4_GUIDE),
    published("partitions", 128.0, "rows of the array", V4_GUIDE),
    published("moving_free_max", 512.0, "elements", "architecture guide: one PSUM bank of fp32"),
    published("sbuf_bytes", 128.0 * 256.0 * KIB, "bytes", V4_GUIDE),
    published("psum_bytes", 128.0 * 16.0 * KIB, "bytes", V4_GUIDE),
    published("psum_banks", 8.0, "banks", V4_GUIDE),
    published("dma_engines", 16.0, "engines", V4_GUIDE),
    published("dma_queues_per_engine", 16.0, "queues", "NKI DMA overview; four classes of service"),
    published("dma_engine_theoretical_bytes_per_us", 38_400.0, "bytes/us", DMA_OVERVIEW),
    published("dma_engine_bytes_per_us", 33_000.0, "bytes/us", DMA_GUIDE),
    published("dma_aggregate_bytes_per_us", 528_000.0, "bytes/us", DMA_GUIDE),
    derived("hbm_bytes", 18.0 * GIB, "bytes", "144 GiB of a device, shared by eight cores"),
    derived(
        "hbm_bytes_per_us",
        587_500.0,
        "bytes/us",
        "4.7 TB/s of a device (architecture guide; the device page says 4.9), shared by eight cores",
    ),
    unpublished("semaphores", "semaphores", NOT_THERE),
    unpublished("events", "events", NOT_THERE),
    published("vector_elements_per_cycle", 256.0, "elements/cycle", "architecture guide; 512 for BF16, FP16 and FP8"),
    published("scalar_elements_per_cycle", 128.0, "elements/cycle", "architecture guide; 256 for BF16, FP16 and FP8"),
    published("fp8_rows_per_partition", 1.0, "rows", "architecture guide: only MXFP8 is faster than BF16"),
    published("vector_gpsimd_share_sbuf_port", 0.0, "yes/no", V4_GUIDE),
    published("vector_scalar_share_psum_port", 0.0, "yes/no", V4_GUIDE),
    published(
        "tensor_throttle",
        1.0,
        "yes/no",
        "Neuron Explorer, overview page: half the rate, full after 3 us of work",
    ),
    published("bf16_tflops", 79.0, "TFLOPS", V4_PAGE),
    published("tf32_tflops", 79.0, "TFLOPS", V4_PAGE),
    published("mxfp8_tflops", 315.0, "TFLOPS", V4_PAGE),
    published("fp32_tflops", 20.0, "TFLOPS", V4_PAGE),
    published("sparse_tflops", 315.0, "TFLOPS", V4_PAGE),
];
