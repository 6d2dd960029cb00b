//! The state of the page of a study: the form, the progress of the run, its result.

use super::link_intent::{KeptResult, LinkIntent};
use super::{RunState, Shared};
use ns_session::results::KeptStudy;
use ns_session::share::PageLink as _;
use ns_session::studies::{FieldKind, FormField, StudyKind, StudyResult, StudySpec};
use ns_session::{JobId, model_label};

/// The most fields of a form in one line.
const MOST_IN_SHORT: usize = 4;

/// The page of a study. What it draws (`run`, `result`, `restored`) is of the study that was asked for last, and of no other.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyState {
    pub kind: StudyKind,
    /// The text of each field, in the order of the form.
    texts: Vec<String>,
    /// The study that was asked for last; `None` for none, or if the form says it wrongly.
    asked: Option<Box<StudySpec>>,
    /// The run whose messages are awaited.
    awaited: Option<AwaitedRun>,
    /// The result of the last run, or its partial result so far, whatever was asked for since.
    own: Option<OwnResult>,
    /// Progress of the run.
    pub run: RunState,
    /// Result of what was asked for, or its partial result so far.
    pub result: Option<Shared<StudyResult>>,
    /// The kept result that is shown, if it was not run in this visit.
    pub restored: Option<KeptResult<StudySpec>>,
    /// Whether what was asked for has to be run.
    pub wants_run: bool,
}

/// A run that goes on.
#[derive(Clone, Debug, PartialEq)]
struct AwaitedRun {
    job: JobId,
    spec: Box<StudySpec>,
}

#[derive(Clone, Debug, PartialEq)]
struct OwnResult {
    spec: Box<StudySpec>,
    result: Shared<StudyResult>,
    /// When its run ended in an earlier visit, milliseconds since 1970.
    kept_ms: Option<u64>,
}

