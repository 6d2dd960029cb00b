//! Computing a model as a device would, and comparing.

use super::document::{document, of_answers};
use super::records::RecordsRun;
use crate::studies::{StudyFile, StudyReports, StudyResult, StudyRun, StudyStep};
use ns_base::Refusal;
use ns_compiler::CompileOptions;
use ns_device::{ModelFileValues, ModelKind, ModelLibrary, model_label};
use ns_forms::studies::NumericsStudy;
use ns_machine::arch::features;
use ns_neuron::numerics::{
    NumericsProgress, NumericsReport, NumericsRun, NumericsSpec, SizeLimits, checked_instance, compare,
};
use ns_tensor::{Rounding, Tensor};

/// Operations that take about as long as one simulated event.
const OPERATIONS_PER_EVENT: u64 = 256;

/// Evaluates a model twice and compares.
struct Comparison {
    model: String,
    /// Whether errors name the model; those of records name the field.
    is_named: bool,
    stage: Stage,
}

enum Stage {
    Compile(Box<NumericsSpec>),
    Run(Box<NumericsRun>),
    Answers(Box<NumericsStudy>),
    Read(Box<NumericsStudy>, ModelLibrary),
    Reference(Box<WholeRun>),
    Casts(Box<WholeRun>, Vec<Tensor>),
    Over,
}

/// A model that is computed as a whole, once without casts and once with them.
struct WholeRun {
    study: NumericsStudy,
    core: String,
    values: Values,
}

enum Values {
    /// A model file with the values of its parameters.
    File(ModelFileValues),
    Records(Box<RecordsRun>),
}

/// Begins a comparison. Fails for a rounding that a model file and records cannot have.
pub(in crate::studies) fn start(study: NumericsStudy, models: &ModelLibrary) -> Result<Box<dyn StudyRun>, String> {
    let spec = &study.compared;
    let model = model_label(&spec.model).into_owned();
    let is_file = ModelKind::of(&spec.model) == ModelKind::File;
    let is_named = study.dataset.is_empty();
    let is_whole = is_file || !is_named;
    if study.is_answered && study.dataset.is_empty() {
        return Err("answers: no answers are given; give a data set with outputs and the right answers".to_owned());
    }
    if study.is_answered && study.metrics.is_empty() {
        return Err("answers: metrics judge them; name some, such as Accuracy".to_owned());
    }
    if is_whole && !study.is_answered && spec.rounding == Rounding::Stochastic {
        let what = if is_file { format!("a model file ({model})") } else { "a data set".to_owned() };
        return Err(format!(
            "rounding: values of {what} are always rounded to the nearest; choose rne, or a model of the zoo with inputs from the seed"
        ));
    }
    let stage = if study.is_answered {
        Stage::Answers(Box::new(study))
    } else if is_whole {
        Stage::Read(Box::new(study), models.clone())
    } else if study.metrics.is_empty() {
        Stage::Compile(Box::new(study.compared))
    } else {
        return Err("eval_metrics: they judge the answers to a data set; give one".to_owned());
    };
    Ok(Box::new(Comparison { model, is_named, stage }))
}

impl Comparison {
    fn more(&self, done: u64, total: u64, doing: &str) -> StudyStep {
        StudyStep::More { done, total, label: format!("{doing} {}", self.model), so_far: None }
    }

    /// The next part of a model of the zoo.
    fn step_zoo(&mut self, mut run: Box<NumericsRun>, budget_events: u32) -> Result<StudyStep, Refusal> {
        match run.step(u64::from(budget_events) * OPERATIONS_PER_EVENT)? {
            NumericsProgress::More { done, total } => {
                self.stage = Stage::Run(run);
                Ok(self.more(done, total, "Computing"))
            }
            NumericsProgress::Done(report) => {
                done(&NumericsStudy { compared: report.spec.clone(), ..NumericsStudy::default() }, report)
            }
        }
    }
}

impl WholeRun {
    fn new(study: NumericsStudy, models: &ModelLibrary) -> Result<Self, Refusal> {
        let spec = &study.compared;
        let core = features(checked_instance(spec)?.core_version).map_or("NeuronCore", |f| f.name).to_owned();
        let values = if study.dataset.is_empty() {
            let batch_size = spec.batch_size.map(u64::from);
            Values::File(ModelFileValues::of(models, &spec.model, batch_size, spec.seed)?)
        } else {
            Values::Records(Box::new(RecordsRun::new(&study, models)?))
        };
        Ok(Self { study, core, values })
    }

