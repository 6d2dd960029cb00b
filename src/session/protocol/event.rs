//! What a shell is told.

use serde::{Deserialize, Serialize};

use crate::base::Diagnostic;
use crate::bench::cpu::CpuTimers;
use crate::bench::mlperf::MlperfResult;
use crate::bench::{CompiledModel, Estimate, ModelIndex, Report, RowResult, ServiceTimes, SweepPlan};
use crate::insight::Insights;
use crate::neuron::numerics::NumericsReport;
use crate::session::{Answer, Catalog, JobId, Listed, OperatorTable, ProfileInfo, ProfileKey};
use crate::view::timeline::{GroupKind, SliceDetails, SliceLink, TimelineTile};

/// What a shell is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Sent once, first: the session can be talked to.
    Ready {
        /// [`PROTOCOL_VERSION`] of the sender.
        protocol: u32,
        /// [`build_id`] of the sender.
        build: String,
    },
    /// What can be run.
    Catalog {
        /// Request this answers.
        job: JobId,
        /// The answer.
        catalog: Catalog,
    },
    /// How far a job is.
    Progress {
        /// The job.
        job: JobId,
        /// Units done.
        done: u64,
        /// Units in all; 0 when not known.
        total: u64,
        /// What is being done: `Reading trace.json`.
        label: String,
    },
    /// Something a person should know about a job that goes on: rows that are left out, a duration that is short.
    Note {
        /// The job.
        job: JobId,
        /// One sentence.
        message: String,
    },
    /// A job rests, as [`super::Request::Pause`] asked: the step that it was at is over.
    Paused {
        /// The job.
        job: JobId,
    },
    /// One configuration of a benchmark has ended; a failed one says so in its report.
    Report {
        /// The benchmark.
        job: JobId,
        /// Position of the configuration in the sweep.
        row: u32,
        /// Its report.
        report: Box<Report>,
    },
    /// The configurations of a benchmark.
    Plan {
        /// The request.
        job: JobId,
        /// All of them, without estimates.
        plan: Box<SweepPlan>,
    },
    /// What one configuration of a plan will take.
    Estimated {
        /// The request.
        job: JobId,
        /// Position of the configuration in the plan.
        row: u32,
        /// What it will take, or why it can not run.
        estimate: Result<Estimate, String>,
        /// Its stage times, to be sent along when it is run.
        times: Option<Box<ServiceTimes>>,
    },
    /// One configuration has ended, well or not.
    Row {
        /// The request.
        job: JobId,
        /// Position of the configuration in the sweep.
        row: u32,
        /// What came of it.
        result: Box<RowResult>,
    },
    /// What one copy measured on this processor.
    CpuTimers {
        /// The request.
        job: JobId,
        /// Which copy.
        copy: u32,
        /// Its times.
        timers: Box<CpuTimers>,
    },
    /// The result of an MLPerf scenario.
    Mlperf {
        /// The request.
        job: JobId,
        /// The result, with its verdict.
        result: Box<MlperfResult>,
    },
    /// One artifact was made, or could not be.
    Compiled {
        /// The request.
        job: JobId,
        /// Its position among the compiles.
        row: u32,
        /// What came of it.
        compiled: Box<CompiledModel>,
    },
    /// Results of a file, marked as imported.
    Imported {
        /// The request.
        job: JobId,
        /// Name of the file.
        name: String,
        /// Its rows.
        reports: Vec<Report>,
        /// What was odd about it.
        diagnostics: Vec<Diagnostic>,
    },
    /// A model index.
    IndexRead {
        /// The request.
        job: JobId,
        /// Name of the file.
        name: String,
        /// Its entries, also those that failed or could not be understood.
        index: Box<ModelIndex>,
        /// What was odd about it, one sentence each.
        warnings: Vec<String>,
    },
    /// A benchmark, a plan or a compile has ended; everything else of it was sent before.
    BenchDone {
        /// The benchmark.
        job: JobId,
    },
    /// A profile can be asked about.
    ProfileReady {
        /// Job this ends.
        job: JobId,
        /// What it is.
        info: Box<ProfileInfo>,
    },
    /// A device's outputs beside the reference's.
    Numerics {
        /// Job this ends.
        job: JobId,
        /// The comparison.
        report: Box<NumericsReport>,
    },
    /// What to draw.
    Timeline {
        /// Request this answers.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The answer.
        tile: TimelineTile,
    },
    /// Everything about one slice.
    Details {
        /// Request this answers.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The slice; absent when there is none.
        details: Option<Box<SliceDetails>>,
    },
    /// Slices found.
    Search {
        /// Request this answers.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The answer.
        hits: SearchHits,
    },
    /// Time by operator.
    Operators {
        /// Request this answers.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The answer.
        table: OperatorTable,
    },
    /// Metrics, bounds and findings.
    Summary {
        /// Request this answers.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The answer; absent when the profile does not say what instructions and DMAs did.
        insights: Option<Box<Insights>>,
    },
    /// What was found about a profile.
    Analysed {
        /// Request this answers.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The answer.
        answer: Box<Answer>,
    },
    /// A table about a profile.
    Listed {
        /// Request this answers.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The answer.
        listed: Box<Listed>,
    },
    /// Flow arrows, from where to where.
    Flows {
        /// Request this answers.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The answer.
        arrows: Vec<(SliceLink, SliceLink)>,
        /// Number of arrows in all of the profile.
        total: u64,
    },
    /// Mean number of busy tracks in each part of the span.
    Density {
        /// Request this answers.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The answer.
        busy: Vec<f64>,
    },
    /// A file to keep.
    Exported {
        /// Request this answers.
        job: JobId,
        /// Name to save it under.
        file_name: String,
        /// Media type.
        mime: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// A request could not be done.
    Failed {
        /// The request.
        job: JobId,
        /// What was wrong, where, and what to do; names the configuration or the input.
        message: String,
    },
    /// A job was stopped as asked; what it had reported before stays valid.
    Cancelled {
        /// The job.
        job: JobId,
    },
}

