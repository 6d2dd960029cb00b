//! The state of the page of models: the choices and the view.

use super::{RunState, Shared};
use crate::session::share::PageLink as _;
use crate::session::{InspectField, InspectShown, InspectSpec};

/// The page of models; `Worker` is the shell's handle of the worker that holds a model.
#[derive(Clone, Debug, PartialEq)]
pub struct InspectState<Worker> {
    /// The choices that were made.
    pub spec: InspectSpec,
    /// Progress of the answer.
    pub run: RunState,
    /// The worker that holds the model.
    pub engine: Option<Worker>,
    /// The shown view.
    pub shown: Option<Shared<InspectShown>>,
}

/// Actions on the page.
pub enum InspectAction<Worker> {
    /// A choice was made.
    Choose(InspectField, String),
    /// A module was opened or closed; it is selected too.
    Toggle(String),
    /// A link was opened.
    Load(Box<InspectSpec>),
    /// A file is being opened, in this worker.
    Open(Worker, String),
    /// An answer is awaited from this worker.
    Ask(Worker),
    /// The answer made progress, or ended without a result.
    Run(RunState),
    /// An answer has arrived; the flag says whether a file was opened with it.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type State = InspectState<u32>;

    #[test]
    fn choices_toggles_and_links() {
        let state = State::default();
        let chosen = state.after(InspectAction::Choose(InspectField::Model, "mlp".to_owned()));
        assert_eq!(chosen.spec.get(InspectField::Model), "mlp");
        assert!(chosen.hash().starts_with("#/inspect?") && chosen.hash().contains("model=mlp"), "{}", chosen.hash());
        let toggled = chosen.after(InspectAction::Toggle("a.b".to_owned()));
        assert_eq!(toggled.spec.get(InspectField::Selected), "a.b");
        assert_ne!(toggled.spec.get(InspectField::Toggled), chosen.spec.get(InspectField::Toggled));
        assert_eq!(state.after(InspectAction::Load(Box::new(toggled.spec.clone()))).spec, toggled.spec);
    }

    #[test]
    fn an_answer_is_asked_for_and_comes() {
        let opened = State::default().after(InspectAction::Open(3, "Reading x".to_owned()));
        assert_eq!((opened.engine, &opened.run), (Some(3), &RunState::started("Reading x")));
        let asked = opened.after(InspectAction::Ask(4));
        assert_eq!((asked.engine, &asked.run), (Some(4), &opened.run));
        assert_eq!(asked.after(InspectAction::Run(RunState::Cancelled)).run, RunState::Cancelled);
        let mut shown = InspectShown::default();
        shown.spec.set(InspectField::Model, "file:x");
        let answered = asked.after(InspectAction::Shown(Box::new(shown.clone()), false));
        assert_eq!((answered.spec == asked.spec, &answered.run), (true, &RunState::Done));
        // The answer for a file says under which name the file is open.
        let file = asked.after(InspectAction::Shown(Box::new(shown.clone()), true));
        assert_eq!((file.spec, file.shown.map(|s| (*s).clone())), (shown.spec.clone(), Some(shown)));
    }

    proptest! {
        #[test]
        fn a_module_that_is_toggled_twice_is_as_it_was(ids in prop::collection::vec("[a-c](\\.[a-c]){0,2}", 0..5), id in "[a-c]") {
            let toggle = |state: State, id: &String| state.after(InspectAction::Toggle(id.clone()));
            let before = ids.iter().fold(State::default(), toggle);
            let after = toggle(toggle(before.clone(), &id), &id);
            let toggled = |state: &State| {
                let mut all: Vec<String> = state.spec.get(InspectField::Toggled).split('|').map(str::to_owned).collect();
                all.sort();
                all
            };
            prop_assert_eq!(toggled(&after), toggled(&before));
        }
    }
}
