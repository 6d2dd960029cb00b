//! `neuronscope experiment`

mod artifacts;
mod plan;
mod results;
mod runner;
mod single;

use anyhow::{Result, anyhow};

use crate::experiment_args::ExperimentArgs;
pub(super) use plan::model_filter;

pub(super) fn run(args: ExperimentArgs) -> Result<()> {
    args.suite.check()?;
    if let (Some(config), Some(model)) = (&args.experiment_config, &args.model_config) {
        return single::run(&args, config, model);
    }
    let plan = plan::Plan::of(&args)?;
    if args.dry_run {
        return plan.show(args.json);
    }
    let configs = plan.configs.map_err(|e| anyhow!("{e}"))?;
    runner::run(&args, &configs, &plan.models)
}
