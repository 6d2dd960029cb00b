//! Flags of a training step.

use anyhow::{Context, Result, bail};
use clap::Args;

use super::model_file;
use ns_model::ModelSpec;
use ns_model::training::Optimizer;

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
}

impl TrainingArgs {
    /// The text of the model, whose call is a training step if the flags say so.
    ///
    /// # Errors
    /// When the model is not one of the zoo.
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
        let optimizer: Option<Optimizer> = self.optimizer.as_deref().map(str::parse).transpose()?;
        let optimizer = optimizer.or(spec.training()).unwrap_or_default();
        Ok(spec.with_training(Some(optimizer)).to_string())
    }
}
