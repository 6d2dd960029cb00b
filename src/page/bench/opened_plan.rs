//! What a model file that was opened is run with, so that one look says where it is fastest and where it is cheapest.

use ns_bench::{AS_MANY_AS_FIT, BenchConfig, RunOptions};
use ns_session::{BatchRule, Catalog};

/// What a model file that was opened is run with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenedPlan {
    pub batch_sizes: Vec<u32>,
    pub instances: Vec<String>,
}

impl OpenedPlan {
    const MOST_BATCH: u32 = 64;

    /// Inferences of a configuration: 27 ranks of a hundred beyond the 99th percentile are its interval at 95 %, and a rate is within 0.05 % of a minute's.
    const ENOUGH_INFERENCES: u32 = 10_000;

    /// The batch sizes that a model takes, up to `OpenedPlan::MOST_BATCH`, on the instances that have a price.
    pub fn of(batch: &BatchRule, catalog: Option<&Catalog>) -> Self {
        let batch_sizes = match batch {
            BatchRule::Fixed { size } => vec![u32::try_from(*size).unwrap_or(u32::MAX)],
            BatchRule::Open { .. } | BatchRule::Derived { .. } => {
                std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n <= Self::MOST_BATCH).collect()
            }
        };
        let priced = catalog.iter().flat_map(|c| &c.instances).filter(|i| i.usd_per_hour.is_some());
        Self { batch_sizes, instances: priced.map(|i| i.name.clone()).collect() }
    }

    /// The benchmark of a model: every core of each instance has a copy, because idle ones cost as much, with one worker, which has the lowest
    /// latency, and with two, which have the highest throughput.
    pub fn config(self, model: String) -> BenchConfig {
        let default = BenchConfig::default();
        let instances = self.instances.join(",");
        BenchConfig {
            model,
            batch_sizes: self.batch_sizes,
            n_models: Some(vec![AS_MANY_AS_FIT]),
            instance_type: if instances.is_empty() { default.instance_type } else { instances },
            options: RunOptions { max_inferences: Some(Self::ENOUGH_INFERENCES), ..RunOptions::default() },
            ..default
        }
    }
}
