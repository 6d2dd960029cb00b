//! One NeuronCore: clocks, arrays and memories.

/// The parts of one NeuronCore that the compiler must fit and the simulator must time.
///
/// Sources for NeuronCore-v2: the NKI architecture guide for Trainium and Inferentia2 (clocks, array, SBUF and PSUM)
/// and the NKI DMA bandwidth guide (usable bytes per nanosecond of a DMA engine).
#[derive(Clone, Debug, PartialEq)]
pub struct CoreSpec {
    /// Name as the documentation writes it.
    pub name: &'static str,
    /// Tensor engine clock, MHz.
    pub tensor_mhz: u32,
    /// Vector engine clock, MHz.
    pub vector_mhz: u32,
    /// Scalar engine clock, MHz.
    pub scalar_mhz: u32,
    /// GpSimd engine clock, MHz.
    pub gpsimd_mhz: u32,
    /// Rows and columns of the tensor engine's array; also the number of SBUF and PSUM partitions.
    pub partitions: u32,
    /// Longest moving free size of one matmul: one PSUM bank of fp32 in a partition.
    pub moving_free_max: u32,
    /// SBUF, bytes in all.
    pub sbuf_bytes: u64,
    /// PSUM, bytes in all.
    pub psum_bytes: u64,
    /// PSUM banks of a partition, each an independent accumulation group.
    pub psum_banks: u32,
    /// DMA engines that serve this core.
    pub dma_engines: u32,
    /// Device memory that one core can use, bytes.
    pub hbm_bytes: u64,
    /// Peak rate of device memory for one core, bytes per microsecond. What bandwidth utilisation and the ridge of a
    /// roofline refer to; the DMA engines together reach less.
    pub hbm_bytes_per_us: u64,
}

/// NeuronCore-v2: Trainium (Trn1) and Inferentia2.
///
/// 24 MiB SBUF = 128 x 192 KiB; 2 MiB PSUM = 128 x 8 banks x 2 KiB; 32 GiB HBM for two cores. 820 GB/s of HBM bandwidth for
/// two cores (hardware pages of Inferentia2 and Trainium): 410 GB/s each, which gives the profiler's ridge of 223.8.
pub const NEURONCORE_V2: CoreSpec = CoreSpec {
    name: "NeuronCore-v2",
    tensor_mhz: 2_800,
    vector_mhz: 1_120,
    scalar_mhz: 1_400,
    gpsimd_mhz: 1_400,
    partitions: 128,
    moving_free_max: 512,
    sbuf_bytes: 128 * 192 * 1024,
    psum_bytes: 128 * 16 * 1024,
    psum_banks: 8,
    dma_engines: 16,
    hbm_bytes: 16 * 1024 * 1024 * 1024,
    hbm_bytes_per_us: 410_000,
};

impl CoreSpec {
    /// Peak dense bf16 rate in floating point operations per second: two per array element and cycle.
    #[must_use]
    pub fn peak_bf16_flops(&self) -> f64 {
        2.0 * f64::from(self.partitions) * f64::from(self.partitions) * f64::from(self.tensor_mhz) * 1e6
    }

    /// Peak rate of device memory for one core, bytes per second.
    #[must_use]
    pub fn peak_hbm_bytes_per_s(&self) -> f64 {
        self.hbm_bytes_per_us as f64 * 1e6
    }

    /// The ridge of the roofline, floating point operations per byte: below it a computation is bound by memory.
    #[must_use]
    pub fn ridge_flops_per_byte(&self) -> f64 {
        self.peak_bf16_flops() / self.peak_hbm_bytes_per_s()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_is_the_documented_92_tflops() {
        assert!((NEURONCORE_V2.peak_bf16_flops() / 1e12 - 91.75).abs() < 0.01);
        assert!((NEURONCORE_V2.ridge_flops_per_byte() - 223.8).abs() < 0.05);
        assert_eq!(NEURONCORE_V2.sbuf_bytes, 24 * 1024 * 1024);
        assert_eq!(NEURONCORE_V2.psum_bytes / u64::from(NEURONCORE_V2.partitions * NEURONCORE_V2.psum_banks), 2048);
    }
}
