//! Actions of the buttons on the experiments page.

use std::cell::RefCell;

use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use crate::answers::say_failure;
use crate::context::AppContext;
use crate::context::{JobSlot, RunningJob};
use crate::platform::download;
use crate::platform::folder::bundle_files;
use crate::shelf::{keep_file, kept_file};
use crate::state::{ExperimentsAction, ExperimentsState, StateDispatcher, StateHandle};
use crate::sweep::kept_results;
use crate::worker::{Engine, Program};
use ns_base::convert::f64_to_u64;
use ns_page::RunState;
use ns_page::experiments::SAMPLE;
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_session::share::{ExperimentLink, PageLink as _};
use ns_session::shelf::ItemKind;
use ns_session::{
    ExperimentField, JobId, JobRequest, JobResult, Message, QuestionRequest, RecordsAsk, RecordsFile, RecordsKey,
    RecordsSource,
};

/// Key of the set of records: the page holds one.
pub const SET: RecordsKey = RecordsKey(0);

/// Reads files and adds them to those that are open.
pub fn read_files(app: &AppContext, state: &StateHandle<ExperimentsState>, slot: &RunningJob, files: &[File]) {
    let say = |message: String| app.notices.dispatch(NoticeAction::Say(Tone::Bad, message));
    let file = match files {
        [] => return,
        [one] => one.clone(),
        several => match bundle_files(several) {
            Ok(file) => file,
            Err(message) => return say(message),
        },
    };
    let name = file.name();
    let size = f64_to_u64(file.size());
    let label = format!("Reading {name}");
    start(app, state, slot, label, RecordsSource::File { name, size }, Some((file, files.to_vec())));
}

/// Keeps files that were read for the next visit.
fn keep(files: Vec<File>, notices: StateDispatcher<Notices>) {
    spawn_local(async move {
        // Results that this browser keeps are on its shelf already.
        for file in files.into_iter().filter(|file| kept_results(&file.name()).is_none()) {
            let link = ExperimentLink { files: vec![file.name()], ..ExperimentLink::default() }.hash();
            if let Err(message) = keep_file(ItemKind::Records, file, link).await {
                notices.dispatch(NoticeAction::Say(Tone::Info, message));
            }
        }
    });
}

fn start(
    app: &AppContext,
    state: &StateHandle<ExperimentsState>,
    slot: &RunningJob,
    label: String,
    from: RecordsSource,
    file: Option<(File, Vec<File>)>,
) {
    let (file, read) = file.unzip();
    // The sample is an example: files take its place, also while it is still being read.
    let reading = slot.borrow_mut().take_if(|_| state.is_reading_sample);
    if let Some((engine, job)) = &reading {
        engine.forget(*job);
    }
    let replaces_sample = reading.is_some() || state.is_sample();
    if slot.borrow().is_some() {
        let text = "Another file is being read. Wait for it or cancel it, then open this one again.".to_owned();
        app.notices.dispatch(NoticeAction::Say(Tone::Bad, text));
        return;
    }
    let alive = state.engine.clone().filter(|engine| engine.is_alive() && !replaces_sample);
    let is_sample = matches!(&from, RecordsSource::Link(data) if data == SAMPLE);
    if replaces_sample {
        state.dispatch(ExperimentsAction::Replace);
    }
    let engine = match alive.map_or_else(|| app.pool.take(Program::Studies), Ok) {
        Ok(engine) => engine,
        Err(message) => return state.dispatch(ExperimentsAction::Run(RunState::Failed(message))),
    };
    state.dispatch(ExperimentsAction::Start(engine.clone(), label, is_sample));
    let (dispatch, free) = (state.dispatcher(), slot.clone());
    let (notices, files) = (app.notices.clone(), RefCell::new(read.unwrap_or_default()));
    let on_message = Callback::from(move |message: Message| {
        if message.is_last() {
            free.borrow_mut().take();
        }
        match message {
            Message::Done(JobResult::Records(read)) => {
                keep(files.take(), notices.clone());
                dispatch.dispatch(ExperimentsAction::Read(read));
            }
            other => {
                RunState::of_message(other).into_iter().for_each(|run| dispatch.dispatch(ExperimentsAction::Run(run)))
            }
        }
    });
    let job = engine.send(JobRequest::ReadRecords(SET, from), file, on_message);
    if engine.is_alive() {
        *slot.borrow_mut() = Some((engine, job));
    }
}

