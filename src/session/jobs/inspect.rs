//! A question about a model as a picture.

use super::{Job, JobState};
use crate::protocol::{JobResult, Message};
use ns_documents::inspect::{InspectAnswer, InspectRun};

impl Job for InspectRun {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let mut progress = |done, total, doing: &str| sink(Message::Progress { done, total, label: doing.to_owned() });
        let Some(answer) = Self::step(self, budget_events, &mut progress)? else { return Ok(JobState::More) };
        sink(match answer {
            InspectAnswer::View(view) => Message::Done(JobResult::Inspected(view)),
            InspectAnswer::File(file) => Message::File(file),
        });
        Ok(JobState::Done)
    }
}
