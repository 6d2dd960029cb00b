//! Listing a benchmark: its configurations at once, then the estimate of each.

use super::{Job, JobState, StageTimes};
use crate::protocol::{JobResult, Message, ResultPart};
use ns_bench::{BenchConfig, DeviceType, SweepPlan};
use ns_device::ModelLibrary;

/// A plan in progress: one model per step.
pub(crate) struct PlanJob {
    config: BenchConfig,
    times: StageTimes,
    models: ModelLibrary,
    plan: Option<SweepPlan>,
    next: usize,
}

impl PlanJob {
    pub fn new(config: BenchConfig, times: StageTimes, models: ModelLibrary) -> Self {
        Self { config, times, models, plan: None, next: 0 }
    }
}

impl Job for PlanJob {
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let Some(plan) = &mut self.plan else {
            let plan = SweepPlan::of(&self.config).map_err(|e| e.to_string())?;
            sink(Message::Part(ResultPart::Plan(Box::new(plan.clone()))));
            self.plan = Some(plan);
            return Ok(JobState::More);
        };
        let Some(row) = plan.rows.get_mut(self.next) else {
            sink(Message::Done(JobResult::AllParts));
            return Ok(JobState::Done);
        };
        // There is no estimate for a processor before it is measured, nor for the number of tries of a scenario.
        let is_known = row.configuration.options.device_type == DeviceType::Neuron && self.config.mlperf.is_none();
        if row.problem.is_none() && is_known {
            let label = format!("Compiling {}", row.configuration.model_name);
            sink(Message::Progress { done: self.next as u64, total: 0, label });
            let times = self.times.of(&row.configuration, &self.models);
            row.learn(&times);
            let estimate = match (&row.problem, row.estimate) {
                (Some(problem), _) => Err(problem.clone()),
                (None, estimate) => Ok(estimate.unwrap_or_default()),
            };
            let times = times.ok().map(Box::new);
            let row = u32::try_from(self.next).unwrap_or(u32::MAX);
            sink(Message::Part(ResultPart::Estimated { row, estimate, times }));
        }
        self.next += 1;
        Ok(JobState::More)
    }
}
