//! The limits of a core, each of which can be removed: what a run without it gains says whether it bounds the kernel.

use ns_base::names;

use crate::setup::Setup;

names! {
    /// A limit of a core.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Limit {
        /// The rate of the tensor engine.
        Tensor = "tensor",
        /// The rate of the vector engine.
        Vector = "vector",
        /// The rate of the scalar engine.
        Scalar = "scalar",
        /// The rate of the GpSimd engine.
        GpSimd = "gpsimd",
        /// The rate of the DMA engines.
        DmaRate = "dma_rate",
        /// The interval between two DMAs.
        DmaIssue = "dma_issue",
        /// What is between the end of one item and the start of another that waits for it.
        Latency = "latency",
        /// The size of SBUF.
        Sbuf = "sbuf",
        /// The size of PSUM.
        Psum = "psum",
        /// The limit of the tensor engine's clock by its utilisation.
        Throttle = "throttle",
        /// The call of the kernel.
        Launch = "launch",
    }

    /// All limits.
    pub const ALL: [Self; _];
    /// Name in JSON.
    pub const fn name(self) -> &'static str;
}

/// What a rate without a limit is: so much higher that the time does not show.
const MANY: u32 = 1_000;

impl Limit {
    /// The setup without this limit.
    pub fn removed(self, setup: &Setup) -> Setup {
        let mut setup = Setup { with_limits: false, ..setup.clone() };
        let costs = &mut setup.costs;
        match self {
            Self::Tensor => {
                costs.core.tensor_mhz *= MANY;
                costs.kernel.tensor_fixed_ps = 0;
            }
            Self::Vector => costs.core.vector_mhz *= MANY,
            Self::Scalar => {
                costs.core.scalar_mhz *= MANY;
                costs.kernel.scalar_fixed_ns = 0;
                costs.engine.act_table_load_ns = 0;
            }
            Self::GpSimd => costs.core.gpsimd_mhz *= MANY,
            Self::DmaRate => {
                costs.kernel.dma_engine_bytes_per_us *= u64::from(MANY);
                costs.kernel.dma_descriptor_ps = 0;
            }
            Self::DmaIssue => costs.kernel.dma_issue_ns = 0,
            Self::Latency => {
                costs.kernel.tensor_result_ns = 0;
                costs.kernel.scalar_latency_ns = 0;
                costs.engine.semaphore_ns = 0;
                costs.dma.trigger_to_data_ns = 0;
                costs.dma.completion_ns = 0;
                costs.dma.semaphore_to_engine_ns = 0;
            }
            Self::Sbuf => setup.decisions.sbuf = false,
            Self::Psum => setup.decisions.psum = false,
            Self::Throttle => costs.engine.tensor_throttle = None,
            Self::Launch => costs.kernel.call_ns = 0,
        }
        setup
    }
}
