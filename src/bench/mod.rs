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

mod arithmetic;
mod brought;
mod calendar;
mod charts;
mod compile;
mod compile_sweep;
mod confidence;
mod config;
mod configuration;
pub mod cpu;
pub mod dataset;
mod device;
pub mod evaluate;
mod executor;
pub mod export;
mod expression;
mod fixed;
mod host_step;
pub mod import;
mod index;
mod input_fit;
mod inputs;
mod list;
mod log;
pub mod matmult;
mod measurement;
pub mod mlperf;
mod observer;
mod options;
mod plan;
mod python_json;
mod queue;
mod report;
mod results;
mod run;
mod run_error;
mod scheduler;
mod service;
mod source;
mod spans;
mod summarise;
mod sweep;
mod sweep_models;
mod sweep_notes;
mod sweep_plan;
mod sweep_state;
mod timed_results;
mod timer;
mod verdict;

pub use arithmetic::FormulaError;
pub use brought::BroughtRun;
pub use calendar::{simulated_dts, utc_dts};
pub use charts::{CURVE_PERCENTS, RunCharts};
pub use compile::{Artifact, CompileConfig, CompilePlan, CompileTask, CompiledModel};
pub use compile_sweep::{CompileSweep, option_text};
pub use confidence::{mean_ci95, percentile_ci95_percents};
pub use config::{
    BenchConfig, ConfigError, MAX_BATCH, MAX_DURATION_S, MAX_JITTER, MAX_PARALLEL, MAX_USD_PER_HOUR, MAX_WARMUPS,
};
pub use configuration::{Configuration, ConfigurationError};
pub use device::{Compilation, Device, is_simulated, service_times, stage_times};
pub use executor::{Executor, MockExecutor, SetupStep, SimulatedExecutor, Stage};
pub use expression::Expression;
pub use fixed::{FIXED_MODEL, FIXED_PARAMETERS, FixedError, FixedModel};
pub use host_step::{HostStep, HostStepError};
pub use index::{
    Appended, BesideIndex, EntryStatus, FILTER_FIELDS, FilePlan, FileStep, FilterError, IndexConflict, IndexError,
    IndexFilter, MODELLED, ModelEntry, ModelIndex, ReadIndex,
};
pub use input_fit::batch_of_inputs;
pub use inputs::{InputError, InputTuple, parse_inputs};
pub use list::{ListError, MAX_LIST_ENTRIES, parse_levels, parse_list};
pub use log::Verbosity;
pub use measurement::{MAX_INFERENCES, Measurement, SecondCount};
pub use observer::{RunObserver, Unobserved};
pub use options::{Accounting, Dataset, DeviceType, MAX_DATASET, MAX_STEP_MS, Processes, RunOptions, SdkGeneration};
pub use plan::{Estimate, TooManyInferences, estimate};
pub use python_json::{QUOTED_NAN, quoted_nan, without_nan};
pub use report::{NEURONPERF_KEYS, REPORT_KEYS, Report, ReportDetail};
pub use results::{RunResults, get_reports, results_to_json};
pub use run::{ConfigurationRun, Outcome, RowResult, RunDetail};
pub use run_error::RunError;
pub use scheduler::{Progress, Scheduler};
pub use service::{MAX_SERVICE, ServiceError, ServiceTimes};
pub use spans::{MOST_TIMED_INFERENCES, Span, SpanRecorder, TimerSpans};
pub use summarise::REPORT_VERSION;
pub use sweep::{MAX_CONFIGURATIONS, Sweep, expand};
pub use sweep_plan::{PlannedRow, SweepPlan, remaining_text};
pub use sweep_state::{RowState, SweepProgress, SweepRow, SweepState};
pub use timed_results::{TimedResults, timed_results_to_json};
pub use timer::{Timer, Timers, mean_of_averages_ms};
pub use verdict::verdict;
