//! A study: its intermediate result is reported whenever it has grown.

use super::{Job, JobState};
use crate::protocol::{JobResult, Message, ResultPart};
use ns_documents::studies::{StudyRun, StudyStep, StudyTools, start};
use ns_forms::studies::StudySpec;

/// A study in progress.
pub(crate) struct StudyJob {
    tools: StudyTools,
    stage: Stage,
}

enum Stage {
    Waiting(Option<Box<StudySpec>>),
    Running(Box<dyn StudyRun>),
}

impl StudyJob {
    pub fn new(spec: Box<StudySpec>, tools: StudyTools) -> Self {
        Self { tools, stage: Stage::Waiting(Some(spec)) }
    }
}

impl Job for StudyJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let run = match &mut self.stage {
            Stage::Waiting(spec) => {
                let Some(spec) = spec.take() else { return Ok(JobState::Done) };
                self.stage = Stage::Running(start(*spec, &self.tools)?);
                return Ok(JobState::More);
            }
            Stage::Running(run) => run,
        };
        match run.step(budget_events)? {
            StudyStep::More { done, total, label, so_far } => {
                if let Some(result) = so_far {
                    sink(Message::Part(ResultPart::Study(result)));
                }
                sink(Message::Progress { done, total, label });
                Ok(JobState::More)
            }
            StudyStep::Done(result) => {
                sink(Message::Done(JobResult::Study(result)));
                Ok(JobState::Done)
            }
        }
    }
}
