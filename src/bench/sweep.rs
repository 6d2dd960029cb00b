//! From a benchmark to its configurations, in the order NeuronPerf runs them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::base::{Digest, SimTime};
use crate::machine::arch::{INSTANCES, Instance, instance};

use super::config::{BenchConfig, ConfigError};

/// The most configurations of one sweep.
pub const MAX_CONFIGURATIONS: u64 = 10_000;

/// Seconds below which a run has no second that is neither its first nor its last.
const SHORTEST_FULL_S: f64 = 2.0;

/// One point of a sweep: everything its result depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Model specification.
    pub model: String,
    /// Label in reports.
    pub model_name: String,
    /// EC2 size, by its canonical name where it is known.
    pub instance_type: String,
    /// Samples of one inference.
    pub batch_size: u32,
    /// Model copies.
    pub n_models: u32,
    /// Threads that feed one model copy.
    pub workers_per_model: u32,
    /// NeuronCores of one model copy.
    pub pipeline_size: u32,
    /// 0 to 3.
    pub performance_level: u8,
    /// Measured simulated seconds.
    pub duration_s: f64,
    /// Seed of every random number.
    pub seed: u64,
    /// US dollars per hour, if a price is given or published.
    pub cost_per_hour: Option<f64>,
    /// Inferences of each model before the measured window.
    pub warmup_inferences: u32,
    /// Largest random deviation of a stage, as a fraction of it.
    pub jitter: f64,
}

/// Why a configuration can not run on its instance. It becomes a failed row; the sweep goes on.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// One copy needs more cores than there are.
    #[error(
        "pipeline_size {pipeline_size} is larger than the {cores} NeuronCores of {instance}; use a pipeline_size of at most {cores} or a larger instance"
    )]
    PipelineTooLarge {
        /// Stages asked for.
        pipeline_size: u32,
        /// NeuronCores there are.
        cores: u32,
        /// The EC2 size.
        instance: String,
    },
    /// The copies together need more cores than there are.
    #[error(
        "n_models {n_models} x pipeline_size {pipeline_size} needs {needed} NeuronCores, {instance} has {cores}; use at most {room} models or a larger instance"
    )]
    TooManyModels {
        /// Copies asked for.
        n_models: u32,
        /// Stages of each.
        pipeline_size: u32,
        /// NeuronCores they need.
        needed: u64,
        /// NeuronCores there are.
        cores: u32,
        /// Copies that fit.
        room: u32,
        /// The EC2 size.
        instance: String,
    },
}

/// A sweep, expanded: what will run, in order, and what a person should know about it first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// One row of the report each. Those that can not run are here too and become failed rows.
    pub configurations: Vec<Configuration>,
    /// What was left out or looks unusual, one sentence each.
    pub messages: Vec<String>,
}

impl Configuration {
    /// NeuronCores all copies use together: NeuronPerf's `n_devices`.
    #[must_use]
    pub fn n_devices(&self) -> u64 {
        u64::from(self.n_models) * u64::from(self.pipeline_size)
    }

    /// The measured window.
    #[must_use]
    pub fn duration(&self) -> SimTime {
        SimTime::from_secs_f64(self.duration_s)
    }

    /// Workers of all copies together.
    #[must_use]
    pub fn workers(&self) -> u64 {
        u64::from(self.n_models) * u64::from(self.workers_per_model)
    }

    /// Whether the copies fit on the instance. An instance the product does not know is not checked.
    ///
    /// # Errors
    /// When they need more NeuronCores than there are.
    pub fn check(&self) -> Result<(), ConfigurationError> {
        let Some(size) = instance(&self.instance_type) else { return Ok(()) };
        let cores = size.neuroncores;
        if self.pipeline_size > cores {
            return Err(ConfigurationError::PipelineTooLarge {
                pipeline_size: self.pipeline_size,
                cores,
                instance: size.name.to_owned(),
            });
        }
        if self.n_devices() > u64::from(cores) {
            return Err(ConfigurationError::TooManyModels {
                n_models: self.n_models,
                pipeline_size: self.pipeline_size,
                needed: self.n_devices(),
                cores,
                room: cores / self.pipeline_size.max(1),
                instance: size.name.to_owned(),
            });
        }
        Ok(())
    }

    /// Names the compiled artifact: rows that differ in copies, workers or duration run the same one.
    #[must_use]
    pub fn artifact(&self) -> Digest {
        Digest::default()
            .text("neuronscope artifact 1")
            .text(&self.model)
            .text(&self.instance_type)
            .number(u64::from(self.batch_size))
            .number(u64::from(self.pipeline_size))
            .number(u64::from(self.performance_level))
    }

