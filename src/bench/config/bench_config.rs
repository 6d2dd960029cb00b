//! The request for a benchmark: NeuronPerf's parameters, their defaults and their ranges.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use super::inputs::InputTuple;
use super::list::{AS_MANY_AS_FIT, MAX_LIST_ENTRIES};
use super::options::RunOptions;
use crate::compile::sweep::CompileSweep;
use crate::index::ModelIndex;
use crate::mlperf::{MlperfSettings, SettingsError};
use crate::sweep::models::distinct;
use ns_base::{Refusal, refuse};
use ns_machine::cost::decisions::DEFAULT_JITTER;

/// Longest duration of one configuration, seconds of simulated time: a day.
pub const MAX_DURATION_S: f64 = 86_400.0;
/// Most model copies, workers of one model, pipeline stages: more than any existing system has (1,152 cores).
pub const MAX_PARALLEL: u32 = 4_096;
/// Largest batch.
pub const MAX_BATCH: u32 = 1 << 20;
/// Most warm-up inferences of one model.
pub const MAX_WARMUPS: u32 = 10_000;
/// Largest jitter: half of a stage.
pub const MAX_JITTER: f64 = 0.5;
/// Highest price per hour, US dollars.
pub const MAX_USD_PER_HOUR: f64 = 1_000_000.0;

const MAX_TEXT: usize = 16_384;

/// A benchmark: one model, and the lists whose combinations are its configurations.
///
/// Names are NeuronPerf's. `None` for a list means NeuronPerf's default, which depends on the instance and on the
/// pipeline size and is resolved by [`crate::expand`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BenchConfig {
    /// Model specification: `nn`, `matmult:n=1024,loop_count=1000`.
    pub model: String,
    /// Label in reports; the specification if absent.
    pub model_name: Option<String>,
    /// EC2 sizes whose NeuronCores are simulated, separated by commas; [`Self::sizes`] has them one by one.
    pub instance_type: String,
    /// Model copies that run side by side. Default: one, and as many as fit on the instance.
    pub n_models: Option<Vec<u32>>,
    /// Threads that feed one model. Default: 1 and 2; for a pipeline, its size plus one.
    pub workers_per_model: Option<Vec<u32>>,
    /// NeuronCores of one model copy.
    pub pipeline_sizes: Vec<u32>,
    /// Samples of one inference.
    pub batch_sizes: Vec<u32>,
    /// 0 (most accurate) to 3 (fastest), which decide the cast of the compiled model.
    pub performance_levels: Vec<u8>,
    /// Simulated seconds of the measured window of each configuration, after load and warm-up.
    pub duration_s: f64,
    /// Seed of every random number.
    pub seed: u64,
    /// US dollars per hour. Default: the price of the instance, where one is published.
    pub cost_per_hour: Option<f64>,
    /// Inferences of each model before the measured window.
    pub warmup_inferences: u32,
    /// Largest random deviation of a stage's time, as a fraction of that time: 0.01 is 1 %.
    pub jitter: f64,
    /// Shapes of the inputs of one call, a tuple for each batch size, in the order of `batch_sizes`. Empty: the model's
    /// own. They are checked against the model, because wrong shapes fail in NeuronPerf too.
    pub inputs: Vec<InputTuple>,
    /// Compiled models to run instead of `model`: the finished entries of a model index, already filtered. `inputs`,
    /// `batch_sizes`, `pipeline_sizes` and `performance_levels` are then the entries' own.
    pub index: Option<ModelIndex>,
    /// How each configuration is run.
    pub options: RunOptions,
    /// Compiler options that are swept; they override those of `options`.
    pub compile: CompileSweep,
    /// An MLPerf scenario instead of NeuronPerf's closed loop.
    pub mlperf: Option<MlperfSettings>,
}

impl Default for BenchConfig {
    fn default() -> Self {
        Self {
            model: "nn".to_owned(),
            model_name: None,
            instance_type: "trn1.2xlarge".to_owned(),
            n_models: None,
            workers_per_model: None,
            pipeline_sizes: vec![1],
            batch_sizes: vec![1],
            performance_levels: vec![3],
            duration_s: 60.0,
            seed: 0,
            cost_per_hour: None,
            warmup_inferences: 1,
            jitter: DEFAULT_JITTER,
            inputs: Vec::new(),
            index: None,
            options: RunOptions::default(),
            compile: CompileSweep::default(),
            mlperf: None,
        }
    }
}

