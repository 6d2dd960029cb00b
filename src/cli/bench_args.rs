//! Flags of `neuronscope bench`, with NeuronPerf's names, and the benchmark they describe.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{ArgAction, Args, ValueEnum};

use super::args::WorkflowArg;
use super::compile_args::CompileListArgs;
use super::kernel_file;
use super::model_args::ModelFileFlags;
use super::model_file;
use super::output_args::OutputArgs;
use ns_bench::mlperf::{MlperfSettings, Scenario};
use ns_bench::{
    Accounting, BenchConfig, Dataset, DeviceType, HostStep, InputTuple, Processes, RunOptions, SdkGeneration,
    batch_of_inputs, parse_inputs, parse_levels, parse_list,
};
use ns_compiler::CompileOptions;
use ns_device::{FIXED_MODEL, ModelKind, OpenedModel};

#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    /// Model index to run (JSON, from `neuronscope compile`); lists of sizes and levels then filter it. Or a model file of PyTorch, JAX
    /// or ONNX: resnet50.onnx
    #[arg(value_name = "INDEX.json|MODEL_FILE")]
    pub model_filename: Option<PathBuf>,
    /// Take flags from a JSON file: an object with NeuronPerf's argument names, {"n_models": [1, 16], "duration": 10}; a
    /// flag given here wins
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Model, with parameters after a colon: nn, matmult:n=1024,loop_count=1000,add_bias=true, mlp:kernel=FILE.cpp; or a model file: resnet50.onnx; or
    /// fixed, with --device-ms and the other times [default: nn]
    #[arg(long, value_parser = kernel_file::model)]
    pub model: Option<String>,
    /// Instance type; it determines the number of NeuronCores [default: the index's type, or trn1.2xlarge]
    #[arg(long, alias = "instance-type")]
    pub instance: Option<String>,
    /// Shapes of the inputs, one entry for each batch size, separated by ; such as 1x3x224x224 for images and
    /// (6x128,6x128) for text (neuronscope models shows the shapes of each model). Open sizes of the model follow from the shapes, and so
    /// does the batch size
    #[arg(long)]
    pub inputs: Option<String>,
    /// Model copies: 1, 1,2, 1-10 or [1, 2]; all lists are written so [default: 1 and the instance's maximum]
    #[arg(long)]
    pub n_models: Option<String>,
    /// Threads feeding each copy [default: 1 and 2; for a pipeline, its size and its size plus one]
    #[arg(long)]
    pub workers_per_model: Option<String>,
    /// Samples of one inference [default: 1; for a model file its own]
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
    /// Seconds measured in each configuration; with a dataset, 0 measures one whole pass
    #[arg(long, default_value_t = 60.0, allow_negative_numbers = true)]
    pub duration: f64,
    /// Seed of all randomness
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Largest random deviation of a stage's time, as a fraction of that time
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
    pub file_flags: ModelFileFlags,
    #[command(flatten)]
    pub eval: EvalArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub fixed: FixedArgs,
    #[command(flatten)]
    pub mlperf: MlperfArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Metrics of the answers beside the times.
#[derive(Debug, Args)]
#[command(next_help_heading = "Evaluation")]
pub(super) struct EvalArgs {
    /// Compute these metrics on the model's answers to the records of --dataset FILE: Accuracy,topk_3 (neuronscope evaluate
    /// lists them)
    #[arg(long, value_delimiter = ',', requires = "dataset")]
    pub eval_metrics: Option<Vec<String>>,
    /// Column of the dataset that holds the target [default: the last]
    #[arg(long, requires = "eval_metrics")]
    pub eval_target_col: Option<String>,
}

