//! The plan of `neuronscope experiment`: which experiments run.

use std::str::FromStr;

use anyhow::{Result, anyhow};
use serde::Serialize;

use crate::commands::text;
use crate::experiment_args::{ExperimentArgs, ModelFilterArgs, PlanRulesArg, SuiteArg};
use ns_base::{Refusal, nearest_text, refuse};
use ns_experiment::plan::{ExpandOptions, ExperimentConfig, ModelFilter, PlanRules, expand_experiments, partition};
use ns_experiment::python::json_dumps;
use ns_experiment::run::Suite;

impl From<PlanRulesArg> for PlanRules {
    fn from(arg: PlanRulesArg) -> Self {
        match arg {
            PlanRulesArg::Seed => Self::Seed,
            PlanRulesArg::Head => Self::Head,
            PlanRulesArg::Neuron => Self::Neuron,
        }
    }
}

impl From<SuiteArg> for Suite {
    fn from(arg: SuiteArg) -> Self {
        match arg {
            SuiteArg::Dummy => Self::Dummy,
            SuiteArg::Torchbench => Self::Torchbench,
            SuiteArg::Zoo => Self::Zoo,
        }
    }
}

/// The filter that a command's flags stand for.
pub(crate) fn model_filter(args: &ModelFilterArgs) -> Result<ModelFilter, Refusal> {
    ModelFilter::new(&args.filter, &args.exclude, &args.filter_by_tier, &args.exclude_by_tier)
}

/// Models and configurations, each model with each configuration.
pub(super) struct Plan {
    /// The configurations, or the reason why there are none.
    pub configs: Result<Vec<ExperimentConfig>, Refusal>,
    /// Names of the models.
    pub models: Vec<String>,
}

/// `--dry-run --json`.
#[derive(Serialize)]
struct PlanJson<'a> {
    configs: Option<&'a [ExperimentConfig]>,
    models: &'a [String],
    error: Option<String>,
}

impl Plan {
    /// The plan that the flags ask for.
    ///
    /// # Errors
    /// When a flag has a value that it does not take.
    pub fn of(args: &ExperimentArgs) -> Result<Self> {
        let options = ExpandOptions {
            accelerator: parsed(&args.accelerator)?,
            xla: nullable(&args.xla)?,
            xla_flags: args.xla_flags.iter().map(|f| (f != NULL).then(|| f.clone())).collect(),
            dynamo: nullable(&args.dynamo)?,
            torch_xla2: nullable(&args.torch_xla2)?,
            test: parsed(&args.test)?,
            enable_functionalization: args.enable_functionalization,
            keep_model_data_on_cuda: args.keep_model_data_on_cuda,
            xla_devices: args.xla_devices.iter().map(|d| d.trim().to_owned()).filter(|d| !d.is_empty()).collect(),
        };
        Ok(Self { configs: expand_experiments(&options, args.rules.into()), models: models(args)? })
    }

    /// Prints the plan without running it.
    ///
    /// # Errors
    /// When the configurations cannot be computed, and JSON is not asked for.
    pub fn show(&self, json: bool) -> Result<()> {
        if json {
            let (configs, error) = match &self.configs {
                Ok(configs) => (Some(configs.as_slice()), None),
                Err(error) => (None, Some(error.to_string())),
            };
            let shown = PlanJson { configs, models: &self.models, error };
            return text::print(format!("{}\n", serde_json::to_string_pretty(&shown)?).as_bytes());
        }
        let configs = self.configs.as_ref().map_err(|e| anyhow!("{e}"))?;
        let mut out = format!(
            "Number of selected experiment configs: {}\nNumber of selected model configs: {}\n",
            configs.len(),
            self.models.len()
        );
        for model in &self.models {
            for config in configs {
                let model = json_dumps(&serde_json::json!({ "model_name": model }))?;
                out.push_str(&format!("Run with --model-config={model} --experiment-config={}\n", json_dumps(config)?));
            }
        }
        text::print(out.as_bytes())
    }
}

/// That the options leave nothing to run.
pub(super) fn nothing_to_run(args: &ExperimentArgs, plan: &Plan) -> Option<Refusal> {
    if plan.models.is_empty() {
        let suite = Suite::from(args.suite_name);
        let known: Vec<String> = suite.models().into_iter().map(|m| m.name).collect();
        let pattern = args.models.filter.join(" or ");
        let nearest = nearest_text(&pattern, known.iter().map(String::as_str));
        let (suite, known) = (suite.name(), known.join(", "));
        return Some(refuse!(
            "no model of the suite {suite} is left by the filters ('{pattern}'): the nearest are {nearest}, of {known}"
        ));
    }
    if plan.configs.as_ref().is_ok_and(Vec::is_empty) {
        return Some(refuse!(
            "no combination of --accelerator, --xla, --dynamo and --test can run: openxla and a NeuronCore need --xla PJRT, inductor needs --xla None"
        ));
    }
    None
}

/// How an option spells null.
const NULL: &str = "None";

fn parsed<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(values: &[String]) -> Result<Vec<T>> {
    values.iter().map(|v| Ok(v.parse()?)).collect()
}

fn nullable<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(values: &[String]) -> Result<Vec<Option<T>>> {
    values.iter().map(|v| if v == NULL { Ok(None) } else { Ok(Some(v.parse()?)) }).collect()
}

/// The suite's list or the given one, cut to this machine's part and filtered by the patterns. The dummy suite's own model
/// is neither divided nor filtered.
fn models(args: &ExperimentArgs) -> Result<Vec<String>> {
    let suite = Suite::from(args.suite_name);
    let filter = model_filter(&args.models)?;
    let listed: Vec<String> = suite.models().into_iter().map(|m| m.name).collect();
    if suite == Suite::Dummy && args.model_names.is_empty() {
        return Ok(listed);
    }
    let names = if args.model_names.is_empty() { listed } else { args.model_names.clone() };
    let part = partition(names.len(), args.total_partitions as usize, args.partition_id as usize);
    Ok(names.get(part).unwrap_or_default().iter().filter(|name| filter.keeps(name)).cloned().collect())
}
