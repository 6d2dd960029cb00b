//! The limits of a core, each of which can be removed: what a run without it gains says whether it bounds the execution.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CostTable;
use ns_base::convert::f64_to_u64;
use ns_base::{Order, SimTime, names};

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
        /// The size of PSUM, and the port that engines share.
        Psum = "psum",
        /// The limit of the tensor engine's clock by its utilisation.
        Throttle = "throttle",
        /// What surrounds the instructions: the call of a kernel, set-up and tear-down of a model.
        Launch = "launch",
    }

    /// All limits.
    pub const ALL: [Self; _];
    /// Name in JSON.
    pub const fn name(self) -> &'static str;
    /// The limit with that name in JSON.
    pub fn from_name(name: &str) -> Option<Self>;
}

impl Limit {
    /// Words for people, as within a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Tensor => "tensor engine",
            Self::Vector => "vector engine",
            Self::Scalar => "scalar engine",
            Self::GpSimd => "GpSimd engine",
            Self::DmaRate => "DMA rate",
            Self::DmaIssue => "DMA issue",
            Self::Latency => "latency",
            Self::Sbuf => "space in SBUF",
            Self::Psum => "space in PSUM",
            Self::Throttle => "clock limit of the tensor engine",
            Self::Launch => "launch",
        }
    }
}

/// What a rate or a size without a limit is: so much higher that the time does not show.
const MANY: u32 = 1_000;

impl CostTable {
    /// The costs without a limit of the core.
    #[must_use]
    pub fn without(&self, limit: Limit) -> Self {
        let mut table = self.clone();
        let Self { core, engine, dma, kernel, runtime } = &mut table;
        match limit {
            Limit::Tensor => {
                core.tensor_mhz *= MANY;
                kernel.tensor_fixed_ps = 0;
            }
            Limit::Vector => core.vector_mhz *= MANY,
            Limit::Scalar => {
                core.scalar_mhz *= MANY;
                kernel.scalar_fixed_ns = 0;
                engine.act_table_load_ns = 0;
            }
            Limit::GpSimd => {
                core.gpsimd_mhz *= MANY;
                engine.custom_element_ps = 0;
            }
            Limit::DmaRate => {
                dma.engine_bytes_per_us *= u64::from(MANY);
                dma.aggregate_bytes_per_us *= u64::from(MANY);
                (dma.descriptor_ps, dma.min_data_ns) = (0, 0);
                kernel.dma_engine_bytes_per_us *= u64::from(MANY);
                kernel.dma_descriptor_ps = 0;
            }
            Limit::DmaIssue => (dma.issue_interval_ns, kernel.dma_issue_ns) = (0, 0),
            Limit::Latency => {
                (kernel.tensor_result_ns, kernel.scalar_latency_ns) = (0, 0);
                (engine.semaphore_ns, engine.memory_access_cycles, engine.array_latency_cycles) = (0, 0, 0);
                engine.array_quadrant = core.partitions;
                (dma.trigger_to_data_ns, dma.completion_ns, dma.semaphore_to_engine_ns) = (0, 0, 0);
            }
            Limit::Sbuf => core.sbuf_bytes *= u64::from(MANY),
            Limit::Psum => engine.psum_readers = MANY,
            Limit::Throttle => engine.tensor_throttle = None,
            Limit::Launch => {
                kernel.call_ns = 0;
                (runtime.setup_traced_ns, runtime.setup_mark_step_ns, runtime.teardown_ns) = (0, 0, 0);
            }
        }
        table
    }
}

/// What an execution would gain without each limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gains {
    /// The limit without which it would gain most; absent if no limit costs time.
    pub bound: Option<String>,
    /// The gain without each limit, microseconds.
    pub saves_us: BTreeMap<String, f64>,
}

impl Gains {
    /// The gains of an execution that takes `total`, and that takes what `without` returns without a limit.
    ///
    /// # Errors
    /// When `without` fails.
    pub fn of<E>(total: SimTime, mut without: impl FnMut(Limit) -> Result<SimTime, E>) -> Result<Self, E> {
        let gain = |limit: Limit| {
            let us = total.saturating_sub(without(limit)?).to_secs_f64() * 1e6;
            Ok((limit.name().to_owned(), (us * 1e3).round() / 1e3))
        };
        let saves_us: BTreeMap<String, f64> = Limit::ALL.into_iter().map(gain).collect::<Result<_, E>>()?;
        let mut gains = Self { bound: None, saves_us };
        gains.bound = gains.ranked().first().map(|(name, _)| (*name).to_owned());
        Ok(gains)
    }

    /// The limit without which it would gain most.
    #[must_use]
    pub fn bound(&self) -> Option<Limit> {
        Limit::ALL.into_iter().find(|limit| self.bound.as_deref() == Some(limit.name()))
    }

    /// The gain without a limit, nanoseconds.
    #[must_use]
    pub fn ns(&self, limit: Limit) -> u64 {
        f64_to_u64(self.saves_us.get(limit.name()).copied().unwrap_or_default() * 1e3)
    }

    /// The limits with their gains, the largest first; those that cost nothing are left out.
    #[must_use]
    pub fn ranked(&self) -> Vec<(&str, f64)> {
        let costly = self.saves_us.iter().filter(|(_, us)| **us > 0.0);
        let mut ranked: Vec<(&str, f64)> = costly.map(|(name, us)| (name.as_str(), *us)).collect();
        ranked.order_by(|a, b| b.1.total_cmp(&a.1));
        ranked
    }
}

/// A limit, or what keeps an engine of its name busy, in words: `tensor engine`, `DMA`.
#[must_use]
pub fn limit_words(name: &str) -> &str {
    match (Limit::from_name(name), name) {
        (Some(limit), _) => limit.words(),
        (None, "dma") => "DMA",
        (None, _) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_changes_the_costs() {
        let costs = CostTable::neuroncore_v2();
        for limit in Limit::ALL {
            assert_ne!(costs.without(limit), costs, "{limit:?}");
        }
    }

    #[test]
    fn the_largest_gain_is_the_bound() {
        let without = |limit| Ok::<_, ()>(SimTime::from_ns(if limit == Limit::DmaRate { 400 } else { 900 }));
        let gains = Gains::of(SimTime::from_ns(1_000), without).unwrap();
        assert_eq!(gains.bound.as_deref(), Some("dma_rate"));
        assert_eq!((gains.ranked()[0], gains.saves_us["launch"]), (("dma_rate", 0.6), 0.1));
        assert_eq!(Gains::of(SimTime::ZERO, without).unwrap().bound, None);
        assert_eq!((gains.bound(), gains.ns(Limit::DmaRate)), (Some(Limit::DmaRate), 600));
        assert_eq!(
            ["dma_rate", "gpsimd", "tensor", "dma"].map(limit_words),
            ["DMA rate", "GpSimd engine", "tensor engine", "DMA"]
        );
    }
}