/// How each configuration is run.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it runs")]
pub(super) struct RunArgs {
    /// neuron: simulated; cpu: this machine, measured
    #[arg(long, default_value = "neuron")]
    pub device_type: String,
    /// Generation of the SDK, named by its PyTorch version: published results with PyTorch 1 are slower for the same model
    #[arg(long, value_enum, default_value = "pt2")]
    pub sdk_generation: SdkGenerationArg,
    /// How a model reaches its NeuronCore: trace, compiled ahead as NeuronPerf does, or mark_step, whose operations are recorded and
    /// whose inputs are transferred in each call
    #[arg(long, value_enum, default_value = "trace")]
    pub workflow: WorkflowArg,
    /// Each model copy in its own process
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub multiprocess: bool,
    /// Each model copy in a fresh interpreter; overrides --multiprocess
    #[arg(long, default_value_t = false, action = ArgAction::Set)]
    pub multiinterpreter: bool,
    /// Work before the call: none, normalize, argmax, topk, softmax, a time such as 0.25ms, or an expression over the
    /// inputs: x / 255, "x / 255, y / 255", x.argmax()
    #[arg(long, default_value = "none")]
    pub preprocess: String,
    /// Work after the call, as above
    #[arg(long, default_value = "none")]
    pub postprocess: String,
    /// Work of each copy before it loads, milliseconds
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub env_setup_ms: f64,
    /// Work of each copy after it has loaded, milliseconds
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub setup_ms: f64,
    /// Number of records in a dataset, of which an inference takes a batch, or a file of records (.npy of numpy, .csv);
    /// each model copy runs through it once, whatever the duration
    #[arg(long, value_name = "LENGTH|FILE", allow_negative_numbers = true)]
    pub dataset: Option<String>,
    /// Repeat the dataset until the duration is over
    #[arg(long, requires = "dataset")]
    pub loop_dataset: bool,
    /// When the duration starts: when the models are warm, or before they are loaded, as in NeuronPerf
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
    /// The compiler and runtime of PyTorch 2
    Pt2,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum AccountingArg {
    /// The whole duration is measured
    Window,
    /// Loading and warm-up count towards the duration
    Original,
}

/// The stages of `--model fixed`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Times of --model fixed")]
pub(super) struct FixedArgs {
    /// Time on the NeuronCores of a copy; of an uneven pipeline the time of each stage: 2+1.5
    #[arg(long)]
    pub device_ms: Option<String>,
    /// Host work before a NeuronCore is acquired; one worker of the instance at a time
    #[arg(long)]
    pub host_ms: Option<f64>,
    /// Data movement while the NeuronCore is held; it uses the same resource as the host work
    #[arg(long)]
    pub transfer_ms: Option<f64>,
    /// Fetching an input; one worker of a copy at a time
    #[arg(long)]
    pub input_ms: Option<f64>,
    /// Loading a copy
    #[arg(long)]
    pub load_ms: Option<f64>,
    /// A whole warm-up inference [default: as long as any other inference]
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
    /// Shortest duration of a run, seconds [default: 600]
    #[arg(long, requires = "scenario")]
    pub min_duration: Option<f64>,
    /// Fewest queries of a run [default: 100; Offline: 24576 samples]
    #[arg(long, requires = "scenario")]
    pub min_queries: Option<u64>,
    /// Latency bound of Server: 99 % of the answers must keep it
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
    /// The MLPerf settings, when a scenario is asked for.
    ///
    /// # Errors
    /// Names the setting at fault.
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

impl BenchArgs {
    /// The same arguments, with a model file given in the place of an index moved to the model.
    ///
    /// # Errors
    /// When a model is named twice.
    pub fn with_positional_model(mut self) -> Result<Self> {
        let is_model = |path: &PathBuf| path.to_str().is_some_and(model_file::has_model_ending);
        if let Some(path) = self.model_filename.take_if(|path| is_model(path)) {
            if let Some(model) = &self.model {
                bail!("{}: --model {model} names another model; leave one of them out", path.display());
            }
            self.model = Some(path.to_string_lossy().into_owned());
        }
        Ok(self)
    }

    /// Puts an opened model file into a benchmark. When no batch size is given, the size is that of the inputs, or the file's own.
    pub fn put_model(&self, config: &mut BenchConfig, opened: OpenedModel) {
        if self.batch_sizes.is_none() {
            let own = u32::try_from(opened.batch.own()).unwrap_or(u32::MAX);
            let of_inputs = |entry: &InputTuple| u32::try_from(*entry.0.first()?.first()?).ok();
            let inputs = config.inputs.iter().map(|entry| of_inputs(entry).unwrap_or(own));
            config.batch_sizes = if config.inputs.is_empty() { vec![own] } else { inputs.collect() };
        }
        config.model = opened.id;
    }

    /// The benchmark, without the entries of an index file.
    ///
    /// # Errors
    /// With the flag at fault.
    pub fn config(&self) -> Result<BenchConfig> {
        let optional = |flag, text: &Option<String>| text.as_deref().map(|t| parse_list(flag, t)).transpose();
        let or_one = |list: Option<Vec<u32>>| list.unwrap_or_else(|| vec![1]);
        let (compile, compile_sweep) = self.compile.options()?;
        let levels = self.performance_levels.as_deref().map(|t| parse_levels("--performance-levels", t)).transpose()?;
        let model = self.model_text()?;
        let inputs = self.inputs.as_deref().map(parse_inputs).transpose()?.unwrap_or_default();
        let batch_sizes = match optional("--batch-sizes", &self.batch_sizes)? {
            Some(list) => list,
            None => batches_of(&model, &inputs).unwrap_or_else(|| vec![1; inputs.len().max(1)]),
        };
        let options = self.run.options(compile)?;
        Ok(BenchConfig {
            model,
            model_name: self.model_name.clone(),
            instance_type: self.instance.clone().unwrap_or_else(|| BenchConfig::default().instance_type),
            n_models: optional("--n-models", &self.n_models)?,
            workers_per_model: optional("--workers-per-model", &self.workers_per_model)?,
            batch_sizes,
            pipeline_sizes: or_one(optional("--pipeline-sizes", &self.pipeline_sizes)?),
            performance_levels: levels.unwrap_or_else(|| vec![3]),
            inputs,
            duration_s: self.duration_s(&options),
            seed: self.seed,
            jitter: self.jitter,
            warmup_inferences: self.warmup_inferences,
            cost_per_hour: self.cost_per_hour,
            index: None,
            options,
            compile: compile_sweep,
            mlperf: self.mlperf.settings()?,
        })
    }

