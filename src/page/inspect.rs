//! The state of the page of models: the choices and the view.

use std::rc::Rc;

use super::file_queue::reading_label;
use super::{RunState, Shared};
use ns_session::share::{Page, PageLink as _};
use ns_session::{InspectField, InspectResult, InspectSpec, JobId};

/// The page of models; `Worker` is the shell's handle of the worker that holds a model.
#[derive(Clone, Debug, PartialEq)]
pub struct InspectState<Worker> {
    /// The choices that were made.
    pub spec: InspectSpec,
    /// Progress of the answer.
    pub run: RunState,
    /// The question whose answer is awaited. What is told about any other question comes too late, and changes nothing.
    pub awaited: Option<Question>,
    /// The worker that holds the model.
    pub engine: Option<Worker>,
    /// The question of the awaited answer.
    asking: InspectSpec,
    /// The question of the last answer.
    answered: InspectSpec,
    /// The last answer. It is drawn only if it is of what was asked for: [`InspectState::drawn`].
    pub result: Option<Shared<InspectResult>>,
    /// The file that is being opened, or was refused.
    pub file: Option<Rc<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub job: JobId,
    /// Whether it opens a file, which then decides what is shown.
    pub is_file: bool,
}

/// Actions on the page.
#[derive(Clone)]
pub enum InspectAction<Worker> {
    /// A choice was made.
    Choose(InspectField, String),
    /// A module was opened or closed; it is selected too.
    Toggle(String),
    /// A link was opened.
    Load(Box<InspectSpec>),
    /// The page was opened without a model: it shows this, unless it was asked for something.
    Begin(Box<InspectSpec>),
    /// A file of this name is being opened, in this worker.
    Open(Worker, JobId, String),
    /// An answer to this is awaited from this worker.
    Ask(Worker, JobId, Box<InspectSpec>),
    /// An answer made progress, or ended without a result.
    Run(JobId, RunState),
    /// An answer has arrived.
    Answer(JobId, Box<InspectResult>),
    /// The model before the file that was refused is shown again.
    ShowAgain,
    /// An answer is not wanted any more.
    Drop(JobId),
    /// There is no worker to ask, for this reason.
    Refuse(String),
}

impl<Worker> Default for InspectState<Worker> {
    fn default() -> Self {
        Self {
            spec: InspectSpec::default(),
            run: RunState::Idle,
            awaited: None,
            engine: None,
            asking: InspectSpec::default(),
            answered: InspectSpec::default(),
            result: None,
            file: None,
        }
    }
}

impl<Worker: Clone> InspectState<Worker> {
    /// The hash of the link that shows this view. A file that is not open has none.
    pub fn hash(&self) -> String {
        if self.file.is_some() { Page::Inspect.hash() } else { self.spec.hash() }
    }

    /// The answer, if it is of the model, the instance and the batch that were asked for.
    pub fn drawn(&self) -> Option<&Shared<InspectResult>> {
        self.result.as_ref().filter(|_| self.file.is_none() && self.answered.is_same_run(&self.spec))
    }

    /// The answer whose room a question keeps: another one of the same page is a moment away.
    pub fn room(&self) -> Option<&Shared<InspectResult>> {
        self.result.as_ref().filter(|_| self.file.is_none())
    }

    /// Whether a file was refused: its error stands alone.
    pub fn is_refused(&self) -> bool {
        self.file.is_some() && !self.is_opening()
    }

    /// The hash of the run whose figures are drawn.
    pub fn request(&self) -> Option<String> {
        self.drawn().map(|_| self.answered.run().hash())
    }

    /// Whether the page is about its own example.
    pub fn is_example(&self) -> bool {
        self.file.is_none() && (self.spec == InspectSpec::example() || self.spec == InspectSpec::default())
    }

    /// Whether a file is being opened. No other question is asked meanwhile.
    pub fn is_opening(&self) -> bool {
        self.awaited.is_some_and(|awaited| awaited.is_file)
    }

    fn awaits(&self, job: JobId) -> bool {
        self.awaited.is_some_and(|awaited| awaited.job == job)
    }