    fn compute(&self, casts: Option<&CompileOptions>) -> Result<Vec<Tensor>, Refusal> {
        match &self.values {
            Values::File(values) => values.compute(casts),
            Values::Records(records) => records.compute(casts),
        }
    }

    fn report(self, expected: &[Tensor], rounded: &[Tensor]) -> Result<StudyStep, Refusal> {
        let Self { study, core, values } = self;
        let mut report = NumericsReport { spec: study.compared.clone(), core, ..NumericsReport::default() };
        let mut names = Vec::new();
        match &values {
            Values::File(values) => {
                (report.flops, names) = (values.flops(), values.output_names().to_vec());
                report.notes.push(ORDER_OF_SUMS.to_owned());
                if values.drawn_weights() > 0 {
                    let drawn = values.drawn_weights();
                    report.notes.push(format!("{drawn} weights are not in the file and are drawn at random."));
                }
            }
            Values::Records(records) => {
                report.notes.extend(records.notes());
                report.metrics = records.judge(expected, rounded)?;
            }
        }
        let names = names.iter().map(String::as_str).chain(std::iter::repeat(""));
        let pairs = (0..).zip(names).zip(expected.iter().zip(rounded));
        let one = |((index, name), (a, b)): ((u32, &str), (&Tensor, &Tensor))| {
            compare(index, name, a, b, report.spec.tolerance)
        };
        report.outputs = pairs.map(one).collect();
        report.status = if report.passed() { "PASS" } else { "FAIL" }.to_owned();
        done(&study, Box::new(report))
    }
}

const ORDER_OF_SUMS: &str = "A model file is computed operation by operation, with sums in double precision: the casts are those of the core, \
                             the order of the sums is not.";

impl StudyRun for Comparison {
    fn step(&mut self, budget_events: u32) -> Result<StudyStep, String> {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let is_named = self.is_named;
        let named = |e: Refusal, model: &str| if is_named { format!("{model}: {e}") } else { e.to_string() };
        match stage {
            Stage::Compile(spec) => {
                let run = NumericsRun::new(*spec, SizeLimits::HERE).map_err(|e| e.to_string())?;
                self.stage = Stage::Run(Box::new(run));
                Ok(self.more(0, 0, "Compiling"))
            }
            Stage::Answers(study) => {
                let document = of_answers(&study).map_err(|e| e.to_string())?;
                Ok(StudyStep::Done(Box::new(StudyResult { document, ..StudyResult::default() })))
            }
            Stage::Run(run) => self.step_zoo(run, budget_events).map_err(|e| e.to_string()),
            Stage::Read(study, models) => {
                let run = WholeRun::new(*study, &models).map_err(|e| named(e, &self.model))?;
                self.stage = Stage::Reference(Box::new(run));
                Ok(self.more(0, 2, "Computing"))
            }
            Stage::Reference(run) => {
                let expected = run.compute(None).map_err(|e| named(e, &self.model))?;
                self.stage = Stage::Casts(run, expected);
                Ok(self.more(1, 2, "Computing"))
            }
            Stage::Casts(run, expected) => {
                let rounded = run.compute(Some(&run.study.compared.options)).map_err(|e| named(e, &self.model))?;
                run.report(&expected, &rounded).map_err(|e| named(e, &self.model))
            }
            Stage::Over => Err(format!("{}: the comparison is over", self.model)),
        }
    }
}

/// The end of a run: the comparison, with the file that `neuronscope numerics --json` prints.
fn done(study: &NumericsStudy, report: Box<NumericsReport>) -> Result<StudyStep, Refusal> {
    let text = report.to_json().map_err(|e| Refusal::new(e.to_string()))?;
    Ok(StudyStep::Done(Box::new(StudyResult {
        document: document(study, &report),
        files: vec![StudyFile::json("numerics.json", text)],
        reports: StudyReports::Numerics(report),
        ..StudyResult::default()
    })))
}