    /// Names the configuration, and with a model and a worker its stream of random numbers. The seed is the
    /// generator's own and not part of it; nor is the duration, so a longer run begins like a shorter one.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.artifact()
            .text("configuration 1")
            .number(u64::from(self.n_models))
            .number(u64::from(self.workers_per_model))
            .number(u64::from(self.warmup_inferences))
    }

    /// Artifact path in NeuronPerf's pattern, `models/{model_name}_b{batch}_p{pipeline}_{8 characters}.pt`.
    #[must_use]
    pub fn model_filename(&self) -> String {
        let name: String = self.model_name.chars().map(|c| if is_file_safe(c) { c } else { '_' }).take(64).collect();
        format!("models/{name}_b{}_p{}_{}.pt", self.batch_size, self.pipeline_size, self.artifact().name8())
    }
}

fn is_file_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '=')
}

/// Spells out a benchmark: for each batch size, pipeline size and number of workers, each number of models.
///
/// # Errors
/// When a parameter is out of its range, or the lists make more than [`MAX_CONFIGURATIONS`].
pub fn expand(config: &BenchConfig) -> Result<Sweep, ConfigError> {
    config.validate()?;
    let size = instance(config.instance_type.trim());
    let mut messages = Vec::new();
    if size.is_none() {
        messages.push(unknown_instance(config));
    }
    if config.duration_s < SHORTEST_FULL_S {
        messages.push(format!(
            "duration_s: {} s has no full second between its first and its last, so throughput_avg is the total over the elapsed time; use {SHORTEST_FULL_S} s or more for NeuronPerf's rule",
            config.duration_s
        ));
    }
    let mut configurations: Vec<Configuration> = Vec::new();
    refuse_if_too_many(config)?;
    for batch_size in distinct(&config.batch_sizes) {
        for pipeline_size in distinct(&config.pipeline_sizes) {
            let n_models = n_models_of(config, size, pipeline_size);
            for workers_per_model in workers_of(config, pipeline_size) {
                configurations.extend(
                    n_models
                        .iter()
                        .map(|n| configuration(config, size, batch_size, pipeline_size, workers_per_model, *n)),
                );
            }
        }
    }
    Ok(Sweep { configurations, messages })
}

fn refuse_if_too_many(config: &BenchConfig) -> Result<(), ConfigError> {
    let length = |list: &Option<Vec<u32>>, default: u64| list.as_ref().map_or(default, |l| l.len() as u64);
    let count = length(&config.n_models, 2)
        .saturating_mul(length(&config.workers_per_model, 2))
        .saturating_mul(config.pipeline_sizes.len() as u64)
        .saturating_mul(config.batch_sizes.len() as u64);
    if count > MAX_CONFIGURATIONS {
        return Err(ConfigError::TooManyConfigurations { count, max: MAX_CONFIGURATIONS });
    }
    Ok(())
}

fn configuration(
    config: &BenchConfig,
    size: Option<&Instance>,
    batch_size: u32,
    pipeline_size: u32,
    workers_per_model: u32,
    n_models: u32,
) -> Configuration {
    Configuration {
        model: config.model.trim().to_owned(),
        model_name: config.model_name.as_ref().unwrap_or(&config.model).trim().to_owned(),
        instance_type: size.map_or_else(|| config.instance_type.trim().to_owned(), |s| s.name.to_owned()),
        batch_size,
        n_models,
        workers_per_model,
        pipeline_size,
        performance_level: config.performance_level,
        duration_s: config.duration_s,
        seed: config.seed,
        cost_per_hour: config.cost_per_hour.or_else(|| size.and_then(|s| s.usd_per_hour)),
        warmup_inferences: config.warmup_inferences,
        jitter: config.jitter,
    }
}

/// The counts as given, or one copy and as many as fit. A size that is not known has no MAX: one copy only.
fn n_models_of(config: &BenchConfig, size: Option<&Instance>, pipeline_size: u32) -> Vec<u32> {
    match &config.n_models {
        Some(list) => distinct(list),
        None => match size.map(|s| s.neuroncores / pipeline_size.max(1)) {
            Some(max) if max > 1 => vec![1, max],
            _ => vec![1],
        },
    }
}

/// The counts as given, or 1 and 2; a pipeline of p stages is fed by p - 1 workers, as the guide says.
fn workers_of(config: &BenchConfig, pipeline_size: u32) -> Vec<u32> {
    match &config.workers_per_model {
        Some(list) => distinct(list),
        None if pipeline_size > 1 => vec![pipeline_size - 1],
        None => vec![1, 2],
    }
}

/// Each count once: a configuration that comes twice would give the same row twice.
fn distinct(list: &[u32]) -> Vec<u32> {
    let mut seen = Vec::with_capacity(list.len());
    for n in list {
        if !seen.contains(n) {
            seen.push(*n);
        }
    }
    seen
}

