//! Costs of the generations after NeuronCore-v2. Figures that are published or measured for a generation are its own;
//! all others are v2's, as docs/costs.md lists line by line.

use super::{CostTable, KernelCosts};
use crate::arch::{Instance, core_spec};
use ns_base::Refusal;

/// The limit of a tensor engine's clock by its recent utilisation. Time is cut into windows; the utilisation of a window is the
/// time that the engine works in it, weighted with the share of the array's rows in use, and decides the limit of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// Clock after a window below the threshold, and at first, in eighths of the published clock.
    pub light_eighths: u32,
    /// Clock after a window at or above the threshold, in eighths of the published clock.
    pub dense_eighths: u32,
    /// Utilisation from which a window is dense, thousandths.
    pub threshold_permille: u32,
    /// Length of a window, nanoseconds.
    pub window_ns: u64,
}

/// About 3 us (published for Trn2 and Trn3: Neuron Explorer, overview page). On Inf2 the limit comes within 16 us of dense
/// products (measured), so the same window is assumed for every generation.
const WINDOW_NS: u64 = 3_000;

/// Half of the clock until a window is at least half used (published as [`WINDOW_NS`]; that the rows in use count was measured
/// with kernels of one row).
const V3_THROTTLE: Throttle =
    Throttle { light_eighths: 4, dense_eighths: 8, threshold_permille: 500, window_ns: WINDOW_NS };

/// Seven eighths of the clock whenever the engine works (measured on Trn1: dense products run at 0.866 of the clock's rate).
pub(super) const TRN1_THROTTLE: Throttle =
    Throttle { light_eighths: 7, dense_eighths: 7, threshold_permille: 625, window_ns: WINDOW_NS };

/// As on Trn1, and five eighths after a window that used more than that (measured on Inf2: dense products run at 0.625 of the
/// clock's rate, mixed ones between the two; that the threshold is the limit itself is chosen).
pub(super) const INF2_THROTTLE: Throttle =
    Throttle { light_eighths: 7, dense_eighths: 5, threshold_permille: 625, window_ns: WINDOW_NS };

impl CostTable {
    /// The costs of an instance's NeuronCores, each of one physical core.
    ///
    /// # Errors
    /// When figures of its generation that a simulation needs are not public.
    pub fn of_instance(instance: &Instance) -> Result<Self, Refusal> {
        match instance.core_version {
            2 if instance.name.starts_with("inf2") => Ok(Self::inferentia2()),
            2 => Ok(Self::neuroncore_v2()),
            3 => Self::neuroncore_v3(),
            4 => Self::neuroncore_v4(),
            other => core_spec(other).map(|core| Self { core, ..Self::neuroncore_v2() }),
        }
    }

    /// NeuronCore-v3 (Trn2).
    ///
    /// # Errors
    /// Never: its figures are public.
    pub fn neuroncore_v3() -> Result<Self, Refusal> {
        let mut table = Self { core: core_spec(3)?, kernel: KernelCosts::V3, ..Self::neuroncore_v2() };
        let engine = &mut table.engine;
        // Published: the vector and the scalar engine read PSUM in parallel.
        engine.psum_readers = 2;
        // Measured: a kernel of full tiles reaches 77.2 of 78.6 TFLOPS.
        engine.sustained_matmul_permille = 982;
        // Measured: device traces of the DMA overview.
        engine.act_table_load_ns = 1_290;
        engine.tensor_throttle = Some(V3_THROTTLE);
        let dma = &mut table.dma;
        // Measured: 575 to 914 ns a copy in kernel profiles; published: about 600 for a hardware descriptor engine.
        dma.issue_interval_ns = 600;
        dma.engine_bytes_per_us = 23_000;
        // Measured with descriptors of 4 KiB; 368 GB/s are published.
        dma.aggregate_bytes_per_us = 354_000;
        // Derived: 259 GB/s with descriptors of 1 KiB beside 354 with those of 4 KiB.
        dma.descriptor_ps = 1_060;
        Ok(table)
    }

    /// NeuronCore-v4 (Trn3): no trace or profile of it is public, so values that its documentation does not give are
    /// v3's.
    ///
    /// # Errors
    /// Never: its figures are public.
    pub fn neuroncore_v4() -> Result<Self, Refusal> {
        let mut table = Self { core: core_spec(4)?, ..Self::neuroncore_v3()? };
        table.dma.engine_bytes_per_us = 33_000;
        table.dma.aggregate_bytes_per_us = 528_000;
        // Derived from v3's in proportion to the published bandwidth.
        table.dma.descriptor_ps = 739;
        // Published: 33 B/ns; kernels that stream on v3 reach 25/23 of what is published there.
        table.kernel.dma_engine_bytes_per_us = 33_000;
        Ok(table)
    }

    /// A logical core of several physical cores. Work is split evenly and the cores do not exchange data: this
    /// is an upper bound for a real logical core.
    #[must_use]
    pub fn logical(mut self, physical_cores: u32) -> Self {
        let n = physical_cores.max(1);
        self.core = self.core.logical(n);
        self.dma.aggregate_bytes_per_us *= u64::from(n);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::instance;

    #[test]
    fn every_generation_with_public_figures_has_costs() {
        let of = |name| CostTable::of_instance(instance(name).unwrap());
        let v3 = of("trn2.48xlarge").unwrap();
        assert_eq!((v3.core.tensor_mhz, v3.core.sbuf_bytes), (2_400, 28 << 20));
        let v4 = of("trn3-ultraserver-gen1").unwrap();
        assert_eq!((v4.core.vector_mhz, v4.core.hbm_bytes), (1_200, 18 << 30));
        assert!(of("inf1.xlarge").unwrap_err().to_string().contains("tensor_mhz"));
        assert_eq!(v3.clone().logical(1), v3);
        assert_eq!(v3.logical(2).core.dma_engines, 32);
    }
}