/// A parameter that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Its name in [`BenchConfig`].
    pub field: &'static str,
    pub refusal: Refusal,
}

impl BenchConfig {
    /// The EC2 sizes as they are named, each once. There is at least one, which may be empty.
    pub fn sizes(&self) -> Vec<&str> {
        let names = self.instance_type.split(',').map(str::trim).filter(|name| !name.is_empty());
        let sizes = distinct(&names.collect::<Vec<_>>());
        if sizes.is_empty() { vec![""] } else { sizes }
    }

    /// Checks each parameter separately. Fails with the first problem; [`Self::problems`] has all of them.
    pub fn validate(&self) -> Result<(), Refusal> {
        self.problems().into_iter().next().map_or(Ok(()), |problem| Err(problem.refusal))
    }

    /// Every parameter that cannot be used, in the order of the fields. A form shows them beside its inputs.
    pub fn problems(&self) -> Vec<ConfigError> {
        let mut found = Vec::new();
        if self.index.is_none() || !self.model.is_empty() {
            check_text(&mut found, "model", &self.model, "Name a model, such as nn or matmult:n=1024");
        }
        if let Some(name) = &self.model_name {
            check_text(&mut found, "model_name", name, "Give a label, or leave it out to use the model's own name");
        }
        check_text(&mut found, "instance_type", &self.instance_type, "Name an EC2 size, such as trn1.2xlarge");
        if let Some(list) = &self.n_models {
            let counts: Vec<u32> = list.iter().copied().filter(|n| *n != AS_MANY_AS_FIT).collect();
            if counts.len() == list.len() || !counts.is_empty() {
                check_list(&mut found, "n_models", &counts, MAX_PARALLEL);
            }
        }
        if let Some(list) = &self.workers_per_model {
            check_list(&mut found, "workers_per_model", list, MAX_PARALLEL);
        }
        check_list(&mut found, "pipeline_sizes", &self.pipeline_sizes, MAX_PARALLEL);
        check_list(&mut found, "batch_sizes", &self.batch_sizes, MAX_BATCH);
        self.check_scalars(&mut found);
        for (field, value, allowed, remedy) in self.options.problems() {
            found.push(out_of_range(field, value, &allowed, remedy));
        }
        found.extend(self.mlperf.as_ref().and_then(|settings| settings.validate().err()).map(scenario_problem));
        found
    }

    fn check_scalars(&self, found: &mut Vec<ConfigError>) {
        if self.performance_levels.is_empty() {
            found.push(empty_list("performance_levels"));
        }
        if let Some(level) = self.performance_levels.iter().find(|l| **l > 3) {
            found.push(out_of_range(
                "performance_levels",
                level,
                "a whole number from 0 (most accurate) to 3 (fastest)",
                "Use 3 unless accuracy suffers",
            ));
        }
        if !(self.duration_s > 0.0 && self.duration_s <= MAX_DURATION_S) {
            found.push(out_of_range(
                "duration_s",
                self.duration_s,
                "a number of seconds above 0 and up to 86400 (a day)",
                "Use 60 unless a run takes too long",
            ));
        } else if self.duration_s < 1e-9 {
            found.push(out_of_range(
                "duration_s",
                self.duration_s,
                "at least a nanosecond (1e-9)",
                "Use 60 unless a run takes too long",
            ));
        }
        if let Some(cost) = self.cost_per_hour
            && !(0.0..=MAX_USD_PER_HOUR).contains(&cost)
        {
            found.push(out_of_range(
                "cost_per_hour",
                cost,
                "a number of US dollars from 0 to 1000000",
                "Leave it out to use the instance's published price",
            ));
        }
        if self.warmup_inferences > MAX_WARMUPS {
            found.push(out_of_range(
                "warmup_inferences",
                self.warmup_inferences,
                "a whole number from 0 to 10000",
                "NeuronPerf itself does 1",
            ));
        }
        if !(0.0..=MAX_JITTER).contains(&self.jitter) {
            found.push(out_of_range(
                "jitter",
                self.jitter,
                "a fraction from 0 (none) to 0.5 (half of a stage)",
                "Use 0.01 for at most 1 % of each stage",
            ));
        }
    }
}