fn unknown_instance(config: &BenchConfig) -> String {
    let known: Vec<&str> = INSTANCES.iter().map(|i| i.name).collect();
    let consequence = if config.n_models.is_none() {
        "the configurations with as many models as fit are skipped"
    } else {
        "n_models is not checked against its NeuronCores"
    };
    format!(
        "instance_type: '{}' is not a known size, so {consequence}; known sizes are {}",
        config.instance_type.trim(),
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(config: &BenchConfig) -> Vec<(u32, u32)> {
        expand(config).unwrap().configurations.iter().map(|c| (c.n_models, c.workers_per_model)).collect()
    }

    #[test]
    fn default_is_four_configurations_in_neuronperfs_order() {
        assert_eq!(pairs(&BenchConfig::default()), [(1, 1), (2, 1), (1, 2), (2, 2)]);
        let inf1 = BenchConfig { instance_type: "Inf1.6xlarge".into(), ..BenchConfig::default() };
        assert_eq!(pairs(&inf1), [(1, 1), (16, 1), (1, 2), (16, 2)]);
        assert_eq!(expand(&inf1).unwrap().configurations[0].instance_type, "inf1.6xlarge");
    }

    #[test]
    fn pipelines_divide_max_and_run_one_worker_count() {
        let config =
            BenchConfig { pipeline_sizes: vec![2, 3], instance_type: "inf1.xlarge".into(), ..Default::default() };
        let sweep = expand(&config).unwrap();
        let rows: Vec<_> =
            sweep.configurations.iter().map(|c| (c.pipeline_size, c.n_models, c.workers_per_model)).collect();
        assert_eq!(rows, [(2, 1, 1), (2, 2, 1), (3, 1, 2)]);
        let overridden = BenchConfig { workers_per_model: Some(vec![4]), ..config };
        assert!(pairs(&overridden).iter().all(|(_, w)| *w == 4));
    }

    #[test]
    fn unknown_instance_skips_max_and_says_so() {
        let config = BenchConfig { instance_type: "trn9.huge".into(), ..BenchConfig::default() };
        let sweep = expand(&config).unwrap();
        assert_eq!(pairs(&config), [(1, 1), (1, 2)]);
        assert!(sweep.messages[0].contains("'trn9.huge'") && sweep.messages[0].contains("inf1.6xlarge"));
        assert!(sweep.configurations.iter().all(|c| c.check().is_ok()));
    }

    #[test]
    fn short_durations_are_announced() {
        let messages = |duration_s| expand(&BenchConfig { duration_s, ..BenchConfig::default() }).unwrap().messages;
        assert!(messages(1.5)[0].starts_with("duration_s: 1.5 s has no full second"));
        assert!(messages(2.0).is_empty());
    }

    #[test]
    fn what_does_not_fit_is_a_configuration_with_an_error() {
        let config = BenchConfig { n_models: Some(vec![2, 3]), ..BenchConfig::default() };
        let checks: Vec<bool> = expand(&config).unwrap().configurations.iter().map(|c| c.check().is_ok()).collect();
        assert_eq!(checks, [true, false, true, false]);
        let deep = BenchConfig { pipeline_sizes: vec![64], ..BenchConfig::default() };
        let message = expand(&deep).unwrap().configurations[0].check().unwrap_err().to_string();
        assert!(message.contains("larger than the 2 NeuronCores of trn1.2xlarge"), "{message}");
    }

    #[test]
    fn repeated_counts_give_one_row_and_huge_sweeps_are_refused() {
        let config = BenchConfig { n_models: Some(vec![1, 1, 2]), batch_sizes: vec![4, 4], ..BenchConfig::default() };
        assert_eq!(pairs(&config), [(1, 1), (2, 1), (1, 2), (2, 2)]);
        let many: Vec<u32> = (1..=200).collect();
        let huge =
            BenchConfig { n_models: Some(many.clone()), workers_per_model: Some(many), ..BenchConfig::default() };
        assert_eq!(expand(&huge), Err(ConfigError::TooManyConfigurations { count: 40_000, max: 10_000 }));
    }

    #[test]
    fn digests_tell_configurations_apart_and_artifacts_together() {
        let rows = expand(&BenchConfig::default()).unwrap().configurations;
        let mut digests: Vec<u64> = rows.iter().map(|c| c.digest().finish()).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), 4);
        assert!(rows.iter().all(|c| c.model_filename() == rows[0].model_filename()));
        let name = expand(&BenchConfig { model: "matmult:n=8,add_bias=true".into(), ..BenchConfig::default() })
            .unwrap()
            .configurations[0]
            .model_filename();
        assert!(name.starts_with("models/matmult_n=8_add_bias=true_b1_p1_") && name.ends_with(".pt"), "{name}");
    }
}
