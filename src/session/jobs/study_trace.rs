//! The trace that a study makes, by its name: a link to the timeline of a result holds no file.

use super::{Job, JobState, StudyJob};
use crate::protocol::{JobResult, Message};
use ns_documents::studies::{StudyFile, StudyTools};
use ns_forms::share::study_of_file;
use ns_forms::studies::StudySpec;

pub(crate) struct StudyTraceJob {
    /// The name of the trace, which is the address of its study.
    name: String,
    study: StudyJob,
}

impl StudyTraceJob {
    /// Fails when the name is not that of a study.
    pub fn new(name: String, tools: StudyTools) -> Result<Self, String> {
        let spec =
            study_of_file(&name).ok_or_else(|| format!("{name}: it names no study whose trace could be made"))?;
        Ok(Self { study: StudyJob::new(Box::new(StudySpec::Llm(spec)), tools), name })
    }
}

impl Job for StudyTraceJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let mut result = None;
        let state = self.study.step(budget_events, &mut |message| match message {
            Message::Done(JobResult::Study(done)) => result = Some(done),
            Message::Part(_) => {}
            other => sink(other),
        })?;
        let Some(result) = result else { return Ok(state) };
        let trace = result.files.into_iter().find(StudyFile::is_trace);
        let trace = trace.ok_or_else(|| format!("{}: this study makes no trace", self.name))?;
        sink(Message::Done(JobResult::StudyTrace { name: self.name.clone(), text: trace.text }));
        Ok(JobState::Done)
    }
}
