//! Computing a model as a device would.

use super::{Job, JobState};
use crate::protocol::{JobResult, Told};
use ns_device::{ModelKind, model_label};
use ns_neuron::numerics::{NumericsProgress, NumericsRun, NumericsSpec};

/// Operations that take about as long as one simulated event.
const OPERATIONS_PER_EVENT: u64 = 256;

/// Evaluates a model twice and compares.
pub(crate) struct NumericsJob {
    model: String,
    stage: Stage,
}

enum Stage {
    Compile(Box<NumericsSpec>),
    Run(Box<NumericsRun>),
}

impl NumericsJob {
    pub fn new(spec: NumericsSpec) -> Self {
        Self { model: model_label(&spec.model).into_owned(), stage: Stage::Compile(Box::new(spec)) }
    }

    fn progress(&self, done: u64, total: u64, doing: &str) -> Told {
        Told::Progress { done, total, label: format!("{doing} {}", self.model) }
    }
}

impl Job for NumericsJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Told)) -> Result<JobState, String> {
        let run = match &mut self.stage {
            Stage::Compile(spec) if ModelKind::of(&spec.model) == ModelKind::File => {
                return Err(format!(
                    "{}: values of a model file can only be compared with expected ones: neuronscope numerics --model FILE --inputs X.npz --expect Y.npz",
                    self.model
                ));
            }
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
                sink(Told::Done(JobResult::Numerics(report)));
                Ok(JobState::Done)
            }
        }
    }
}
