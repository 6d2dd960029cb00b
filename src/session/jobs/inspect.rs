//! A question about a model as a picture.

use super::{Job, JobState};
use crate::protocol::{JobResult, Message};
use ns_documents::inspect::{InspectAnswer, InspectRun};

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
        let mut progress = |done, total, doing: &str| sink(Message::Progress { done, total, label: doing.to_owned() });
        let Some(answer) = self.run.step(budget_events, &mut progress)? else { return Ok(JobState::More) };
        sink(match answer {
            InspectAnswer::View(view) => Message::Done(JobResult::Inspected(view)),
            InspectAnswer::File(file) => Message::File(file),
        });
        Ok(JobState::Done)
    }
}
