//! Opening a model file of the user.

use std::rc::Rc;

use super::{Job, JobState};
use crate::ByteSource;
use crate::protocol::{JobResult, Message};
use crate::share::{LinkedFile, unpack};
use ns_device::{ModelFileSettings, ModelLibrary};

/// Reads the graph of one model file. It stays open for as long as the session lives.
pub(crate) struct OpenModelJob {
    name: String,
    settings: ModelFileSettings,
    models: ModelLibrary,
    /// Absent once the library has it.
    source: Option<Box<dyn ByteSource>>,
    is_announced: bool,
}

impl OpenModelJob {
    pub fn new(name: String, settings: ModelFileSettings, models: ModelLibrary, source: Box<dyn ByteSource>) -> Self {
        Self { name, settings, models, source: Some(source), is_announced: false }
    }

    /// Opens the file that a link holds.
    ///
    /// # Errors
    /// When the link is cut off, or holds no file.
    pub fn of_link(packed: &str, models: ModelLibrary) -> Result<Self, String> {
        let file = unpack(packed)?.into_iter().next();
        let (name, bytes) = file.ok_or("the link holds no model file; ask its sender for the file")?;
        Ok(Self::new(name, ModelFileSettings::default(), models, Box::new(bytes)))
    }
}

impl Job for OpenModelJob {
    /// Two steps: the first reports what the job does, the second reads. A graph of a thousand modules takes well under a second.
    fn step(&mut self, _budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        if !std::mem::replace(&mut self.is_announced, true) {
            let label = format!("Reading {}", self.name);
            sink(Message::Progress { done: 0, total: 0, label });
            return Ok(JobState::More);
        }
        let Some(source) = self.source.take() else { return Ok(JobState::Done) };
        let settings = std::mem::take(&mut self.settings);
        let linked = LinkedFile::of(&self.name, &*source);
        let opened = self.models.open(&self.name, Rc::from(source), settings)?;
        sink(Message::Done(JobResult::Model(Box::new((opened, linked)))));
        Ok(JobState::Done)
    }
}
