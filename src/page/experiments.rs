//! The page of experiments: what was chosen, what was read, what is shown.

use std::rc::Rc;

use super::{RunState, Shared};
use crate::session::share::{ExperimentLink, PageLink as _};
use crate::session::{ExperimentField, ExperimentSpec, RecordsRead, RecordsShown};

/// The page of experiments; `Worker` is what a shell calls the worker that holds records.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentsState<Worker> {
    /// The choices that were made; the others are left open.
    pub spec: ExperimentSpec,
    /// How far the reading is.
    pub run: RunState,
    /// The worker that holds the records.
    pub engine: Option<Worker>,
    /// What was read.
    pub read: Option<RecordsRead>,
    /// What is shown.
    pub shown: Option<Shared<RecordsShown>>,
    /// Files of a link that were not read yet.
    pub data: Option<Rc<str>>,
    /// Names of files that a link does not hold.
    pub wanted: Vec<String>,
}

/// What happens on the page.
pub enum ExperimentsAction<Worker> {
    /// A choice was made.
    Choose(ExperimentField, String),
    /// A link was opened.
    Load(Box<ExperimentLink>),
    /// Reading began, in this worker.
    Start(Worker, String),
    /// Reading went on, or ended without a result.
    Run(RunState),
    /// Files were read.
    Read(RecordsRead),
    /// A view is there.
    Shown(Box<RecordsShown>),
    /// All records are put away.
    Clear,
}

impl<Worker> Default for ExperimentsState<Worker> {
    fn default() -> Self {
        Self {
            spec: ExperimentSpec::default(),
            run: RunState::Idle,
            engine: None,
            read: None,
            shown: None,
            data: None,
            wanted: Vec::new(),
        }
    }
}

impl<Worker: Clone> ExperimentsState<Worker> {
    /// The hash of the link that shows this view.
    #[must_use]
    pub fn hash(&self) -> String {
        let read = self.read.as_ref();
        let data = read.map_or_else(|| self.data.as_ref().map(ToString::to_string), |read| read.packed.clone());
        let names =
            || read.map_or_else(|| self.wanted.clone(), |read| read.files.iter().map(|f| f.0.clone()).collect());
        let files = if data.is_some() { Vec::new() } else { names() };
        ExperimentLink { spec: self.spec.clone(), data, files }.hash()
    }

    fn load(&mut self, link: ExperimentLink) {
        self.spec = link.spec;
        let has = self.read.as_ref().and_then(|read| read.packed.as_deref());
        if link.data.is_some() && link.data.as_deref() != has {
            (self.engine, self.read, self.shown) = (None, None, None);
            self.data = link.data.map(Rc::from);
        }
        self.wanted = link.files;
    }

    /// The page after an action.
    #[must_use]
    pub fn after(&self, action: ExperimentsAction<Worker>) -> Self {
        let mut next = self.clone();
        match action {
            ExperimentsAction::Choose(field, text) => {
                // Other records may not hold what is open.
                if field != ExperimentField::Open {
                    next.spec.set(ExperimentField::Open, "");
                }
                next.spec.set(field, &text);
            }
            ExperimentsAction::Load(link) => next.load(*link),
            ExperimentsAction::Start(engine, label) => {
                (next.engine, next.data) = (Some(engine), None);
                next.run = RunState::started(&label);
            }
            ExperimentsAction::Run(run) => next.run = run,
            ExperimentsAction::Read(read) => {
                (next.read, next.run) = (Some(read), RunState::Done);
                next.wanted.clear();
            }
            ExperimentsAction::Shown(shown) => next.shown = Some(Shared::new(*shown)),
            ExperimentsAction::Clear => next = Self::default(),
        }
        next
    }
}
