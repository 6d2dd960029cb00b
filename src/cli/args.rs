//! Commands and their flags, with NeuronPerf's names.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};
use ns_session::WriteFormat;

use super::analysis_args::{
    CompareArgs, CountersArgs, FlameArgs, HistogramArgs, LevelArgs, OperatorsArgs, PathArgs, QueryArgs, SpanArgs,
};
use super::bench_args::BenchArgs;
use super::customop_args::CustomOpArgs;
use super::experiment_args::{AggregateArgs, AnalyzeArgs, ExperimentArgs, MatmulBenchArgs, RecordsArgs, VerifyArgs};
use super::index_args::{IndexCommand, ModelCompileArgs};
use super::inspect_args::{ArraysArgs, InspectArgs};
use super::llm_args::{GenerateArgs, LlmArgs};
use super::matmult_args::MatmultArgs;
use super::model_args::{ModelFileArg, ModelFileFlags};
use super::nki_args::NkiArgs;
use super::option_args::OptionArgs;
use super::output_args::TableArgs;
use super::page_args::PageArgs;
use super::parquet_args::ParquetArgs;
use super::profile_args::ProfileArgs;
use super::serve_args::{CompletionsArgs, ManArgs, ServeArgs};
use ns_session::reports::Evaluation;
use ns_session::studies::NumericsStudy;

/// Benchmark and profile models for AWS NeuronCores without the hardware, and explore profiles from any tool.
#[derive(Debug, Parser)]
#[command(name = "neuronscope", version, about, max_term_width = 100)]
pub(super) struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Benchmark a model the way NeuronPerf does, on simulated NeuronCores
    #[command(alias = "benchmark")]
    Bench(Box<BenchArgs>),
    /// Measure matrix products as matmult_linear.py of the microbenchmark guide does, and show its pitfalls
    #[command(alias = "matmult_linear")]
    Matmult(Box<MatmultArgs>),
    /// Compile a model for the simulated NeuronCores and write an index of the artifacts
    Compile(ModelCompileArgs),
    /// Create, show, append, filter, copy, move and delete model indexes
    #[command(subcommand)]
    Index(IndexCommand),
    /// Show, compare and convert results: NeuronPerf's CSV and JSON, our own, timers, results.jsonl
    Report(ReportArgs),
    /// Compute evaluation metrics of a model's answers, or list the metrics
    Evaluate(EvaluateArgs),
    /// Simulate one execution and show its operators and timeline
    Profile(ProfileArgs),
    /// Open a profile from any tool and summarise it
    Open(OpenArgs),
    /// Time by operator, module, device, thread ... of any profile
    Operators(OperatorsArgs),
    /// Stacks of any profile with their time; callers and callees of a name; modules
    Flame(FlameArgs),
    /// How the durations of a name are spread
    Histogram(HistogramArgs),
    /// When devices were idle, and what they waited for
    Idle(SpanArgs),
    /// Critical path: the chain of slices that held each other up, from the start of a profile to its end
    CriticalPath(PathArgs),
    /// Counters over time: statistics of each, or the values of one
    Counters(CountersArgs),
    /// Query a profile: filter, group, aggregate (docs/query.md describes the language)
    Query(QueryArgs),
    /// Compare two profiles operator by operator
    Compare(CompareArgs),
    /// Show what a model file of PyTorch, JAX or ONNX holds, and how long one call takes on a simulated core
    Inspect(Box<InspectArgs>),
    /// List the supported operators of model files, by format, with the engine that runs each
    OperatorsSupported(OperatorsSupportedArgs),
    /// Compute a model as a NeuronCore would, and compare with the reference
    Numerics(NumericsArgs),
    /// Run a Python script of the Neuron SDK on the simulated device, where Python has the package neuronscope
    Run(RunArgs),
    /// Run a custom operator's kernel: show its time on the GPSIMD processors, line by line, and its values
    #[command(name = "customop")]
    CustomOp(Box<CustomOpArgs>),
    /// Run an NKI kernel: show its time, its timeline, what bounds it, and whether it builds
    Nki(Box<NkiArgs>),
    /// List the NeuronCores, devices and instance sizes, each figure with its source
    Devices(DevicesArgs),
    /// List the models and their parameters
    Models(ModelsArgs),
    /// Simulate a language model on many cores: time to first token, time of a token, throughput, cost
    Generate(Box<GenerateArgs>),
    /// Say on which instances and how many cores a language model fits
    Fit(Box<LlmArgs>),
    /// Predict a table of published benchmark rows and compare
    Validate(ValidateArgs),
    /// Run a matrix of configurations as PyTorch/XLA's experiment runner does
    #[command(aliases = ["experiment_runner", "experiment-runner"])]
    Experiment(Box<ExperimentArgs>),
    /// Statistics of every record of a folder, as PyTorch/XLA's result analyzer writes them
    #[command(aliases = ["result_analyzer", "result-analyzer"])]
    Analyze(AnalyzeArgs),
    /// Speed-ups over a baseline, over time and by model, as PyTorch/XLA's aggregate.py prints them
    #[command(infer_long_args = true)]
    Aggregate(Box<AggregateArgs>),
    /// Views of records, as the page *Experiments* shows them: what changed, times to compile, verification, lines that are no records
    Records(Box<RecordsArgs>),
    /// Write records, reports, slices or operators as Parquet, for query engines that read many files
    Parquet(ParquetArgs),
    /// Time square matrix products of many sizes on a device against a baseline
    #[command(aliases = ["matmul_benchmark", "matmul-benchmark"])]
    MatmulBench(MatmulBenchArgs),
    /// Judge outputs of experiments by the rules of PyTorch/XLA's verifier
    Verify(VerifyArgs),
    /// Serve the page to this machine, on 127.0.0.1
    Serve(ServeArgs),
    /// Print the completions of a shell: bash, zsh, fish, elvish, powershell
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command
    Man(ManArgs),
}

