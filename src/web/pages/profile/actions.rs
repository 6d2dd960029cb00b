//! Actions of the buttons on the profile page.

use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use crate::answers::say_failure;
use crate::context::AppContext;
use crate::context::JobSlot;
use crate::pages::benchmark::open_model;
use crate::platform::download::file_of;
use crate::platform::fetch::file_beside_page;
use crate::platform::{date, download, url};
use crate::shelf::{self, keep_file, kept_file};
use crate::state::{ProfileAction, ProfileState, StateDispatcher, StateHandle};
use crate::timeline::Controller;
use crate::worker::{Engine, Program};
use ns_base::convert::f64_to_u64;
use ns_formats::WriteFormat;
use ns_page::RunState;
use ns_page::file_queue::reading_label;
use ns_page::notices::{NoticeAction, Notices, Tone};
use ns_page::profile::{ProfileArrival, SAMPLE, ToolSetting};
use ns_session::share::{PageLink as _, ProfileLink, Tool, file_label, is_study_file};
use ns_session::shelf::ItemKind;
use ns_session::{
    AnalysisRequest, ExportKind, JobRequest, JobResult, Message, ModelKind, OpenedModel, OperatorKind, ProfileInfo,
    ProfileOrigin, ProfileQuestion, ProfileSpec, TraceSpec,
};

/// Actions of the buttons of the page.
#[derive(Clone, PartialEq)]
pub struct ProfileActions {
    /// Workers and notices.
    pub app: AppContext,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
    /// The run that can be cancelled.
    pub job: JobSlot,
}

/// Format of a picture of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// SVG: scalable, with its texts.
    Svg,
    /// PNG: in the pixels of the screen.
    Png,
}

/// Opens a model file, and profiles it.
pub fn open_for_profile(app: &AppContext, state: &StateDispatcher<ProfileState>, file: File) {
    state.dispatch(ProfileAction::ModelGiven(file.name()));
    let (name, state) = (file.name(), state.clone());
    let then = Callback::from(move |opened: Result<OpenedModel, String>| {
        state.dispatch(ProfileAction::ModelOpened(name.clone(), opened.map(|opened| opened.id)));
    });
    open_model(app, file, then);
}

/// The action for a profile once it is read.
type Ready = fn(ProfileArrival<Engine>) -> ProfileAction;

/// The file with a name: the trace that ships with the page, or one that this browser keeps.
async fn named_file(name: &str) -> Option<Result<File, String>> {
    match name {
        SAMPLE => Some(file_beside_page(SAMPLE, SAMPLE).await),
        name => kept_file(ItemKind::Profile, name).await,
    }
}

/// Keeps a profile for the next visit, whether it was simulated or opened.
fn keep(info: &ProfileInfo, opened: Option<File>, notices: &StateDispatcher<Notices>) {
    let link = |link: ProfileLink| ProfileLink { tool: Tool::Overview, ..link }.hash();
    match (&info.origin, opened) {
        // The link to a run of a model file can repeat the run only if the file is kept too.
        (ProfileOrigin::Simulated(spec), _)
            if ModelKind::of(&spec.model) != ModelKind::File || shelf::kept_model(&spec.model).is_some() =>
        {
            let link = link(ProfileLink { spec: spec.clone(), ..ProfileLink::default() });
            shelf::keep_link(ItemKind::Run, &info.name, &link);
        }
        (ProfileOrigin::File { .. }, Some(file)) => {
            let link = link(ProfileLink { file: Some(file.name()), ..ProfileLink::default() });
            let notices = notices.clone();
            spawn_local(async move {
                if let Err(message) = keep_file(ItemKind::Profile, file, link).await {
                    notices.dispatch(NoticeAction::Say(Tone::Info, message));
                }
            });
        }
        // A benchmark run is made from the run of its model.
        _ => {}
    }
}

impl ProfileActions {
    /// Reads a file in a separate worker; open profiles stay open until it is read.
    pub fn open_file(&self, wish: Option<u32>, file: File) {
        self.open_file_as(wish, file, ProfileAction::Ready);
    }

    fn open_file_as(&self, wish: Option<u32>, file: File, ready: Ready) {
        let name = file.name();
        let size = f64_to_u64(file.size());
        let label = reading_label(&name);
        self.begin(wish, label, ready, JobRequest::Open { name, size }, Some(file));
    }

