//! A study: its intermediate result is reported whenever it has grown.

use std::rc::Rc;

use super::{Job, JobState};
use crate::protocol::{JobResult, Message, ResultPart};
use crate::studies::{StudyRun, StudySpec, StudyStep};
use ns_base::Clock;
use ns_device::ModelLibrary;

/// A study in progress.
pub(crate) struct StudyJob {
    clock: Option<Rc<dyn Clock>>,
    models: ModelLibrary,
    stage: Stage,
}

enum Stage {
    Waiting(Option<Box<StudySpec>>),
    Running(Box<dyn StudyRun>),
}

impl StudyJob {
    pub fn new(spec: Box<StudySpec>, clock: Option<Rc<dyn Clock>>, models: ModelLibrary) -> Self {
        Self { clock, models, stage: Stage::Waiting(Some(spec)) }
    }
}

impl Job for StudyJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        let run = match &mut self.stage {
            Stage::Waiting(spec) => {
                let Some(spec) = spec.take() else { return Ok(JobState::Done) };
                self.stage = Stage::Running(spec.start(self.clock.clone(), &self.models)?);
                return Ok(JobState::More);
            }
            Stage::Running(run) => run,
        };
        match run.step(budget_events)? {
            StudyStep::More { done, total, label, shown } => {
                if let Some(result) = shown {
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