/// Slices found by a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchHits {
    /// The text searched for.
    pub text: String,
    /// What made the group of that name, when a group was asked for.
    pub by: Option<GroupKind>,
    /// Number of slices that match.
    pub total: u64,
    /// The first of them in order of time.
    pub hits: Vec<SliceLink>,
}

impl Event {
    /// The request this event belongs to; none for [`Event::Ready`].
    #[must_use]
    pub const fn job(&self) -> Option<JobId> {
        match self {
            Self::Ready { .. } => None,
            Self::Catalog { job, .. }
            | Self::Progress { job, .. }
            | Self::Note { job, .. }
            | Self::Paused { job }
            | Self::Report { job, .. }
            | Self::Plan { job, .. }
            | Self::Estimated { job, .. }
            | Self::Row { job, .. }
            | Self::Imported { job, .. }
            | Self::IndexRead { job, .. }
            | Self::CpuTimers { job, .. }
            | Self::Mlperf { job, .. }
            | Self::Compiled { job, .. }
            | Self::BenchDone { job }
            | Self::ProfileReady { job, .. }
            | Self::Numerics { job, .. }
            | Self::Timeline { job, .. }
            | Self::Details { job, .. }
            | Self::Search { job, .. }
            | Self::Operators { job, .. }
            | Self::Summary { job, .. }
            | Self::Analysed { job, .. }
            | Self::Listed { job, .. }
            | Self::Flows { job, .. }
            | Self::Density { job, .. }
            | Self::Exported { job, .. }
            | Self::Failed { job, .. }
            | Self::Cancelled { job } => Some(*job),
        }
    }

    /// Whether nothing more will come for its request.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        !matches!(
            self,
            Self::Ready { .. }
                | Self::Progress { .. }
                | Self::Note { .. }
                | Self::Paused { .. }
                | Self::Report { .. }
                | Self::Plan { .. }
                | Self::Estimated { .. }
                | Self::Compiled { .. }
        )
    }
}