    fn begin(&self, wish: Option<u32>, label: String, ready: Ready, request: JobRequest, file: Option<File>) {
        let Self { app, state, job: JobSlot(slot) } = self;
        // What was asked for last comes first.
        if let Some((engine, job)) = slot.borrow_mut().take() {
            engine.give_up(job);
            // Nobody misses a run that gave way to another one.
            if let RunState::Running { label, .. } = &state.run
                && label.starts_with(&reading_label(""))
            {
                let text = format!("{label} was stopped: something else was asked for since.");
                app.notices.dispatch(NoticeAction::Say(Tone::Info, text));
            }
        }
        let program = if file.is_some() { Program::Viewer } else { Program::of(&request) };
        let engine = match app.pool.take(program) {
            Ok(engine) => engine,
            Err(message) => {
                state.dispatch(ProfileAction::End(RunState::Failed(message)));
                return;
            }
        };
        let job = Engine::next_job();
        state.dispatch(ProfileAction::Start(wish, label));
        let (dispatch, free, own) = (state.dispatcher(), slot.clone(), engine.clone());
        let notices = app.notices.clone();
        let opened = file.clone().filter(|file| file.name() != SAMPLE && !is_study_file(&file.name()));
        let actions = self.clone();
        let on_message = Callback::from(move |message: Message| {
            if message.is_last() {
                free.borrow_mut().take_if(|(_, running)| *running == job);
            }
            match message {
                running @ Message::Progress { .. } => {
                    RunState::of_message(running)
                        .into_iter()
                        .for_each(|run| dispatch.dispatch(ProfileAction::Progress(run)));
                }
                Message::Done(JobResult::Profile(info)) => {
                    if !info.also.is_empty() {
                        let text = format!("The file holds {} profiles; Run lists them.", info.also.len() + 1);
                        notices.dispatch(NoticeAction::Say(Tone::Info, text));
                    }
                    keep(&info, opened.clone(), &notices);
                    let arrived = ProfileArrival { info, engine: own.clone(), run_name: date::run_name() };
                    dispatch.dispatch(ready(arrived));
                }
                Message::Done(JobResult::StudyTrace { name, text }) => match file_of(&name, &text) {
                    Ok(file) => actions.open_file_as(wish, file, ready),
                    Err(message) => dispatch.dispatch(ProfileAction::End(RunState::Failed(message))),
                },
                other => {
                    RunState::of_message(other).into_iter().for_each(|end| dispatch.dispatch(ProfileAction::End(end)))
                }
            }
        });
        if engine.is_alive() {
            *slot.borrow_mut() = Some((engine.clone(), job));
        }
        engine.send_as(job, request.into(), file, on_message);
    }

    /// Makes the run that was asked for.
    pub fn run(&self) {
        self.make(Some(self.state.wish), self.state.link.spec.clone());
    }

    /// Asks for a run of the model in the form, and makes it.
    pub fn run_draft(&self) {
        let spec = self.state.draft.clone();
        self.state.dispatch(ProfileAction::RunAsked(spec.clone()));
        self.make(None, spec);
    }

    fn make(&self, wish: Option<u32>, spec: ProfileSpec) {
        if self.state.link.tool == Tool::Trace {
            return self.run_benchmark(wish, spec);
        }
        let label = format!("Profiling {}", spec.model);
        self.begin(wish, label, ProfileAction::Ready, JobRequest::Profile(spec), None);
    }

    /// Profiles the run that a link compares with, beside the one that is shown.
    pub fn run_base(&self, spec: ProfileSpec) {
        if self.job.0.borrow().is_some() {
            return;
        }
        // Only once: a base that the user closed stays closed.
        self.state.dispatch(ProfileAction::Adjust(ToolSetting::NoBaseRun));
        let label = format!("Profiling the base, {}", spec.model);
        self.begin(Some(self.state.wish), label, ProfileAction::ReadyBeside, JobRequest::Profile(spec), None);
    }

    fn run_benchmark(&self, wish: Option<u32>, spec: ProfileSpec) {
        let label = format!("Benchmarking {}", spec.model);
        let request = JobRequest::Trace(Box::new(TraceSpec::of(spec)));
        self.begin(wish, label, ProfileAction::Ready, request, None);
    }