    /// The page after an action.
    pub fn after(&self, action: InspectAction<Worker>) -> Self {
        let mut next = self.clone();
        match action {
            InspectAction::Choose(field, text) => next.spec.set(field, &text),
            InspectAction::Toggle(id) => {
                next.spec.toggle(&id);
                next.spec.set(InspectField::Selected, &id);
            }
            InspectAction::Load(spec) => next.load(*spec),
            InspectAction::Begin(spec) => {
                if self.file.is_none() && self.result.is_none() && self.awaited.is_none() {
                    next.load(*spec);
                }
            }
            InspectAction::ShowAgain => (next.run, next.file) = (RunState::Done, None),
            InspectAction::Open(engine, job, name) => {
                next.awaited = Some(Question { job, is_file: true });
                (next.engine, next.run) = (Some(engine), RunState::started(&reading_label(&name)));
                next.file = Some(name.into());
            }
            InspectAction::Ask(engine, job, spec) => {
                (next.engine, next.awaited, next.asking) =
                    (Some(engine), Some(Question { job, is_file: false }), *spec);
            }
            InspectAction::Run(job, run) if self.awaits(job) => {
                next.awaited = self.awaited.filter(|_| run.is_running());
                if run == RunState::Cancelled {
                    next.file = None;
                }
                // A choice that was made while a file was opening was not asked about: the form is that of the shown view again.
                if let (true, None, Some(result)) = (self.is_opening(), next.awaited, &self.result) {
                    next.spec = result.spec.clone();
                }
                next.run = run;
            }
            InspectAction::Answer(job, result) if self.awaits(job) => {
                next.answered = self.asking.clone();
                if self.is_opening() {
                    (next.spec, next.file) = (result.spec.clone(), None);
                    next.answered = result.spec.clone();
                }
                (next.result, next.run, next.awaited) = (Some(Shared::new(*result)), RunState::Done, None);
            }
            InspectAction::Drop(job) if self.awaits(job) => {
                next.awaited = None;
                if next.run.is_running() {
                    next.run = if next.result.is_some() { RunState::Done } else { RunState::Idle };
                }
            }
            InspectAction::Run(..) | InspectAction::Answer(..) | InspectAction::Drop(_) => {}
            InspectAction::Refuse(message) => (next.run, next.awaited) = (RunState::Failed(message), None),
        }
        next
    }