/// Actions on the page.
#[derive(Clone, Debug)]
pub enum StudyAction {
    /// A field was edited.
    Edit(&'static str, String),
    /// A study was asked for: by Run, an example, a row of the result.
    Ask(Box<StudySpec>),
    /// A file was given: the fields that it sets, with their texts.
    Given(Vec<(&'static str, String)>),
    /// An address with this study was opened, and the browser kept this result of it.
    Open(Box<StudySpec>, LinkIntent, Option<Box<KeptStudy>>),
    /// A run of this was started. Until its result comes, the one before it stays if the form runs by itself.
    Start(JobId, Box<StudySpec>),
    /// The run made progress, or ended without a result.
    Run(JobId, RunState),
    /// There is no worker, for this reason.
    Refuse(String),
    /// A file that was given cannot be used, for this reason: nothing is asked for.
    RefuseFile(String),
    /// The run has a further part of its result; the flag says whether it is the last.
    Result(JobId, Box<StudyResult>, bool),
}

impl StudyState {
    /// The initial state of the page.
    pub fn new(kind: StudyKind) -> Self {
        let texts = texts_of(&StudySpec::new(kind));
        Self {
            kind,
            texts,
            asked: None,
            awaited: None,
            own: None,
            run: RunState::Idle,
            result: None,
            restored: None,
            wants_run: false,
        }
    }

    /// Whether the page is about its own example, or about nothing.
    pub fn is_example(&self) -> bool {
        let own = StudySpec::new(self.kind);
        self.asked.as_deref().map_or_else(|| self.texts == texts_of(&own), |asked| *asked == own)
    }

    /// The study that was asked for last.
    pub fn asked(&self) -> Option<&StudySpec> {
        self.asked.as_deref()
    }

    /// The text in a field.
    pub fn text(&self, key: &str) -> &str {
        self.position(key).and_then(|i| self.texts.get(i)).map_or("", String::as_str)
    }

    /// The study in the form, with unusable fields left at their defaults, and the messages for those fields.
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
    pub fn runs_by_itself(&self) -> bool {
        let (spec, wrong) = self.spec();
        let is_edited = self.own.as_ref().is_some_and(|own| *own.spec != spec);
        self.kind.is_kernel() && is_edited && wrong.is_empty() && !self.run.is_running()
    }

    /// Whether the page runs as soon as the workers are ready.
    pub const fn is_about_to_run(&self) -> bool {
        self.wants_run
    }

    /// Whether the form differs from the study whose result is shown.
    pub fn is_stale(&self) -> bool {
        let is_over = self.result.is_some() && !self.run.is_running();
        self.asked.as_ref().filter(|_| is_over).is_some_and(|asked| {
            let (spec, wrong) = self.spec();
            !wrong.is_empty() || spec != **asked
        })
    }

    /// What the page is about in one line: the first fields of the first group, without those that are empty.
    pub fn in_short(&self) -> String {
        let texts = self.asked.as_ref().map_or_else(|| self.texts.clone(), |asked| texts_of(asked));
        let own_model = self.asked.as_deref().map_or_else(|| own_model(&self.texts, self.kind), StudySpec::own_model);
        let say = |(field, text): (&FormField, &String)| {
            if text.is_empty() {
                return None;
            }
            match field.kind {
                FieldKind::Named(_) if own_model.is_some() => own_model.clone(),
                FieldKind::Flag | FieldKind::Source => None,
                FieldKind::Model => Some(model_label(text).into_owned()),
                FieldKind::Choice(choices) => Some(
                    choices
                        .iter()
                        .find(|(value, _)| *value == *text)
                        .map_or(text.as_str(), |(_, name)| name)
                        .to_owned(),
                ),
                FieldKind::Instance | FieldKind::Named(_) => Some(text.clone()),
                _ => Some(format!("{} {text}", field.label)),
            }
        };
        let count = self.kind.form().groups.first().map_or(0, |group| group.fields.len());
        let fields = self.kind.form().fields().zip(&texts).take(count);
        fields.filter_map(say).take(MOST_IN_SHORT).collect::<Vec<_>>().join(" \u{b7} ")
    }

    /// The model that the page is about; empty for a study of something else.
    pub fn model(&self) -> String {
        self.asked.as_ref().map_or_else(|| self.text("model").to_owned(), |asked| asked.text("model"))
    }

    /// The hash of the link that shows what was asked for; that of the form if nothing was.
    pub fn hash(&self) -> String {
        self.asked.as_ref().map_or_else(|| self.spec().0.hash(), |asked| asked.hash())
    }

    /// The hash of the study whose result is drawn.
    pub fn request(&self) -> Option<String> {
        self.own.as_ref().filter(|_| self.result.is_some()).map(|own| own.spec.hash())
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

/// The model of a text in the form that stands for the chosen one, whether or not it can be used.
fn own_model(texts: &[String], kind: StudyKind) -> Option<String> {
    let field = kind.form().fields().zip(texts).find(|(field, _)| field.key == "config");
    let text = field.map(|(_, text)| text).filter(|text| !text.is_empty())?;
    let mut spec = StudySpec::new(kind);
    let name = spec.set("config", text).ok().and_then(|()| spec.own_model());
    Some(name.unwrap_or_else(|| "config.json".to_owned()))
}

fn texts_of(spec: &StudySpec) -> Vec<String> {
    spec.kind().form().fields().map(|field| spec.text(field.key)).collect()
}

impl StudyState {
    /// The page after an action.
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
            StudyAction::Ask(spec) if spec.kind() == self.kind => next.ask(spec),
            StudyAction::Ask(_) => {}
            StudyAction::Given(fields) => {
                fields.into_iter().for_each(|(key, text)| next.put(key, text));
                next.ask_for_form();
            }
            StudyAction::Open(spec, intent, kept) => next.open(spec, intent, kept),
            StudyAction::Start(job, spec) => {
                next.awaited = Some(AwaitedRun { job, spec });
                (next.run, next.wants_run) = (RunState::started("Starting"), false);
            }
            StudyAction::Run(job, run) if self.awaits(job) => {
                next.awaited = next.awaited.filter(|_| run.is_running());
                next.run = run;
            }
            StudyAction::Result(job, result, is_over) if self.awaits(job) => {
                if let Some(awaited) = &next.awaited {
                    let (spec, result) = (awaited.spec.clone(), Shared::new(*result));
                    // The result of a form that runs by itself is what is asked for from now on.
                    next.asked = Some(spec.clone());
                    next.own = Some(OwnResult { spec, result, kept_ms: None });
                }
                if is_over {
                    (next.run, next.awaited) = (RunState::Done, None);
                }
            }
            StudyAction::Run(..) | StudyAction::Result(..) => {}
            StudyAction::RefuseFile(message) => {
                (next.own, next.awaited, next.asked, next.wants_run) = (None, None, None, false);
                next.run = RunState::Failed(message);
            }
            StudyAction::Refuse(message) => (next.run, next.wants_run) = (RunState::Failed(message), false),
        }
        next.draw();
        next
    }

    fn awaits(&self, job: JobId) -> bool {
        self.awaited.as_ref().is_some_and(|awaited| awaited.job == job)
    }

    /// Draws the result of what was asked for, and of nothing else.
    fn draw(&mut self) {
        let own = self.own.as_ref().filter(|own| Some(&own.spec) == self.asked.as_ref());
        self.result = own.map(|own| own.result.clone());
        self.restored = own.and_then(|own| Some(KeptResult { spec: (*own.spec).clone(), when_ms: own.kept_ms? }));
    }

    /// Asks for a run; the one that goes on is of something else, or of another time.
    fn ask(&mut self, spec: Box<StudySpec>) {
        // A form that says it already keeps its own words: the spaces of a source.
        if self.spec() != ((*spec).clone(), Vec::new()) {
            self.texts = texts_of(&spec);
        }
        (self.own, self.awaited, self.run) = (None, None, RunState::Idle);
        (self.asked, self.wants_run) = (Some(spec), true);
    }

    /// Asks for what the form says. If it says it wrongly, nothing is asked for, and its fields say what is wrong.
    fn ask_for_form(&mut self) {
        let (spec, wrong) = self.spec();
        if wrong.is_empty() {
            self.ask(Box::new(spec));
        } else {
            (self.own, self.awaited, self.run) = (None, None, RunState::Idle);
            (self.asked, self.wants_run) = (None, false);
        }
    }

    fn open(&mut self, spec: Box<StudySpec>, intent: LinkIntent, kept: Option<Box<KeptStudy>>) {
        if spec.kind() != self.kind {
            return;
        }
        // Whoever comes back finds the form as it was left.
        if intent == LinkIntent::Result && self.asked.as_ref() == Some(&spec) {
            return;
        }
        // The page opens on a result: without anything in particular, on that of its form.
        let is_first = self.asked.is_none() && self.own.is_none() && self.spec().1.is_empty();
        match (intent, kept) {
            (LinkIntent::Page, _) if !is_first => {}
            (LinkIntent::Result | LinkIntent::Page, Some(kept)) => {
                let spec = Box::new(kept.spec);
                self.texts = texts_of(&spec);
                (self.asked, self.wants_run, self.awaited) = (Some(spec.clone()), false, None);
                self.own = Some(OwnResult { spec, result: Shared::new(kept.result), kept_ms: Some(kept.when_ms) });
                self.run = RunState::Done;
            }
            (LinkIntent::Page, None) => {
                if !self.spec().0.is_measured() {
                    self.ask_for_form();
                }
            }
            (LinkIntent::Result, None) => {
                let is_there = self.own.as_ref().is_some_and(|own| own.spec == spec)
                    || self.awaited.as_ref().is_some_and(|awaited| awaited.spec == spec);
                self.texts = texts_of(&spec);
                if is_there {
                    self.asked = Some(spec);
                } else if spec.waits_for_run() {
                    (self.own, self.awaited, self.run) = (None, None, RunState::Idle);
                    (self.asked, self.wants_run) = (Some(spec), false);
                } else {
                    self.ask(spec);
                }
            }
            (LinkIntent::Form, _) => {
                self.texts = texts_of(&spec);
                (self.own, self.awaited, self.run) = (None, None, RunState::Idle);
                (self.asked, self.wants_run) = (None, false);
            }
        }
    }
}

#[cfg(test)]
mod tests;
