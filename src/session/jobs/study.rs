//! A study: what it has come to is told whenever that is more than before.

use std::rc::Rc;

use super::{Job, JobState};
use crate::base::Clock;
use crate::session::studies::{StudyRun, StudySpec, StudyStep};
use crate::session::{Event, JobId};

/// A study in progress.
pub(in crate::session) struct StudyJob {
    id: JobId,
    clock: Option<Rc<dyn Clock>>,
    stage: Stage,
}

enum Stage {
    Waiting(Option<Box<StudySpec>>),
    Running(Box<dyn StudyRun>),
}

impl StudyJob {
    pub fn new(id: JobId, spec: Box<StudySpec>, clock: Option<Rc<dyn Clock>>) -> Self {
        Self { id, clock, stage: Stage::Waiting(Some(spec)) }
    }
}

impl Job for StudyJob {
    fn id(&self) -> JobId {
        self.id
    }

    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) -> Result<JobState, String> {
        let job = self.id;
        let run = match &mut self.stage {
            Stage::Waiting(spec) => {
                let Some(spec) = spec.take() else { return Ok(JobState::Done) };
                self.stage = Stage::Running(spec.start(self.clock.clone())?);
                return Ok(JobState::More);
            }
            Stage::Running(run) => run,
        };
        match run.step(budget_events)? {
            StudyStep::More { done, total, label, shown } => {
                if let Some(result) = shown {
                    sink(Event::Study { job, result, is_last: false });
                }
                sink(Event::Progress { job, done, total, label });
                Ok(JobState::More)
            }
            StudyStep::Done(result) => {
                sink(Event::Study { job, result, is_last: true });
                Ok(JobState::Done)
            }
        }
    }
}
