//! What a shell may ask and what it is told. Messages are small; everything is plain data that postcard can carry (no
//! untagged enums, no skipped fields).

use serde::{Deserialize, Serialize};

use super::{
    Answer, Catalog, JobId, Listed, Listing, OperatorKind, OperatorTable, ProfileInfo, ProfileKey, ProfileSpec,
    Question, TraceSpec,
};
use crate::base::{Diagnostic, Interval, TraceNs};
use crate::bench::cpu::CpuTimers;
use crate::bench::mlperf::{MlperfResult, MlperfSettings};
use crate::bench::{
    BenchConfig, CompileConfig, CompiledModel, Configuration, Estimate, ModelIndex, Report, RowResult, RunDetail,
    ServiceTimes, SweepPlan,
};
use crate::insight::{Insights, SliceRange};
use crate::neuron::numerics::{NumericsReport, NumericsSpec};
use crate::profile::formats::WriteFormat;
use crate::view::timeline::{Annotation, Neighbour, SliceDetails, SliceLink, SliceRef, TimelineQuery, TimelineTile};

/// Changed with every change of a message. A page and a worker that differ refuse each other.
pub const PROTOCOL_VERSION: u32 = 16;

/// Names the build; page and worker of one build have the same.
#[must_use]
pub fn build_id() -> String {
    format!("{} p{PROTOCOL_VERSION}", env!("CARGO_PKG_VERSION"))
}

