//! What the buttons of the profile page do.

use web_sys::File;
use yew::prelude::*;

use super::queries::say_failure;
use crate::profile::formats::WriteFormat;
use crate::session::share::Tool;
use crate::session::{Event, ExportKind, OperatorKind, ProfileInfo, ProfileOrigin, ProfileSpec, Request, TraceSpec};
use crate::web::app::{Job, RunningJob};
use crate::web::context::AppContext;
use crate::web::platform::{clipboard, download, url};
use crate::web::state::RunState;
use crate::web::state::notices::{NoticeAction, Tone};
use crate::web::state::profile::{ProfileAction, ProfileState};
use crate::web::timeline::Controller;
use crate::web::worker::Engine;

/// What the buttons of the page do.
#[derive(Clone, PartialEq)]
pub struct Actions {
    /// Workers and notices.
    pub app: AppContext,
    /// What the page shows.
    pub state: UseReducerHandle<ProfileState>,
    /// The run that can be cancelled.
    pub job: Job,
}

/// A picture of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Scalable, with its texts.
    Svg,
    /// In the pixels of the screen.
    Png,
}

/// Reads a file in a worker of its own; what is open stays open until it is read.
pub fn open_file(app: &AppContext, state: &UseReducerHandle<ProfileState>, slot: &RunningJob, file: File) {
    if slot.borrow().is_some() {
        let text = format!(
            "{} was not opened: another run or file is being worked on. Cancel that, or wait, then open it again.",
            file.name()
        );
        app.notices.dispatch(NoticeAction::Say(Tone::Bad, text));
        return;
    }
    let name = file.name();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // file sizes are whole and below 2^53
    let size = file.size() as u64;
    let label = format!("Reading {name}");
    start(app, state, slot, label, ProfileAction::Ready, move |engine, on_event| {
        engine.send(|job| Request::Open { job, name, size }, Some(file), on_event)
    });
}

fn start(
    app: &AppContext,
    state: &UseReducerHandle<ProfileState>,
    slot: &RunningJob,
    label: String,
    ready: fn(Box<ProfileInfo>, Engine) -> ProfileAction,
    send: impl FnOnce(&Engine, Callback<Event>) -> crate::session::JobId,
) {
    let engine = match app.pool.take() {
        Ok(engine) => engine,
        Err(message) => {
            state.dispatch(ProfileAction::End(RunState::Failed(message)));
            return;
        }
    };
    state.dispatch(ProfileAction::Start(label));
    let (dispatch, free, own) = (state.dispatcher(), slot.clone(), engine.clone());
    let notices = app.notices.clone();
    let on_event = Callback::from(move |event: Event| {
        if event.is_last() {
            free.borrow_mut().take();
        }
        match event {
            Event::Progress { done, total, label, .. } => {
                dispatch.dispatch(ProfileAction::Progress(RunState::Running { done, total, label }));
            }
            Event::ProfileReady { info, .. } => {
                if !info.also.is_empty() {
                    let text = format!("The file holds {} profiles; Run lists them.", info.also.len() + 1);
                    notices.dispatch(NoticeAction::Say(Tone::Info, text));
                }
                dispatch.dispatch(ready(info, own.clone()));
            }
            Event::Cancelled { .. } => dispatch.dispatch(ProfileAction::End(RunState::Cancelled)),
            Event::Failed { message, .. } => dispatch.dispatch(ProfileAction::End(RunState::Failed(message))),
            _ => {}
        }
    });
    let job = send(&engine, on_event);
    if engine.is_alive() {
        *slot.borrow_mut() = Some((engine, job));
    }
}

impl Actions {
    /// Profiles what is in the form.
    pub fn run(&self) {
        if self.job.0.borrow().is_some() {
            return;
        }
        let spec = self.state.link.spec.clone();
        if self.state.link.tool == Tool::Trace {
            return self.run_benchmark(spec);
        }
        self.run_execution(spec);
    }

    fn run_execution(&self, spec: ProfileSpec) {
        let label = format!("Profiling {}", spec.model);
        start(&self.app, &self.state, &self.job.0, label, ProfileAction::Ready, move |engine, on_event| {
            engine.send(|job| Request::Profile { job, spec }, None, on_event)
        });
    }

    /// Profiles the run that a link compares with, beside the one that is shown.
    pub fn run_base(&self, spec: ProfileSpec) {
        if self.job.0.borrow().is_some() {
            return;
        }
        // Once: whoever closes it wants it closed.
        self.state.dispatch(ProfileAction::Adjust(Box::new(|link| link.compare.base_run = None)));
        let label = format!("Profiling the base, {}", spec.model);
        start(&self.app, &self.state, &self.job.0, label, ProfileAction::ReadyBeside, move |engine, on_event| {
            engine.send(|job| Request::Profile { job, spec }, None, on_event)
        });
    }

