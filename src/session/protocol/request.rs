//! What a shell may ask.

use serde::{Deserialize, Serialize};

use crate::base::{Interval, TraceNs};
use crate::bench::mlperf::MlperfSettings;
use crate::bench::{BenchConfig, CompileConfig, Configuration, RunDetail, ServiceTimes};
use crate::insight::SliceRange;
use crate::neuron::numerics::NumericsSpec;
use crate::profile::formats::WriteFormat;
use crate::session::{JobId, Listing, OperatorKind, ProfileKey, ProfileSpec, Question, Rows, TraceSpec};
use crate::view::timeline::{Annotation, GroupKind, Neighbour, SliceRef, TimelineQuery};

/// What a shell may ask. Each carries the number its answers will carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// What can be run? Answered by [`super::Event::Catalog`].
    Catalog {
        /// Number of this request.
        job: JobId,
    },
    /// Run a benchmark. Answered by progress, one [`super::Event::Report`] for each configuration as it ends, and
    /// [`super::Event::BenchDone`].
    Bench {
        /// Number of this request.
        job: JobId,
        /// What to run.
        config: Box<BenchConfig>,
    },
    /// List the configurations of a benchmark before it runs. Answered by [`super::Event::Plan`] at once, then by one
    /// [`super::Event::Estimated`] for each simulated configuration that can run, as their models are compiled, and [`super::Event::BenchDone`].
    /// Nothing is estimated of an MLPerf scenario.
    PlanBench {
        /// Number of this request.
        job: JobId,
        /// What would run.
        config: Box<BenchConfig>,
    },
    /// Run one configuration of a plan, on any worker. Answered by progress and [`super::Event::Row`]; when it is cancelled, with
    /// the row of what was measured until then.
    RunConfiguration {
        /// Number of this request.
        job: JobId,
        /// What to run.
        run: Box<RunRequest>,
    },
    /// Run one copy of a configuration's model on this processor and measure it; one worker for each copy. Answered by
    /// progress and [`super::Event::CpuTimers`]. [`crate::bench::cpu::cpu_row`] makes a row of all copies' timers.
    MeasureCpu {
        /// Number of this request.
        job: JobId,
        /// Which copy, from 0; its answer repeats it.
        copy: u32,
        /// What to run.
        configuration: Box<Configuration>,
    },
    /// Run an MLPerf scenario on a configuration's copies and workers. Answered by [`super::Event::Mlperf`].
    Mlperf {
        /// Number of this request.
        job: JobId,
        /// The scenario and its limits.
        settings: Box<MlperfSettings>,
        /// What to run it on.
        configuration: Box<Configuration>,
    },
    /// Compile a model for a sweep of sizes and levels. Answered by progress, one [`super::Event::Compiled`] for each artifact as it
    /// ends, and [`super::Event::BenchDone`].
    Compile {
        /// Number of this request.
        job: JobId,
        /// What to compile.
        config: Box<CompileConfig>,
    },
    /// Let a job rest. Others go on; it keeps what it has. Answered by [`super::Event::Paused`] with the number of the job, once the
    /// step that it is at is over.
    Pause {
        /// The job.
        job: JobId,
    },
    /// Let a job that rests go on.
    Resume {
        /// The job.
        job: JobId,
    },
    /// Simulate one execution. Answered by progress and [`super::Event::ProfileReady`].
    Profile {
        /// Number of this request.
        job: JobId,
        /// What to run.
        spec: ProfileSpec,
    },
    /// Simulate a whole benchmark run and keep what it did as a timeline. Answered by progress and [`super::Event::ProfileReady`].
    Trace {
        /// Number of this request.
        job: JobId,
        /// What to run.
        spec: Box<TraceSpec>,
    },
    /// Compute a model as a device would and compare with the reference. Answered by progress and [`super::Event::Numerics`].
    Numerics {
        /// Number of this request.
        job: JobId,
        /// What to compare.
        spec: Box<NumericsSpec>,
    },
    /// Read a file; its [`crate::session::ByteSource`] travels beside this message. Answered by progress and
    /// [`super::Event::ProfileReady`].
    Open {
        /// Number of this request.
        job: JobId,
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Read benchmark results of another tool; the file's [`crate::session::ByteSource`] travels beside this message. Answered by
    /// progress and [`super::Event::Imported`], or of a model index [`super::Event::IndexRead`].
    Import {
        /// Number of this request.
        job: JobId,
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Stop a job. Answered by [`super::Event::Cancelled`] with the number of the job.
    Cancel {
        /// The job to stop.
        job: JobId,
    },
    /// What to draw of some tracks in a span. Answered by [`super::Event::Timeline`].
    Timeline {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// Span, resolution and tracks.
        query: TimelineQuery,
    },
    /// Everything about one slice. Answered by [`super::Event::Details`].
    Details {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The slice.
        slice: SliceRef,
    },
    /// Everything about the slice beside another one, on the same row. Answered by [`super::Event::Details`], without details at
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
    /// Everything about a slice that a finding names. Answered by [`super::Event::Details`], without details when there is none.
    Locate {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// Row and span of the slice.
        range: SliceRange,
    },
    /// Slices whose name contains a text, letter case ignored, in order of time. Answered by [`super::Event::Search`].
    Search {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The text.
        text: String,
        /// When given, the slices of the group of this name instead.
        by: Option<GroupKind>,
        /// At most so many hits are listed (all are counted).
        limit: u32,
    },
    /// Time by operator. Answered by [`super::Event::Operators`].
    Operators {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// Which table.
        kind: OperatorKind,
        /// Only this span, where slices count with the part inside; all when absent.
        range: Option<Interval<TraceNs>>,
        /// The level the table of slices is of, `all` for every one; the default level when absent.
        level: Option<String>,
    },
    /// Metrics, bounds and findings of an execution. Answered by [`super::Event::Summary`].
    Summary {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
    },
    /// A tree, a spread or sentences about a profile. Answered by [`super::Event::Analysed`].
    Analyse {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// What is asked.
        question: Question,
    },
    /// A table about a profile. Answered by [`super::Event::Listed`].
    List {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The question.
        what: Listing,
        /// Which of its rows.
        rows: Rows,
    },
    /// All rows of a table about a profile, as CSV. Answered by [`super::Event::Exported`].
    ListCsv {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// The question.
        what: Listing,
        /// What the file is called.
        file_name: String,
    },
    /// Flow arrows that touch a span. Answered by [`super::Event::Flows`].
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
    /// How busy all of a profile is, in equal parts of its span. Answered by [`super::Event::Density`].
    Density {
        /// Number of this request.
        job: JobId,
        /// The profile asked about.
        profile: ProfileKey,
        /// Number of parts.
        buckets: u32,
    },
    /// A file to keep. Answered by [`super::Event::Exported`].
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
    /// Its stage times, as [`super::Event::Estimated`] told them; without them the model is compiled first.
    pub times: Option<ServiceTimes>,
    /// What is wanted of it.
    pub detail: RunDetail,
}

/// What can be written of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportKind {
    /// The timeline as Chrome trace JSON.
    ChromeJson,
    /// The timeline in the format of another tool.
    Trace(WriteFormat),
    /// An operator table as CSV, of a span or of all, and of a level or of the default one.
    OperatorsCsv(OperatorKind, Option<Interval<TraceNs>>, Option<String>),
    /// What `neuronscope profile --json` prints: the device window and both operator tables of a simulated execution.
    ProfileJson,
    /// What `neuronscope profile --summary --json` prints: metrics, bounds, roofline, utilisation and findings of a
    /// simulated execution.
    SummaryJson,
    /// What `neuronscope open FILE --json` prints: counts, operators and diagnostics of a file.
    OpenJson,
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
            | Self::ListCsv { job, .. }
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
            Self::List { .. } | Self::ListCsv { .. } => "a table about the profile".to_owned(),
            Self::Flows { .. } => "flow arrows".to_owned(),
            Self::Density { .. } => "the overview of the timeline".to_owned(),
            Self::Export { .. } => "the download".to_owned(),
        }
    }
}
