//! What a user chooses of results: the columns of their table, limits, and what is the best within them.

use ns_base::names;
use ns_bench::REPORT_KEYS;

pub const DEFAULT_COLUMNS: [&str; 13] = [
    "model_name",
    "n_models",
    "workers_per_model",
    "pipeline_size",
    "batch_size",
    "throughput_avg",
    "throughput_peak",
    "latency_ms_p50",
    "latency_ms_p90",
    "latency_ms_p99",
    "latency_ms_p100",
    "cost_per_1m_inf",
    "status",
];

/// All keys in the order in which they are offered and shown: the default ones first.
pub fn offered_columns() -> Vec<&'static str> {
    let rest = REPORT_KEYS.iter().copied().filter(|k| !DEFAULT_COLUMNS.contains(k));
    DEFAULT_COLUMNS.into_iter().chain(rest).collect()
}

names! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Goal {
        /// The most inferences in a second.
        #[default]
        Throughput = "most throughput",
        /// The shortest p99 latency.
        Latency = "lowest p99",
        /// The lowest price of a million inferences.
        Cost = "lowest cost",
    }

    /// All, in the order of the selector.
    pub const ALL: [Self; _];
    pub const fn name(self) -> &'static str;
    pub fn from_name(name: &str) -> Option<Self>;
}

/// Limits as they are typed; an empty text sets no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedTexts {
    /// Longest p99 latency, ms.
    pub p99_ms: String,
    /// Highest price of a million inferences, US$.
    pub cost: String,
    /// Most NeuronCores.
    pub cores: String,
    pub goal: Goal,
}
