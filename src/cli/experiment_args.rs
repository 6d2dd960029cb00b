//! Flags of the commands of PyTorch/XLA's benchmark suite, with its names.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::option_args::{Choice, OptionArgs, one_of};
use super::page_args::PageArgs;
use super::suite_args::SuiteArgs;
use ns_experiment::plan::PlanRules;
use ns_experiment::run::Verification;
use ns_experiment::sweep::ExperimentsRequest;
use ns_session::ExperimentSpec;
use ns_session::reports::{Aggregation, CaseVerification, ProductComparison, RecordAnalysis};

const VERIFICATIONS: &[Choice<Verification>] = &[
    ("mre", "Mean relative error", Verification::MeanRelativeError),
    ("current", "The rules in force", Verification::Current),
];
const PLAN_RULES: &[Choice<PlanRules>] = &[
    ("seed", "The suite in May 2025", PlanRules::Seed),
    ("head", "The suite since September 2025", PlanRules::Head),
    ("neuron", "This program: the processor and simulated NeuronCores", PlanRules::Neuron),
];
/// Choice of models: regular expressions and tiers.
#[derive(Debug, ClapArgs)]
pub(super) struct ModelFilterArgs {
    /// Keep models whose name matches this regular expression, ignoring case; may be given several times
    #[arg(long, short = 'k', value_name = "REGEX")]
    pub filter: Vec<String>,
    /// Leave out models whose name matches this regular expression
    #[arg(long, short = 'x', value_name = "REGEX")]
    pub exclude: Vec<String>,
    /// Keep models of this tier, 1 to 3
    #[arg(long, value_name = "TIER", allow_negative_numbers = true)]
    pub filter_by_tier: Vec<i64>,
    /// Leave out models of this tier
    #[arg(long, value_name = "TIER", allow_negative_numbers = true)]
    pub exclude_by_tier: Vec<i64>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct VerifyArgs {
    /// JSON file with a list of cases: id, eager1, eager2, fp64, test, tolerance ...
    #[arg(long, value_name = "FILE")]
    pub cases: PathBuf,
    #[command(flatten)]
    pub options: OptionArgs<CaseVerification>,
    /// Print JSON: [{"id", "code", "error"}]
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub page: PageArgs,
}

#[derive(Debug, ClapArgs)]
#[command(args_override_self = true)]
pub(super) struct ExperimentArgs {
    #[command(flatten)]
    pub options: OptionArgs<ExperimentsRequest>,
    #[command(flatten)]
    pub models: ModelFilterArgs,
    /// Runtime under XLA: None, PJRT, XRT [default: all]
    #[arg(long, value_name = "NAME|None", value_delimiter = ',')]
    pub xla: Vec<String>,
    /// Backend of torch.compile: None, inductor, openxla [default: all]
    #[arg(long, value_name = "NAME|None", value_delimiter = ',')]
    pub dynamo: Vec<String>,
    /// extract_jax or torch_export; can only be planned
    #[arg(long, value_name = "NAME|None", value_delimiter = ',')]
    pub torch_xla2: Vec<String>,
    /// Value of XLA_FLAGS, or None
    #[arg(long, value_name = "FLAGS|None", allow_hyphen_values = true)]
    pub xla_flags: Vec<String>,
    /// Record that functionalization is on
    #[arg(long)]
    pub enable_functionalization: bool,
    /// Keep data on the GPU; only with the rules of May 2025
    #[arg(long)]
    pub keep_model_data_on_cuda: bool,
    /// Split the list of models into this many parts
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..10))]
    pub total_partitions: u32,
    /// Which part to run, from 0
    #[arg(long, default_value_t = 0)]
    pub partition_id: u32,
    /// Show what would run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// With --dry-run, print {"configs", "models", "error"} as JSON
    #[arg(long, requires = "dry_run")]
    pub json: bool,
    /// Rules that decide which combinations can run
    #[arg(long, value_parser = one_of(PLAN_RULES), default_value = "neuron")]
    pub rules: PlanRules,
    /// Accelerators that XLA finds here, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "CPU")]
    pub xla_devices: Vec<String>,
    /// A model file that stands for a model of the suite that is not here: hf_T5=t5.onnx; simulated accelerators only; may be given
    /// several times
    #[arg(long, value_name = "NAME=FILE", value_parser = model_file)]
    pub model_file: Vec<(String, PathBuf)>,
    /// Folder of the results
    #[arg(long, default_value = "./output/")]
    pub output_dirname: PathBuf,
    /// File of the results in that folder
    #[arg(long, default_value = "results.jsonl")]
    pub output_basename: PathBuf,
    /// Start a new file of results instead of running only what the file lacks
    #[arg(long)]
    pub no_resume: bool,
    /// Run again only what failed before
    #[arg(long, conflicts_with = "no_resume")]
    pub retry_failed: bool,
    /// Seconds that one experiment may take
    #[arg(long, default_value_t = 1_800.0)]
    pub subprocess_timeout: f64,
    /// Verify outputs instead of timing
    #[arg(long)]
    pub verify: bool,
    /// Rules of --verify: mre is the mean relative error, at most 2 %; current compares values as the suite does since September 2025
    #[arg(long, value_parser = one_of(VERIFICATIONS), default_value = "mre")]
    pub verify_rules: Verification,
    /// Exit code 1 if --verify finds outputs that are wrong or cannot be verified
    #[arg(long, requires = "verify")]
    pub strict: bool,
    /// One configuration as JSON; with --model-config, run that experiment in this process and print nothing else
    #[arg(long, requires = "model_config")]
    pub experiment_config: Option<String>,
    /// The model of --experiment-config: {"model_name": "..."}
    #[arg(long, requires = "experiment_config")]
    pub model_config: Option<String>,
    /// The run of a plan says what a single experiment would say by itself
    #[arg(long, hide = true)]
    pub in_a_run: bool,
    #[command(flatten)]
    pub suite: SuiteArgs,
}

