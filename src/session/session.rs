//! The facade: takes requests, works in steps, reports events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use super::JobId;
use super::jobs::{AnalysisRun, Job, JobState, MakeProfile, OpenJob};
use super::open_profile::OpenProfile;
use super::protocol::{
    Ask, Control, Event, JobRequest, JobResult, Message, ProfileQuestion, QuestionRequest, Reply, Request,
};
use super::work::{AllWork, Benchmarks, ProfilesOnly, Studies, Tools, Work, file_of};
use ns_base::Clock;
use ns_container::ByteSource;
use ns_device::ModelLibrary;
use ns_documents::{ProfileKey, Recorder};
use ns_forms::catalog;
use ns_profile::density::density;
use ns_program::ReadModel;

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
pub struct Session {
    questions: VecDeque<(JobId, QuestionRequest)>,
    jobs: VecDeque<(JobId, Box<dyn Job>)>,
    /// Questions that take longer, with the profiles they are about; the first is being answered.
    analyses: VecDeque<(JobId, ProfileKey, AnalysisRun)>,
    cancelled: Vec<JobId>,
    paused: BTreeSet<JobId>,
    /// Paused jobs whose shell was not told yet.
    resting: Vec<JobId>,
    tools: Tools,
    open: ProfileOpener,
    work: Box<dyn Work>,
    /// Requests that were wrong from the start.
    rejected: Vec<(JobId, String)>,
    profiles: BTreeMap<ProfileKey, OpenProfile>,
    next_profile: u32,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// An empty session that does all work.
    pub fn new() -> Self {
        Self::with(open_profile, Box::new(AllWork::default()))
    }

    /// An empty session that only opens profiles and answers questions about them.
    pub fn for_profiles() -> Self {
        Self::with(open_profile, Box::new(ProfilesOnly))
    }

    /// An empty session that benchmarks models, draws them and simulates profiles, and answers questions about those.
    pub fn for_benchmarks() -> Self {
        Self::with(open_nothing, Box::new(Benchmarks::default()))
    }

    /// An empty session that runs studies and experiments.
    pub fn for_studies() -> Self {
        Self::with(open_nothing, Box::new(Studies::default()))
    }

    fn with(open: ProfileOpener, work: Box<dyn Work>) -> Self {
        Self {
            questions: VecDeque::new(),
            jobs: VecDeque::new(),
            analyses: VecDeque::new(),
            cancelled: Vec::new(),
            paused: BTreeSet::new(),
            resting: Vec::new(),
            tools: Tools::default(),
            open,
            work,
            rejected: Vec::new(),
            profiles: BTreeMap::new(),
            next_profile: 0,
        }
    }

    /// The same session with a clock, which measuring needs.
    pub fn with_clock(mut self, clock: Rc<dyn Clock>) -> Self {
        self.tools.clock = Some(clock);
        self
    }

    /// The same session with what runs Python files, which NKI kernels need.
    pub fn with_recorder(mut self, recorder: Rc<dyn Recorder>) -> Self {
        self.tools.recorder = Some(recorder);
        self
    }

    /// The same session whose simulated executions begin at this moment, in nanoseconds since 1970. Without one, the same request gives
    /// the same bytes on every day.
    pub fn with_run_start(mut self, ns: i64) -> Self {
        self.tools.run_start_ns = Some(ns);
        self
    }

    /// The same session with a reader of model files, which opening one needs: `read_model` of `ns_readers`, or a function that asks
    /// another program.
    pub fn with_model_reader(mut self, read: ReadModel) -> Self {
        self.tools.models = ModelLibrary::new(read);
        self
    }

    /// Model files opened in the session. A shell that calls other functions itself passes these models on to them.
    pub fn models(&self) -> &ModelLibrary {
        &self.tools.models
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

    fn job(&mut self, request: JobRequest, source: Option<Box<dyn ByteSource>>) -> Result<Box<dyn Job>, String> {
        match request {
            JobRequest::Open { name, .. } => {
                let source = file_of(&name, source)?;
                (self.open)(name, source)
            }
            request => self.work.job(request, source, self.tools.clone()),
        }
    }

    /// Whether a paused job waits for [`Control::Resume`].
    pub fn has_paused(&self) -> bool {
        self.jobs.iter().any(|(id, _)| self.paused.contains(id))
    }

    /// Works for about `budget_events` simulated or read events and sends events to `sink`.
    pub fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) -> StepResult {
        for (job, message) in self.rejected.drain(..) {
            sink(Event::Message(job, Message::Failed(message)));
        }
        for job in self.resting.drain(..) {
            sink(Event::Message(job, Message::Paused));
        }
        for job in std::mem::take(&mut self.cancelled) {
            self.paused.remove(&job);
            self.analyses.retain(|(id, ..)| *id != job);
            let jobs = std::mem::take(&mut self.jobs).into_iter();
            let (stopped, kept): (VecDeque<_>, VecDeque<_>) = jobs.partition(|(id, _)| *id == job);
            self.jobs = kept;
            stopped.into_iter().for_each(|(id, job)| job.stop(&mut |message| sink(Event::Message(id, message))));
            sink(Event::Message(job, Message::Cancelled));
        }
        while let Some((id, question)) = self.questions.pop_front() {
            sink(Event::Message(id, self.answer(question).unwrap_or_else(Message::Failed)));
        }
        self.step_analysis(budget_events, sink);
        self.step_job(budget_events, sink);
        let idle = self.next_job().is_none() && self.analyses.is_empty();
        if idle { StepResult::Idle } else { StepResult::More }
    }

