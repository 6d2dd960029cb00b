//! The state of the page of a study: the form, the progress of the run, its result.

use super::link_intent::{KeptResult, LinkIntent, Opening, opening_of};
use super::{RunState, Shared};
use ns_session::share::PageLink as _;
use ns_session::shelf::KeptStudy;
use ns_session::studies::{FieldKind, FormField, StudyKind, StudyResult, StudySpec};
use ns_session::without_source;

/// The most fields of a form in one line.
const MOST_IN_SHORT: usize = 4;

/// The page of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyState {
    pub kind: StudyKind,
    /// The text of each field, in the order of the form.
    texts: Vec<String>,
    /// Progress of the run.
    pub run: RunState,
    /// Result of the last run, or its partial result so far.
    pub result: Option<Shared<StudyResult>>,
    /// The kept result that is shown, if it was not run in this visit.
    pub restored: Option<KeptResult<StudySpec>>,
    /// Whether a link asks for the run, which has not been started yet.
    pub wants_run: bool,
    /// The study of the last run, or of the kept result.
    ran: Option<Box<StudySpec>>,
}

/// Actions on the page.
pub enum StudyAction {
    /// A field was edited.
    Edit(&'static str, String),
    /// A link or an example was opened.
    Load(Box<StudySpec>),
    /// An address was opened that asks for this, and the browser kept this result of what it names.
    Open(LinkIntent, Option<Box<KeptStudy>>),
    /// The run made progress, or ended without a result.
    Run(RunState),
    /// The run has a further part of its result; the flag says whether it is the last.
    Result(Box<StudyResult>, bool),
}

impl StudyState {
    /// The initial state of the page.
    #[must_use]
    pub fn new(kind: StudyKind) -> Self {
        let texts = texts_of(&StudySpec::new(kind));
        Self { kind, texts, run: RunState::Idle, result: None, restored: None, wants_run: false, ran: None }
    }

    /// The text in a field.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.position(key).and_then(|i| self.texts.get(i)).map_or("", String::as_str)
    }

    /// The study in the form, with unusable fields left at their defaults, and the messages for those fields.
    #[must_use]
    pub fn spec(&self) -> (StudySpec, Vec<(&'static str, String)>) {
        let mut spec = StudySpec::new(self.kind);
        let mut wrong = Vec::new();
        for (field, text) in self.kind.form().fields().zip(&self.texts) {
            if let Err(message) = spec.set(field.key, text) {
                wrong.push((field.key, message));
            }
        }
        (spec, wrong)
    }

    /// Whether the form runs by itself after a pause: a kernel that has run once runs again while it is edited.
    #[must_use]
    pub fn runs_by_itself(&self) -> bool {
        let (spec, wrong) = self.spec();
        let is_edited = self.ran.as_ref().is_some_and(|ran| **ran != spec);
        self.kind == StudyKind::Customop && is_edited && wrong.is_empty() && !self.run.is_running()
    }

    /// Whether the page runs as soon as the workers are ready.
    #[must_use]
    pub fn is_about_to_run(&self) -> bool {
        self.wants_run && !self.run.is_running() && self.spec().1.is_empty()
    }

    /// Whether the form differs from the study whose result is shown.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        let ran = self.ran.as_ref().filter(|_| self.result.is_some() && !self.run.is_running());
        ran.is_some_and(|ran| {
            let (spec, wrong) = self.spec();
            !wrong.is_empty() || spec != **ran
        })
    }

    /// The form in one line: the first fields of its first group, without those that are empty.
    #[must_use]
    pub fn in_short(&self) -> String {
        let say = |field: &FormField| {
            let text = Some(self.text(field.key)).filter(|text| !text.is_empty())?;
            match field.kind {
                FieldKind::Flag | FieldKind::Source => None,
                FieldKind::Model => Some(without_source(text).into_owned()),
                FieldKind::Choice(choices) => {
                    choices.iter().find(|(value, _)| *value == text).map(|(_, name)| (*name).to_owned())
                }
                FieldKind::Instance => Some(text.to_owned()),
                _ => Some(format!("{} {text}", field.label)),
            }
        };
        let fields = self.kind.form().groups.first().map(|group| group.fields).unwrap_or_default();
        fields.iter().filter_map(say).take(MOST_IN_SHORT).collect::<Vec<_>>().join(" \u{b7} ")
    }

