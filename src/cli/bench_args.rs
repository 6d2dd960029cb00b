//! Flags of `neuronscope bench`, with NeuronPerf's names, and the benchmark they describe.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{ArgAction, Args};

use super::model_args::ModelFileFlags;
use super::model_file;
use super::option_args::OptionArgs;
use super::output_args::OutputArgs;
use super::shell::Shell;
use super::training_args::TrainingArgs;
use ns_bench::{BenchConfig, Dataset, InputTuple, Processes, batch_of_inputs};
use ns_session::{FIXED_MODEL, ModelKind, OpenedModel};

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
    #[command(flatten)]
    pub options: OptionArgs<BenchConfig>,
    #[command(flatten)]
    pub file_flags: ModelFileFlags,
    #[command(flatten)]
    pub training: TrainingArgs,
    #[command(flatten)]
    pub eval: EvalArgs,
    #[command(flatten)]
    pub run: BenchRunArgs,
    #[command(flatten)]
    pub fixed: FixedArgs,
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

/// How each configuration is run, beside the options of the page.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it runs")]
pub(super) struct BenchRunArgs {
    /// Each model copy in its own process
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub multiprocess: bool,
    /// Each model copy in a fresh interpreter; overrides --multiprocess
    #[arg(long, default_value_t = false, action = ArgAction::Set)]
    pub multiinterpreter: bool,
    /// Repeat the dataset until the duration is over
    #[arg(long, requires = "dataset")]
    pub loop_dataset: bool,
    /// Seconds between samples of the host (device type cpu)
    #[arg(long, default_value_t = 0.5, allow_negative_numbers = true)]
    pub stats_interval: f64,
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

impl BenchArgs {
    /// The same arguments, with a model file given in the place of an index moved to the model. Fails when a model is named twice.
    pub fn with_positional_model(mut self) -> Result<Self> {
        let is_model = |path: &PathBuf| path.to_str().is_some_and(model_file::is_model);
        if let Some(path) = self.model_filename.take_if(|path| is_model(path)) {
            if let Some(model) = self.options.text("model") {
                bail!("{}: --model {model} names another model; leave one of them out", path.display());
            }
            self.options.put_text("model", path.to_string_lossy().into_owned());
        }
        Ok(self)
    }

    /// Puts an opened model file into a benchmark. When no batch size is given, the size is that of the inputs, or the file's own.
    pub fn put_model(&self, config: &mut BenchConfig, opened: OpenedModel) {
        if self.options.text("batch_sizes").is_none() {
            let own = u32::try_from(opened.batch.own()).unwrap_or(u32::MAX);
            let of_inputs = |entry: &InputTuple| u32::try_from(*entry.0.first()?.first()?).ok();
            let inputs = config.inputs.iter().map(|entry| of_inputs(entry).unwrap_or(own));
            config.batch_sizes = if config.inputs.is_empty() { vec![own] } else { inputs.collect() };
        }
        config.model = opened.id;
    }

    /// The benchmark, without the entries of an index file. Fails with the flag at fault.
    pub fn config(&self, shell: &Shell) -> Result<BenchConfig> {
        let mut config = BenchConfig::default();
        // A dataset may be a file.
        self.options.put_into(&mut config, &["dataset"])?;
        config.model = self.training.model(&self.model_text()?)?;
        if self.options.text("batch_sizes").is_none() {
            let own = || vec![1; config.inputs.len().max(1)];
            config.batch_sizes = batches_of(&config.model, &config.inputs).unwrap_or_else(own);
        }
        config.options.processes = match (self.run.multiinterpreter, self.run.multiprocess) {
            (true, _) => Processes::Fresh,
            (false, true) => Processes::PerModel,
            (false, false) => Processes::Shared,
        };
        config.options.dataset = self.options.text("dataset").map(|text| self.run.dataset(shell, text)).transpose()?;
        config.options.stats_interval_s = self.run.stats_interval;
        // In NeuronPerf, zero means that the dataset decides: one whole pass is run, however long it takes.
        if config.duration_s == 0.0 && config.options.dataset.is_some_and(|d| !d.looped) {
            config.duration_s = BenchConfig::default().duration_s;
        }
        if let Some(settings) = &config.mlperf {
            settings.validate()?;
        }
        Ok(config)
    }

    /// The model with the times of `fixed`; empty with an index, whose entries name their models.
    fn model_text(&self) -> Result<String> {
        let times = self.fixed.parameters();
        match self.options.text("model") {
            None if self.model_filename.is_some() && times.is_empty() => Ok(String::new()),
            Some(model) if ModelKind::of(model) == ModelKind::Fixed && !times.is_empty() => {
                let separator = if model.contains(':') { ',' } else { ':' };
                Ok(format!("{model}{separator}{}", times.join(",")))
            }
            model if times.is_empty() => Ok(model.unwrap_or("nn").to_owned()),
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

impl BenchRunArgs {
    /// The dataset of the flag: a length, or a file whose records are counted.
    fn dataset(&self, shell: &Shell, text: &str) -> Result<Dataset> {
        let length = match text.trim().parse::<i64>() {
            Ok(length) => match u64::try_from(length) {
                Ok(length) => length,
                Err(_) => bail!("--dataset: {length} is not a number of records; write one from 1, or a file"),
            },
            Err(_) => super::dataset::read(shell, Path::new(text))?.count,
        };
        Ok(Dataset { length, looped: self.loop_dataset })
    }
}