fn scenario_problem(error: SettingsError) -> ConfigError {
    match error {
        SettingsError::OutOfRange { field, value, allowed } => {
            out_of_range(field, value, allowed, "Leave it out to use the value of MLPerf's rules")
        }
        SettingsError::NoBound => ConfigError {
            field: "latency_bound_ms",
            refusal: refuse!(
                "latency_bound_ms: the Server scenario needs a latency bound. Give one in milliseconds, such as 15 for ResNet-50"
            ),
        },
        SettingsError::UnknownScenario { .. } => {
            ConfigError { field: "scenario", refusal: refuse!("scenario: {error}. Choose one of them") }
        }
    }
}

fn out_of_range(field: &'static str, value: impl Display, allowed: &str, remedy: &str) -> ConfigError {
    ConfigError { field, refusal: refuse!("{field}: {value} is not allowed; {field} is {allowed}. {remedy}") }
}

fn empty_list(field: &'static str) -> ConfigError {
    let refusal = refuse!(
        "{field}: the list is empty. Give at least one count, such as 1,2,4 or 1-10, or leave {field} out for its default"
    );
    ConfigError { field, refusal }
}

fn check_text(found: &mut Vec<ConfigError>, field: &'static str, text: &str, remedy: &str) {
    let refusal = if text.trim().is_empty() {
        refuse!("{field}: nothing is given. {remedy}")
    } else if text.len() > MAX_TEXT {
        refuse!("{field}: the text has {} bytes, at most {MAX_TEXT} are allowed. {remedy}", text.len())
    } else if text.chars().any(char::is_control) {
        refuse!("{field}: the text holds a control character. {remedy}")
    } else {
        return;
    };
    found.push(ConfigError { field, refusal });
}

fn check_list(found: &mut Vec<ConfigError>, field: &'static str, list: &[u32], max: u32) {
    if list.is_empty() {
        found.push(empty_list(field));
    } else if list.len() > MAX_LIST_ENTRIES {
        let entries = list.len();
        let refusal =
            refuse!("{field}: the list has {entries} entries, at most {MAX_LIST_ENTRIES} are allowed. Shorten it");
        found.push(ConfigError { field, refusal });
    } else if let Some(bad) = list.iter().find(|n| **n == 0 || **n > max) {
        let allowed = format!("a list of whole numbers from 1 to {max}");
        found.push(out_of_range(field, bad, &allowed, "Remove or replace that entry"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_neuronperfs() {
        let config = BenchConfig::default();
        assert_eq!(config.validate(), Ok(()));
        assert_eq!((config.instance_type.as_str(), config.duration_s), ("trn1.2xlarge", 60.0));
    }

    #[test]
    fn every_problem_names_its_field_value_range_and_remedy() {
        let bad = BenchConfig {
            model: " ".to_owned(),
            n_models: Some(vec![1, 0]),
            workers_per_model: Some(Vec::new()),
            batch_sizes: vec![u32::MAX],
            performance_levels: vec![4],
            duration_s: f64::NAN,
            cost_per_hour: Some(-1.0),
            warmup_inferences: u32::MAX,
            jitter: f64::INFINITY,
            ..BenchConfig::default()
        };
        let problems = bad.problems();
        let fields: Vec<_> = problems.iter().map(|p| p.field).collect();
        assert_eq!(
            fields,
            [
                "model",
                "n_models",
                "workers_per_model",
                "batch_sizes",
                "performance_levels",
                "duration_s",
                "cost_per_hour",
                "warmup_inferences",
                "jitter"
            ]
        );
        assert_eq!(
            problems[1].refusal.what(),
            "n_models: 0 is not allowed; n_models is a list of whole numbers from 1 to 4096. Remove or replace that entry"
        );
        assert!(problems[5].refusal.what().contains("NaN"));
    }

    #[test]
    fn durations_at_the_edges() {
        let ok = |duration_s| BenchConfig { duration_s, ..BenchConfig::default() }.validate().is_ok();
        assert!(ok(0.001) && ok(MAX_DURATION_S));
        for bad in [0.0, -0.0, -1.0, 1e-12, 86_401.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!ok(bad), "{bad}");
        }
    }

    #[test]
    fn missing_fields_take_their_defaults_and_unknown_ones_are_ignored() {
        let config: BenchConfig = serde_json::from_str(r#"{"duration_s": 5, "n_models": [2], "later": 1}"#).unwrap();
        assert_eq!(config, BenchConfig { duration_s: 5.0, n_models: Some(vec![2]), ..BenchConfig::default() });
    }
}
