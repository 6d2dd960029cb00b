//! Flags that say what a benchmark prints and writes.

use std::path::PathBuf;

use clap::Args;

use super::args::write_format;
use super::option_args::{Choice, one_of};
use super::page_args::PageArgs;
use ns_bench::Verbosity;
use ns_bench::export::JsonFormat;
use ns_session::{TraceSpec, WriteFormat};

/// Flags for what is printed and written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    #[command(flatten)]
    pub table: TableArgs,
    /// 0: errors only; 1: each configuration; 2: every step
    #[arg(long, default_value = "1")]
    pub verbosity: Verbosity,
    /// 1: reports hold the throughput of each second; 2: every latency too
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub report_verbosity: u8,
    /// Write the timers of each configuration; `neuronscope report` reads them. Without a file they are printed instead of
    /// reports. With --json-format neuronperf: [[config, results], ...], each timer as pairs of start and end in seconds
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub return_timers: Option<Option<PathBuf>>,
    /// Keep finished configurations in a file. If the file exists, go on from it: what has finished is not run again
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub trace: TraceArgs,
}

/// The run itself as a timeline.
#[derive(Debug, Args)]
pub(super) struct TraceArgs {
    /// Write a run as a timeline: compile, load, warm-up, worker threads, data transfers and NeuronCores; of several
    /// configurations each gets a file with its number before the extension
    #[arg(long, value_name = "FILE", conflicts_with = "scenario")]
    pub trace: Option<PathBuf>,
    /// How much of the measured window the timeline holds
    #[arg(long, value_name = "SECONDS", default_value_t = TraceSpec::TIMELINE_S, requires = "trace")]
    pub trace_seconds: f64,
    /// Format to write: chrome, perfetto, speedscope, csv, xplane, neuron-plugin, tensorboard
    #[arg(long, value_parser = write_format, default_value = "chrome", requires = "trace")]
    pub trace_export: WriteFormat,
}

/// How reports are printed and written.
#[derive(Debug, Args)]
pub(super) struct TableArgs {
    /// Print the reports as JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the reports as CSV
    #[arg(long)]
    pub csv: bool,
    /// Also write the reports to a CSV file [without a name: {model_name}.results-{date}-{time}.csv, as in NeuronPerf]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub csv_file: Option<Option<PathBuf>>,
    /// Also write the reports to a JSON file [without a name: {model_name}.results-{date}-{time}.json]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub json_file: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub page: PageArgs,
    /// Format of the JSON of --json, --json-file and --return-timers
    #[arg(long, value_parser = one_of(&JSON_FORMATS), default_value = "neuronscope")]
    pub json_format: JsonFormat,
    /// Columns of the table or the CSV, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub cols: Option<Vec<String>>,
    /// Key to sort by
    #[arg(long)]
    pub sort_by: Option<String>,
    /// Sort with the largest first
    #[arg(long, requires = "sort_by")]
    pub reverse: bool,
}

const JSON_FORMATS: [Choice<JsonFormat>; 2] = [
    ("neuronscope", "An object {\"reports\": [...]}, with every key present", JsonFormat::Neuronscope),
    ("neuronperf", "NeuronPerf's bare array", JsonFormat::Neuronperf),
];