    /// In NeuronPerf, zero means that the dataset decides: one whole pass is run, however long it takes.
    fn duration_s(&self, options: &RunOptions) -> f64 {
        let runs_through = options.dataset.is_some_and(|d| !d.looped);
        if self.duration == 0.0 && runs_through { BenchConfig::default().duration_s } else { self.duration }
    }

    /// The model with the times of `fixed`; empty with an index, whose entries name their models.
    fn model_text(&self) -> Result<String> {
        let times = self.fixed.parameters();
        match &self.model {
            None if self.model_filename.is_some() && times.is_empty() => Ok(String::new()),
            Some(model) if ModelKind::of(model) == ModelKind::Fixed && !times.is_empty() => {
                let separator = if model.contains(':') { ',' } else { ':' };
                Ok(format!("{model}{separator}{}", times.join(",")))
            }
            model if times.is_empty() => Ok(model.clone().unwrap_or_else(|| "nn".to_owned())),
            _ => {
                let flag = times[0].split('=').next().unwrap_or_default().replace('_', "-");
                bail!(
                    "--{flag} needs --model {FIXED_MODEL}, the model that is given by its times; add it, or leave --{flag} out"
                )
            }
        }
    }
}

/// The batch size of each entry of the inputs, where the model takes each entry at a single batch size.
fn batches_of(model: &str, inputs: &[InputTuple]) -> Option<Vec<u32>> {
    let batches: Option<Vec<u32>> = inputs.iter().map(|entry| batch_of_inputs(model, entry)).collect();
    batches.filter(|b| !b.is_empty())
}

impl FixedArgs {
    fn parameters(&self) -> Vec<String> {
        let all = [
            ("host_ms", self.host_ms),
            ("transfer_ms", self.transfer_ms),
            ("input_ms", self.input_ms),
            ("load_ms", self.load_ms),
            ("warmup_ms", self.warmup_ms),
        ];
        let device = self.device_ms.iter().map(|stages| format!("device_ms={stages}"));
        device.chain(all.into_iter().filter_map(|(name, ms)| ms.map(|ms| format!("{name}={ms}")))).collect()
    }
}

impl RunArgs {
    /// The dataset of the flag: a length, or a file whose records are counted.
    fn dataset(&self, text: &str) -> Result<Dataset> {
        let length = match text.trim().parse::<i64>() {
            Ok(length) => match u64::try_from(length) {
                Ok(length) => length,
                Err(_) => bail!("--dataset: {length} is not a number of records; write one from 1, or a file"),
            },
            Err(_) => super::dataset::read(Path::new(text))?.count,
        };
        Ok(Dataset { length, looped: self.loop_dataset })
    }

    fn options(&self, compile: CompileOptions) -> Result<RunOptions> {
        let step = |flag: &str, text: &str| text.parse::<HostStep>().map_err(|e| anyhow::anyhow!("{flag}: {e}"));
        let Some(device_type) = DeviceType::from_name(&self.device_type) else {
            bail!("--device-type: '{}' cannot be run here; use neuron or cpu", self.device_type)
        };
        Ok(RunOptions {
            device_type,
            compile,
            sdk_generation: match self.sdk_generation {
                SdkGenerationArg::Pt1 => SdkGeneration::Pt1,
                SdkGenerationArg::Pt2 => SdkGeneration::Pt2,
            },
            workflow: self.workflow.into(),
            processes: match (self.multiinterpreter, self.multiprocess) {
                (true, _) => Processes::Fresh,
                (false, true) => Processes::PerModel,
                (false, false) => Processes::Shared,
            },
            preprocess: step("--preprocess", &self.preprocess)?,
            postprocess: step("--postprocess", &self.postprocess)?,
            env_setup_ms: self.env_setup_ms,
            setup_ms: self.setup_ms,
            dataset: self.dataset.as_deref().map(|text| self.dataset(text)).transpose()?,
            accounting: match self.duration_accounting {
                AccountingArg::Window => Accounting::Window,
                AccountingArg::Original => Accounting::Original,
            },
            stats_interval_s: self.stats_interval,
        })
    }
}