    /// Shows the timeline of a benchmark of the model that the shown run executes once: one that is open, or a new run. The
    /// shown run stays open as it is.
    pub fn trace_benchmark(&self) {
        if let Some(id) = self.state.benchmark_of_visible_run() {
            self.state.dispatch(ProfileAction::Show(id));
            return self.state.dispatch(ProfileAction::Tool(Tool::Trace));
        }
        let Some(spec) = self.state.current_run().and_then(|run| run.spec().cloned()) else { return };
        if self.job.0.borrow().is_none() {
            self.state.dispatch(ProfileAction::TraceAsked);
            self.run_benchmark(Some(self.state.wish), spec);
        }
    }

    /// Opens the file that the link names: the trace that ships with the page, or one that this browser keeps.
    pub fn open_linked_file(&self) {
        let Some(name) = self.state.link.file.clone() else { return };
        if is_study_file(&name) {
            let label = format!("Making the timeline of {}", file_label(&name));
            return self.begin(Some(self.state.wish), label, ProfileAction::Ready, JobRequest::StudyTrace(name), None);
        }
        let actions = self.clone();
        spawn_local(async move {
            match named_file(&name).await {
                Some(Ok(file)) => actions.open_file(Some(actions.state.wish), file),
                Some(Err(message)) => actions.state.dispatch(ProfileAction::End(RunState::Failed(message))),
                None => actions.state.dispatch(ProfileAction::NoFile),
            }
        });
    }

    /// Opens the file that the link compares with beside the shown one, if it is kept. If it is not, the tool says what is
    /// missing.
    pub fn open_base(&self, name: String) {
        let actions = self.clone();
        spawn_local(async move {
            match named_file(&name).await {
                Some(Ok(file)) => actions.open_file_as(Some(actions.state.wish), file, ProfileAction::ReadyBeside),
                Some(Err(message)) => actions.app.notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
                None => {}
            }
        });
    }

    /// Stops the run or the reading of a file.
    pub fn cancel(&self) {
        if self.job.0.borrow().is_none() {
            self.state.dispatch(ProfileAction::End(RunState::Cancelled));
        }
        self.job.cancel();
    }

    /// Saves the content of the tool: the timeline as Chrome trace JSON; the summary and operators as `profile --json` and
    /// `open --json` of the command line print them.
    pub fn download_json(&self) {
        let Some(run) = self.state.current_run() else { return };
        let is_summary = self.state.link.tool == Tool::Summary;
        self.export(match (run.operator_kind(self.state.link.tool), &run.info.origin) {
            (None, _) if !is_summary => ExportKind::ChromeJson,
            (None, ProfileOrigin::Simulated(_)) => ExportKind::SummaryJson,
            (None, ProfileOrigin::File { .. } | ProfileOrigin::Benchmark(_)) => ExportKind::OpenJson,
            (Some(_), ProfileOrigin::Simulated(_)) => ExportKind::ProfileJson,
            (Some(_), ProfileOrigin::File { .. } | ProfileOrigin::Benchmark(_)) => ExportKind::OpenJson,
        });
    }

    /// Saves the shown operator table, for the counted span.
    pub fn download_csv(&self) {
        let Some(run) = self.state.current_run() else { return };
        let kind = run.operator_kind(self.state.link.tool).or_else(|| run.info.operators.first().copied());
        let kind = kind.unwrap_or(OperatorKind::Slices);
        let level = self.state.level().filter(|_| kind == OperatorKind::Slices);
        self.export(ExportKind::OperatorsCsv(
            kind,
            self.state.counted_span(Some(kind)),
            level,
            self.state.link.instances,
        ));
    }

    /// Saves the overview as one HTML file.
    pub fn download_page(&self) {
        let Some(run) = self.state.current_run() else { return };
        let on_message = say_failure(Some(self.app.notices.clone()));
        let (profile, base) = (run.info.profile, url::address_with(""));
        run.engine.send(AnalysisRequest::Page(base).of(profile), None, on_message);
    }

    /// Saves the timeline in the format of another tool.
    pub fn download_trace(&self, format: WriteFormat) {
        self.export(ExportKind::Trace(format));
    }

    /// Saves the timeline on the screen as a picture.
    pub fn download_picture(&self, kind: Picture) {
        let (Some(timeline), Some(run)) = (Controller::on_screen(), self.state.current_run()) else { return };
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
        let Some(run) = self.state.current_run() else { return };
        let on_message = say_failure(Some(self.app.notices.clone()));
        let profile = run.info.profile;
        let marks = self.state.link.annotations.clone();
        run.engine.send(ProfileQuestion::Export { kind, marks }.of(profile), None, on_message);
    }
}
