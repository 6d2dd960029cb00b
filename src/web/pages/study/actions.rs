//! Actions of the buttons on the page of a study.

use crate::state::{StateDispatcher, StateHandle};
use yew::prelude::*;

use crate::bridge;
use crate::context::AppContext;
use crate::context::JobSlot;
use crate::pages::benchmark::open_model;
use crate::platform::download::file_of;
use crate::platform::{download, page, url};
use crate::shelf;
use crate::worker::{Engine, Program};
use ns_page::RunState;
use ns_page::notices::{NoticeAction, Tone};
use ns_page::study::{StudyAction, StudyState};
use ns_session::share::{Page, study_file_name};
use ns_session::studies::{StudyKind, StudySpec};
use ns_session::{JobRequest, JobResult, Kind, Message, OpenedModel, ResultPart, sniff, study_page};

/// Opens a model file, and asks a study about it.
pub fn open_for_study(app: &AppContext, state: &StateDispatcher<StudyState>, file: web_sys::File) {
    let state = state.clone();
    let then = move |opened: Result<OpenedModel, String>| {
        state.dispatch(match opened {
            Ok(opened) => StudyAction::Given(vec![("model", opened.id)]),
            Err(message) => StudyAction::RefuseFile(message),
        });
    };
    open_model(app, file, Callback::from(then));
}

/// Actions of the buttons of the page.
#[derive(Clone, PartialEq)]
pub struct StudyActions {
    /// Workers and notices.
    pub app: AppContext,
    /// The state of the page.
    pub state: StateHandle<StudyState>,
    /// The run that can be cancelled.
    pub job: JobSlot,
    /// Receives a trace of the result that is to be shown as a timeline.
    pub on_trace: Callback<web_sys::File>,
}

impl StudyActions {
    /// Asks for the study in the form, unless a field is wrong.
    pub fn run(&self) {
        let (spec, wrong) = self.state.spec();
        if let Some((key, message)) = wrong.first() {
            self.say(Tone::Bad, message.clone());
            page::focus(&format!("{}-{key}", self.state.kind.path()));
            return;
        }
        self.run_spec(spec);
    }

    /// Asks for a study, and runs it.
    pub fn run_spec(&self, spec: StudySpec) {
        self.state.dispatch(StudyAction::Ask(Box::new(spec.clone())));
        self.start(spec, true);
    }

    pub fn run_asked(&self) {
        if let Some(spec) = self.state.asked() {
            self.start(spec.clone(), true);
        }
    }

    /// Runs the study in the form after a pause in typing. Only results that the user asks for are kept.
    pub fn run_after_pause(&self) {
        let (spec, wrong) = self.state.spec();
        if wrong.is_empty() {
            self.start(spec, false);
        }
    }

    fn start(&self, spec: StudySpec, is_kept: bool) {
        // What was asked for last comes first.
        if let Some((engine, job)) = self.job.0.borrow_mut().take() {
            engine.give_up(job);
        }
        // A separate worker: the memory of a large layer is freed when the worker ends. Python starts once, and stays with its worker.
        let pool = &self.app.pool;
        let is_python = spec.kind() == StudyKind::Nki;
        let engine = if is_python { pool.shared(Program::Studies) } else { pool.take(Program::Studies) };
        let engine = match engine {
            Ok(engine) => engine,
            Err(message) => return self.state.dispatch(StudyAction::Refuse(message)),
        };
        let job = Engine::next_job();
        let spec = Box::new(spec);
        self.state.dispatch(StudyAction::Start(job, spec.clone()));
        let (dispatch, free, actions, asked) =
            (self.state.dispatcher(), self.job.0.clone(), self.clone(), spec.clone());
        let on_message = Callback::from(move |message: Message| {
            if message.is_last() {
                free.borrow_mut().take_if(|(_, running)| *running == job);
            }
            match message {
                // Nobody sees a part of the result behind the stored one.
                Message::Part(_) if page::is_behind_example() => {}
                Message::Part(ResultPart::Study(result)) => {
                    shelf::keep_unfinished(&result.resume);
                    dispatch.dispatch(StudyAction::Result(job, result, false));
                }
                Message::Done(JobResult::Study(result)) => {
                    if is_kept && let Err(message) = shelf::keep_study((*asked).clone(), (*result).clone()) {
                        actions.say(Tone::Info, message);
                    }
                    dispatch.dispatch(StudyAction::Result(job, result, true));
                }
                other => RunState::of_message(other)
                    .into_iter()
                    .for_each(|run| dispatch.dispatch(StudyAction::Run(job, run))),
            }
        });
        *self.job.0.borrow_mut() = Some((engine.clone(), job));
        let kept = if is_python { shelf::unfinished() } else { String::new() };
        engine.send_as(job, JobRequest::Study(spec, kept).into(), None, on_message);
    }

    /// Opens a model file for the form, and asks for it.
    pub fn on_file(&self) -> Callback<web_sys::File> {
        let (app, state) = (self.app.clone(), self.state.dispatcher());
        Callback::from(move |file| open_for_study(&app, &state, file))
    }

    /// Stops the run.
    pub fn cancel(&self) {
        self.job.cancel();
    }

    /// Saves the file at a position in the result.
    pub fn save(&self, position: usize) {
        let Some(file) = self.state.result.as_ref().and_then(|result| result.files.get(position)) else { return };
        if let Err(message) = download::save(&file.name, &file.mime, file.text.as_bytes()) {
            self.say(Tone::Bad, message);
        }
    }

    /// Saves the result as one HTML file.
    pub fn save_page(&self) {
        let Some((result, study)) = self.state.result.as_ref().zip(self.state.asked()) else { return };
        let html = study_page(Some(study), &result.document, &url::address_with(""));
        let name = format!("{}.html", self.state.kind.path());
        if let Err(message) = download::save(&name, "text/html", html.as_bytes()) {
            self.say(Tone::Bad, message);
        }
    }

    /// Shows a trace of the result as a timeline on the profile page.
    pub fn open_trace(&self, position: usize) {
        let Some(file) = self.state.result.as_ref().and_then(|result| result.files.get(position)) else { return };
        // A timeline that is simulated again from its name needs no file in a link.
        let name = self.state.asked().and_then(study_file_name).unwrap_or_else(|| file.name.clone());
        match file_of(&name, &file.text) {
            Ok(file) => self.on_trace.emit(file),
            Err(message) => self.say(Tone::Bad, message),
        }
    }

    /// Gives a source in the language of the other tab of kernels to that tab, as a file that is dropped; returns whether it is one.
    pub fn give_to_other_tab(&self, text: &str) -> bool {
        let is_cpp = text.contains("torch::Tensor") || text.contains("#include <torch");
        let (name, tab) = match self.state.kind {
            StudyKind::Nki if is_cpp => ("kernel.cpp", Page::Customop),
            StudyKind::Customop if !is_cpp && sniff(text.as_bytes(), "kernel.py") == Kind::Nki => {
                ("kernel.py", Page::Nki)
            }
            _ => return false,
        };
        match file_of(name, text) {
            Ok(file) => {
                url::go(&tab.hash());
                bridge::send_to_lab(tab, false, &[file]);
            }
            Err(message) => self.say(Tone::Bad, message),
        }
        true
    }

    fn say(&self, tone: Tone, text: String) {
        self.app.notices.dispatch(NoticeAction::Say(tone, text));
    }
}
