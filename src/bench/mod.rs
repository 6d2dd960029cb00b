//! NeuronPerf: a benchmark of simulated devices.
//!
//! ```text
//! BenchConfig -> expand -> Configuration + ServiceTimes -> Executor -> Scheduler -> Measurement -> Report -> table, CSV, JSON
//! ```

mod config;
mod executor;
mod list;
mod measurement;
mod plan;
mod queue;
mod scheduler;
#[cfg(test)]
mod scheduler_tests;
mod service;
mod sweep;
mod timer;

pub use config::{
    BenchConfig, ConfigError, MAX_BATCH, MAX_DURATION_S, MAX_JITTER, MAX_PARALLEL, MAX_USD_PER_HOUR, MAX_WARMUPS,
};
pub use executor::{Executor, MockExecutor, SetupStep, SimulatedExecutor, Stage};
pub use list::{ListError, MAX_LIST_ENTRIES, parse_list};
pub use measurement::{MAX_INFERENCES, Measurement, SecondCount};
pub use plan::{Estimate, TooManyInferences, estimate};
pub use scheduler::{Progress, RunError, Scheduler};
pub use service::{MAX_SERVICE, ServiceError, ServiceTimes};
pub use sweep::{Configuration, ConfigurationError, MAX_CONFIGURATIONS, Sweep, expand};
pub use timer::{Timer, Timers, mean_of_averages_ms};
