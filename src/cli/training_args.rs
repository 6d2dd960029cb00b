//! Flags of a training step.

use anyhow::{Context, Result, bail};
use clap::Args;

use super::model_file;
use ns_session::{MAX_MICRO_BATCHES, ModelSpec, Optimizer, TrainingCall};

/// Whether a call is a training step.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Training")]
pub(super) struct TrainingArgs {
    /// A call is a training step: forward, loss, backward, update (docs/training.md). The same as training=OPTIMIZER behind the model's
    /// name
    #[arg(long)]
    pub training: bool,
    /// How gradients change the parameters [default: adamw]
    #[arg(long, value_name = "NAME", requires = "training", value_parser = ["adamw", "sgd"])]
    pub optimizer: Option<String>,
    /// Micro-batches whose gradients a step adds up before its update; a call is one of them, and has its share of the update. The same as
    /// accumulate=N behind the model's name
    #[arg(long, value_name = "N", requires = "training", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_MICRO_BATCHES)))]
    pub accumulate: Option<u32>,
}

impl TrainingArgs {
    /// The text of the model, whose call is a training step if the flags say so. Fails when the model is not one of the zoo.
    pub fn model(&self, model: &str) -> Result<String> {
        if !self.training {
            return Ok(model.to_owned());
        }
        if model_file::names_a_file(model) {
            bail!(
                "--training: {model} is a model file, which has no backward pass; name a model of the zoo (neuronscope models)"
            );
        }
        let spec: ModelSpec = model.parse().context("--training needs a model of the zoo")?;
        let optimizer = self.optimizer.as_deref();
        let optimizer = Optimizer::ALL.into_iter().find(|known| Some(known.name()) == optimizer);
        let own = spec.training();
        let call = optimizer.map(TrainingCall::step).or(own).unwrap_or(TrainingCall::step(Optimizer::default()));
        let micro_batches = self.accumulate.or(own.map(TrainingCall::micro_batches)).filter(|n| *n > 1);
        let call = micro_batches.map_or(Ok(call), |n| call.with_micro_batches(n))?;
        Ok(spec.with_training(Some(call)).to_string())
    }
}
