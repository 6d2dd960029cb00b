//! Flags of `neuronscope bench`, in NeuronPerf's names, and the benchmark they ask for.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{ArgAction, Args, ValueEnum};

use super::args::write_format;
use super::compile_args::CompileListArgs;
use crate::bench::mlperf::{MlperfSettings, Scenario};
use crate::bench::{
    Accounting, BenchConfig, Dataset, DeviceType, FIXED_MODEL, FixedModel, HostStep, Processes, RunOptions,
    SdkGeneration, parse_inputs, parse_levels, parse_list,
};
use crate::compiler::CompileOptions;
use crate::profile::formats::WriteFormat;
use crate::session::TraceSpec;

#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    /// Model index to run (JSON, from `neuronscope compile`); lists of sizes and levels then filter it
    #[arg(value_name = "INDEX.json")]
    pub model_filename: Option<PathBuf>,
    /// Model, with parameters after a colon: nn, matmult:n=1024,loop_count=1000,add_bias=true; or fixed, with --device-ms
    /// and the other times [default: nn]
    #[arg(long)]
    pub model: Option<String>,
    /// Instance type; it decides the number of NeuronCores
    #[arg(long, alias = "instance-type", default_value = "trn1.2xlarge")]
    pub instance: String,
    /// Shapes of the inputs, one entry for each batch size: 1x3x224x224, (6x128,6x128); entries separated by ;
    #[arg(long)]
    pub inputs: Option<String>,
    /// Model copies: 1, 1,2 or 1-10 [default: 1 and the instance's maximum]
    #[arg(long)]
    pub n_models: Option<String>,
    /// Threads feeding each copy [default: 1 and 2; of a pipeline, its size less one]
    #[arg(long)]
    pub workers_per_model: Option<String>,
    /// Samples of one inference [default: 1]
    #[arg(long)]
    pub batch_sizes: Option<String>,
    /// NeuronCores of one model copy [default: 1]
    #[arg(long)]
    pub pipeline_sizes: Option<String>,
    /// 0 (most accurate) to 3 (fastest) [default: 3]
    #[arg(long, alias = "performance-level")]
    pub performance_levels: Option<String>,
    #[command(flatten)]
    pub compile: CompileListArgs,
    /// Seconds measured in each configuration
    #[arg(long, default_value_t = 60.0, allow_negative_numbers = true)]
    pub duration: f64,
    /// Seed of all randomness
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Largest random deviation of a stage, as a fraction of it
    #[arg(long, default_value_t = 0.01, allow_negative_numbers = true)]
    pub jitter: f64,
    /// Inferences of each copy before the measured window
    #[arg(long, default_value_t = 1)]
    pub warmup_inferences: u32,
    /// US dollars per hour, for the cost per million inferences [default: the published price, if there is one]
    #[arg(long, allow_negative_numbers = true)]
    pub cost_per_hour: Option<f64>,
    /// Label in reports
    #[arg(long)]
    pub model_name: Option<String>,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub fixed: FixedArgs,
    #[command(flatten)]
    pub mlperf: MlperfArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How each configuration is run.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it runs")]
