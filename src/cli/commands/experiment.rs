//! `neuronscope experiment`

mod plan;

use anyhow::Result;

use crate::cli::experiment_args::ExperimentArgs;
pub(super) use plan::model_filter;

pub(super) fn run(args: ExperimentArgs) -> Result<()> {
    let plan = plan::Plan::of(&args)?;
    if args.dry_run {
        return plan.show(args.json);
    }
    anyhow::bail!("only --dry-run is there yet")
}
