//! NeuronPerf: a benchmark of simulated devices.
//!
//! ```text
//! BenchConfig -> expand -> Configuration + ServiceTimes -> Executor -> Scheduler -> Measurement -> Report -> table, CSV, JSON
//! ```

mod config;
mod list;
mod sweep;

pub use config::{
    BenchConfig, ConfigError, MAX_BATCH, MAX_DURATION_S, MAX_JITTER, MAX_PARALLEL, MAX_USD_PER_HOUR, MAX_WARMUPS,
};
pub use list::{ListError, MAX_LIST_ENTRIES, parse_list};
pub use sweep::{Configuration, ConfigurationError, MAX_CONFIGURATIONS, Sweep, expand};