pub(super) struct RunArgs {
    /// neuron: simulated; cpu: this machine, measured
    #[arg(long, default_value = "neuron")]
    pub device_type: String,
    /// Generation of the SDK, by its PyTorch: published rows of PyTorch 1 are slower for the same model
    #[arg(long, value_enum, default_value = "pt2")]
    pub sdk_generation: SdkGenerationArg,
    /// Each model copy in a process of its own
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub multiprocess: bool,
    /// Each model copy in a fresh interpreter; overrides --multiprocess
    #[arg(long, default_value_t = false, action = ArgAction::Set)]
    pub multiinterpreter: bool,
    /// Work before the call: none, normalize, argmax, topk, softmax, or a time such as 0.25ms
    #[arg(long, default_value = "none")]
    pub preprocess: String,
    /// Work after the call, as above
    #[arg(long, default_value = "none")]
    pub postprocess: String,
    /// Work of each copy before the load, milliseconds
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub env_setup_ms: f64,
    /// Work of each copy after the load, milliseconds
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub setup_ms: f64,
    /// A dataset of so many inferences, run through once by each model copy whatever the duration
    #[arg(long, value_name = "LENGTH")]
    pub dataset: Option<u64>,
    /// Begin the dataset again until the duration is over
    #[arg(long, requires = "dataset")]
    pub loop_dataset: bool,
    /// When the duration starts: with the warm models, or before they are loaded, as in NeuronPerf
    #[arg(long, value_enum, default_value = "window")]
    pub duration_accounting: AccountingArg,
    /// Seconds between samples of the host (device type cpu)
    #[arg(long, default_value_t = 0.5, allow_negative_numbers = true)]
    pub stats_interval: f64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum SdkGenerationArg {
    /// The compiler and runtime of PyTorch 1
    Pt1,
    /// Those of PyTorch 2
    Pt2,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum AccountingArg {
    /// All of it is measured
    Window,
    /// Loading and warming up take from it
    Original,
}

/// The stages of `--model fixed`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Times of --model fixed")]
pub(super) struct FixedArgs {
    /// Time on the NeuronCores of a copy
    #[arg(long)]
    pub device_ms: Option<f64>,
    /// Host work before a NeuronCore is taken, one worker of the instance at a time
    #[arg(long)]
    pub host_ms: Option<f64>,
    /// Data movement while the NeuronCore is held, on the same resource
    #[arg(long)]
    pub transfer_ms: Option<f64>,
    /// Fetching an input, one worker of a copy at a time
    #[arg(long)]
    pub input_ms: Option<f64>,
    /// Loading a copy
    #[arg(long)]
    pub load_ms: Option<f64>,
    /// A warm-up inference
    #[arg(long)]
    pub warmup_ms: Option<f64>,
}

/// MLPerf instead of NeuronPerf's closed loop.
#[derive(Debug, Args)]
#[command(next_help_heading = "MLPerf")]
pub(super) struct MlperfArgs {
    /// SingleStream, MultiStream, Server or Offline
    #[arg(long)]
    pub scenario: Option<String>,
    /// A run goes on for at least so long, seconds [default: 600]
    #[arg(long, requires = "scenario")]
    pub min_duration: Option<f64>,
    /// and for so many queries [default: 100; Offline: 24576 samples]
    #[arg(long, requires = "scenario")]
    pub min_queries: Option<u64>,
    /// What 99 % of a Server's answers must keep to
    #[arg(long, requires = "scenario")]
    pub latency_bound_ms: Option<f64>,
    /// Queries per second of a Server [default: the highest that holds the bound is searched]
    #[arg(long, requires = "scenario")]
    pub target_qps: Option<f64>,
    /// Samples of one MultiStream query
    #[arg(long, requires = "scenario", default_value_t = 8)]
    pub samples_per_query: u32,
}

impl MlperfArgs {
    /// The settings, when a scenario is asked for.
    ///
    /// # Errors
    /// With the setting at fault.
    pub fn settings(&self) -> Result<Option<MlperfSettings>> {
        let Some(name) = &self.scenario else { return Ok(None) };
        let official = MlperfSettings::official(name.parse::<Scenario>()?);
        let settings = MlperfSettings {
            min_duration_s: self.min_duration.unwrap_or(official.min_duration_s),
            min_queries: self.min_queries.unwrap_or(official.min_queries),
            latency_bound_ms: self.latency_bound_ms,
            target_qps: self.target_qps,
            samples_per_query: self.samples_per_query,
            ..official
        };
        settings.validate()?;
        Ok(Some(settings))
    }
}

/// What is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    #[command(flatten)]
    pub table: TableArgs,
    /// 0: errors only; 1: what is being done; 2: every step
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub verbosity: u8,
    /// 1: reports hold the throughput of each second; 2: every latency too
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub report_verbosity: u8,
    /// Print the timers of each configuration instead of reports; `neuronscope report` reads them
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub return_timers: bool,
    /// Keep what is done in a file, and go on from it when it is there: what has finished is not run again
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub trace: TraceArgs,
}

/// The run itself as a timeline.
#[derive(Debug, Args)]
pub(super) struct TraceArgs {
    /// Write what a run did as a timeline: compile, load, warm-up, worker threads, data transfers and NeuronCores; of several
    /// configurations each gets its number before the file's extension
    #[arg(long, value_name = "FILE", conflicts_with = "scenario")]
    pub trace: Option<PathBuf>,
    /// So much of the measured window is in it
    #[arg(long, value_name = "SECONDS", default_value_t = TraceSpec::SHOWN_S, requires = "trace")]
    pub trace_seconds: f64,
    /// Format to write: chrome, perfetto, speedscope, csv, xplane, neuron-plugin, tensorboard
    #[arg(long, value_parser = write_format, default_value = "chrome", requires = "trace")]
    pub trace_export: WriteFormat,
}

/// How reports are printed.
#[derive(Debug, Args)]
pub(super) struct TableArgs {
    /// Print the reports as JSON
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the reports as CSV
    #[arg(long)]
    pub csv: bool,
    /// Columns of the table or the CSV, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub cols: Option<Vec<String>>,
    /// Key to sort by
    #[arg(long)]
    pub sort_by: Option<String>,
    /// Largest first
    #[arg(long, requires = "sort_by")]
    pub reverse: bool,
}

impl BenchArgs {
    /// The benchmark, without what the index file adds.
    ///
    /// # Errors
    /// With the flag at fault.
    pub fn config(&self) -> Result<BenchConfig> {
        let optional = |flag, text: &Option<String>| text.as_deref().map(|t| parse_list(flag, t)).transpose();
        let or_one = |list: Option<Vec<u32>>| list.unwrap_or_else(|| vec![1]);
        let (compile, compile_sweep) = self.compile.options()?;
        let levels = self.performance_levels.as_deref().map(|t| parse_levels("--performance-levels", t)).transpose()?;
        Ok(BenchConfig {
            model: self.model_text()?,
            model_name: self.model_name.clone(),
            instance_type: self.instance.clone(),
            n_models: optional("--n-models", &self.n_models)?,
            workers_per_model: optional("--workers-per-model", &self.workers_per_model)?,
            batch_sizes: or_one(optional("--batch-sizes", &self.batch_sizes)?),
            pipeline_sizes: or_one(optional("--pipeline-sizes", &self.pipeline_sizes)?),
            performance_levels: levels.unwrap_or_else(|| vec![3]),
            inputs: self.inputs.as_deref().map(parse_inputs).transpose()?.unwrap_or_default(),
            duration_s: self.duration,
            seed: self.seed,
            jitter: self.jitter,
            warmup_inferences: self.warmup_inferences,
            cost_per_hour: self.cost_per_hour,
            index: None,
            options: self.run.options(compile)?,
            compile: compile_sweep,
            mlperf: self.mlperf.settings()?,
        })
    }

