//! A question about a model as a picture.

use super::{Job, JobState};
use crate::inspect::InspectRun;
use crate::protocol::Message;

/// A question about a model, answered when the model is open.
pub(crate) struct InspectJob {
    run: InspectRun,
}

impl InspectJob {
    pub const fn new(run: InspectRun) -> Self {
        Self { run }
    }
}

impl Job for InspectJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        match self.run.step(budget_events, sink)? {
            Some(answer) => {
                sink(answer);
                Ok(JobState::Done)
            }
            None => Ok(JobState::More),
        }
    }
}
