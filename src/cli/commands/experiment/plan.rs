//! The plan of `neuronscope experiment`: which experiments run.

use std::str::FromStr;

use anyhow::{Result, anyhow};

use crate::experiment_args::ExperimentArgs;
use crate::shell::Shell;
use ns_experiment::plan::{ExpandOptions, Plan};
use ns_experiment::run::{Suite, SuiteModel};
use ns_experiment::sweep::ExperimentsRequest;
use ns_session::reports::{PlanJson, plan_text};

/// What the flags ask for. Fails with a flag that has a value it does not take.
pub(crate) fn request_of(args: &ExperimentArgs) -> Result<ExperimentsRequest> {
    let mut request = ExperimentsRequest::default();
    args.options.put_into(&mut request, &[])?;
    let (plan, models) = (&mut request.plan, &args.models);
    plan.filter.clone_from(&models.filter);
    plan.exclude.clone_from(&models.exclude);
    plan.filter_tiers.clone_from(&models.filter_by_tier);
    plan.exclude_tiers.clone_from(&models.exclude_by_tier);
    (plan.total_partitions, plan.partition_id) = (args.total_partitions as usize, args.partition_id as usize);
    plan.model_files = args.model_file.iter().map(|(name, _)| name.clone()).collect();
    plan.expand = ExpandOptions {
        xla: nullable(&args.xla)?,
        xla_flags: args.xla_flags.iter().map(|f| (f != NULL).then(|| f.clone())).collect(),
        dynamo: nullable(&args.dynamo)?,
        torch_xla2: nullable(&args.torch_xla2)?,
        enable_functionalization: args.enable_functionalization,
        keep_model_data_on_cuda: args.keep_model_data_on_cuda,
        xla_devices: args.xla_devices.iter().map(|d| d.trim().to_owned()).filter(|d| !d.is_empty()).collect(),
        ..std::mem::take(&mut plan.expand)
    };
    plan.rules = args.rules;
    request.settings.verify = args.verify.then_some(args.verify_rules);
    request.settings.pure_wall_time = args.suite.pure_wall_time;
    Ok(request)
}

/// Prints the plan without running it. Fails when the configurations cannot be computed, and JSON is not asked for.
pub(super) fn show(shell: &Shell, plan: &Plan, json: bool) -> Result<()> {
    if json { shell.print_json(&PlanJson::of(plan)) } else { shell.print(plan_text(plan)?.as_bytes()) }
}

/// The model with a name: a file that stands for it, or the suite's. Fails when neither exists.
pub(super) fn model_of(args: &ExperimentArgs, suite: Suite, name: &str) -> Result<SuiteModel> {
    let Some((_, file)) = args.model_file.iter().find(|(known, _)| known == name) else {
        return suite.model(name).map_err(|refusal| {
            let instead = format!("--model-file {name}=FILE lets a model file stand for it");
            anyhow!("{refusal}; {instead}")
        });
    };
    if !file.is_file() {
        return Err(anyhow!("--model-file {name}: {} is not a file", file.display()));
    }
    Ok(SuiteModel { name: name.to_owned(), specification: file.display().to_string(), batch_size: None })
}

/// How an option spells null.
const NULL: &str = "None";

fn nullable<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(values: &[String]) -> Result<Vec<Option<T>>> {
    values.iter().map(|v| if v == NULL { Ok(None) } else { Ok(Some(v.parse()?)) }).collect()
}
