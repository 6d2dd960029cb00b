//! Opening a model file of the user.

use std::rc::Rc;

use super::{Job, JobState};
use crate::protocol::{JobResult, Message};
use ns_container::ByteSource;
use ns_device::{ModelFileSettings, ModelLibrary};
use ns_forms::share::{LinkedFile, UnpackedModel, open_for_links, unpack_model};

/// Reads the graph of one model file. It stays open for as long as the session lives.
pub(crate) struct OpenModelJob {
    name: String,
    settings: ModelFileSettings,
    models: ModelLibrary,
    /// Absent once the library has it.
    source: Option<Box<dyn ByteSource>>,
    /// The link that holds the file, and the digest of the whole file if that is only its graph.
    link: Option<(LinkedFile, Option<String>)>,
    is_announced: bool,
}

impl OpenModelJob {
    pub fn new(name: String, settings: ModelFileSettings, models: ModelLibrary, source: Box<dyn ByteSource>) -> Self {
        Self { name, settings, models, source: Some(source), link: None, is_announced: false }
    }

    /// Opens the file that a link holds. Fails when the link is cut off, or holds no file.
    pub fn of_link(packed: &str, models: ModelLibrary) -> Result<Self, String> {
        let UnpackedModel { name, source, digest } = unpack_model(packed)?;
        let (size, is_graph) = (source.size(), digest.is_some());
        let link = Some((LinkedFile { size, packed: Some(packed.to_owned()), is_graph, graph_size: 0 }, digest));
        Ok(Self { link, ..Self::new(name, ModelFileSettings::default(), models, source) })
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
        let (opened, linked) = match self.link.take() {
            // Of a file whose content is known only the graph may be here.
            Some((linked, Some(digest))) => {
                (self.models.open_as(&self.name, &digest, Rc::from(source), settings)?, linked)
            }
            Some((linked, None)) => (self.models.open(&self.name, Rc::from(source), settings)?, linked),
            None => open_for_links(&self.models, &self.name, source, settings)?,
        };
        sink(Message::Done(JobResult::Model(Box::new((opened, linked)))));
        Ok(JobState::Done)
    }
}