/// What a shell may ask. Each carries the number its answers will carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// What can be run? Answered by [`Event::Catalog`].
    Catalog {
        /// Number of this request.
        job: JobId,
    },
    /// Run a benchmark. Answered by progress, one [`Event::Report`] for each configuration as it ends, and
    /// [`Event::BenchDone`].
    Bench {
        /// Number of this request.
        job: JobId,
        /// What to run.
        config: Box<BenchConfig>,
    },
    /// List the configurations of a benchmark before it runs. Answered by [`Event::Plan`] at once, then by one
    /// [`Event::Estimated`] for each configuration that can run, as their models are compiled, and [`Event::BenchDone`].
    PlanBench {
        /// Number of this request.
        job: JobId,
        /// What would run.
        config: Box<BenchConfig>,
    },
    /// Run one configuration of a plan, on any worker. Answered by progress and [`Event::Row`]; when it is cancelled, with
    /// the row of what was measured until then.
    RunConfiguration {
        /// Number of this request.
        job: JobId,
        /// What to run.
        run: Box<RunRequest>,
    },
    /// Run one copy of a configuration's model on this processor and measure it; one worker for each copy. Answered by
    /// progress and [`Event::CpuTimers`]. [`crate::bench::cpu::cpu_row`] makes a row of all copies' timers.
    MeasureCpu {
        /// Number of this request.
        job: JobId,
        /// Which copy, from 0; its answer repeats it.
        copy: u32,
        /// What to run.
        configuration: Box<Configuration>,
    },
    /// Run an MLPerf scenario on a configuration's copies and workers. Answered by [`Event::Mlperf`].
    Mlperf {
        /// Number of this request.
        job: JobId,
        /// The scenario and its limits.
        settings: Box<MlperfSettings>,
        /// What to run it on.
        configuration: Box<Configuration>,
    },
    /// Compile a model for a sweep of sizes and levels. Answered by progress, one [`Event::Compiled`] for each artifact as it
    /// ends, and [`Event::BenchDone`].
    Compile {
        /// Number of this request.
        job: JobId,
        /// What to compile.
        config: Box<CompileConfig>,
    },
    /// Let a job rest. Others go on; it keeps what it has.
    Pause {
        /// The job.
        job: JobId,
    },
    /// Let a job that rests go on.
    Resume {
        /// The job.
        job: JobId,
    },
    /// Simulate one execution. Answered by progress and [`Event::ProfileReady`].
    Profile {
        /// Number of this request.
        job: JobId,
        /// What to run.
        spec: ProfileSpec,
    },
    /// Simulate a whole benchmark run and keep what it did as a timeline. Answered by progress and [`Event::ProfileReady`].
    Trace {
        /// Number of this request.
        job: JobId,
        /// What to run.
        spec: Box<TraceSpec>,
    },
    /// Compute a model as a device would and compare with the reference. Answered by progress and [`Event::Numerics`].
    Numerics {
        /// Number of this request.
        job: JobId,
        /// What to compare.
        spec: Box<NumericsSpec>,
    },
    /// Read a file; its [`super::ByteSource`] travels beside this message. Answered by progress and
    /// [`Event::ProfileReady`].
    Open {
        /// Number of this request.
        job: JobId,
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Read benchmark results of another tool; the file's [`super::ByteSource`] travels beside this message. Answered by
    /// progress and [`Event::Imported`], or of a model index [`Event::IndexRead`].
    Import {
        /// Number of this request.
        job: JobId,
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Stop a job. Answered by [`Event::Cancelled`] with the number of the job.
    Cancel {
        /// The job to stop.
        job: JobId,
    },
    /// What to draw of some tracks in a span. Answered by [`Event::Timeline`].
    Timeline {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// Span, resolution and tracks.
        query: TimelineQuery,
    },
    /// Everything about one slice. Answered by [`Event::Details`].
    Details {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The slice.
        slice: SliceRef,
    },
    /// Everything about the slice beside another one, on the same row. Answered by [`Event::Details`], without details at
    /// the end of the row.
    Step {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// From here.
        from: SliceRef,
        /// In this direction.
        to: Neighbour,
    },
    /// Everything about a slice that a finding names. Answered by [`Event::Details`], without details when there is none.
    Locate {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// Row and span of the slice.
        range: SliceRange,
    },
    /// Slices whose name contains a text, letter case ignored, in order of time. Answered by [`Event::Search`].
    Search {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The text.
        text: String,
        /// At most so many hits are listed (all are counted).
        limit: u32,
    },
    /// Time by operator. Answered by [`Event::Operators`].
    Operators {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// Which table.
        kind: OperatorKind,
        /// Only slices that touch this span; all when absent.
        range: Option<Interval<TraceNs>>,
    },
    /// Metrics, bounds and findings of an execution. Answered by [`Event::Summary`].
    Summary {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
    },
    /// A tree, a spread or sentences about a profile. Answered by [`Event::Analysed`].
    Analyse {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// What is asked.
        question: Question,
    },
    /// A table about a profile. Answered by [`Event::Listed`].
    List {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The question.
        what: Listing,
    },
    /// Flow arrows that touch a span. Answered by [`Event::Flows`].
    Flows {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The span.
        span: Interval<TraceNs>,
        /// At most so many.
        limit: u32,
    },
    /// How busy all of a profile is, in equal parts of its span. Answered by [`Event::Density`].
    Density {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// Number of parts.
        buckets: u32,
    },
    /// A file to keep. Answered by [`Event::Exported`].
    Export {
        /// Number of this request.
        job: JobId,
        /// The profile to write.
        profile: ProfileKey,
        /// What to write.
        kind: ExportKind,
        /// Marks and ranges to write with it, where it is a Chrome trace.
        marks: Vec<Annotation>,
    },
    /// Forget a profile. Not answered.
    Close {
        /// The profile to forget.
        profile: ProfileKey,
    },
}

/// One configuration to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// Its position in the sweep, which its answer repeats.
    pub row: u32,
    /// What to run.
    pub configuration: Configuration,
    /// Its stage times, as [`Event::Estimated`] told them; without them the model is compiled first.
    pub times: Option<ServiceTimes>,
    /// What is wanted of it.
    pub detail: RunDetail,
}