fn model_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.trim().is_empty() && !file.is_empty() => Ok((name.trim().to_owned(), file.into())),
        _ => Err("write NAME=FILE, such as hf_T5=t5.onnx".to_owned()),
    }
}

/// Tests as `aggregate` takes them.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum TestArg {
    /// Inference
    #[value(alias = "eval")]
    Inference,
    /// A training step
    #[value(alias = "train")]
    Training,
}

impl TestArg {
    /// Its name in the options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Training => "training",
        }
    }
}

#[derive(Debug, ClapArgs)]
#[command(args_override_self = true)]
pub(super) struct AggregateArgs {
    /// Files of records (results.jsonl)
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub options: OptionArgs<Aggregation>,
    /// Backends to compare, the first one is the baseline: eager, inductor, openxla+dynamo, openxla+lazytensor [default:
    /// inductor openxla+dynamo]
    #[arg(long, num_args = 1.., value_name = "BACKEND")]
    pub backends: Vec<String>,
    /// Records of inference or of training
    #[arg(long, value_enum, default_value = "inference")]
    pub test: TestArg,
    #[command(flatten)]
    pub models: ModelFilterArgs,
}

#[derive(Debug, ClapArgs)]
#[command(args_override_self = true)]
pub(super) struct AnalyzeArgs {
    #[command(flatten)]
    pub options: OptionArgs<RecordAnalysis>,
    /// info or warning; both print the same messages
    #[arg(long, default_value = "warning")]
    pub log_level: String,
    /// Accepted for compatibility; no column has it
    #[arg(long, default_value = "run_all")]
    pub experiment_name: String,
    /// Folder of the .jsonl files, and of the report
    #[arg(long, default_value = "./output/")]
    pub output_dirname: PathBuf,
    /// The same without its flag, or one .jsonl file, whose report lies beside it
    #[arg(value_name = "FOLDER|FILE", conflicts_with = "output_dirname")]
    pub results: Option<PathBuf>,
    /// CSV file to append the rows to
    #[arg(long, default_value = "./output/database.csv")]
    pub database: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(super) struct RecordsArgs {
    /// Files of records (results.jsonl), folders of them, and reports of NeuronPerf
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub options: OptionArgs<ExperimentSpec>,
    /// Print JSON: {"title", "tables": {NAME: [rows]}}
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub page: PageArgs,
}

#[derive(Debug, ClapArgs)]
pub(super) struct MatmulBenchArgs {
    #[command(flatten)]
    pub options: OptionArgs<ProductComparison>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
