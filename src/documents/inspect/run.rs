//! An answer in progress: a file is read, a model is compiled and simulated in parts, then shown.

use std::cell::RefCell;
use std::rc::Rc;

use super::messages::{InspectAsk, InspectFile, InspectResult};
use super::open_model::OpenModel;
use super::subject::{CompiledProgram, DEFAULT_INSTANCE, Obstacle, Subject};
use super::view::{saved, view_of};
use crate::ExportedFile;
use ns_capture::Recorder;
use ns_container::ByteSource;
use ns_device::{ModelFileSettings, ModelLibrary, OpenedModel};
use ns_forms::share::{LinkedFile, open_for_links};
use ns_forms::{InspectField, InspectSpec};
use ns_machine::Executable;
use ns_machine::cost::CostTable;
use ns_neuron::sim::{SimProgress, Simulator};

/// The model that is open, shared between a session and the running job.
pub type SharedInspector = Rc<RefCell<Option<OpenModel>>>;

/// The answer to give once the model is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerKind {
    View,
    File(InspectFile),
}

enum Stage {
    Waiting,
    Simulating(Box<Simulation>),
}

struct Simulation {
    subject: Subject,
    compiled: CompiledProgram,
    simulator: Simulator<Rc<Executable>, Rc<CostTable>>,
    recorder: Recorder,
}

/// What a request about a model ends with.
pub enum InspectAnswer {
    View(Box<InspectResult>),
    File(ExportedFile),
}

/// An answer in progress.
pub struct InspectRun {
    inspector: SharedInspector,
    models: ModelLibrary,
    spec: InspectSpec,
    /// A file that is not opened yet, and its name.
    file: Option<(String, Box<dyn ByteSource>)>,
    /// The file that was opened, to be reported with the answer.
    opened: Option<Box<(OpenedModel, LinkedFile)>>,
    wanted: AnswerKind,
    stage: Stage,
}

impl InspectRun {
    /// Begins. `source` is the file of [`InspectAsk::Open`]. Fails when the request's file is missing.
    pub fn new(
        inspector: SharedInspector,
        models: ModelLibrary,
        ask: InspectAsk,
        source: Option<Box<dyn ByteSource>>,
    ) -> Result<Self, String> {
        let (mut spec, file, wanted) = match (ask, source) {
            (InspectAsk::Open { spec, name, .. }, Some(source)) => (spec, Some((name, source)), AnswerKind::View),
            (InspectAsk::Open { name, .. }, None) => {
                return Err(format!("{name}: the file did not come with the request"));
            }
            (InspectAsk::Show(spec), _) => (spec, None, AnswerKind::View),
            (InspectAsk::Save(spec, file), _) => (spec, None, AnswerKind::File(file)),
        };
        if spec.get(InspectField::Instance).trim().is_empty() {
            spec.set(InspectField::Instance, DEFAULT_INSTANCE);
        }
        Ok(Self {
            inspector,
            models: models.for_display(),
            spec: *spec,
            file,
            opened: None,
            wanted,
            stage: Stage::Waiting,
        })
    }

    /// Works for about `budget_events` simulated events; `progress` takes parts done, parts in all and what is done. Returns the answer
    /// when it is ready. Fails with one sentence: what is wrong, where, and what to do. The model before stays open.
    pub fn step(
        &mut self,
        budget_events: u32,
        progress: &mut dyn FnMut(u64, u64, &str),
    ) -> Result<Option<InspectAnswer>, String> {
        match std::mem::replace(&mut self.stage, Stage::Waiting) {
            Stage::Waiting if self.is_open() => self.answer().map(Some),
            Stage::Waiting => {
                progress(0, 0, "Reading and compiling the model");
                self.begin()?;
                Ok(None)
            }
            Stage::Simulating(mut at) => {
                let step = at.simulator.step(u64::from(budget_events), &mut at.recorder);
                match step.map_err(|e| format!("{}: {e}", at.subject.title))? {
                    SimProgress::More { items, total } => {
                        progress(items, total, "Simulating one call");
                        self.stage = Stage::Simulating(at);
                    }
                    SimProgress::Done => {
                        let Simulation { subject, compiled, recorder, .. } = *at;
                        self.keep(subject, Ok(compiled), Some(&recorder));
                    }
                }
                Ok(None)
            }
        }
    }

    /// Whether the model that is open is the one asked about.
    fn is_open(&self) -> bool {
        let inspector = self.inspector.borrow();
        self.file.is_none() && inspector.as_ref().is_some_and(|o| o.spec.is_same_run(&self.spec))
    }

    fn begin(&mut self) -> Result<(), String> {
        if let Some((name, source)) = self.file.take() {
            let (opened, linked) = open_for_links(&self.models, &name, source, ModelFileSettings::default())?;
            self.spec.set(InspectField::Model, &opened.id);
            self.spec.set(InspectField::Batch, "");
            self.opened = Some(Box::new((opened, linked)));
        }
        let subject = Subject::of(&self.spec, &self.models)?;
        match subject.compile() {
            Ok(compiled) => {
                let executable = Rc::clone(&compiled.executable);
                let simulator = Simulator::new(executable, Rc::clone(&subject.device.costs));
                let recorder = Recorder::default();
                self.stage = Stage::Simulating(Box::new(Simulation { subject, compiled, simulator, recorder }));
            }
            // Its graph can be shown without times.
            Err(reason) => self.keep(subject, Err(reason), None),
        }
        Ok(())
    }

    fn keep(&mut self, subject: Subject, compiled: Result<CompiledProgram, Obstacle>, recorder: Option<&Recorder>) {
        let opened = OpenModel::new(self.spec.clone(), subject, compiled, recorder);
        *self.inspector.borrow_mut() = Some(opened);
    }

    fn answer(&self) -> Result<InspectAnswer, String> {
        let inspector = self.inspector.borrow();
        let opened = inspector.as_ref().ok_or("no model is open")?;
        match self.wanted {
            AnswerKind::View => {
                let mut view = Box::new(view_of(opened, &self.spec)?);
                view.opened.clone_from(&self.opened);
                Ok(InspectAnswer::View(view))
            }
            AnswerKind::File(file) => {
                let (file_name, mime, text) = saved(opened, &self.spec, file)?;
                Ok(InspectAnswer::File(ExportedFile::new(file_name, mime, text.into_bytes())))
            }
        }
    }
}
