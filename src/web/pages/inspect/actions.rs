//! Actions of the buttons on the page of models.

use web_sys::File;
use yew::prelude::*;

use crate::answers::say_failure;
use crate::context::AppContext;
use crate::context::JobSlot;
use crate::model_files::keep_model;
use crate::state::{InspectAction, InspectState, StateHandle};
use crate::worker::{Engine, Program};
use ns_base::convert::f64_to_u64;
use ns_page::RunState;
use ns_session::share::LinkedFile;
use ns_session::{
    InspectAsk, InspectField, InspectFile, JobId, JobRequest, JobResult, Message, ModelFileSettings, OpenedModel,
};

/// Actions of the buttons of the page.
#[derive(Clone, PartialEq)]
pub struct InspectActions {
    /// Workers and notices.
    pub app: AppContext,
    /// The state of the page.
    pub state: StateHandle<InspectState>,
    /// The awaited answer, which can be cancelled.
    pub job: JobSlot,
}

/// A file that is being opened, and the callback that gets its content.
type OpenedFile = (File, Callback<(OpenedModel, LinkedFile)>);

pub fn open_model(actions: &InspectActions, file: File) {
    let engine = match actions.engine() {
        Ok(engine) => engine,
        Err(message) => return actions.state.dispatch(InspectAction::Refuse(message)),
    };
    let (name, size, job) = (file.name(), f64_to_u64(file.size()), Engine::next_job());
    actions.state.dispatch(InspectAction::Open(engine.clone(), job, name.clone()));
    let mut spec = actions.state.spec.clone();
    spec.set(InspectField::View, "");
    let state = actions.state.dispatcher();
    let refused =
        Callback::from(move |message: String| state.dispatch(InspectAction::Run(job, RunState::Failed(message))));
    let on_opened = {
        let (app, engine, file) = (actions.app.clone(), engine.clone(), file.clone());
        Callback::from(move |opened: (OpenedModel, LinkedFile)| {
            keep_model(&app.notices, file.clone(), &opened.0.id);
            app.pool.adopt(&engine, file.clone(), ModelFileSettings::default(), opened);
        })
    };
    let ask = InspectAsk::Open { spec: Box::new(spec), name, size };
    actions.send(&engine, job, ask, Some((file, on_opened)), refused);
}

impl InspectActions {
    /// The worker that holds the model, or another one.
    fn engine(&self) -> Result<Engine, String> {
        let alive = self.state.engine.clone().filter(Engine::is_alive);
        alive.map_or_else(|| self.app.pool.take(Program::Benchmarks), Ok)
    }

    fn send(&self, engine: &Engine, job: JobId, ask: InspectAsk, file: Option<OpenedFile>, refused: Callback<String>) {
        let (file, on_opened) = file.unzip();
        let (dispatch, free) = (self.state.dispatcher(), self.job.0.clone());
        let on_message = Callback::from(move |message: Message| {
            if message.is_last() {
                free.borrow_mut().take_if(|(_, running)| *running == job);
            }
            match message {
                Message::Done(JobResult::Inspected(mut result)) => {
                    if let (Some(opened), Some(on_opened)) = (result.opened.take(), &on_opened) {
                        on_opened.emit(*opened);
                    }
                    dispatch.dispatch(InspectAction::Answer(job, result));
                }
                Message::Failed(message) => refused.emit(message),
                other => {
                    RunState::of_message(other)
                        .into_iter()
                        .for_each(|run| dispatch.dispatch(InspectAction::Run(job, run)));
                }
            }
        });
        *self.job.0.borrow_mut() = Some((engine.clone(), job));
        engine.send_as(job, JobRequest::Inspect(ask).into(), file, on_message);
    }

    /// Asks for the chosen view. A new question makes this answer obsolete.
    pub fn show(&self) -> Option<(Engine, JobId)> {
        let engine = match self.engine() {
            Ok(engine) => engine,
            Err(message) => {
                self.state.dispatch(InspectAction::Refuse(message));
                return None;
            }
        };
        let job = Engine::next_job();
        self.state.dispatch(InspectAction::Ask(engine.clone(), job, Box::new(self.state.spec.clone())));
        let state = self.state.dispatcher();
        let refused = Callback::from(move |message| state.dispatch(InspectAction::Run(job, RunState::Failed(message))));
        self.send(&engine, job, InspectAsk::Show(Box::new(self.state.spec.clone())), None, refused);
        Some((engine, job))
    }

    /// Makes a choice.
    pub fn choose(&self, field: InspectField, text: impl Into<String>) {
        self.state.dispatch(InspectAction::Choose(field, text.into()));
    }

    /// Opens or closes a module.
    pub fn toggle(&self, id: &str) {
        self.state.dispatch(InspectAction::Toggle(id.to_owned()));
    }

    /// Follows a row of a document: `node=PATH` or `pass=N`.
    pub fn follow(&self, target: &str) {
        match target.split_once('=') {
            Some(("node", id)) => {
                self.choose(InspectField::View, "");
                self.choose(InspectField::Selected, id);
            }
            Some(("pass", number)) => self.choose(InspectField::Pass, number),
            _ => {}
        }
    }

    /// Cancels the awaited answer.
    pub fn cancel(&self) {
        self.job.cancel();
    }

    /// Saves a file of the current view.
    pub fn save(&self, file: InspectFile) {
        let Some(engine) = self.state.engine.clone() else { return };
        let on_message = say_failure(Some(self.app.notices.clone()));
        let ask = InspectAsk::Save(Box::new(self.state.spec.clone()), file);
        engine.send(JobRequest::Inspect(ask), None, on_message);
    }
}
