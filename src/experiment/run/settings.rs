//! How every experiment of a run is run.

use serde::{Deserialize, Serialize};

use super::experiment::{Experiment, Verification};
use super::suite::{Suite, SuiteModel};
use crate::plan::ExperimentConfig;

/// The settings that all experiments of a run share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSettings {
    /// Timed runs.
    pub repeat: u32,
    /// Inferences in one timed run.
    pub iterations_per_run: u32,
    /// Samples of one inference, or the model's default.
    pub batch_size: Option<u32>,
    /// Seed of weights and inputs.
    pub seed: u64,
    /// Whether to verify instead of timing.
    pub verify: Option<Verification>,
    /// Seeds that are verified, beginning with `seed`.
    pub verify_iterations: u32,
    /// Whether to time each iteration as the shortest of many calls; measured runs only.
    pub pure_wall_time: bool,
}

impl Default for RunSettings {
    /// The defaults of the command line.
    fn default() -> Self {
        Self {
            repeat: 10,
            iterations_per_run: 1,
            batch_size: None,
            seed: 1_337,
            verify: None,
            verify_iterations: 1,
            pure_wall_time: false,
        }
    }
}

impl RunSettings {
    /// The experiment of a model and a configuration, at a time in seconds since 1970.
    pub fn experiment<'a>(
        &self,
        suite: Suite,
        model: &'a SuiteModel,
        config: &'a ExperimentConfig,
        processor: &'a str,
        timestamp: f64,
    ) -> Experiment<'a> {
        Experiment {
            suite,
            model,
            config,
            repeat: self.repeat,
            iterations_per_run: self.iterations_per_run,
            batch_size: self.batch_size,
            seed: self.seed,
            verify: self.verify,
            verify_iterations: self.verify_iterations,
            pure_wall_time: self.pure_wall_time,
            timestamp,
            processor,
        }
    }
}