    /// The hash of the link that shows this form.
    #[must_use]
    pub fn hash(&self) -> String {
        self.spec().0.hash()
    }

    fn put(&mut self, key: &str, text: String) {
        if let Some(place) = self.position(key).and_then(|i| self.texts.get_mut(i)) {
            *place = text;
        }
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.kind.form().fields().position(|field| field.key == key)
    }
}

fn texts_of(spec: &StudySpec) -> Vec<String> {
    spec.kind().form().fields().map(|field| spec.text(field.key)).collect()
}

impl StudyState {
    /// The page after an action.
    #[must_use]
    pub fn after(&self, action: StudyAction) -> Self {
        let mut next = self.clone();
        match action {
            StudyAction::Edit(key, text) => {
                let mut chosen = StudySpec::new(self.kind);
                if chosen.set(key, &text).is_ok() {
                    for follower in self.kind.followers(key) {
                        next.put(follower, chosen.text(follower));
                    }
                }
                next.put(key, text);
            }
            StudyAction::Load(spec) if spec.kind() == self.kind => next.texts = texts_of(&spec),
            StudyAction::Load(_) => {}
            StudyAction::Open(intent, kept) => {
                let is_measured = self.spec().0.is_measured();
                let opening = opening_of(intent, kept.is_some(), is_measured, self.run.is_running());
                // The page opens on a result: without anything in particular, on that of its form.
                let is_first =
                    intent == LinkIntent::Page && self.ran.is_none() && !is_measured && !self.run.is_running();
                next.wants_run = opening == Opening::Run || (opening == Opening::Wait && is_first);
                if let Some(kept) = kept.filter(|_| opening == Opening::Restore) {
                    next.texts = texts_of(&kept.spec);
                    next.ran = Some(Box::new(kept.spec.clone()));
                    next.restored = Some(KeptResult { spec: kept.spec, when_ms: kept.when_ms });
                    (next.result, next.run) = (Some(Shared::new(kept.result)), RunState::Done);
                }
            }
            StudyAction::Run(run) => {
                if run.is_running() && !self.run.is_running() {
                    next.ran = Some(Box::new(self.spec().0));
                }
                (next.run, next.wants_run) = (run, false);
            }
            StudyAction::Result(result, is_over) => {
                (next.result, next.restored) = (Some(Shared::new(*result)), None);
                if is_over {
                    next.run = RunState::Done;
                }
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_field(kind: StudyKind) -> &'static str {
        kind.form().fields().next().unwrap().key
    }

    #[test]
    fn a_form_is_edited_and_loads_its_own_examples() {
        for kind in StudyKind::ALL {
            let state = StudyState::new(kind);
            assert_eq!(state.spec(), (StudySpec::new(kind), vec![]));
            for example in kind.form().examples {
                let mut spec = StudySpec::new(kind);
                for (key, text) in example.fields {
                    spec.set(key, text).unwrap();
                }
                let loaded = state.after(StudyAction::Load(Box::new(spec.clone())));
                assert_eq!(loaded.spec(), (spec, vec![]), "{}", example.name);
                assert!(loaded.hash().starts_with(&format!("#/{}?", kind.form().path)), "{}", loaded.hash());
            }
            let key = first_field(kind);
            assert_eq!(state.after(StudyAction::Edit(key, "x y".to_owned())).text(key), "x y");
            let other = StudyKind::ALL.into_iter().find(|other| *other != kind).unwrap();
            assert_eq!(state.after(StudyAction::Load(Box::new(StudySpec::new(other)))), state);
        }
    }

    #[test]
    fn a_run_shows_its_intermediate_result() {
        let wants = || StudyAction::Open(LinkIntent::Result, None);
        let state = StudyState::new(StudyKind::Customop).after(wants());
        assert!(state.wants_run);
        let running = state.after(StudyAction::Run(RunState::started("x")));
        assert!(!running.wants_run);
        assert!(!running.after(wants()).wants_run);
        let part = running.after(StudyAction::Result(Box::default(), false));
        assert!(part.result.is_some() && part.run.is_running());
        let done = part.after(StudyAction::Result(Box::default(), true));
        assert_eq!((done.run.clone(), done.is_stale()), (RunState::Done, false));
        assert!(done.after(StudyAction::Edit("batch", "3".to_owned())).is_stale());
    }

    #[test]
    fn a_form_in_one_line_names_its_numbers() {
        let state = StudyState::new(StudyKind::Matmult).after(StudyAction::Edit("matrix_dim", "256".to_owned()));
        assert!(state.in_short().starts_with("Matrix size N 256"), "{}", state.in_short());
        let state = StudyState::new(StudyKind::Numerics).after(StudyAction::Edit("model", "nn".to_owned()));
        assert!(state.in_short().starts_with("nn \u{b7} trn1.2xlarge"), "{}", state.in_short());
    }

    #[test]
    fn a_page_opens_on_a_result_and_a_kernel_runs_while_it_is_edited() {
        let state = StudyState::new(StudyKind::Customop).after(StudyAction::Open(LinkIntent::Page, None));
        assert!(state.is_about_to_run() && !state.runs_by_itself());
        assert!(!state.after(StudyAction::Edit("seed", "x".to_owned())).is_about_to_run());
        assert!(!StudyState::new(StudyKind::Customop).after(StudyAction::Open(LinkIntent::Form, None)).wants_run);
        let running = state.after(StudyAction::Run(RunState::started("x")));
        assert!(!running.is_about_to_run() && !running.runs_by_itself());
        let done = running.after(StudyAction::Result(Box::default(), true));
        assert!(!done.runs_by_itself());
        let edited = done.after(StudyAction::Edit("seed", "7".to_owned()));
        assert!(edited.runs_by_itself());
        assert!(!edited.after(StudyAction::Edit("seed", "x".to_owned())).runs_by_itself());
        // A sweep of products runs when the user asks for it.
        let matmult = StudyState::new(StudyKind::Matmult);
        let done =
            matmult.after(StudyAction::Run(RunState::started("x"))).after(StudyAction::Result(Box::default(), true));
        assert!(!done.after(StudyAction::Edit("sizes", "64".to_owned())).runs_by_itself());
    }

    fn kept_study(kind: StudyKind, text: &str) -> KeptStudy {
        let mut spec = StudySpec::new(kind);
        spec.set(first_field(kind), text).unwrap();
        let mut result = StudyResult::default();
        result.document.title = "kept".to_owned();
        KeptStudy { spec, result, when_ms: 9 }
    }

    #[test]
    fn a_kept_result_is_shown_with_its_form_until_a_run_replaces_it() {
        let kept = kept_study(StudyKind::Matmult, "64");
        let state = StudyState::new(StudyKind::Matmult);
        let open = |intent| StudyAction::Open(intent, Some(Box::new(kept.clone())));
        for intent in [LinkIntent::Result, LinkIntent::Page] {
            let shown = state.after(open(intent));
            assert_eq!((shown.spec(), shown.run.clone()), ((kept.spec.clone(), vec![]), RunState::Done));
            assert_eq!(shown.restored, Some(KeptResult { spec: kept.spec.clone(), when_ms: 9 }));
            assert_eq!(shown.result.as_ref().map(|r| r.document.title.as_str()), Some("kept"));
            assert!(!shown.wants_run);
            // It stays beside a run that fails, and is still the kept one.
            let failed = shown.after(StudyAction::Run(RunState::Failed("x".to_owned())));
            assert_eq!((failed.result.is_some(), failed.restored.is_some()), (true, true));
            let again = shown.after(StudyAction::Result(Box::default(), true));
            assert_eq!((again.result.map(|r| r.document.title.clone()), again.restored), (Some(String::new()), None));
        }
        assert_eq!(state.after(open(LinkIntent::Form)), state);
        let running = state.after(StudyAction::Run(RunState::started("x")));
        assert_eq!(running.after(open(LinkIntent::Result)), running);
    }

    #[test]
    fn a_measurement_is_shown_again_but_not_run_by_a_link() {
        let state = StudyState::new(StudyKind::Matmult).after(StudyAction::Edit("cpu", "true".to_owned()));
        assert!(state.spec().0.is_measured());
        assert!(!state.after(StudyAction::Open(LinkIntent::Result, None)).wants_run);
        let kept = Box::new(KeptStudy { spec: state.spec().0, ..kept_study(StudyKind::Matmult, "64") });
        assert!(state.after(StudyAction::Open(LinkIntent::Result, Some(kept))).result.is_some());
    }
}
