//! NeuronPerf: a benchmark of simulated devices.
//!
//! ```text
//! BenchConfig -> expand -> Configuration + ServiceTimes -> Executor -> Scheduler -> Measurement -> Report -> table, CSV, JSON
//! ```
//!
//! [`BenchConfig`] is what a person asks for; [`expand`] makes it an ordered [`Sweep`] of [`Configuration`]s. The room
//! does not know what a model is: whoever runs a configuration brings its [`ServiceTimes`], from the device simulator
//! or as plain numbers. [`ConfigurationRun`] takes one configuration to its row in steps, so that a worker can show
//! progress and be cancelled; it never fails, a configuration that can not run is a row with an error. Nothing here
//! reads a clock: a row is a function of its configuration, its times and its seed.

mod calendar;
mod config;
mod configuration;
mod device;
mod executor;
pub mod export;
mod fixed;
mod host_step;
mod index;
mod inputs;
mod list;
mod measurement;
mod options;
mod plan;
mod python_json;
mod queue;
mod report;
mod run;
mod scheduler;
#[cfg(test)]
mod scheduler_tests;
mod service;
mod summarise;
mod sweep;
mod timer;
mod verdict;

pub use calendar::simulated_dts;
pub use config::{
    BenchConfig, ConfigError, MAX_BATCH, MAX_DURATION_S, MAX_JITTER, MAX_PARALLEL, MAX_USD_PER_HOUR, MAX_WARMUPS,
};
pub use configuration::{Configuration, ConfigurationError};
pub use device::{Device, is_simulated, service_times, stage_times};
pub use executor::{Executor, MockExecutor, SetupStep, SimulatedExecutor, Stage};
pub use fixed::{FIXED_MODEL, FIXED_PARAMETERS, FixedError, FixedModel};
pub use host_step::{HostStep, HostStepError};
pub use index::{
    Appended, EntryStatus, FILTER_FIELDS, FilePlan, FileStep, FilterError, IndexError, IndexFilter, ModelEntry,
    ModelIndex, ReadIndex,
};
pub use inputs::{InputError, InputTuple, parse_inputs};
pub use list::{ListError, MAX_LIST_ENTRIES, parse_levels, parse_list};
pub use measurement::{MAX_INFERENCES, Measurement, SecondCount};
pub use options::{Accounting, Dataset, DeviceType, MAX_DATASET, MAX_STEP_MS, Processes, RunOptions};
pub use plan::{Estimate, TooManyInferences, estimate};
pub use python_json::without_nan;
pub use report::{REPORT_KEYS, Report, ReportDetail};
pub use run::{ConfigurationRun, Outcome};
pub use scheduler::{Progress, RunError, Scheduler};
pub use service::{MAX_SERVICE, ServiceError, ServiceTimes};
pub use summarise::REPORT_VERSION;
pub use sweep::{MAX_CONFIGURATIONS, Sweep, expand};
pub use timer::{Timer, Timers, mean_of_averages_ms};
pub use verdict::verdict;
