//! What the buttons of the page of a study do.

use yew::prelude::*;

use crate::session::studies::StudySpec;
use crate::session::{Event, Request};
use crate::web::app::Job;
use crate::web::context::AppContext;
use crate::web::platform::download::file_of;
use crate::web::platform::{clipboard, download, page, url};
use crate::web::state::RunState;
use crate::web::state::notices::{NoticeAction, Tone};
use crate::web::state::study::{StudyAction, StudyState};

/// What the buttons of the page do.
#[derive(Clone, PartialEq)]
pub struct Actions {
    /// Workers and notices.
    pub app: AppContext,
    /// What the page shows.
    pub state: UseReducerHandle<StudyState>,
    /// The run that can be cancelled.
    pub job: Job,
    /// A trace of the result is to be shown as a timeline.
    pub on_trace: Callback<web_sys::File>,
}

impl Actions {
    /// Runs what is in the form, unless a field is wrong.
    pub fn run(&self) {
        let (spec, wrong) = self.state.spec();
        if let Some((key, message)) = wrong.first() {
            self.say(Tone::Bad, message.clone());
            page::focus(&format!("{}-{key}", self.state.kind.form().path));
            return;
        }
        self.start(spec);
    }

    /// Puts a study into the form and runs it.
    pub fn run_spec(&self, spec: StudySpec) {
        self.state.dispatch(StudyAction::Load(Box::new(spec.clone())));
        self.start(spec);
    }

    fn start(&self, spec: StudySpec) {
        if self.job.0.borrow().is_some() {
            return;
        }
        // A worker of its own: what a large layer takes is given back with it.
        let engine = match self.app.pool.take() {
            Ok(engine) => engine,
            Err(message) => {
                self.state.dispatch(StudyAction::Run(RunState::Failed(message)));
                return;
            }
        };
        self.state.dispatch(StudyAction::Run(RunState::started("Starting")));
        let (dispatch, free) = (self.state.dispatcher(), self.job.0.clone());
        let on_event = Callback::from(move |event: Event| {
            if event.is_last() {
                free.borrow_mut().take();
            }
            match event {
                Event::Progress { done, total, label, .. } => {
                    dispatch.dispatch(StudyAction::Run(RunState::Running { done, total, label }));
                }
                Event::Study { result, is_last, .. } => dispatch.dispatch(StudyAction::Result(result, is_last)),
                Event::Cancelled { .. } => dispatch.dispatch(StudyAction::Run(RunState::Cancelled)),
                Event::Failed { message, .. } => dispatch.dispatch(StudyAction::Run(RunState::Failed(message))),
                _ => {}
            }
        });
        let spec = Box::new(spec);
        let job = engine.send(|job| Request::Study { job, spec }, None, on_event);
        if engine.is_alive() {
            *self.job.0.borrow_mut() = Some((engine, job));
        }
    }

    /// Stops the run.
    pub fn cancel(&self) {
        let running = self.job.0.borrow().clone();
        if let Some((engine, job)) = running {
            engine.cancel(job);
        }
    }

    /// Copies the address of this form.
    pub fn copy_link(&self) {
        let address = url::address_with(&self.state.link().print());
        let (app, shown) = (self.app.clone(), address.clone());
        let done = Callback::from(move |result: Result<(), String>| {
            let (tone, text) = match result {
                Ok(()) => (Tone::Good, "The link is in the clipboard: it shows this result after Run.".to_owned()),
                Err(reason) => (Tone::Info, format!("The clipboard refused ({reason}). The link is: {shown}")),
            };
            app.notices.dispatch(NoticeAction::Say(tone, text));
        });
        clipboard::copy(&address, done);
    }

    /// Saves a file of the result, by its position.
    pub fn save(&self, position: usize) {
        let Some(file) = self.state.result.as_ref().and_then(|result| result.files.get(position)) else { return };
        if let Err(message) = download::save(&file.name, &file.mime, file.text.as_bytes()) {
            self.say(Tone::Bad, message);
        }
    }

    /// Shows a trace of the result as a timeline on the profile page.
    pub fn open_trace(&self, position: usize) {
        let Some(file) = self.state.result.as_ref().and_then(|result| result.files.get(position)) else { return };
        match file_of(&file.name, &file.text) {
            Ok(file) => self.on_trace.emit(file),
            Err(message) => self.say(Tone::Bad, message),
        }
    }

    fn say(&self, tone: Tone, text: String) {
        self.app.notices.dispatch(NoticeAction::Say(tone, text));
    }
}
