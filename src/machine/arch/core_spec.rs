//! One NeuronCore: clocks, arrays and memories.

use super::cores::core_data;
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::{Refusal, refuse};

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
    /// SBUF in total, bytes.
    pub sbuf_bytes: u64,
    /// PSUM in total, bytes.
    pub psum_bytes: u64,
    /// PSUM banks of a partition, each an independent accumulation group.
    pub psum_banks: u32,
    /// DMA engines that serve this core.
    pub dma_engines: u32,
    /// Device memory that one core can use, bytes.
    pub hbm_bytes: u64,
    /// Peak rate of device memory for one core, bytes per microsecond. Bandwidth utilisation and the ridge of a
    /// roofline refer to this rate; the DMA engines together reach less.
    pub hbm_bytes_per_us: u64,
    /// Rows that a partition contracts in one pass of an 8-bit product: 2 where the array has a double row mode.
    pub fp8_rows_per_partition: u32,
    /// Physical cores that form this core: a logical NeuronCore may have two.
    pub physical_cores: u32,
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
    fp8_rows_per_partition: 1,
    physical_cores: 1,
};

/// The specification of a generation, from its figures.
///
/// # Errors
/// When a figure that the compiler or the simulator needs is not public (the error names all of them), or the generation does
/// not exist.
pub fn core_spec(version: u8) -> Result<CoreSpec, Refusal> {
    let Some(data) = core_data(version) else {
        return Err(unpublished("this generation of NeuronCores", "all figures"));
    };
    let mut missing = Vec::new();
    let mut figure = |name: &'static str| match data.figure(name).and_then(|f| f.value) {
        Some(value) => f64_to_u64(value),
        None => {
            missing.push(name);
            0
        }
    };
    let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let spec = CoreSpec {
        name: data.name,
        tensor_mhz: narrow(figure("tensor_mhz")),
        vector_mhz: narrow(figure("vector_mhz")),
        scalar_mhz: narrow(figure("scalar_mhz")),
        gpsimd_mhz: narrow(figure("gpsimd_mhz")),
        partitions: narrow(figure("partitions")),
        moving_free_max: narrow(figure("moving_free_max")),
        sbuf_bytes: figure("sbuf_bytes"),
        psum_bytes: figure("psum_bytes"),
        psum_banks: narrow(figure("psum_banks")),
        dma_engines: narrow(figure("dma_engines")),
        hbm_bytes: figure("hbm_bytes"),
        hbm_bytes_per_us: figure("hbm_bytes_per_us"),
        fp8_rows_per_partition: narrow(figure("fp8_rows_per_partition")),
        physical_cores: 1,
    };
    if missing.is_empty() { Ok(spec) } else { Err(unpublished(data.name, &missing.join(", "))) }
}

fn unpublished(core: &str, figures: &str) -> Refusal {
    refuse!(
        "{core} cannot be simulated: {figures} are not published for it, and none is invented; use an inf2, trn1, trn2 or trn3 size, or give the times of the system with --model fixed"
    )
}

impl CoreSpec {
    /// A logical core of several of these cores, with the sum of their engines, memory and bandwidth.
    #[must_use]
    pub fn logical(&self, physical_cores: u32) -> Self {
        let n = physical_cores.max(1);
        let wide = u64::from(n);
        Self {
            sbuf_bytes: self.sbuf_bytes * wide,
            psum_bytes: self.psum_bytes * wide,
            dma_engines: self.dma_engines * n,
            hbm_bytes: self.hbm_bytes * wide,
            hbm_bytes_per_us: self.hbm_bytes_per_us * wide,
            physical_cores: n,
            ..self.clone()
        }
    }

    /// Peak dense bf16 rate in floating point operations per second: two per array element and cycle.
    pub fn peak_bf16_flops(&self) -> f64 {
        f64::from(self.physical_cores)
            * 2.0
            * f64::from(self.partitions)
            * f64::from(self.partitions)
            * f64::from(self.tensor_mhz)
            * 1e6
    }

    /// Peak rate of device memory for one core, bytes per second.
    pub fn peak_hbm_bytes_per_s(&self) -> f64 {
        u64_to_f64(self.hbm_bytes_per_us) * 1e6
    }

    /// The ridge of the roofline, floating point operations per byte: below it a computation is bound by memory.
    pub fn ridge_flops_per_byte(&self) -> f64 {
        self.peak_bf16_flops() / self.peak_hbm_bytes_per_s()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_are_the_figures() {
        assert_eq!(core_spec(2), Ok(NEURONCORE_V2));
        for version in [2, 3, 4] {
            let spec = core_spec(version).unwrap();
            let published = core_data(version).and_then(|d| d.figure("bf16_tflops")).and_then(|f| f.value).unwrap();
            // The documents round to whole TFLOPS.
            assert!((spec.peak_bf16_flops() / 1e12 - published).abs() < 0.5, "{}", spec.name);
            assert!((spec.logical(2).peak_bf16_flops() / spec.peak_bf16_flops() - 2.0).abs() < 1e-12);
            assert_eq!(spec.psum_bytes / u64::from(spec.partitions * spec.psum_banks), 2048);
        }
    }

    #[test]
    fn missing_public_figures_are_listed() {
        let error = core_spec(1).unwrap_err().to_string();
        assert!(error.contains("NeuronCore-v1"), "{error}");
        assert!(error.contains("tensor_mhz, vector_mhz, scalar_mhz, gpsimd_mhz, partitions"), "{error}");
        assert!(!error.contains("hbm_bytes"), "{error}");
        assert!(core_spec(9).is_err());
    }

    #[test]
    fn peak_is_the_documented_92_tflops() {
        assert!((NEURONCORE_V2.peak_bf16_flops() / 1e12 - 91.75).abs() < 0.01);
        assert!((NEURONCORE_V2.ridge_flops_per_byte() - 223.8).abs() < 0.05);
        assert_eq!(NEURONCORE_V2.sbuf_bytes, 24 * 1024 * 1024);
        assert_eq!(NEURONCORE_V2.psum_bytes / u64::from(NEURONCORE_V2.partitions * NEURONCORE_V2.psum_banks), 2048);
    }
}
