//! Computing a model as a device would, and comparing.

use super::document::document;
use crate::studies::{StudyFile, StudyReports, StudyResult, StudyRun, StudyStep};
use ns_base::Refusal;
use ns_device::{ModelFileValues, ModelKind, ModelLibrary, model_label};
use ns_machine::arch::features;
use ns_neuron::numerics::{
    NumericsProgress, NumericsReport, NumericsRun, NumericsSpec, OutputComparison, SizeLimits, checked_instance,
    compare,
};
use ns_tensor::{Rounding, Tensor};

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
    ReadFile(Box<NumericsSpec>, ModelLibrary),
    Reference(Box<FileRun>),
    Casts(Box<FileRun>, Vec<Tensor>),
    Over,
}

/// A model file with the values of its parameters.
struct FileRun {
    spec: NumericsSpec,
    core: String,
    values: ModelFileValues,
}

/// Begins a comparison. Fails for a rounding that a model file cannot have.
pub(in crate::studies) fn start(spec: NumericsSpec, models: &ModelLibrary) -> Result<Box<dyn StudyRun>, String> {
    let model = model_label(&spec.model).into_owned();
    let is_file = ModelKind::of(&spec.model) == ModelKind::File;
    if is_file && spec.rounding == Rounding::Stochastic {
        return Err(format!(
            "rounding: values of a model file ({model}) are always rounded to the nearest; choose rne, or a model of the zoo"
        ));
    }
    let spec = Box::new(spec);
    let stage = if is_file { Stage::ReadFile(spec, models.clone()) } else { Stage::Compile(spec) };
    Ok(Box::new(Comparison { model, stage }))
}

impl Comparison {
    fn more(&self, done: u64, total: u64, doing: &str) -> StudyStep {
        StudyStep::More { done, total, label: format!("{doing} {}", self.model), shown: None }
    }

    /// The next part of a model of the zoo.
    fn step_zoo(&mut self, mut run: Box<NumericsRun>, budget_events: u32) -> Result<StudyStep, Refusal> {
        match run.step(u64::from(budget_events) * OPERATIONS_PER_EVENT)? {
            NumericsProgress::More { done, total } => {
                self.stage = Stage::Run(run);
                Ok(self.more(done, total, "Computing"))
            }
            NumericsProgress::Done(report) => done(report),
        }
    }
}

impl FileRun {
    fn new(spec: NumericsSpec, models: &ModelLibrary) -> Result<Self, Refusal> {
        let core = features(checked_instance(&spec)?.core_version).map_or("NeuronCore", |f| f.name).to_owned();
        let values = ModelFileValues::of(models, &spec.model, spec.batch_size.map(u64::from), spec.seed)?;
        Ok(Self { spec, core, values })
    }

    fn report(self, expected: &[Tensor], rounded: &[Tensor]) -> NumericsReport {
        let Self { spec, core, values } = self;
        let names = values.output_names().iter().map(String::as_str).chain(std::iter::repeat(""));
        let pairs = (0..).zip(names).zip(expected.iter().zip(rounded));
        let outputs: Vec<OutputComparison> =
            pairs.map(|((index, name), (a, b))| compare(index, name, a, b, spec.tolerance)).collect();
        let mut notes = vec![ORDER_OF_SUMS.to_owned()];
        if values.drawn_weights() > 0 {
            notes.push(format!("{} weights are not in the file and are drawn at random.", values.drawn_weights()));
        }
        let status = if outputs.iter().all(|o| o.passed) { "PASS" } else { "FAIL" }.to_owned();
        let flops = values.flops();
        NumericsReport { spec, core, status, outputs, notes, flops, ..NumericsReport::default() }
    }
}

const ORDER_OF_SUMS: &str = "A model file is computed operation by operation, with sums in double precision: the casts are those of the core, \
                             the order of the sums is not.";

impl StudyRun for Comparison {
    fn step(&mut self, budget_events: u32) -> Result<StudyStep, String> {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let named = |e: Refusal, model: &str| format!("{model}: {e}");
        match stage {
            Stage::Compile(spec) => {
                let run = NumericsRun::new(*spec, SizeLimits::HERE).map_err(|e| e.to_string())?;
                self.stage = Stage::Run(Box::new(run));
                Ok(self.more(0, 0, "Compiling"))
            }
            Stage::Run(run) => self.step_zoo(run, budget_events).map_err(|e| e.to_string()),
            Stage::ReadFile(spec, models) => {
                let run = FileRun::new(*spec, &models).map_err(|e| named(e, &self.model))?;
                self.stage = Stage::Reference(Box::new(run));
                Ok(self.more(0, 2, "Computing"))
            }
            Stage::Reference(run) => {
                let expected = run.values.compute(None).map_err(|e| named(e, &self.model))?;
                self.stage = Stage::Casts(run, expected);
                Ok(self.more(1, 2, "Computing"))
            }
            Stage::Casts(run, expected) => {
                let rounded = run.values.compute(Some(&run.spec.options)).map_err(|e| named(e, &self.model))?;
                done(Box::new(run.report(&expected, &rounded))).map_err(|e| e.to_string())
            }
            Stage::Over => Err(format!("{}: the comparison is over", self.model)),
        }
    }
}

/// The end of a run: the comparison, with the file that `neuronscope numerics --json` prints.
fn done(report: Box<NumericsReport>) -> Result<StudyStep, Refusal> {
    let text = report.to_json().map_err(|e| Refusal::new(e.to_string()))?;
    Ok(StudyStep::Done(Box::new(StudyResult {
        document: document(&report),
        files: vec![StudyFile::json("numerics.json", text)],
        reports: StudyReports::Numerics(report),
    })))
}
