//! The rows of a plan before they run.

use serde::{Deserialize, Serialize};

use crate::aggregate::Backend;
use crate::plan::{Accelerator, ExperimentConfig, PlanRequest};
use crate::python::json_dumps;
use crate::run::{Fingerprint, RunSettings};
use ns_base::{Refusal, refuse};

/// What to run, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExperimentsRequest {
    pub plan: PlanRequest,
    pub settings: RunSettings,
    /// The timestamp of every record, seconds since 1970; `None` for the time of the run.
    pub timestamp: Option<f64>,
}

/// One experiment of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedExperiment {
    /// Name of the model in its suite.
    pub model: String,
    /// The configuration as `--experiment-config` takes it.
    pub config: String,
    pub accelerator: Accelerator,
    /// The backend in words, as reports have it.
    pub backend: String,
    /// `eval` or `train`.
    pub test: String,
    /// Everything that decides the result.
    pub key: String,
    /// Whether it is timed with a clock, so that nothing else may run beside it.
    pub is_measured: bool,
    /// Why it cannot run here; it ends as a record that says so.
    pub problem: Option<String>,
}

/// The experiments of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentsPlan {
    /// Every model with every configuration, in the order of the command line.
    pub rows: Vec<PlannedExperiment>,
    /// Models that others stand for, one sentence each.
    pub messages: Vec<String>,
    /// The reason why the plan has no rows; `None` if it has rows.
    pub problem: Option<String>,
    /// Names of all models of the suite, to choose from.
    pub suite_models: Vec<String>,
}

impl ExperimentsRequest {
    /// The experiments of this request. A request that leaves nothing to run says why in its plan.
    pub fn plan(&self) -> ExperimentsPlan {
        let suite_models = self.plan.suite.models().into_iter().map(|m| m.name).collect();
        match self.rows() {
            Ok((rows, messages)) => ExperimentsPlan { rows, messages, problem: None, suite_models },
            Err(problem) => {
                let problem = Some(problem.to_string());
                ExperimentsPlan { rows: Vec::new(), messages: Vec::new(), problem, suite_models }
            }
        }
    }

    fn rows(&self) -> Result<(Vec<PlannedExperiment>, Vec<String>), Refusal> {
        let plan = self.plan.plan()?;
        if let Some(refusal) = plan.nothing_to_run(&self.plan) {
            return Err(refusal);
        }
        let configs = plan.configs?;
        let (mut rows, mut messages) = (Vec::new(), self.plan.left_out()?);
        for name in &plan.models {
            let model = self.plan.suite.model(name)?;
            messages.extend(model.stand_in().map(|sentence| format!("{name}: {sentence}")));
            for config in &configs {
                let experiment = self.settings.experiment(self.plan.suite, &model, config, "", 0.0);
                let is_verified = self.settings.verify.is_some();
                rows.push(PlannedExperiment {
                    model: name.clone(),
                    config: json_dumps(config).map_err(|e| refuse!("the configuration cannot be written: {e}"))?,
                    accelerator: config.accelerator,
                    backend: backend_of(config),
                    test: config.test.name().to_owned(),
                    key: Fingerprint::of(&experiment).text().to_owned(),
                    is_measured: config.accelerator == Accelerator::Cpu && !is_verified,
                    problem: experiment.problem().map(|e| e.to_string()),
                });
            }
        }
        Ok((rows, messages))
    }
}

/// The backend of a configuration in the words of reports.
fn backend_of(config: &ExperimentConfig) -> String {
    let backend = Backend::of(config.dynamo.map(|d| d.name()), config.xla.map(|x| x.name()));
    backend.map_or_else(|_| "unknown".to_owned(), |backend| backend.title().to_owned())
}
