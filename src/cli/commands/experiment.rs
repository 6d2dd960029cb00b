//! `neuronscope experiment`

mod artifacts;
mod plan;
mod results;
mod runner;
mod single;

use anyhow::Result;

use crate::experiment_args::ExperimentArgs;
use crate::shell::Shell;
use ns_session::reports::configs_of;
#[cfg(test)]
pub(crate) use plan::request_of;

pub(super) fn run(shell: &Shell, args: ExperimentArgs) -> Result<()> {
    args.suite.check()?;
    let request = plan::request_of(&args)?;
    if let (Some(config), Some(model)) = (&args.experiment_config, &args.model_config) {
        return single::run(shell, &args, &request, config, model);
    }
    let plan = request.plan.plan()?;
    let nothing = plan.nothing_to_run(&request.plan);
    let left_out = plan.configs.as_ref().map_or(Ok(Vec::new()), |_| request.plan.left_out())?;
    left_out.iter().filter(|_| !args.json).for_each(|line| shell.note(line));
    if args.dry_run {
        plan::show(shell, &plan, args.json)?;
        return nothing.filter(|_| !args.json).map_or(Ok(()), |nothing| Err(nothing.into()));
    }
    if let Some(nothing) = nothing {
        return Err(nothing.into());
    }
    runner::run(shell, &args, &request, configs_of(&plan)?, &plan.models)
}
