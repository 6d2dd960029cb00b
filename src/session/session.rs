//! The facade: takes requests, works in steps, reports events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use super::analysis::{AnalysisRun, Asked};
use super::held::Held;
use super::jobs::{
    BenchJob, CompileJob, ConfigurationJob, CpuJob, ImportJob, Job, JobState, MakeHeld, MlperfJob, NumericsJob,
    OpenJob, PlanJob, ProfileJob, Times, TraceJob,
};
use super::{ByteSource, Event, JobId, ProfileKey, Request};
use crate::base::Clock;
use crate::profile::density::density;

/// More parts than pixels of any screen tell nothing.
const MOST_BUCKETS: u32 = 1 << 14;

/// Slices an analysis looks at between two looks at the messages: about 10 ms.
const SLICES_PER_STEP: usize = 1 << 17;

/// Whether a session has more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// Nothing is left to do.
    Idle,
    /// Call [`Session::step`] again.
    More,
}

/// Does what shells ask, a bounded amount at a time, so that a shell can show progress and cancel between steps.
///
/// Questions about a profile are answered at the next step, also while a job runs; jobs run one after another.
#[derive(Default)]
pub struct Session {
    questions: VecDeque<Request>,
    jobs: VecDeque<Box<dyn Job>>,
    /// Questions that take longer, the first being answered.
    analyses: VecDeque<AnalysisRun>,
    cancelled: Vec<JobId>,
    /// Jobs that rest.
    paused: BTreeSet<JobId>,
    /// Of them, those whose shell was not told yet.
    resting: Vec<JobId>,
    times: Times,
    /// What measured time is read from; a shell that measures brings one.
    clock: Option<Rc<dyn Clock>>,
    /// Requests that were wrong from the start.
    rejected: Vec<(JobId, String)>,
    profiles: BTreeMap<ProfileKey, Held>,
    next_profile: u32,
}

impl Session {
    /// A session that holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same session with a clock, which measuring needs.
    #[must_use]
    pub fn with_clock(self, clock: Rc<dyn Clock>) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Takes a request; the work is done by [`Session::step`]. `source` is the file of a [`Request::Open`].
    pub fn handle(&mut self, request: Request, source: Option<Box<dyn ByteSource>>) {
        match request {
            Request::Open { job, name, .. } => match source {
                Some(source) => self.jobs.push_back(Box::new(OpenJob::new(job, name, source))),
                None => self.rejected.push((job, format!("{name}: the file did not come with the request"))),
            },
            Request::Import { job, name, .. } => match source {
                Some(source) => self.jobs.push_back(Box::new(ImportJob::new(job, name, source))),
                None => self.rejected.push((job, format!("{name}: the file did not come with the request"))),
            },
            Request::Bench { job, config } => {
                self.jobs.push_back(Box::new(BenchJob::new(job, *config, self.times.clone())));
            }
            Request::PlanBench { job, config } => {
                self.jobs.push_back(Box::new(PlanJob::new(job, *config, self.times.clone())));
            }
            Request::RunConfiguration { job, run } => {
                self.jobs.push_back(Box::new(ConfigurationJob::new(job, *run, self.times.clone())));
            }
            Request::MeasureCpu { job, copy, configuration } => match &self.clock {
                Some(clock) => self.jobs.push_back(Box::new(CpuJob::new(job, copy, *configuration, Rc::clone(clock)))),
                None => {
                    let message = "this shell has no clock, so nothing can be measured; use device_type neuron";
                    self.rejected.push((job, message.to_owned()));
                }
            },
            Request::Mlperf { job, settings, configuration } => {
                self.jobs.push_back(Box::new(MlperfJob::new(job, *settings, *configuration, self.times.clone())));
            }
            Request::Compile { job, config } => self.jobs.push_back(Box::new(CompileJob::new(job, *config))),
            Request::Pause { job } => {
                // One that has ended needs no rest.
                if self.jobs.iter().any(|j| j.id() == job) {
                    self.paused.insert(job);
                    self.resting.push(job);
                }
            }
            Request::Resume { job } => {
                self.paused.remove(&job);
            }
            Request::Profile { job, spec } => self.jobs.push_back(Box::new(ProfileJob::new(job, spec))),
            Request::Trace { job, spec } => {
                self.jobs.push_back(Box::new(TraceJob::new(job, *spec, self.times.clone())));
            }
            Request::Numerics { job, spec } => self.jobs.push_back(Box::new(NumericsJob::new(job, *spec))),
            Request::List { job, profile, what, rows } => {
                self.analyses.push_back(AnalysisRun::new(job, profile, Asked::List(what, rows)));
            }
            Request::ListCsv { job, profile, what, file_name } => {
                self.analyses.push_back(AnalysisRun::new(job, profile, Asked::Csv(what, file_name)));
            }
            Request::Analyse { job, profile, question } => {
                self.analyses.push_back(AnalysisRun::new(job, profile, Asked::Analyse(question)));
            }
            Request::Cancel { job } => self.cancelled.push(job),
            Request::Close { profile } => {
                self.profiles.remove(&profile);
            }
            question => self.questions.push_back(question),
        }
    }

    /// Whether a job waits for [`Request::Resume`].
    #[must_use]
    pub fn has_paused(&self) -> bool {
        self.jobs.iter().any(|job| self.paused.contains(&job.id()))
    }

