//! The page of models: what was chosen, what is shown.

use super::{RunState, Shared};
use crate::session::share::PageLink as _;
use crate::session::{InspectField, InspectShown, InspectSpec};

/// The page of models; `Worker` is what a shell calls the worker that holds one.
#[derive(Clone, Debug, PartialEq)]
pub struct InspectState<Worker> {
    /// The choices that were made.
    pub spec: InspectSpec,
    /// How far the answer is.
    pub run: RunState,
    /// The worker that holds the model.
    pub engine: Option<Worker>,
    /// What is shown.
    pub shown: Option<Shared<InspectShown>>,
}

/// What happens on the page.
pub enum InspectAction<Worker> {
    /// A choice was made.
    Choose(InspectField, String),
    /// A module was opened or closed; it is selected too.
    Toggle(String),
    /// A link was opened.
    Load(Box<InspectSpec>),
    /// A file is being opened, in this worker.
    Open(Worker, String),
    /// An answer is on its way from this worker.
    Ask(Worker),
    /// The answer went on, or ended without a result.
    Run(RunState),
    /// An answer is there; whether a file was opened with it.
    Shown(Box<InspectShown>, bool),
}

impl<Worker> Default for InspectState<Worker> {
    fn default() -> Self {
        Self { spec: InspectSpec::default(), run: RunState::Idle, engine: None, shown: None }
    }
}

impl<Worker: Clone> InspectState<Worker> {
    /// The hash of the link that shows this view.
    #[must_use]
    pub fn hash(&self) -> String {
        self.spec.hash()
    }

    /// The page after an action.
    #[must_use]
    pub fn after(&self, action: InspectAction<Worker>) -> Self {
        let mut next = self.clone();
        match action {
            InspectAction::Choose(field, text) => next.spec.set(field, &text),
            InspectAction::Toggle(id) => {
                next.spec.toggle(&id);
                next.spec.set(InspectField::Selected, &id);
            }
            InspectAction::Load(spec) => next.spec = *spec,
            InspectAction::Open(engine, label) => {
                (next.engine, next.run) = (Some(engine), RunState::started(&label));
            }
            InspectAction::Ask(engine) => next.engine = Some(engine),
            InspectAction::Run(run) => next.run = run,
            InspectAction::Shown(shown, is_file) => {
                if is_file {
                    next.spec = shown.spec.clone();
                }
                (next.shown, next.run) = (Some(Shared::new(*shown)), RunState::Done);
            }
        }
        next
    }
}