    fn run_benchmark(&self, spec: ProfileSpec) {
        let label = format!("Benchmarking {}", spec.model);
        start(&self.app, &self.state, &self.job.0, label, ProfileAction::Ready, move |engine, on_event| {
            engine.send(|job| Request::Trace { job, spec: Box::new(TraceSpec::of(spec)) }, None, on_event)
        });
    }

    /// Shows the timeline of a benchmark of what the shown run executes once: one that is open, or a new run. The shown run
    /// stays open as it is.
    pub fn trace_benchmark(&self) {
        if let Some(id) = self.state.benchmark_of_shown() {
            self.state.dispatch(ProfileAction::Show(id));
            return self.state.dispatch(ProfileAction::Tool(Tool::Trace));
        }
        let Some(spec) = self.state.shown_run().and_then(|run| run.spec().cloned()) else { return };
        if self.job.0.borrow().is_none() {
            self.state.dispatch(ProfileAction::TraceAsked);
            self.run_benchmark(spec);
        }
    }

    /// Stops the run or the reading of a file.
    pub fn cancel(&self) {
        let running = self.job.0.borrow().clone();
        if let Some((engine, job)) = running {
            engine.cancel(job);
        }
    }

    /// Copies the address of this view.
    pub fn copy_link(&self) {
        let address = url::address_with(&self.state.as_link().print());
        let app = self.app.clone();
        let shown = address.clone();
        let of_file = self.state.link.file.clone();
        let done = Callback::from(move |result: Result<(), String>| {
            let (tone, text) = match (result, &of_file) {
                (Ok(()), None) => {
                    (Tone::Good, "The link is in the clipboard: it shows this profile after Run.".to_owned())
                }
                (Ok(()), Some(file)) => (
                    Tone::Info,
                    format!(
                        "The link is in the clipboard. It holds this view and the name {file}, not the file: send that along."
                    ),
                ),
                (Err(reason), _) => (Tone::Info, format!("The clipboard refused ({reason}). The link is: {shown}")),
            };
            app.notices.dispatch(NoticeAction::Say(tone, text));
        });
        clipboard::copy(&address, done);
    }

    /// Saves what the tool shows: the timeline as Chrome trace JSON; the summary and operators as the command line's `profile --json` and
    /// `open --json` print them.
    pub fn download_json(&self) {
        let Some(run) = self.state.shown_run() else { return };
        let has_summary = run.insights.as_ref().is_some_and(Option::is_some);
        self.export(match (run.operator_kind(self.state.link.tool), &run.info.origin) {
            (None, _) if self.state.link.tool == Tool::Summary && has_summary => ExportKind::SummaryJson,
            (None, ProfileOrigin::File { .. } | ProfileOrigin::Benchmark(_))
                if self.state.link.tool == Tool::Summary =>
            {
                ExportKind::OpenJson
            }
            (None, _) => ExportKind::ChromeJson,
            (Some(_), ProfileOrigin::Simulated(_)) => ExportKind::ProfileJson,
            (Some(_), ProfileOrigin::File { .. } | ProfileOrigin::Benchmark(_)) => ExportKind::OpenJson,
        });
    }

    /// Saves the operator table that is shown, of the span that is counted.
    pub fn download_csv(&self) {
        let Some(run) = self.state.shown_run() else { return };
        let kind = run.operator_kind(self.state.link.tool).or_else(|| run.info.operators.first().copied());
        let kind = kind.unwrap_or(OperatorKind::Slices);
        let level = self.state.level().filter(|_| kind == OperatorKind::Slices);
        self.export(ExportKind::OperatorsCsv(kind, self.state.counted_span(Some(kind)), level));
    }

    /// Saves the timeline in the format of another tool.
    pub fn download_trace(&self, format: WriteFormat) {
        self.export(ExportKind::Trace(format));
    }

    /// Saves the timeline on the screen as a picture.
    pub fn download_picture(&self, kind: Picture) {
        let (Some(timeline), Some(run)) = (Controller::on_screen(), self.state.shown_run()) else { return };
        let name: String = run
            .info
            .name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
            .collect();
        let say = {
            let notices = self.app.notices.clone();
            move |result: Result<(), String>| {
                if let Err(message) = result {
                    notices.dispatch(NoticeAction::Say(Tone::Bad, message));
                }
            }
        };
        match kind {
            Picture::Svg => {
                say(download::save(&format!("{name}.svg"), "image/svg+xml", timeline.svg().as_bytes()));
            }
            Picture::Png => {
                if let Some(canvas) = timeline.painted() {
                    download::save_canvas(format!("{name}.png"), &canvas, say);
                }
            }
        }
    }

    fn export(&self, kind: ExportKind) {
        let Some(run) = self.state.shown_run() else { return };
        let on_event = say_failure(Some(self.app.notices.clone()));
        let profile = run.info.profile;
        let marks = self.state.link.annotations.clone();
        run.engine.send(|job| Request::Export { job, profile, kind, marks }, None, on_event);
    }
}
