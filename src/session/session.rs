//! The facade: takes requests, works in steps, reports events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use super::analysis::AnalysisRun;
use super::experiments::{RecordSets, RecordsAsk, SAMPLE_NAME, sample, source_of};
use super::held::Held;
use super::inspect::{InspectRun, SharedInspector};
use super::jobs::{
    CompileJob, ConfigurationJob, CpuJob, ImportJob, InspectJob, Job, JobState, KeepModelJob, MakeHeld, MlperfJob,
    OpenJob, OpenModelJob, PlanJob, ProfileJob, RecordsJob, StudyJob, Times, TraceJob, Waiting,
};
use super::protocol::{
    Ask, Control, Event, ExportedFile, JobRequest, JobResult, ProfileQuestion, QuestionRequest, RecordsSource, Reply,
    Request, Told,
};
use super::share::unpack;
use super::{ByteSource, JobId, ProfileKey};
use ns_base::Clock;
use ns_device::ModelLibrary;
use ns_import::ReadModel;
use ns_profile::density::density;

/// Most parts of a density: more than the pixels of any screen are useless.
const MOST_BUCKETS: u32 = 1 << 14;

/// Slices that an analysis reads between two checks of the messages: about 10 ms.
const SLICES_PER_STEP: usize = 1 << 17;

/// Whether a session has more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// All requests are done.
    Idle,
    /// Call [`Session::step`] again.
    More,
}

/// Does the work that shells request, a bounded amount at a time, so that a shell can show progress and cancel between steps.
///
/// Questions about a profile are answered at the next step, even while a job runs; jobs run one after another.
#[derive(Default)]
pub struct Session {
    questions: VecDeque<(JobId, QuestionRequest)>,
    jobs: VecDeque<(JobId, Box<dyn Job>)>,
    /// Questions that take longer, with the profiles they are about; the first is being answered.
    analyses: VecDeque<(JobId, ProfileKey, AnalysisRun)>,
    cancelled: Vec<JobId>,
    /// Paused jobs.
    paused: BTreeSet<JobId>,
    /// Paused jobs whose shell was not told yet.
    resting: Vec<JobId>,
    times: Times,
    /// Model files that are open.
    models: ModelLibrary,
    /// The clock for measured times; a shell that measures provides one.
    clock: Option<Rc<dyn Clock>>,
    /// Requests that were wrong from the start.
    rejected: Vec<(JobId, String)>,
    profiles: BTreeMap<ProfileKey, Held>,
    records: RecordSets,
    inspector: SharedInspector,
    next_profile: u32,
}

impl Session {
    /// An empty session.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same session with a clock, which measuring needs.
    #[must_use]
    pub fn with_clock(self, clock: Rc<dyn Clock>) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// The same session with a reader of model files, which opening one needs: [`read_model`](ns_import::read_model), or a function that asks
    /// another program.
    #[must_use]
    pub fn with_model_reader(mut self, read: ReadModel) -> Self {
        self.models = ModelLibrary::new(read);
        self
    }

    /// Model files opened in the session. A shell that calls other functions itself passes these models on to them.
    #[must_use]
    pub fn models(&self) -> &ModelLibrary {
        &self.models
    }