    /// The model with the times of `fixed`; empty beside an index, whose entries name theirs.
    fn model_text(&self) -> Result<String> {
        let times = self.fixed.parameters();
        match &self.model {
            None if self.model_filename.is_some() && times.is_empty() => Ok(String::new()),
            Some(model) if FixedModel::is_meant(model) && !times.is_empty() => {
                let separator = if model.contains(':') { ',' } else { ':' };
                Ok(format!("{model}{separator}{}", times.join(",")))
            }
            model if times.is_empty() => Ok(model.clone().unwrap_or_else(|| "nn".to_owned())),
            _ => {
                let flag = times[0].split('=').next().unwrap_or_default().replace('_', "-");
                bail!("--{flag}: only --model {FIXED_MODEL} is given by its times; add it, or leave --{flag} out")
            }
        }
    }
}

impl FixedArgs {
    fn parameters(&self) -> Vec<String> {
        let all = [
            ("device_ms", self.device_ms),
            ("host_ms", self.host_ms),
            ("transfer_ms", self.transfer_ms),
            ("input_ms", self.input_ms),
            ("load_ms", self.load_ms),
            ("warmup_ms", self.warmup_ms),
        ];
        all.into_iter().filter_map(|(name, ms)| ms.map(|ms| format!("{name}={ms}"))).collect()
    }
}

impl RunArgs {
    fn options(&self, compile: CompileOptions) -> Result<RunOptions> {
        let step = |flag: &str, text: &str| text.parse::<HostStep>().map_err(|e| anyhow::anyhow!("{flag}: {e}"));
        let Some(device_type) = DeviceType::from_name(&self.device_type) else {
            bail!("--device-type: '{}' can't be run here; use neuron or cpu", self.device_type)
        };
        Ok(RunOptions {
            device_type,
            compile,
            sdk_generation: match self.sdk_generation {
                SdkGenerationArg::Pt1 => SdkGeneration::Pt1,
                SdkGenerationArg::Pt2 => SdkGeneration::Pt2,
            },
            processes: match (self.multiinterpreter, self.multiprocess) {
                (true, _) => Processes::Fresh,
                (false, true) => Processes::PerModel,
                (false, false) => Processes::Shared,
            },
            preprocess: step("--preprocess", &self.preprocess)?,
            postprocess: step("--postprocess", &self.postprocess)?,
            env_setup_ms: self.env_setup_ms,
            setup_ms: self.setup_ms,
            dataset: self.dataset.map(|length| Dataset { length, looped: self.loop_dataset }),
            accounting: match self.duration_accounting {
                AccountingArg::Window => Accounting::Window,
                AccountingArg::Original => Accounting::Original,
            },
            stats_interval_s: self.stats_interval,
        })
    }
}