/// What can be written of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportKind {
    /// The timeline as Chrome trace JSON.
    ChromeJson,
    /// The timeline in the format of another tool.
    Trace(WriteFormat),
    /// An operator table as CSV, of a span or of all.
    OperatorsCsv(OperatorKind, Option<Interval<TraceNs>>),
    /// What `neuronscope profile --json` prints: the device window and both operator tables of a simulated execution.
    ProfileJson,
    /// What `neuronscope profile --summary --json` prints: metrics, bounds, roofline, utilisation and findings of a
    /// simulated execution.
    SummaryJson,
    /// What `neuronscope open FILE --json` prints: counts, operators and diagnostics of a file.
    OpenJson,
}

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
                | Self::Report { .. }
                | Self::Plan { .. }
                | Self::Estimated { .. }
                | Self::Compiled { .. }
        )
    }
}

impl Request {
    /// The number of this request; none for those that are not answered.
    #[must_use]
    pub const fn job(&self) -> Option<JobId> {
        match self {
            Self::Cancel { .. } | Self::Close { .. } | Self::Pause { .. } | Self::Resume { .. } => None,
            Self::Catalog { job }
            | Self::Bench { job, .. }
            | Self::PlanBench { job, .. }
            | Self::RunConfiguration { job, .. }
            | Self::MeasureCpu { job, .. }
            | Self::Mlperf { job, .. }
            | Self::Compile { job, .. }
            | Self::Profile { job, .. }
            | Self::Trace { job, .. }
            | Self::Numerics { job, .. }
            | Self::Open { job, .. }
            | Self::Import { job, .. }
            | Self::Timeline { job, .. }
            | Self::Details { job, .. }
            | Self::Step { job, .. }
            | Self::Locate { job, .. }
            | Self::Search { job, .. }
            | Self::Operators { job, .. }
            | Self::Summary { job, .. }
            | Self::Analyse { job, .. }
            | Self::List { job, .. }
            | Self::Flows { job, .. }
            | Self::Density { job, .. }
            | Self::Export { job, .. } => Some(*job),
        }
    }

    /// What a person would call the input of this request, for the message after a crash.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Catalog { .. } => "the list of models".to_owned(),
            Self::Bench { config, .. } => format!("the benchmark of {} on {}", config.model, config.instance_type),
            Self::Profile { spec, .. } => {
                format!("the profile of {} ({}, {})", spec.model, spec.workflow.name(), spec.instance)
            }
            Self::Trace { spec, .. } => format!("the benchmark run of {} ({})", spec.spec.model, spec.spec.instance),
            Self::Numerics { spec, .. } => {
                format!("the numerics of {} ({}, {})", spec.model, spec.options, spec.instance)
            }
            Self::Open { name, size, .. } | Self::Import { name, size, .. } => {
                format!("the file {name} ({})", crate::base::units::format_bytes(*size as f64))
            }
            Self::PlanBench { config, .. } => format!("the plan of {} on {}", config.model, config.instance_type),
            Self::MeasureCpu { configuration, .. } => format!("the measurement of {}", configuration.label()),
            Self::Mlperf { settings, configuration, .. } => {
                format!("the {} scenario of {}", settings.scenario.name(), configuration.label())
            }
            Self::Compile { config, .. } => format!("the compile of {} for {}", config.model, config.instance_type),
            Self::RunConfiguration { run, .. } => run.configuration.label(),
            Self::Cancel { .. } | Self::Close { .. } | Self::Pause { .. } | Self::Resume { .. } => {
                "a cancelled request".to_owned()
            }
            Self::Timeline { .. } => "a part of the timeline".to_owned(),
            Self::Details { .. } | Self::Step { .. } | Self::Locate { .. } => "the details of a slice".to_owned(),
            Self::Search { text, .. } => format!("the search for '{text}'"),
            Self::Operators { .. } => "the operator table".to_owned(),
            Self::Summary { .. } => "the summary".to_owned(),
            Self::Analyse { .. } => "a question about the profile".to_owned(),
            Self::List { .. } => "a table about the profile".to_owned(),
            Self::Flows { .. } => "flow arrows".to_owned(),
            Self::Density { .. } => "the overview of the timeline".to_owned(),
            Self::Export { .. } => "the download".to_owned(),
        }
    }
}
