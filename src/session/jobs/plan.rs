//! Listing a benchmark: its configurations at once, then what each will take.

use super::{Job, JobState, Times};
use crate::bench::{BenchConfig, DeviceType, SweepPlan};
use crate::session::{Event, JobId};

/// A plan in the making: one model a step.
pub(in crate::session) struct PlanJob {
    id: JobId,
    config: BenchConfig,
    times: Times,
    plan: Option<SweepPlan>,
    next: usize,
}

impl PlanJob {
    pub fn new(id: JobId, config: BenchConfig, times: Times) -> Self {
        Self { id, config, times, plan: None, next: 0 }
    }
}

impl Job for PlanJob {
    fn id(&self) -> JobId {
        self.id
    }

    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Event)) -> Result<JobState, String> {
        let job = self.id;
        let Some(plan) = &mut self.plan else {
            let plan = SweepPlan::of(&self.config).map_err(|e| e.to_string())?;
            sink(Event::Plan { job, plan: Box::new(plan.clone()) });
            self.plan = Some(plan);
            return Ok(JobState::More);
        };
        let Some(row) = plan.rows.get_mut(self.next) else {
            sink(Event::BenchDone { job });
            return Ok(JobState::Done);
        };
        // Nothing is known of a processor before it is measured, nor how often a scenario tries.
        let is_known = row.configuration.options.device_type == DeviceType::Neuron && self.config.mlperf.is_none();
        if row.problem.is_none() && is_known {
            let label = format!("Compiling {}", row.configuration.model_name);
            sink(Event::Progress { job, done: self.next as u64, total: 0, label });
            let times = self.times.of(&row.configuration);
            row.learn(&times);
            let estimate = match (&row.problem, row.estimate) {
                (Some(problem), _) => Err(problem.clone()),
                (None, estimate) => Ok(estimate.unwrap_or_default()),
            };
            let times = times.ok().map(Box::new);
            sink(Event::Estimated { job, row: u32::try_from(self.next).unwrap_or(u32::MAX), estimate, times });
        }
        self.next += 1;
        Ok(JobState::More)
    }
}
