//! The plan of experiments in words and as JSON: `neuronscope experiment --dry-run`.

use serde::Serialize;

use ns_base::{Refusal, refuse};
use ns_experiment::plan::{ExperimentConfig, Plan};
use ns_experiment::python::json_dumps;

/// `--dry-run --json`.
#[derive(Serialize)]
pub struct PlanJson<'a> {
    configs: Option<&'a [ExperimentConfig]>,
    models: &'a [String],
    error: Option<String>,
}

impl<'a> PlanJson<'a> {
    pub fn of(plan: &'a Plan) -> Self {
        let configs = plan.configs.as_ref();
        Self {
            configs: configs.ok().map(Vec::as_slice),
            models: &plan.models,
            error: configs.err().map(ToString::to_string),
        }
    }
}

/// The configurations of a plan. Fails with the exception with which the suite since September 2025 ends.
pub fn configs_of(plan: &Plan) -> Result<&[ExperimentConfig], Refusal> {
    plan.configs.as_deref().map_err(|exception| {
        refuse!(
            "--rules head: the suite has no XLA device for a GPU since September 2025 and ends with {exception}; leave --xla out, or use --rules seed or neuron"
        )
    })
}

/// How many experiments there are, and a line for each. Fails as [`configs_of`].
pub fn plan_text(plan: &Plan) -> Result<String, Refusal> {
    let (configs, models) = (configs_of(plan)?, &plan.models);
    let mut out = format!(
        "Number of selected experiment configs: {}\nNumber of selected model configs: {}\n",
        configs.len(),
        models.len()
    );
    for model in models {
        let model = json_dumps(&serde_json::json!({ "model_name": model })).map_err(|e| refuse!("{e}"))?;
        for config in configs {
            let config = json_dumps(config).map_err(|e| refuse!("{e}"))?;
            out.push_str(&format!("Run with --model-config={model} --experiment-config={config}\n"));
        }
    }
    Ok(out)
}
