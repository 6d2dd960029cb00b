//! A sweep before it runs: a list of every configuration with its expected work.

use serde::{Deserialize, Serialize};

use ns_base::{Refusal, SimTime};

use super::expand::expand;
use crate::config::bench_config::BenchConfig;
use crate::config::configuration::Configuration;
use crate::run::estimate::{Estimate, estimate};
use ns_device::ServiceTimes;

/// One configuration of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRow {
    /// The configuration that would run.
    pub configuration: Configuration,
    /// [`Configuration::key`].
    pub key: String,
    /// Why it cannot run, as far as that is known without compiling its model; it becomes a failed row.
    pub problem: Option<String>,
    /// The expected work; absent until the stage times are known.
    pub estimate: Option<Estimate>,
}

/// All configurations of a sweep, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPlan {
    /// The configurations, one for each row of the report.
    pub rows: Vec<PlannedRow>,
    /// Configurations that were left out and unusual settings, one sentence each.
    pub messages: Vec<String>,
}

impl SweepPlan {
    /// Lists the configurations of a benchmark. Fails as [`expand`].
    pub fn of(config: &BenchConfig) -> Result<Self, Refusal> {
        let sweep = expand(config)?;
        let row = |configuration: Configuration| PlannedRow {
            key: configuration.key(),
            problem: configuration.check().err().map(|e| e.to_string()),
            estimate: None,
            configuration,
        };
        Ok(Self { rows: sweep.configurations.into_iter().map(row).collect(), messages: sweep.messages })
    }
}

impl PlannedRow {
    /// Sets the stage times of the configuration, or the reason why it has none.
    pub fn learn(&mut self, times: &Result<ServiceTimes, String>) {
        if self.problem.is_some() {
            return;
        }
        let expected = times.as_ref().map_err(Clone::clone).and_then(|times| {
            times.check(self.configuration.pipeline_size).map_err(|e| e.to_string())?;
            let expected = estimate(&self.configuration, times);
            expected.check(&self.configuration).map_err(|e| e.to_string())?;
            Ok(expected)
        });
        match expected {
            Ok(expected) => self.estimate = Some(expected),
            Err(problem) => self.problem = Some(problem),
        }
    }
}

/// `5 seconds` or `8.0 minutes`, in NeuronPerf's wording of the remaining time.
pub fn remaining_text(duration: SimTime) -> String {
    let secs = duration.to_secs_f64();
    if secs < 60.0 { format!("{} seconds", libm::round(secs)) } else { format!("{:.1} minutes", secs / 60.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_can_not_run_are_listed_with_their_problem() {
        let config = BenchConfig { n_models: Some(vec![1, 9]), ..BenchConfig::default() };
        let mut plan = SweepPlan::of(&config).unwrap();
        let problems: Vec<bool> = plan.rows.iter().map(|r| r.problem.is_some()).collect();
        assert_eq!(problems, [false, true, false, true]);
        let times = ServiceTimes { device: vec![SimTime::from_us(500)], ..ServiceTimes::default() };
        plan.rows.iter_mut().for_each(|row| row.learn(&Ok(times.clone())));
        let one = plan.rows[0].estimate.unwrap();
        assert!((120_000..121_000).contains(&one.inferences), "{}", one.inferences);
        plan.rows[0].learn(&Err("does not fit".into()));
        assert_eq!(plan.rows[0].problem.as_deref(), Some("does not fit"));
    }

    #[test]
    fn what_remains_is_worded_as_people_know_it() {
        assert_eq!(remaining_text(SimTime::from_secs(5)), "5 seconds");
        assert_eq!(remaining_text(SimTime::from_secs(480)), "8.0 minutes");
    }
}
