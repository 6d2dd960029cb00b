//! NeuronPerf: a benchmark of simulated devices.
//!
//! ```text
//! BenchConfig -> expand -> Configuration + ServiceTimes -> Executor -> Scheduler -> Measurement -> Report -> table, CSV, JSON
//! ```
//!
//! [`BenchConfig`] (`config/`) is the request; [`expand`] (`sweep/`) makes it an ordered [`Sweep`] of
//! [`Configuration`]s. [`service_times`] (`run/`) gives the [`ServiceTimes`] of each, from the module `device` or from plain
//! numbers; the scheduler knows only these times, not the model. [`ConfigurationRun`] takes one configuration to its row in steps,
//! so that a worker can show progress and be cancelled; it never fails: a configuration that cannot run is a row with an
//! error. Nothing here reads a clock: a row is a function of its configuration, its times and its seed.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod compile;
mod config;
pub mod cpu;
pub mod dataset;
pub mod evaluate;
pub mod export;
mod host_step;
pub mod import;
mod index;
mod log;
pub mod matmult;
mod measured;
pub mod mlperf;
mod parity;
mod reports;
mod run;
mod scheduler;
mod sweep;
mod values;

pub use compile::artifact::{Artifact, CompileConfig, CompilePlan, CompileTask, CompiledModel};
pub use compile::sweep::{CompileSweep, option_text};
pub use config::bench_config::{
    BenchConfig, ConfigError, MAX_BATCH, MAX_DURATION_S, MAX_JITTER, MAX_PARALLEL, MAX_USD_PER_HOUR, MAX_WARMUPS,
};
pub use config::configuration::{Configuration, WorkerChoice};
pub use config::input_fit::batch_of_inputs;
pub use config::inputs::{InputTuple, parse_inputs};
pub use config::list::{
    AS_MANY_AS_FIT, MAX_LIST_ENTRIES, comma_list, copies_text, parse_copies, parse_levels, parse_list, plain_list,
};
pub use config::options::{
    Accounting, Dataset, DeviceType, MAX_DATASET, MAX_STEP_MS, Processes, RunOptions, SdkGeneration, SharedOverhead,
};
pub use host_step::expression::Expression;
pub use host_step::step::HostStep;
pub use index::{
    BesideIndex, CombinedIndex, EntryStatus, FILTER_FIELDS, FilePlan, FileStep, IndexFilter, MODELLED, ModelEntry,
    ModelIndex, ReadIndex,
};
pub use log::Verbosity;
pub use measured::measurement::{MAX_INFERENCES, Measurement, SecondCount};
pub use measured::spans::{MOST_TIMED_INFERENCES, Span, SpanRecorder, TimerSpans};
pub use measured::timer::{Timer, Timers, mean_of_averages_ms};
pub use ns_device::ServiceTimes;
pub use parity::{Parity, parity, parity_markdown};
pub use reports::beside::{
    Beside, INTERVAL_CASES, Interval, Measure, PUBLISHED_CORE, PublishedFigures, beside_lines, beside_text,
    no_published_row,
};
pub use reports::calendar::{results_file_name, simulated_dts, utc_dts};
pub use reports::charts::{CURVE_PERCENTS, RunCharts};
pub use reports::confidence::{mean_ci95, percentile_ci95_percents};
pub use reports::products::products_rate;
pub use reports::report::{NEURONPERF_KEYS, REPORT_KEYS, REPORT_KINDS, Report, ReportDetail};
pub use reports::results::{RunResults, get_reports};
pub use reports::sharing::sharing;
pub use reports::summarise::REPORT_VERSION;
pub use reports::timed_results::TimedResults;
pub use reports::value::ReportKind;
pub use reports::verdict::{best, verdict};
pub use run::configuration_run::{ConfigurationRun, RowResult, RunDetail};
pub use run::estimate::{Estimate, estimate};
pub use run::times::{service_times, stage_times};
pub use run::worker_trial::decide_workers;
pub use scheduler::executor::{Executor, MockExecutor, SetupStep, SimulatedExecutor, Stage};
pub use scheduler::observer::{NoObserver, RunObserver};
pub use scheduler::{Progress, Scheduler};
pub use sweep::benchmarks::{Benchmarks, KeptRow, SweepState};
pub use sweep::expand::{MAX_CONFIGURATIONS, Sweep, expand};
pub use sweep::plan::{PlannedRow, SweepPlan, remaining_text};
pub use sweep::state::{RowState, SweepKind, SweepOf, SweepProgress, SweepRow};