    /// Takes a request; the work is done by [`Session::step`]. `source` is the file of a [`JobRequest::Open`] or another request for one.
    pub fn handle(&mut self, request: Request, source: Option<Box<dyn ByteSource>>) {
        match request {
            Request::Ask(id, Ask::Job(job)) => match self.job(job, source) {
                Ok(job) => self.jobs.push_back((id, job)),
                Err(message) => self.rejected.push((id, message)),
            },
            Request::Ask(id, Ask::Question(question)) => self.questions.push_back((id, question)),
            Request::Ask(id, Ask::Analysis(profile, asked)) => {
                self.analyses.push_back((id, profile, AnalysisRun::new(asked)));
            }
            Request::Control(control) => self.control(control),
        }
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::Cancel(job) => self.cancelled.push(job),
            Control::Pause(job) => {
                // A job that has ended cannot be paused.
                if self.jobs.iter().any(|(id, _)| *id == job) {
                    self.paused.insert(job);
                    self.resting.push(job);
                }
            }
            Control::Resume(job) => {
                self.paused.remove(&job);
            }
            Control::Close(profile) => {
                self.profiles.remove(&profile);
            }
        }
    }

    /// Makes a job that has not begun.
    ///
    /// # Errors
    /// When the request is wrong from the start: its file did not come, or the shell cannot measure.
    fn job(&mut self, request: JobRequest, source: Option<Box<dyn ByteSource>>) -> Result<Box<dyn Job>, String> {
        let (times, models) = (self.times.clone(), self.models.clone());
        Ok(match request {
            JobRequest::PlanBench(config) => Box::new(PlanJob::new(*config, times, models)),
            JobRequest::RunConfiguration(run) => Box::new(ConfigurationJob::new(*run, times, models)),
            JobRequest::MeasureCpu { copy, configuration } => {
                let no_clock = "this shell has no clock, so nothing can be measured; use device_type neuron";
                Box::new(CpuJob::new(copy, *configuration, Rc::clone(self.clock.as_ref().ok_or(no_clock)?)))
            }
            JobRequest::Mlperf { settings, configuration } => {
                Box::new(MlperfJob::new(*settings, *configuration, times, models))
            }
            JobRequest::Compile(config) => Box::new(CompileJob::new(*config, models)),
            JobRequest::Profile(spec) => Box::new(ProfileJob::new(spec, models)),
            JobRequest::Trace(spec) => Box::new(TraceJob::new(*spec, times, models)),
            JobRequest::Study(spec) => Box::new(StudyJob::new(spec, self.clock.clone(), models)),
            JobRequest::Open { name, .. } => {
                let source = file_of(&name, source)?;
                Box::new(OpenJob::new(name, source))
            }
            JobRequest::OpenModel { name, settings, .. } => {
                let source = file_of(&name, source)?;
                Box::new(OpenModelJob::new(name, *settings, models, source))
            }
            JobRequest::KeepModel { name, .. } => {
                let source = file_of(&name, source)?;
                Box::new(KeepModelJob::new(name, models, source))
            }
            JobRequest::OpenLinkedModel(packed) => Box::new(OpenModelJob::of_link(&packed, models)?),
            JobRequest::Import { name, .. } => {
                let source = file_of(&name, source)?;
                Box::new(ImportJob::new(name, source))
            }
            JobRequest::ReadRecords(set, from) => {
                Box::new(RecordsJob::new(self.records.of(set), waiting_files(from, source)?))
            }
            JobRequest::Inspect(ask) => {
                Box::new(InspectJob::new(InspectRun::new(self.inspector.clone(), models, ask, source)?))
            }
        })
    }

    /// Whether a paused job waits for [`Control::Resume`].
    #[must_use]
    pub fn has_paused(&self) -> bool {
        self.jobs.iter().any(|(id, _)| self.paused.contains(id))
    }

    /// Works for about `budget_events` simulated or read events and sends events to `sink`.
    pub fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) -> StepResult {
        for (job, message) in self.rejected.drain(..) {
            sink(Event::Told(job, Told::Failed(message)));
        }
        for job in self.resting.drain(..) {
            sink(Event::Told(job, Told::Paused));
        }
        for job in std::mem::take(&mut self.cancelled) {
            self.paused.remove(&job);
            self.analyses.retain(|(id, ..)| *id != job);
            let jobs = std::mem::take(&mut self.jobs).into_iter();
            let (stopped, kept): (VecDeque<_>, VecDeque<_>) = jobs.partition(|(id, _)| *id == job);
            self.jobs = kept;
            stopped.into_iter().for_each(|(id, job)| job.stop(&mut |told| sink(Event::Told(id, told))));
            sink(Event::Told(job, Told::Cancelled));
        }
        while let Some((id, question)) = self.questions.pop_front() {
            sink(Event::Told(id, self.answer(question).unwrap_or_else(Told::Failed)));
        }
        self.step_analysis(sink);
        self.step_job(budget_events, sink);
        let idle = self.next_job().is_none() && self.analyses.is_empty();
        if idle { StepResult::Idle } else { StepResult::More }
    }

    /// The first job that is not paused.
    fn next_job(&self) -> Option<usize> {
        self.jobs.iter().position(|(id, _)| !self.paused.contains(id))
    }

    fn step_analysis(&mut self, sink: &mut dyn FnMut(Event)) {
        let Some((id, key, run)) = self.analyses.front_mut() else { return };
        let held = self.profiles.get(key).ok_or_else(closed);
        let told = match held.and_then(|held| held.ask(|sources| run.step(sources, SLICES_PER_STEP))) {
            Ok(None) => return,
            Ok(Some(told)) => told,
            Err(message) => Told::Failed(message),
        };
        let is_last = told.is_last();
        sink(Event::Told(*id, told));
        if is_last {
            self.analyses.pop_front();
        }
    }

    fn step_job(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) {
        let Some(at) = self.next_job() else { return };
        let Some((id, job)) = self.jobs.get_mut(at) else { return };
        let id = *id;
        match job.step(budget_events, &mut |told| sink(Event::Told(id, told))) {
            Ok(JobState::More) => return,
            Ok(JobState::Done) => {}
            Ok(JobState::Profile(hold)) => self.hold(id, vec![hold], sink),
            Ok(JobState::Profiles(list)) => self.hold(id, list, sink),
            Err(message) => sink(Event::Told(id, Told::Failed(message))),
        }
        self.jobs.remove(at);
    }

    /// Keeps the profiles that a job made and reports them: the first one, with a list of the others.
    fn hold(&mut self, job: JobId, list: Vec<MakeHeld>, sink: &mut dyn FnMut(Event)) {
        let mut infos = Vec::new();
        for make in list {
            let key = ProfileKey(self.next_profile);
            self.next_profile += 1;
            let held = make(key);
            infos.push(held.info());
            self.profiles.insert(key, held);
        }
        let mut infos = infos.into_iter();
        let Some(mut first) = infos.next() else { return };
        first.also = infos.collect();
        sink(Event::Told(job, Told::Done(JobResult::Profile(Box::new(first)))));
    }

    fn answer(&mut self, question: QuestionRequest) -> Result<Told, String> {
        match question {
            QuestionRequest::Catalog => Ok(Told::Answer(Reply::Catalog(super::catalog::catalog()))),
            QuestionRequest::BenchPage { page, file_name } => {
                let bytes = page.to_html()?.into_bytes();
                Ok(Told::File(ExportedFile { file_name, mime: "text/html".to_owned(), bytes }))
            }
            QuestionRequest::Records(set, RecordsAsk::Show(spec)) => {
                Ok(Told::Answer(Reply::Records(Box::new(self.records.show(set, &spec)))))
            }
            QuestionRequest::Records(set, RecordsAsk::Save(spec, file)) => {
                self.records.save(set, &spec, file).map(Told::File)
            }
            QuestionRequest::Profile(profile, question) => self.answer_about(profile, question),
        }
    }

    fn answer_about(&mut self, profile: ProfileKey, question: ProfileQuestion) -> Result<Told, String> {
        let held = self.profiles.get_mut(&profile).ok_or_else(closed)?;
        Ok(Told::Answer(match question {
            ProfileQuestion::Timeline(query) => Reply::Timeline(held.tile(&query)),
            ProfileQuestion::Details(slice) => Reply::Details(held.details(slice)),
            ProfileQuestion::Step { from, to } => Reply::Details(held.neighbour(from, to)),
            ProfileQuestion::Locate(range) => Reply::Details(held.locate(&range)),
            ProfileQuestion::Search { text, by, limit } => Reply::Search(held.search(&text, by.as_ref(), limit)),
            ProfileQuestion::Operators { kind, range, level } => {
                Reply::Operators(held.operators(kind, range, level.as_deref()))
            }
            ProfileQuestion::Summary => Reply::Summary(held.insights.clone()),
            ProfileQuestion::Flows { span, limit } => {
                let (arrows, total) = held.flows_in(span, limit);
                Reply::Flows { arrows, total }
            }
            ProfileQuestion::Density(buckets) => Reply::Density(density(&held.profile, buckets.min(MOST_BUCKETS))),
            ProfileQuestion::Export { kind, marks } => return held.export(kind, &marks).map(Told::File),
        }))
    }
}

/// The file that is sent along with a request.
fn file_of(name: &str, source: Option<Box<dyn ByteSource>>) -> Result<Box<dyn ByteSource>, String> {
    source.ok_or_else(|| format!("{name}: the file did not come with the request"))
}

/// The files of records to read.
fn waiting_files(from: RecordsSource, source: Option<Box<dyn ByteSource>>) -> Result<Vec<Waiting>, String> {
    match from {
        RecordsSource::File { name, .. } => {
            let source = file_of(&name, source)?;
            Ok(vec![Waiting { name, source, is_sample: false, is_part: false }])
        }
        RecordsSource::Link(text) => {
            let is_sample = text == SAMPLE_NAME;
            let files = if is_sample { sample() } else { unpack(&text)? };
            let waiting = |(name, bytes)| Waiting { name, source: source_of(bytes), is_sample, is_part: false };
            Ok(files.into_iter().map(waiting).collect())
        }
    }
}

fn closed() -> String {
    "that profile is closed: open it again".to_owned()
}
