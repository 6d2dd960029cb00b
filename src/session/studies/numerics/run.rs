//! Computing a model as a device would, and comparing.

use crate::studies::{StudyFile, StudyResult, StudyRun, StudyStep};
use ns_device::{ModelKind, model_label};
use ns_neuron::numerics::{NumericsProgress, NumericsReport, NumericsRun, NumericsSpec, SizeLimits};
use ns_view::document::Document;

/// Operations that take about as long as one simulated event.
const OPERATIONS_PER_EVENT: u64 = 256;

/// Evaluates a model twice and compares.
struct Comparison {
    model: String,
    stage: Stage,
}

enum Stage {
    Compile(Box<NumericsSpec>),
    Run(Box<NumericsRun>),
}

/// Begins a comparison.
///
/// # Errors
/// For a model file.
pub(in crate::studies) fn start(spec: NumericsSpec) -> Result<Box<dyn StudyRun>, String> {
    let model = model_label(&spec.model).into_owned();
    if ModelKind::of(&spec.model) == ModelKind::File {
        return Err(format!(
            "{model}: values of a model file can only be compared with expected ones: neuronscope numerics --model FILE --inputs X.npz --expect Y.npz"
        ));
    }
    Ok(Box::new(Comparison { model, stage: Stage::Compile(Box::new(spec)) }))
}

impl Comparison {
    fn more(&self, done: u64, total: u64, doing: &str) -> StudyStep {
        StudyStep::More { done, total, label: format!("{doing} {}", self.model), shown: None }
    }
}

impl StudyRun for Comparison {
    fn step(&mut self, budget_events: u32) -> Result<StudyStep, String> {
        let run = match &mut self.stage {
            Stage::Compile(spec) => {
                let run =
                    NumericsRun::new(std::mem::take(spec.as_mut()), SizeLimits::BROWSER).map_err(|e| e.to_string())?;
                self.stage = Stage::Run(Box::new(run));
                return Ok(self.more(0, 0, "Compiling"));
            }
            Stage::Run(run) => run,
        };
        match run.step(u64::from(budget_events) * OPERATIONS_PER_EVENT).map_err(|e| e.to_string())? {
            NumericsProgress::More { done, total } => Ok(self.more(done, total, "Computing")),
            NumericsProgress::Done(report) => Ok(StudyStep::Done(Box::new(result(report)?))),
        }
    }
}

/// The comparison, with the file that `neuronscope numerics --json` prints.
fn result(report: Box<NumericsReport>) -> Result<StudyResult, String> {
    let title = format!("{} on {}", model_label(&report.spec.model), report.spec.instance);
    let file = StudyFile {
        label: "JSON".to_owned(),
        name: "numerics.json".to_owned(),
        mime: "application/json".to_owned(),
        text: report.to_json().map_err(|e| e.to_string())?,
    };
    let document = Document { title, ..Document::default() };
    Ok(StudyResult { document, files: vec![file], values: Some(report) })
}
