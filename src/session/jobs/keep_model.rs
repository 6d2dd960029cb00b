//! A model file that another session has opened.

use std::rc::Rc;

use super::{Job, JobState};
use crate::protocol::{JobResult, Message};
use ns_container::ByteSource;
use ns_device::ModelLibrary;

/// Keeps a model file available. Its graph is read when a request names it: most sessions of a shell never need it.
pub(crate) struct KeepModelJob {
    name: String,
    models: ModelLibrary,
    /// Absent once the library has it.
    source: Option<Box<dyn ByteSource>>,
}

impl KeepModelJob {
    pub fn new(name: String, models: ModelLibrary, source: Box<dyn ByteSource>) -> Self {
        Self { name, models, source: Some(source) }
    }
}

impl Job for KeepModelJob {
    /// One step: a few MiB are read to compute the name of its content.
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let Some(source) = self.source.take() else { return Ok(JobState::Done) };
        self.models.keep(&self.name, Rc::from(source))?;
        sink(Message::Done(JobResult::ModelKept));
        Ok(JobState::Done)
    }
}
