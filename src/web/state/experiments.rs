//! The page of experiments: what was chosen, what was read, what is shown.

use std::rc::Rc;

use yew::prelude::*;

use crate::session::share::{ExperimentLink, PageLink as _};
use crate::session::{ExperimentField, ExperimentSpec, RecordsRead, RecordsShown};
use crate::web::context::Shared;
use crate::web::state::RunState;
use crate::web::worker::Engine;

/// The page of experiments.
#[derive(Clone, Default, PartialEq)]
pub struct ExperimentsState {
    /// The choices that were made; the others are left open.
    pub spec: ExperimentSpec,
    /// How far the reading is.
    pub run: RunState,
    /// The worker that holds the records.
    pub engine: Option<Engine>,
    /// What was read.
    pub read: Option<RecordsRead>,
    /// What is shown.
    pub shown: Option<Shared<RecordsShown>>,
    /// Files of a link that were not read yet.
    pub data: Option<AttrValue>,
    /// Names of files that a link does not hold.
    pub wanted: Vec<String>,
}

/// What happens on the page.
pub enum ExperimentsAction {
    /// A choice was made.
    Choose(ExperimentField, String),
    /// A link was opened.
    Load(Box<ExperimentLink>),
    /// Reading began, in this worker.
    Start(Engine, String),
    /// Reading went on, or ended without a result.
    Run(RunState),
    /// Files were read.
    Read(RecordsRead),
    /// A view is there.
    Shown(Box<RecordsShown>),
    /// All records are put away.
    Clear,
}

impl ExperimentsState {
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
            self.data = link.data.map(AttrValue::from);
        }
        self.wanted = link.files;
    }
}

impl Reducible for ExperimentsState {
    type Action = ExperimentsAction;

    fn reduce(self: Rc<Self>, action: ExperimentsAction) -> Rc<Self> {
        let mut next = (*self).clone();
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
        next.into()
    }
}
