//! Work that takes longer than an answer: one file per kind of job, each done in bounded steps.

mod analysis;
mod compile;
mod configuration;
mod cpu;
mod experiments;
mod import;
mod inspect;
mod keep_model;
mod mlperf;
mod open;
mod open_model;
mod plan;
mod profile;
mod records;
mod study;
mod study_trace;
mod times;
mod trace;

use super::open_profile::OpenProfile;
use super::protocol::Message;
use ns_documents::ProfileKey;

pub(super) use analysis::AnalysisRun;
pub(super) use compile::CompileJob;
pub(super) use configuration::ConfigurationJob;
pub(super) use cpu::CpuJob;
pub(super) use experiments::{ExperimentJob, ExperimentsPlanJob};
pub(super) use import::ImportJob;
pub(super) use keep_model::KeepModelJob;
pub(super) use mlperf::MlperfJob;
pub(super) use open::OpenJob;
pub(super) use open_model::OpenModelJob;
pub(super) use plan::PlanJob;
pub(super) use profile::ProfileJob;
pub(super) use records::{RecordsJob, Waiting};
pub(super) use study::StudyJob;
pub(super) use study_trace::StudyTraceJob;
pub(super) use times::StageTimes;
use times::removed_note;
pub(super) use trace::TraceJob;

/// Makes a profile to keep under a key.
pub(super) type MakeProfile = Box<dyn FnOnce(ProfileKey) -> OpenProfile>;

/// Work that a session does in steps.
pub(super) trait Job {
    /// Works for about `budget_events` simulated or read events. Sends progress and partial results to `sink`. Fails with a message
    /// for the user: what was wrong, where, and what to do.
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String>;

    /// Stops the job: sends results that would be lost to `sink`.
    fn stop(self: Box<Self>, _sink: &mut dyn FnMut(Message)) {}
}

/// State of a job after a step.
pub(super) enum JobState {
    /// There is more to do.
    More,
    /// Done, without a profile.
    Done,
    /// Done, with a profile to keep under a new key.
    Profile(MakeProfile),
    /// Done, with several profiles of one file, each to keep under its own key.
    Profiles(Vec<MakeProfile>),
}
