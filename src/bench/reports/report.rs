//! The report of one configuration: NeuronPerf's keys, in a fixed order.

use serde::{Deserialize, Serialize};

use super::beside::{Interval, PublishedFigures};
use super::value::{ReportKind, ReportValue};
use crate::compile::sweep::short_flags;
use ns_base::units::format_plural;
use ns_compiler::Workflow;
use ns_device::EstimateMark;

/// Declares the report: its keys, the kinds of their values and its rounding follow from the fields.
macro_rules! report {
    (
        $(#[$meta:meta])*
        pub struct Report {
            $($(#[$doc:meta])* pub $field:ident $(as $key:literal)?: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        pub struct Report {
            $($(#[$doc])* $(#[serde(rename = $key)])? pub $field: $type,)*
        }

        /// Every key of a report in its fixed order.
        pub const REPORT_KEYS: &[&str] = &[$(report!(key $field $($key)?),)*];

        /// The kind of each key's value, in the order of [`REPORT_KEYS`].
        pub const REPORT_KINDS: &[ReportKind] = &[$(<$type as ReportValue>::KIND,)*];

        impl Report {
            /// The report as files have it: measures in seconds with 2 decimals, others with 3, as in NeuronPerf.
            pub fn in_file_decimals(&self) -> Self {
                let mut report = self.clone();
                $(report.$field.round(if stringify!($field).ends_with("_s") { 2 } else { 3 });)*
                report
            }
        }
    };
    (key $field:ident) => { stringify!($field) };
    (key $field:ident $key:literal) => { $key };
}

report! {
    /// One row. Fields are in the order of the JSON: the configuration, then the measurements, then fields that
    /// NeuronPerf does not have. Absent measures are `None` and become `null` in JSON and `N/A` in tables.
    ///
    /// Measures are exact, so that two rows compare as they ran; NeuronPerf's decimals are those of its files
    /// ([`Report::in_file_decimals`]).
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Report {
        /// Artifact path; rows that run the same artifact share it.
        pub model_filename: String,
        /// Label.
        pub model_name: String,
        /// `neuron`: a simulated NeuronCore; `cpu`: the processor of a machine.
        pub device_type: String,
        /// EC2 size.
        pub instance_type: String,
        /// Samples of one inference.
        pub batch_size: u32,
        /// Model copies.
        pub n_models: u32,
        /// Workers of one copy.
        pub workers_per_model: u32,
        /// NeuronCores of one copy.
        pub pipeline_size: u32,
        /// `n_models` x `pipeline_size`.
        pub n_devices: u64,
        /// 0 to 3; absent in an imported row without it.
        pub performance_level: Option<u8>,
        /// Each copy in its own process.
        pub multiprocess: bool,
        /// Each copy in a fresh interpreter.
        pub multiinterpreter: bool,
        /// Seconds between samples of the host, as text.
        pub stats_interval: String,
        /// Start, `YYYYMMDD-HHMMSS`, from a fixed epoch: each configuration starts at this moment, whatever ran before.
        pub start_dts: String,
        /// Seconds of the measured window, as text.
        pub duration: String,
        /// End, like `start_dts`.
        pub stop_dts: String,
        /// Program that made the report.
        pub neuronperf_version as "NeuronPerf_version": String,
        /// Samples of the host: a simulated device has none.
        pub n_stats_intervals: u64,
        /// `finished` or `error`.
        pub status: String,
        /// Mean load of a copy.
        pub load_avg_ms: Option<f64>,
        /// Fetching an input.
        pub input_avg_ms: Option<f64>,
        pub warmup_avg_ms: Option<f64>,
        /// Before the load.
        pub env_setup_avg_ms: Option<f64>,
        /// After the load.
        pub setup_avg_ms: Option<f64>,
        /// Work before the call.
        pub preprocess_avg_ms: Option<f64>,
        pub infer_avg_ms: Option<f64>,
        /// Work after the call.
        pub postprocess_avg_ms: Option<f64>,
        pub e2e_avg_ms: Option<f64>,
        /// Lifetime of a worker: the measured window and its last inference.
        pub worker_avg_s: Option<f64>,
        /// Inferences including warm-ups, times batch size.
        pub total_infs: Option<u64>,
        /// The whole run, bring-up included.
        pub total_s: Option<f64>,
        /// Host processor load; absent for a simulated device, like the next thirteen fields.
        pub cpu_avg_percent: Option<f64>,
        /// Lowest.
        pub cpu_percent_p0: Option<f64>,
        /// Median.
        pub cpu_percent_p50: Option<f64>,
        /// 90th percentile.
        pub cpu_percent_p90: Option<f64>,
        /// 95th percentile.
        pub cpu_percent_p95: Option<f64>,
        /// 99th percentile.
        pub cpu_percent_p99: Option<f64>,
        /// Highest.
        pub cpu_percent_p100: Option<f64>,
        /// Host memory in use.
        pub mem_avg_percent: Option<f64>,
        /// Lowest.
        pub mem_percent_p0: Option<f64>,
        /// Median.
        pub mem_percent_p50: Option<f64>,
        /// 90th percentile.
        pub mem_percent_p90: Option<f64>,
        /// 95th percentile.
        pub mem_percent_p95: Option<f64>,
        /// 99th percentile.
        pub mem_percent_p99: Option<f64>,
        /// Highest.
        pub mem_percent_p100: Option<f64>,
        /// Lowest latency.
        pub latency_ms_p0: Option<f64>,
        /// Median latency.
        pub latency_ms_p50: Option<f64>,
        /// 90th percentile.
        pub latency_ms_p90: Option<f64>,
        /// 95th percentile.
        pub latency_ms_p95: Option<f64>,
        /// 99th percentile.
        pub latency_ms_p99: Option<f64>,
        /// Highest latency.
        pub latency_ms_p100: Option<f64>,
        /// Samples in the best second, and at least `throughput_avg`: a short run may hold no whole second.
        pub throughput_peak: Option<f64>,
        /// Samples per second by NeuronPerf's rule; `throughput_avg_method` says how it was reached.
        pub throughput_avg: Option<f64>,
        /// US dollars per million samples at `throughput_avg`, if there is a price.
        pub cost_per_1m_inf: Option<f64>,
        /// Samples of each second in which an inference ended; only in a report that was requested with it.
        pub throughput_hist: Option<Vec<u64>>,
        /// Every latency in order of completion; only in a report that was requested with it.
        pub e2e_durations_ms: Option<Vec<f64>>,
        /// Samples of inferences that ended inside the measured window, over its whole length: seconds without an end
        /// count, and a window of any length has a value.
        pub throughput_window: Option<f64>,
        /// `interior_seconds` (NeuronPerf's: first and last second left out), `worker_rates` (fewer than three seconds are left: the rate
        /// of each worker between its first inference and its last, added up) or `total_over_elapsed` (a run without either, where
        /// NeuronPerf gives NaN).
        pub throughput_avg_method: Option<String>,
        /// Lower end of the 95 % confidence interval of `throughput_avg`, from the seconds between the first and the last. Absent unless it is
        /// the mean of at least three of those seconds.
        pub throughput_ci95_low: Option<f64>,
        pub throughput_ci95_high: Option<f64>,
        /// Number of latencies that the percentiles are computed from.
        pub latency_samples: Option<u64>,
        /// Lower end of the 95 % confidence interval of the median; absent when there are too few latencies.
        pub latency_ms_p50_ci95_low: Option<f64>,
        pub latency_ms_p50_ci95_high: Option<f64>,
        /// Lower end of the 95 % confidence interval of the 99th percentile.
        pub latency_ms_p99_ci95_low: Option<f64>,
        pub latency_ms_p99_ci95_high: Option<f64>,
        /// Number of latencies more than three interquartile ranges above the upper quartile.
        pub latency_outliers: Option<u64>,
        /// Host work of a call that finds nothing in its way; absent for a measured report, like the next three fields.
        pub call_host_ms: Option<f64>,
        /// Its inputs and outputs on their way between host and device.
        pub call_link_ms: Option<f64>,
        /// Its execution on the device, with start-up and tear-down.
        pub call_device_ms: Option<f64>,
        /// The rest of `infer_avg_ms`: waits for the NeuronCore, the link or the process.
        pub call_wait_ms: Option<f64>,
        /// The rest of `e2e_avg_ms` beside input, preprocessing, call and postprocessing: waits for a core of the host, or for the one
        /// interpreter of all copies.
        pub wait_avg_ms: Option<f64>,
        /// Whether the second half of a measured run was as fast as the first; absent for a simulated run.
        pub steady_state: Option<bool>,
        /// Share of the time in which the cores of the simulated host work, on average over the cores.
        pub host_busy_percent: Option<f64>,
        /// Share of the time in which the busiest way between host and devices is in use: a device's link, or the one path of a
        /// system given by its times.
        pub path_busy_percent: Option<f64>,
        /// The numbers of workers that were tried for a pipeline, each with its throughput: `1: 333/s, 2: 500/s`. Absent when
        /// the number was given.
        pub workers_tried: Option<String>,
        /// That a simulated run ended before its duration, because it had enough inferences: how long it was, and how many there are.
        pub shortened: Option<String>,
        /// `simulated`, `measured` or `imported`.
        pub source: String,
        /// For a measured report, the machine; for an imported one, the file.
        pub machine: Option<String>,
        /// Flags the model was compiled with: `--auto-cast matmult --auto-cast-type bf16 -O2`. Absent when nothing is
        /// compiled: on the processor, and for a system given by its times.
        pub compiler_args: Option<String>,
        /// How a compiled model reached its NeuronCore: `trace` or `mark_step`. Absent when `compiler_args` is.
        pub workflow: Option<String>,
        /// Operators of a model file whose times are estimates: `aten.foo (3 times, first at foo_1)`. Absent when there are none.
        pub estimated_ops: Option<String>,
        /// How many operators have an estimated cost and how many none that is known: with those, the throughput is the most and
        /// times are the least that is possible. Absent when there are none.
        pub estimate: Option<EstimateMark>,
        /// What AWS published for this configuration. Absent where nothing is published for exactly this one.
        pub published: Option<PublishedFigures>,
        /// The interval in which the throughput of a device lies in eight of ten cases. Absent where the error of the simulation is
        /// not known.
        pub interval: Option<Interval>,
        /// Why the error of the simulation is not known: `no published row is of training`. Absent where there is an interval.
        pub interval_unknown: Option<String>,
        /// Why the status is `error`.
        pub error: Option<String>,
    }
}

/// How much a report holds: NeuronPerf's report verbosity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ReportDetail {
    /// Verbosity 0.
    #[default]
    Summary,
    /// Verbosity 1: with `throughput_hist`.
    Seconds,
    /// Verbosity 2: with `e2e_durations_ms` too.
    Latencies,
}

/// The keys of NeuronPerf's own reports, which come first.
pub const NEURONPERF_KEYS: &[&str] = REPORT_KEYS.split_at(56).0;

impl Report {
    /// Whether the run finished.
    pub fn is_finished(&self) -> bool {
        self.status == "finished"
    }

    /// A short description of the configuration: `16 models x 2 workers, batch 4, pipeline 2`.
    pub fn label(&self) -> String {
        let mut label =
            format!("{} x {}", format_plural(self.n_models, "model"), format_plural(self.workers_per_model, "worker"));
        if self.batch_size != 1 {
            label.push_str(&format!(", batch {}", self.batch_size));
        }
        if self.pipeline_size != 1 {
            label.push_str(&format!(", pipeline {}", self.pipeline_size));
        }
        if let Some(flags) = self.unusual_compiler_args() {
            label.push_str(&format!(", {flags}"));
        }
        label
    }

    /// A throughput of this row, marked by the operators whose cost is a guess: `at most 405`.
    pub fn marked_rate(&self, rate: &str) -> String {
        format!("{}{rate}", self.estimate.map_or("", EstimateMark::before_rate))
    }

    /// A latency or a cost of this row, marked by the operators whose cost is a guess: `at least 2.47`.
    pub fn marked_time(&self, time: &str) -> String {
        format!("{}{time}", self.estimate.map_or("", EstimateMark::before_time))
    }

    /// A short description of the compiler options that are not the default: `cast all bf16`, `cast none -O1`, `mark_step`.
    pub fn unusual_compiler_args(&self) -> Option<String> {
        let flags = self.compiler_args.as_deref().and_then(short_flags);
        let workflow = self.workflow.clone().filter(|w| w != Workflow::Trace.name());
        let all: Vec<String> = flags.into_iter().chain(workflow).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}