/// Actions of the buttons of the page.
#[derive(Clone, PartialEq)]
pub struct ExperimentsActions {
    /// Workers and notices.
    pub app: AppContext,
    /// The state of the page.
    pub state: StateHandle<ExperimentsState>,
    /// The reading that can be cancelled.
    pub job: JobSlot,
}

impl ExperimentsActions {
    /// Reads the sample.
    pub fn load_sample(&self) {
        self.unpack(SAMPLE);
    }

    /// Reads the files of a link.
    pub fn unpack(&self, data: &str) {
        let label = "Reading the files of the link".to_owned();
        start(&self.app, &self.state, &self.job.0, label, RecordsSource::Link(data.to_owned()), None);
    }

    /// Reads the files that the link names, if this browser keeps all of them.
    pub fn read_linked(&self) {
        let (actions, wanted) = (self.clone(), self.state.linked_files.clone());
        spawn_local(async move {
            let mut files = Vec::new();
            for name in &wanted {
                let found = match kept_results(name) {
                    None => kept_file(ItemKind::Records, name).await,
                    found => found,
                };
                match found {
                    Some(Ok(file)) => files.push(file),
                    Some(Err(message)) => {
                        return actions.app.notices.dispatch(NoticeAction::Say(Tone::Bad, message));
                    }
                    None => return,
                }
            }
            actions.read(&files);
        });
    }

    pub fn read(&self, files: &[File]) {
        read_files(&self.app, &self.state, &self.job.0, files);
    }

    /// Asks for the view; `None` without records.
    pub fn show(&self, on_message: Callback<Message>) -> Option<(Engine, JobId)> {
        let engine = self.state.engine.clone().filter(Engine::is_alive)?;
        let ask = RecordsAsk::Show(Box::new(self.state.spec.clone()));
        let job = engine.send(QuestionRequest::Records(SET, ask), None, on_message);
        Some((engine, job))
    }

    /// Makes a choice.
    pub fn choose(&self, field: ExperimentField, text: String) {
        self.state.dispatch(ExperimentsAction::Choose(field, text));
    }

    /// Stops the reading.
    pub fn cancel(&self) {
        self.job.cancel();
    }

    /// Closes all records.
    pub fn put_away(&self) {
        self.stop_reading();
        self.state.dispatch(ExperimentsAction::Clear);
    }

    /// Drops what is being read.
    pub fn stop_reading(&self) {
        let reading = self.job.0.borrow_mut().take();
        if let Some((engine, job)) = reading {
            engine.give_up(job);
        }
    }

    /// Saves the command line's output for this view.
    pub fn save(&self, file: RecordsFile) {
        let Some(engine) = self.state.engine.clone() else { return };
        let on_message = say_failure(Some(self.app.notices.clone()));
        let ask = RecordsAsk::Save(Box::new(self.state.spec.clone()), file);
        engine.send(QuestionRequest::Records(SET, ask), None, on_message);
    }

    /// Downloads the results that this browser keeps, a file each.
    pub fn download_results(&self) {
        for name in self.state.kept_results() {
            let saved = match kept_results(&name) {
                Some(file) => file.and_then(|file| download::save_blob(&name, &file)),
                None => Err(format!("{name} is no longer kept. Run the benchmark again.")),
            };
            if let Err(message) = saved {
                self.app.notices.dispatch(NoticeAction::Say(Tone::Bad, message));
            }
        }
    }
}
