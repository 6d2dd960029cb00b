//! Measuring one copy of a model on this processor.

use std::rc::Rc;

use super::{Job, JobState};
use crate::protocol::{JobResult, Message};
use ns_base::Clock;
use ns_base::convert::f64_to_u64;
use ns_bench::Configuration;
use ns_bench::cpu::{CpuRun, CpuStage, file_values};
use ns_device::ModelLibrary;

/// Measured time of one step: short enough that a worker notices a cancel.
const STEP_NS: u64 = 10_000_000;

/// A copy in progress.
pub(crate) struct CpuJob {
    copy: u32,
    label: String,
    clock: Rc<dyn Clock>,
    run: Option<CpuRun>,
}

impl CpuJob {
    pub fn new(copy: u32, configuration: Configuration, clock: Rc<dyn Clock>, models: &ModelLibrary) -> Self {
        let label = format!("Measuring {}", configuration.label());
        let file = file_values(&configuration, models);
        Self { copy, label, clock, run: Some(CpuRun::new(configuration).with_file(file)) }
    }

    fn tell(&mut self, sink: &mut dyn FnMut(Message)) {
        if let Some(run) = self.run.take() {
            sink(Message::Done(JobResult::CpuTimers { copy: self.copy, timers: Box::new(run.into_timers()) }));
        }
    }
}

impl Job for CpuJob {
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let Some(run) = &mut self.run else { return Ok(JobState::Done) };
        let begun = self.clock.now();
        while run.stage() != CpuStage::Done && self.clock.now().0.saturating_sub(begun.0) < STEP_NS {
            run.step(self.clock.as_ref());
        }
        if run.stage() == CpuStage::Done {
            self.tell(sink);
            return Ok(JobState::Done);
        }
        let done = f64_to_u64(run.share() * 1_000.0);
        sink(Message::Progress { done, total: 1_000, label: self.label.clone() });
        Ok(JobState::More)
    }

    fn stop(mut self: Box<Self>, sink: &mut dyn FnMut(Message)) {
        self.tell(sink);
    }
}
