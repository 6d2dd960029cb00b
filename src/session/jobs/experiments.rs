//! Listing the experiments of a plan, and running one of them.

use std::rc::Rc;

use super::{Job, JobState};
use crate::protocol::{ExperimentJobRequest, JobResult, Message};
use ns_base::{Clock, ManualClock};
use ns_experiment::sweep::{ExperimentRow, ExperimentsRequest};

/// A list that is made in one step.
pub(crate) struct ExperimentsPlanJob(pub ExperimentsRequest);

impl Job for ExperimentsPlanJob {
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        sink(Message::Done(JobResult::ExperimentsPlan(Box::new(self.0.plan()))));
        Ok(JobState::Done)
    }
}

/// An experiment. It runs in one step, because a time that is measured cannot be interrupted: a shell that wants to stop it ends its
/// worker.
pub(crate) struct ExperimentJob {
    request: ExperimentJobRequest,
    clock: Rc<dyn Clock>,
    is_announced: bool,
}

impl ExperimentJob {
    /// An experiment, timed with a clock if it is measured.
    pub fn new(request: ExperimentJobRequest, clock: Option<Rc<dyn Clock>>) -> Result<Self, String> {
        let no_clock =
            "this shell has no clock, so nothing can be measured; use a simulated accelerator: trn1, inf2, trn2";
        let clock = match clock {
            Some(clock) => clock,
            None if request.planned.is_measured => return Err(no_clock.to_owned()),
            None => Rc::new(ManualClock::default()),
        };
        Ok(Self { request, clock, is_announced: false })
    }
}

impl Job for ExperimentJob {
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let ExperimentJobRequest { row, run, planned } = &self.request;
        // The shell hears what runs before the step in which it does.
        if !std::mem::replace(&mut self.is_announced, true) {
            let doing = if planned.is_measured { "Measuring" } else { "Running" };
            let label = format!("{doing} {} on {} with {}", planned.model, planned.accelerator.name(), planned.backend);
            sink(Message::Progress { done: 0, total: 1, label });
            return Ok(JobState::More);
        }
        let result = Box::new(ExperimentRow::run(run, planned, self.clock.as_ref()));
        sink(Message::Done(JobResult::Experiment { row: *row, result }));
        Ok(JobState::Done)
    }
}
