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
    let nothing = plan::nothing_to_run(&args, &plan);
    if args.dry_run {
        plan.show(args.json)?;
        return nothing.filter(|_| !args.json).map_or(Ok(()), |nothing| Err(nothing.into()));
    }
    if let Some(nothing) = nothing {
        return Err(nothing.into());
    }
    let configs = plan.configs.map_err(|e| anyhow!("{e}"))?;
    runner::run(&args, &configs, &plan.models)
}
