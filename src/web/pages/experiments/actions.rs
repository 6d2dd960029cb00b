//! What the buttons of the page of experiments do.

use web_sys::File;
use yew::prelude::*;

use crate::base::units::format_bytes;
use crate::session::{Event, ExperimentField, JobId, RecordsAsk, RecordsFile, RecordsKey, RecordsTold, Request};
use crate::web::app::{Job, RunningJob};
use crate::web::context::AppContext;
use crate::web::platform::folder::bundle_files;
use crate::web::platform::{clipboard, url};
use crate::web::state::RunState;
use crate::web::state::experiments::{ExperimentsAction, ExperimentsState};
use crate::web::state::notices::{NoticeAction, Tone};
use crate::web::worker::Engine;

/// The page holds one set.
const SET: RecordsKey = RecordsKey(0);

/// What the sample is called where files of links are.
const SAMPLE: &str = "sample";

/// Whether a file holds records by its name.
#[must_use]
pub fn is_records_file(file: &File) -> bool {
    file.name().to_ascii_lowercase().ends_with(".jsonl")
}

/// Reads files beside those that are open. A single file that holds nothing to compare goes to `otherwise`, with the reason.
pub fn read_files(
    app: &AppContext,
    state: &UseReducerHandle<ExperimentsState>,
    slot: &RunningJob,
    files: &[File],
    otherwise: Option<Callback<(File, String)>>,
) {
    let say = |message: String| app.notices.dispatch(NoticeAction::Say(Tone::Bad, message));
    let (file, otherwise) = match files {
        [] => return,
        [one] => (
            one.clone(),
            otherwise.map(|otherwise| {
                otherwise.reform({
                    let one = one.clone();
                    move |reason: String| (one.clone(), reason)
                })
            }),
        ),
        several => match bundle_files(several) {
            Ok(file) => (file, None),
            Err(message) => return say(message),
        },
    };
    let name = file.name();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // file sizes are whole and below 2^53
    let size = file.size() as u64;
    let label = format!("Reading {name}");
    start(app, state, slot, label, RecordsAsk::Read { name, size }, Some(file), otherwise);
}

fn start(
    app: &AppContext,
    state: &UseReducerHandle<ExperimentsState>,
    slot: &RunningJob,
    label: String,
    ask: RecordsAsk,
    file: Option<File>,
    otherwise: Option<Callback<String>>,
) {
    if slot.borrow().is_some() {
        let text = "Another file is being read. Wait, or cancel that, then open it again.".to_owned();
        app.notices.dispatch(NoticeAction::Say(Tone::Bad, text));
        return;
    }
    let held = state.engine.clone().filter(Engine::is_alive);
    let engine = match held.map_or_else(|| app.pool.take(), Ok) {
        Ok(engine) => engine,
        Err(message) => return state.dispatch(ExperimentsAction::Run(RunState::Failed(message))),
    };
    state.dispatch(ExperimentsAction::Start(engine.clone(), label));
    let (dispatch, free) = (state.dispatcher(), slot.clone());
    let on_event = Callback::from(move |event: Event| {
        if event.is_last() {
            free.borrow_mut().take();
        }
        match event {
            Event::Progress { done, total, label, .. } => {
                dispatch.dispatch(ExperimentsAction::Run(RunState::Running { done, total, label }));
            }
            Event::Records { told, .. } => {
                if let RecordsTold::Read(read) = *told {
                    dispatch.dispatch(ExperimentsAction::Read(read));
                }
            }
            Event::Cancelled { .. } => dispatch.dispatch(ExperimentsAction::Run(RunState::Cancelled)),
            Event::Failed { message, .. } => match &otherwise {
                Some(otherwise) => {
                    dispatch.dispatch(ExperimentsAction::Run(RunState::Idle));
                    otherwise.emit(message);
                }
                None => dispatch.dispatch(ExperimentsAction::Run(RunState::Failed(message))),
            },
            _ => {}
        }
    });
    let job = engine.send(|job| Request::Records { job, set: SET, ask }, file, on_event);
    if engine.is_alive() {
        *slot.borrow_mut() = Some((engine, job));
    }
}

/// What the buttons of the page do.
#[derive(Clone, PartialEq)]
pub struct Actions {
    /// Workers and notices.
    pub app: AppContext,
    /// What the page shows.
    pub state: UseReducerHandle<ExperimentsState>,
    /// The reading that can be cancelled.
    pub job: Job,
}

impl Actions {
    /// Reads the sample.
    pub fn load_sample(&self) {
        self.unpack(SAMPLE);
    }

    /// Reads the files of a link.
    pub fn unpack(&self, data: &str) {
        let label = "Reading the files of the link".to_owned();
        start(&self.app, &self.state, &self.job.0, label, RecordsAsk::Unpack(data.to_owned()), None, None);
    }

    /// Reads files.
    pub fn read(&self, files: &[File]) {
        read_files(&self.app, &self.state, &self.job.0, files, None);
    }

    /// Asks for the view; `None` when nothing is held.
    pub fn show(&self, on_event: Callback<Event>) -> Option<(Engine, JobId)> {
        let engine = self.state.engine.clone().filter(Engine::is_alive)?;
        let ask = RecordsAsk::Show(Box::new(self.state.spec.clone()));
        let job = engine.send(|job| Request::Records { job, set: SET, ask }, None, on_event);
        Some((engine, job))
    }

    /// Makes a choice.
    pub fn choose(&self, field: ExperimentField, text: String) {
        self.state.dispatch(ExperimentsAction::Choose(field, text));
    }

    /// Stops the reading.
    pub fn cancel(&self) {
        let running = self.job.0.borrow().clone();
        if let Some((engine, job)) = running {
            engine.cancel(job);
        }
    }

    /// Puts all records away.
    pub fn clear(&self) {
        self.cancel();
        self.state.dispatch(ExperimentsAction::Clear);
    }

    /// Saves what the command line prints of this view.
    pub fn save(&self, file: RecordsFile) {
        let Some(engine) = self.state.engine.clone() else { return };
        let notices = self.app.notices.clone();
        let on_event = Callback::from(move |event: Event| {
            if let Event::Failed { message, .. } = event {
                notices.dispatch(NoticeAction::Say(Tone::Bad, message));
            }
        });
        let ask = RecordsAsk::Save(Box::new(self.state.spec.clone()), file);
        engine.send(|job| Request::Records { job, set: SET, ask }, None, on_event);
    }

    /// Copies the address of this view, and says whether it holds the files.
    pub fn copy_link(&self) {
        let address = url::address_with(&self.state.link().print());
        let (app, shown) = (self.app.clone(), address.clone());
        let holds = self.holds();
        let done = Callback::from(move |result: Result<(), String>| {
            let (tone, text) = match result {
                Ok(()) => (Tone::Good, format!("The link is in the clipboard. {holds}")),
                Err(reason) => (Tone::Info, format!("The clipboard refused ({reason}). {holds} The link is: {shown}")),
            };
            app.notices.dispatch(NoticeAction::Say(tone, text));
        });
        clipboard::copy(&address, done);
    }

    /// What a link holds, in a sentence.
    pub fn holds(&self) -> String {
        let Some(read) = &self.state.read else { return String::new() };
        let bytes: u64 = read.files.iter().map(|(_, size)| size).sum();
        let size = format_bytes(bytes as f64);
        match &read.packed {
            Some(packed) if packed == SAMPLE => "It opens the sample.".to_owned(),
            Some(packed) => format!("It holds the records too ({size}, as {} letters).", packed.len()),
            None => format!("It holds this view, not the records ({size}): send the files along."),
        }
    }
}
