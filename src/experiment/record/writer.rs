//! A record as the runner writes it: keys in the suite's order, in Python's notation.

use serde::{Deserialize, Serialize};

use crate::plan::ExperimentConfig;
use crate::python::json_dumps;
use ns_base::Refusal;
use ns_base::units::format_figures;

/// The code for correct outputs.
pub const PASS: &str = "PASS";
/// The error of an experiment that the suite would not run.
pub const SKIP: &str = "SKIP";

/// One line of `results.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub model: RecordModel,
    /// The configuration, with the values that only a run knows.
    pub experiment: RecordExperiment,
    /// Number of timed runs requested.
    pub repeat: u32,
    /// Inferences inside one timed run.
    pub iterations_per_run: u32,
    /// The measurements, or the error.
    pub metrics: Metrics,
    /// Seconds since 1970.
    pub timestamp: f64,
    pub verification_code: String,
    /// The mean relative error, if it decided (the README's rule, simulated cores) or outputs are wrong, and could be computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_mean_rel_error: Option<f64>,
    /// The limit that the verifier compared with; the suite's own records do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_limit: Option<f64>,
    /// Why outputs of a simulated core are beyond the limit; the suite's own records do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_reason: Option<String>,
    /// The request, which the suite's own records do not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RecordRequest>,
}

/// The request. The suite's readers ignore it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordRequest {
    /// Batch size, or null for the model's own.
    pub batch_size: Option<u32>,
    /// Seed of weights and inputs.
    pub seed: u64,
    /// Rules of the verifier, or null when times were requested.
    pub verify: Option<String>,
    /// Seeds that were verified.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub verify_iterations: u32,
    /// Whether each iteration is the shortest of many calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pure_wall_time: bool,
}

impl Default for RecordRequest {
    /// The request that a record without one is read as.
    fn default() -> Self {
        Self { batch_size: None, seed: 0, verify: None, verify_iterations: one(), pure_wall_time: false }
    }
}

const fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordModel {
    /// The suite that the model comes from.
    pub suite_name: String,
    pub model_name: String,
}

/// The configuration of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordExperiment {
    /// The device that the experiment ran on.
    pub accelerator: String,
    /// The product that the experiment ran on.
    pub accelerator_model: String,
    /// Runtime under XLA.
    pub xla: Option<String>,
    /// The variable `XLA_FLAGS`.
    pub xla_flags: Option<String>,
    /// Backend of torch.compile.
    pub dynamo: Option<String>,
    /// torch_xla2 mode.
    pub torch_xla2: Option<String>,
    /// Inference or training.
    pub test: String,
    /// Samples of one inference; null if the experiment did not run.
    pub batch_size: Option<u32>,
    pub enable_functionalization: bool,
}

/// Metrics: a list with one entry for each repeat, or an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Seconds of each repeat, all its iterations together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub total_time: Vec<f64>,
    /// Seconds of one iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_iter_time: Vec<f64>,
    /// Seconds that the host was in the call before it waited; XLA only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace_total_time: Vec<f64>,
    /// The same for one iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace_per_iter_time: Vec<f64>,
    /// Seconds that were spent compiling; XLA only.
    #[serde(default, rename = "xla_CompileTime_time_s", skip_serializing_if = "Vec::is_empty")]
    pub compile_time_s: Vec<f64>,
    /// How often something was compiled.
    #[serde(default, rename = "xla_CompileTime_number", skip_serializing_if = "Vec::is_empty")]
    pub compile_number: Vec<u64>,
    /// Seconds that the device executed; XLA only.
    #[serde(default, rename = "xla_ExecuteTime_time_s", skip_serializing_if = "Vec::is_empty")]
    pub execute_time_s: Vec<f64>,
    /// How often it executed.
    #[serde(default, rename = "xla_ExecuteTime_number", skip_serializing_if = "Vec::is_empty")]
    pub execute_number: Vec<u64>,
    /// The reason why other metrics are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl RecordExperiment {
    /// The configuration on a product, with a batch size.
    pub fn new(config: &ExperimentConfig, accelerator_model: &str, batch_size: Option<u32>) -> Self {
        Self {
            accelerator: config.accelerator.name().to_owned(),
            accelerator_model: accelerator_model.to_owned(),
            xla: config.xla.map(|x| x.name().to_owned()),
            xla_flags: config.xla_flags.clone(),
            dynamo: config.dynamo.map(|d| d.name().to_owned()),
            torch_xla2: config.torch_xla2.map(|t| t.name().to_owned()),
            test: config.test.name().to_owned(),
            batch_size,
            enable_functionalization: config.enable_functionalization,
        }
    }
}

impl Record {
    /// Whether the experiment cannot run here.
    pub fn is_skip(&self) -> bool {
        self.metrics.error.as_deref() == Some(SKIP)
    }

    /// The line, without its end. Fails when a number has no JSON form.
    pub fn to_line(&self) -> Result<String, Refusal> {
        json_dumps(self).map_err(|e| Refusal::new(e.to_string()))
    }
}

impl Record {
    /// Why the requested verification did not pass; `None` also if none was requested, or the suite would skip the experiment.
    pub fn unverified(&self) -> Option<String> {
        self.request.as_ref()?.verify.as_ref()?;
        let code = &self.verification_code;
        match (self.metrics.error.as_deref(), self.verification_mean_rel_error.zip(self.verification_limit)) {
            _ if code == PASS => None,
            (Some(SKIP), _) => None,
            (Some(error), _) => Some(format!("the outputs cannot be verified: {error}")),
            (None, Some((error, limit))) => {
                let reason = self.verification_reason.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default();
                Some(format!(
                    "the outputs are wrong ({code}): the mean relative error is {}, the limit is {limit}{reason}",
                    format_figures(error)
                ))
            }
            (None, None) => Some(format!("the outputs are not verified: {code}")),
        }
    }
}

impl Metrics {
    /// Adds a repeat, in seconds.
    pub fn push_total(&mut self, total_s: f64, iterations: u32) {
        self.total_time.push(total_s);
        self.per_iter_time.push(total_s / f64::from(iterations.max(1)));
    }

    /// Adds the host's part of that repeat, in seconds.
    pub fn push_trace(&mut self, trace_s: f64, iterations: u32) {
        self.trace_total_time.push(trace_s);
        self.trace_per_iter_time.push(trace_s / f64::from(iterations.max(1)));
    }

    /// Adds the seconds of compiling and executing in that repeat, and how often each happened.
    pub fn push_xla(&mut self, [compile_s, execute_s]: [f64; 2], [compiled, executed]: [u64; 2]) {
        self.compile_time_s.push(compile_s);
        self.compile_number.push(compiled);
        self.execute_time_s.push(execute_s);
        self.execute_number.push(executed);
    }

    /// Metrics with only an error.
    pub fn failed(error: String) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}