#[derive(Debug, ClapArgs)]
pub(super) struct OperatorsSupportedArgs {
    /// Only this format
    #[arg(long, value_parser = ["pt2", "onnx", "hlo", "stablehlo"])]
    pub format: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct NumericsArgs {
    #[command(flatten)]
    pub arrays: ArraysArgs,
    /// Write the results that a core computes for --inputs, as arrays named out0, out1 ..
    #[arg(long, value_name = "FILE.npz", requires = "inputs", conflicts_with = "expect")]
    pub results: Option<PathBuf>,
    #[command(flatten)]
    pub options: OptionArgs<NumericsStudy>,
    /// CSV with a line of numbers for each record, which the model answers instead of random inputs; with --eval-metrics also the right answer
    #[arg(long, value_name = "FILE", conflicts_with = "inputs")]
    pub dataset: Option<PathBuf>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub file: ModelFileArg,
    #[command(flatten)]
    pub file_flags: ModelFileFlags,
}

/// Parses the name of a format.
pub(super) fn write_format(name: &str) -> Result<WriteFormat, String> {
    let all = || WriteFormat::ALL.map(WriteFormat::name).join(", ");
    let plain = name.to_ascii_lowercase().replace('_', "-");
    WriteFormat::from_name(&plain).ok_or_else(|| format!("this format cannot be written; choose from {}", all()))
}

#[derive(Debug, ClapArgs)]
pub(super) struct OpenArgs {
    /// Traces or profiles in any supported format, plain, .gz or .zip; or a folder, such as a log directory of
    /// TensorBoard's Neuron plugin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Say what dominates, in sentences, instead of listing operators
    #[arg(long)]
    pub summary: bool,
    /// Write the timeline, as Chrome trace JSON or in the format of --export
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format to write: chrome, perfetto, speedscope, csv, xplane, neuron-plugin, tensorboard
    #[arg(long, value_parser = write_format, default_value = "chrome", requires = "output")]
    pub export: WriteFormat,
    /// Write the overview as a page: one HTML file, which opens without a network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Show this many operators
    #[arg(long, default_value_t = 20)]
    pub top: usize,
    #[command(flatten)]
    pub level: LevelArgs,
}

#[derive(Debug, ClapArgs)]
pub(super) struct DevicesArgs {
    /// A part of an instance's name: only such instances, with their devices and NeuronCores
    #[arg(value_name = "NAME", conflicts_with = "costs")]
    pub name: Option<String>,
    /// Print every number and decision that changes a simulated time, with its status and source, as the tables of
    /// docs/costs.md
    #[arg(long)]
    pub costs: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct EvaluateArgs {
    /// CSV with a heading and a line for each record: the outputs, and the target in the last column; without a file the
    /// metrics are listed
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub options: OptionArgs<Evaluation>,
    #[command(flatten)]
    pub page: PageArgs,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ReportArgs {
    /// Files with results, in any mix of formats
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub table: TableArgs,
    /// US dollars per hour, for reports computed from timers
    #[arg(long, allow_negative_numbers = true)]
    pub cost_per_hour: Option<f64>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct RunArgs {
    /// The script and its arguments; before it the flags of python -m neuronscope: --clock, --values, --instance
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT")]
    pub words: Vec<OsString>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ModelsArgs {
    /// A part of the name: only models that have it
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ValidateArgs {
    /// CSV table with the columns model, instance, batch_size, throughput, ..., or of measured instructions: what, metric, unit, value, ...; or one that
    /// comes with the program: published, decode, served, instructions
    pub file: PathBuf,
    /// Print rows and summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Fit the global parameters to the table, then once more without each model, and print the errors (takes minutes)
    #[arg(long, conflicts_with_all = ["json", "html"])]
    pub calibrate: bool,
    #[command(flatten)]
    pub page: PageArgs,
}