    /// The first job that is not paused.
    fn next_job(&self) -> Option<usize> {
        self.jobs.iter().position(|(id, _)| !self.paused.contains(id))
    }

    fn step_analysis(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) {
        let Some((id, key, run)) = self.analyses.front_mut() else { return };
        let open = self.profiles.get_mut(key).ok_or_else(closed_text);
        let message = match open.and_then(|open| {
            if run.needs_limits()
                && let Some((limit, done, total)) = open.step_limits(budget_events)?
            {
                let label = format!("Simulates without: {}, {} of {total}", limit.words(), done + 1);
                return Ok(Some(Message::Progress { done, total, label }));
            }
            open.ask(|sources| run.step(sources, SLICES_PER_STEP))
        }) {
            Ok(None) => return,
            Ok(Some(message)) => message,
            Err(message) => Message::Failed(message),
        };
        let is_last = message.is_last();
        sink(Event::Message(*id, message));
        if is_last {
            self.analyses.pop_front();
        }
    }

    fn step_job(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) {
        let Some(at) = self.next_job() else { return };
        let Some((id, job)) = self.jobs.get_mut(at) else { return };
        let id = *id;
        match job.step(budget_events, &mut |message| sink(Event::Message(id, message))) {
            Ok(JobState::More) => return,
            Ok(JobState::Done) => {}
            Ok(JobState::Profile(hold)) => self.hold(id, vec![hold], sink),
            Ok(JobState::Profiles(list)) => self.hold(id, list, sink),
            Err(message) => sink(Event::Message(id, Message::Failed(message))),
        }
        self.jobs.remove(at);
    }

    /// Keeps the profiles that a job made and reports them: the first one, with a list of the others.
    fn hold(&mut self, job: JobId, list: Vec<MakeProfile>, sink: &mut dyn FnMut(Event)) {
        let mut infos = Vec::new();
        for make in list {
            let key = ProfileKey(self.next_profile);
            self.next_profile += 1;
            let open = make(key);
            infos.push(open.info());
            self.profiles.insert(key, open);
        }
        let mut infos = infos.into_iter();
        let Some(mut first) = infos.next() else { return };
        first.also = infos.collect();
        sink(Event::Message(job, Message::Done(JobResult::Profile(Box::new(first)))));
    }

    fn answer(&mut self, question: QuestionRequest) -> Result<Message, String> {
        match question {
            QuestionRequest::Catalog => Ok(Message::Answer(Reply::Catalog(catalog()))),
            QuestionRequest::Profile(profile, question) => self.answer_about(profile, question),
            question => self.work.answer(question),
        }
    }

    fn answer_about(&mut self, profile: ProfileKey, question: ProfileQuestion) -> Result<Message, String> {
        let open = self.profiles.get_mut(&profile).ok_or_else(closed_text)?;
        Ok(Message::Answer(match question {
            ProfileQuestion::Timeline(query) => Reply::Timeline(open.tile(&query)),
            ProfileQuestion::Details(slice) => Reply::Details(open.details(slice)),
            ProfileQuestion::Step { from, to } => Reply::Details(open.neighbour(from, to)),
            ProfileQuestion::Locate(range) => Reply::Details(open.locate(&range)),
            ProfileQuestion::Search { text, by, limit } => Reply::Search(open.search(&text, by.as_ref(), limit)),
            ProfileQuestion::Operators { kind, range, level, instances } => {
                Reply::Operators(open.operators(kind, range, level.as_deref(), instances))
            }
            ProfileQuestion::Flows { span, limit } => {
                let (arrows, total) = open.flows_in(span, limit);
                Reply::Flows { arrows, total }
            }
            ProfileQuestion::Density(buckets) => Reply::Density(density(&open.profile, buckets.min(MOST_BUCKETS))),
            ProfileQuestion::Export { kind, marks } => return open.export(kind, &marks).map(Message::File),
        }))
    }
}

/// Makes the job that reads a profile. A program that never opens one has no readers in it.
type ProfileOpener = fn(String, Box<dyn ByteSource>) -> Result<Box<dyn Job>, String>;

fn open_profile(name: String, source: Box<dyn ByteSource>) -> Result<Box<dyn Job>, String> {
    Ok(Box::new(OpenJob::new(name, source)))
}

fn open_nothing(name: String, _: Box<dyn ByteSource>) -> Result<Box<dyn Job>, String> {
    Err(format!("{name}: this worker opens no profiles"))
}

fn closed_text() -> String {
    "that profile is closed: open it again".to_owned()
}
