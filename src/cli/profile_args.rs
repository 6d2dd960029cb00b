//! Flags of `neuronscope profile`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use super::args::write_format;
use super::model_args::{ModelFileArg, ModelFileFlags};
use super::option_args::OptionArgs;
use super::page_args::PageArgs;
use super::run_date;
use super::training_args::TrainingArgs;
use ns_bench::Verbosity;
use ns_session::{ProfileSpec, Workflow, WriteFormat};

#[derive(Debug, Args)]
pub(super) struct ProfileArgs {
    #[command(flatten)]
    pub options: OptionArgs<ProfileSpec>,
    /// Write the artifact of the compiled model into this folder, unless an earlier run did
    #[arg(long, value_name = "FOLDER")]
    pub compiler_workdir: Option<PathBuf>,
    #[command(flatten)]
    pub file: ModelFileArg,
    #[command(flatten)]
    pub file_flags: ModelFileFlags,
    #[command(flatten)]
    pub training: TrainingArgs,
    #[command(flatten)]
    pub call: CallArgs,
    #[command(flatten)]
    pub output: ProfileOutput,
}

/// The parameters of `torch_neuronx.experimental.profiler.profile`.
#[derive(Debug, Args)]
#[command(next_help_heading = "The profiler's call")]
pub(super) struct CallArgs {
    /// Port of the profiler's server: nothing is served here, so it has no effect
    #[arg(long)]
    pub port: Option<u16>,
    /// Kind of profile
    #[arg(long, value_enum, default_value = "operator")]
    pub profile_type: ProfileType,
    /// How long the profiler records, milliseconds [default: 10000 with --profile-type trace]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub ms_duration: Option<u64>,
    /// The model is traced: --workflow trace
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub traced_only: Option<bool>,
}

/// Kinds of profiles, with the names of the profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProfileType {
    /// One execution, operator by operator
    Operator,
    /// Host and NeuronCores over --ms-duration, step after step: the run of `bench --trace`, which --output names
    #[value(alias = "system")]
    Trace,
}

/// What is printed and written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct ProfileOutput {
    /// Show metrics, performance bounds and findings instead of the operators
    #[arg(long)]
    pub summary: bool,
    /// Print the values that a processor and the NeuronCore compute, as the tutorial's script does; of a large output its corner
    #[arg(long, conflicts_with = "json")]
    pub outputs: bool,
    /// 1: print the lines of the compiler and the profiler to stderr
    #[arg(long, default_value = "0")]
    pub verbosity: Verbosity,
    #[command(flatten)]
    pub page: PageArgs,
    /// Print JSON: the device window and the operator tables, or with --summary the contents of the summary
    #[arg(long)]
    pub json: bool,
    /// Write the timeline, as Chrome trace JSON or in the format of --export
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format to write: chrome, perfetto, speedscope, csv, xplane, neuron-plugin, tensorboard
    #[arg(long, value_parser = write_format, default_value = "chrome", requires = "output")]
    pub export: WriteFormat,
    /// When the run began, in the written file and in the name of its run folder: now, or YYYY-MM-DDTHH:MM:SS (UTC)
    /// [default: now for a folder of runs, else 2024-01-01, so that the same command writes the same bytes]
    #[arg(long, value_name = "DATE", value_parser = run_date::seconds, requires = "output")]
    pub run_date: Option<i64>,
}

impl ProfileArgs {
    /// The run that the flags describe; a model file is not opened. Fails when `--workflow` and `--traced-only` contradict each other.
    pub fn spec(&self) -> Result<ProfileSpec> {
        let mut spec = ProfileSpec::default();
        self.options.put_into(&mut spec, &[])?;
        spec.model = self.file.model_file.clone().unwrap_or(spec.model);
        if self.call.traced_only == Some(true) {
            if self.options.text("workflow") == Some(Workflow::MarkStep.name()) {
                bail!(
                    "--traced-only profiles a traced model, and --workflow mark_step runs the model lazily; leave one of them out"
                );
            }
            spec.workflow = Workflow::Trace;
        }
        Ok(spec)
    }
}
