//! Computing a model as a device would.

use super::{Job, JobState};
use crate::kernel::without_source;
use crate::neuron::numerics::{NumericsProgress, NumericsRun, NumericsSpec};
use crate::session::{Event, JobId};

/// Operations that take about as long as one simulated event.
const OPERATIONS_PER_EVENT: u64 = 256;

/// Evaluates a model twice and compares.
pub(in crate::session) struct NumericsJob {
    id: JobId,
    model: String,
    stage: Stage,
}

enum Stage {
    Compile(Box<NumericsSpec>),
    Run(Box<NumericsRun>),
}

impl NumericsJob {
    pub fn new(id: JobId, spec: NumericsSpec) -> Self {
        Self { id, model: without_source(&spec.model).into_owned(), stage: Stage::Compile(Box::new(spec)) }
    }

    fn progress(&self, done: u64, total: u64, doing: &str) -> Event {
        Event::Progress { job: self.id, done, total, label: format!("{doing} {}", self.model) }
    }
}

impl Job for NumericsJob {
    fn id(&self) -> JobId {
        self.id
    }

    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) -> Result<JobState, String> {
        let run = match &mut self.stage {
            Stage::Compile(spec) => {
                let run = NumericsRun::new(std::mem::take(spec.as_mut())).map_err(|e| e.to_string())?;
                self.stage = Stage::Run(Box::new(run));
                sink(self.progress(0, 0, "Compiling"));
                return Ok(JobState::More);
            }
            Stage::Run(run) => run,
        };
        match run.step(u64::from(budget_events) * OPERATIONS_PER_EVENT).map_err(|e| e.to_string())? {
            NumericsProgress::More { done, total } => {
                sink(self.progress(done, total, "Computing"));
                Ok(JobState::More)
            }
            NumericsProgress::Done(report) => {
                sink(Event::Numerics { job: self.id, report });
                Ok(JobState::Done)
            }
        }
    }
}