    /// Works for about `budget_events` simulated or read events and hands what there is to tell to `sink`.
    pub fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) -> StepResult {
        for (job, message) in self.rejected.drain(..) {
            sink(Event::Failed { job, message });
        }
        for job in self.resting.drain(..) {
            sink(Event::Paused { job });
        }
        for job in std::mem::take(&mut self.cancelled) {
            self.paused.remove(&job);
            self.analyses.retain(|a| a.job != job);
            let jobs = std::mem::take(&mut self.jobs).into_iter();
            let (stopped, kept): (VecDeque<_>, VecDeque<_>) = jobs.partition(|j| j.id() == job);
            self.jobs = kept;
            stopped.into_iter().for_each(|job| job.stop(sink));
            sink(Event::Cancelled { job });
        }
        while let Some(question) = self.questions.pop_front() {
            self.answer(question, sink);
        }
        self.step_analysis(sink);
        self.step_job(budget_events, sink);
        let idle = self.next_job().is_none() && self.analyses.is_empty();
        if idle { StepResult::Idle } else { StepResult::More }
    }

    /// The first job that does not rest.
    fn next_job(&self) -> Option<usize> {
        self.jobs.iter().position(|job| !self.paused.contains(&job.id()))
    }

    fn step_analysis(&mut self, sink: &mut dyn FnMut(Event)) {
        let Some(run) = self.analyses.front_mut() else { return };
        let (job, key) = (run.job, run.profile);
        let held = self.profiles.get(&key).ok_or_else(closed);
        match held.and_then(|held| held.ask(|sources| run.step(sources, SLICES_PER_STEP))) {
            Ok(None) => return,
            Ok(Some(event)) => {
                let is_last = event.is_last();
                sink(event);
                if !is_last {
                    return;
                }
            }
            Err(message) => sink(Event::Failed { job, message }),
        }
        self.analyses.pop_front();
    }

    fn step_job(&mut self, budget_events: u32, sink: &mut dyn FnMut(Event)) {
        let Some(at) = self.next_job() else { return };
        let Some(job) = self.jobs.get_mut(at) else { return };
        let id = job.id();
        match job.step(budget_events, sink) {
            Ok(JobState::More) => return,
            Ok(JobState::Done) => {}
            Ok(JobState::Profile(hold)) => self.hold(id, vec![hold], sink),
            Ok(JobState::Profiles(list)) => self.hold(id, list, sink),
            Err(message) => sink(Event::Failed { job: id, message }),
        }
        self.jobs.remove(at);
    }

    /// Holds the profiles that a job made, and says so: the first with the others beside it.
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
        sink(Event::ProfileReady { job, info: Box::new(first) });
    }

    fn answer(&mut self, question: Request, sink: &mut dyn FnMut(Event)) {
        let Some(job) = question.job() else { return };
        match self.answer_to(question) {
            Ok(event) => sink(event),
            Err(message) => sink(Event::Failed { job, message }),
        }
    }

    fn answer_to(&mut self, question: Request) -> Result<Event, String> {
        match question {
            Request::Catalog { job } => Ok(Event::Catalog { job, catalog: super::catalog::catalog() }),
            Request::Operators { job, profile, kind, range, level } => {
                let table = self.held(profile)?.operators(kind, range, level.as_deref());
                Ok(Event::Operators { job, profile, table })
            }
            Request::Summary { job, profile } => {
                let insights = self.held(profile)?.insights.clone();
                Ok(Event::Summary { job, profile, insights })
            }
            Request::Flows { job, profile, span, limit } => {
                let (arrows, total) = self.held(profile)?.flows_in(span, limit);
                Ok(Event::Flows { job, profile, arrows, total })
            }
            Request::Density { job, profile, buckets } => {
                let busy = density(&self.held(profile)?.profile, buckets.min(MOST_BUCKETS));
                Ok(Event::Density { job, profile, busy })
            }
            Request::Export { job, profile, kind, marks } => {
                let file = self.held(profile)?.export(kind, &marks)?;
                Ok(Event::Exported { job, file_name: file.file_name, mime: file.mime.to_owned(), bytes: file.bytes })
            }
            Request::Timeline { job, profile, query } => {
                let tile = self.held_mut(profile)?.tile(&query);
                Ok(Event::Timeline { job, profile, tile })
            }
            Request::Details { job, profile, slice } => {
                let details = self.held(profile)?.details(slice);
                Ok(Event::Details { job, profile, details })
            }
            Request::Step { job, profile, from, to } => {
                let details = self.held(profile)?.neighbour(from, to);
                Ok(Event::Details { job, profile, details })
            }
            Request::Locate { job, profile, range } => {
                let details = self.held(profile)?.locate(&range);
                Ok(Event::Details { job, profile, details })
            }
            Request::Search { job, profile, text, by, limit } => {
                let hits = self.held(profile)?.search(&text, by.as_ref(), limit);
                Ok(Event::Search { job, profile, hits })
            }
            // Jobs and requests without an answer never get here: `handle` takes them.
            Request::Bench { .. }
            | Request::PlanBench { .. }
            | Request::RunConfiguration { .. }
            | Request::MeasureCpu { .. }
            | Request::Mlperf { .. }
            | Request::Compile { .. }
            | Request::Pause { .. }
            | Request::Resume { .. }
            | Request::Profile { .. }
            | Request::Trace { .. }
            | Request::Numerics { .. }
            | Request::Open { .. }
            | Request::List { .. }
            | Request::ListCsv { .. }
            | Request::Analyse { .. }
            | Request::Import { .. }
            | Request::Cancel { .. }
            | Request::Close { .. } => Err(format!("{} is no question", question.describe())),
        }
    }

    fn held(&self, key: ProfileKey) -> Result<&Held, String> {
        self.profiles.get(&key).ok_or_else(closed)
    }

    fn held_mut(&mut self, key: ProfileKey) -> Result<&mut Held, String> {
        self.profiles.get_mut(&key).ok_or_else(closed)
    }
}

fn closed() -> String {
    "that profile is closed: open it again".to_owned()
}