    /// A link was asked for last: a file that is being opened comes too late.
    fn load(&mut self, spec: InspectSpec) {
        self.spec = spec;
        if self.file.take().is_some() {
            (self.awaited, self.run) = (None, RunState::Idle);
        }
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

    fn answer(model: &str) -> Box<InspectResult> {
        let mut result = InspectResult::default();
        result.spec.set(InspectField::Model, model);
        Box::new(result)
    }

    fn ask(engine: u32, job: u32, model: &str) -> InspectAction<u32> {
        InspectAction::Ask(engine, JobId(job), Box::new(InspectSpec::default().with(InspectField::Model, model)))
    }

    #[test]
    fn a_request_gets_its_answer() {
        let opened = State::default().after(InspectAction::Open(3, JobId(1), "x".to_owned()));
        assert_eq!((opened.engine, &opened.run), (Some(3), &RunState::started("Reading x")));
        assert!(opened.is_opening());
        // The answer for a file says under which name the file is open.
        let file = opened.after(InspectAction::Answer(JobId(1), answer("file:x")));
        assert_eq!((file.spec.get(InspectField::Model), &file.run, file.awaited), ("file:x", &RunState::Done, None));
        assert_eq!(file.result.as_deref(), Some(&*answer("file:x")));
        let asked = file.after(ask(4, 2, "mlp"));
        assert_eq!((asked.engine, &asked.run, asked.is_opening()), (Some(4), &RunState::Done, false));
        assert_eq!(asked.after(InspectAction::Run(JobId(2), RunState::Cancelled)).run, RunState::Cancelled);
        let answered = asked.after(InspectAction::Answer(JobId(2), answer("mlp")));
        assert_eq!((answered.spec == asked.spec, &answered.run), (true, &RunState::Done));
        let refused = asked.after(InspectAction::Refuse("no worker".to_owned()));
        assert_eq!((refused.run, refused.awaited), (RunState::Failed("no worker".to_owned()), None));
    }

    #[test]
    fn late_answers_are_ignored() {
        let asked = State::default().after(ask(3, 1, "nn"));
        let opening = asked.after(InspectAction::Open(3, JobId(2), "x".to_owned()));
        let late = [
            InspectAction::Answer(JobId(1), answer("nn")),
            InspectAction::Run(JobId(1), RunState::started("Simulating")),
            InspectAction::Run(JobId(1), RunState::Failed("no".to_owned())),
            InspectAction::Drop(JobId(1)),
        ];
        let file = opening.after(InspectAction::Answer(JobId(2), answer("file:x")));
        for action in late {
            assert_eq!(opening.after(action.clone()), opening);
            assert_eq!(file.after(action), file);
        }
    }

    #[test]
    fn a_file_that_cannot_be_opened_leaves_the_choices_and_hides_the_figures() {
        let asked = State::default().after(ask(3, 1, "nn"));
        let mut before = asked.after(InspectAction::Answer(JobId(1), answer("nn")));
        before.spec = answer("nn").spec;
        let opening = before.after(InspectAction::Open(3, JobId(2), "x".to_owned()));
        let chosen = opening.after(InspectAction::Choose(InspectField::Model, "mlp".to_owned()));
        let failed = chosen.after(InspectAction::Run(JobId(2), RunState::Failed("no model".to_owned())));
        assert_eq!((&failed.spec, &failed.result, failed.is_opening()), (&before.spec, &before.result, false));
        let back = failed.after(InspectAction::ShowAgain);
        assert_eq!((failed.is_refused(), back.is_refused(), back.run), (true, false, RunState::Done));
        let stopped = opening.after(InspectAction::Run(JobId(2), RunState::Cancelled));
        assert_eq!((&stopped.spec, stopped.is_refused()), (&before.spec, false));
        assert_eq!(failed.run, RunState::Failed("no model".to_owned()));
    }

    #[test]
    fn an_outdated_answer_does_not_replace_the_view() {
        let running = |state: &State, job: JobId| {
            let asked = state.after(ask(3, job.0, ""));
            asked.after(InspectAction::Run(job, RunState::started("Simulating")))
        };
        let first = running(&State::default(), JobId(1));
        assert_eq!(first.after(InspectAction::Drop(JobId(1))).run, RunState::Idle);
        let second = running(&first.after(InspectAction::Answer(JobId(1), answer("nn"))), JobId(2));
        let back = second.after(InspectAction::Drop(JobId(2)));
        assert_eq!((back.run, back.awaited, back.result), (RunState::Done, None, second.result));
    }

    #[test]
    fn what_was_asked_for_last_is_drawn_and_nothing_else() {
        let asked = State::default().after(InspectAction::Load(Box::new(answer("nn").spec))).after(ask(3, 1, "nn"));
        let with_answer = asked.after(InspectAction::Answer(JobId(1), answer("nn")));
        assert_eq!(with_answer.request(), Some(with_answer.hash()));
        let other = with_answer.after(InspectAction::Choose(InspectField::Model, "mlp".to_owned()));
        assert!(other.drawn().is_none() && other.room().is_some());
        assert!(with_answer.after(InspectAction::Toggle("a".to_owned())).drawn().is_some(), "a module is opened");
        // A file that is read or was refused is all that the page is about.
        let opening = with_answer.after(InspectAction::Open(3, JobId(2), "x".to_owned()));
        let refused = opening.after(InspectAction::Run(JobId(2), RunState::Failed("no model".to_owned())));
        for state in [&opening, &refused] {
            assert_eq!((state.hash().as_str(), state.drawn(), state.file.as_deref()), ("#/inspect", None, Some("x")));
        }
        // A link that is opened meanwhile comes first, and a page without a link changes nothing.
        assert_eq!(opening.after(InspectAction::Begin(Box::default())), opening);
        let linked = opening.after(InspectAction::Load(Box::new(answer("mlp").spec)));
        assert_eq!(linked.after(InspectAction::Answer(JobId(2), answer("file:x"))), linked);
    }

    proptest! {
        #[test]
        fn what_is_drawn_is_what_the_address_asks_for(actions in prop::collection::vec((0_u8..7, 0_u32..3, "[a-c]"), 0..30)) {
            let mut state = State::default();
            for (kind, job, model) in actions {
                state = state.after(match kind {
                    0 => InspectAction::Choose(InspectField::Model, model),
                    1 => InspectAction::Load(Box::new(answer(&model).spec)),
                    2 => InspectAction::Begin(Box::new(answer(&model).spec)),
                    3 => InspectAction::Open(1, JobId(job), model),
                    4 => ask(1, job, state.spec.get(InspectField::Model)),
                    5 => InspectAction::Run(JobId(job), RunState::Failed(model)),
                    _ => InspectAction::Answer(JobId(job), answer(&model)),
                });
                if let Some(request) = state.request() {
                    prop_assert_eq!(request, state.hash());
                }
            }
        }

        #[test]
        fn toggling_a_module_twice_restores_it(ids in prop::collection::vec("[a-c](\\.[a-c]){0,2}", 0..5), id in "[a-c]") {
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
