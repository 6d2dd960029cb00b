//! Work that a shell may ask for.

use serde::{Deserialize, Serialize};

use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;
use ns_bench::mlperf::MlperfSettings;
use ns_bench::{BenchConfig, CompileConfig, Configuration, RunDetail, ServiceTimes};
use ns_device::{ModelFileSettings, model_label};
use ns_documents::experiments::RecordsKey;
use ns_documents::inspect::InspectAsk;
use ns_experiment::sweep::{ExperimentsRequest, ExperimentsRun, PlannedExperiment};
use ns_forms::share::{Page, file_label};
use ns_forms::studies::StudySpec;
use ns_forms::{ProfileSpec, TraceSpec};

/// Work that a session does in steps. Each reports its progress, then ends with a [`JobResult`](super::JobResult).
#[derive(Clone, Debug, PartialEq)]
pub enum JobRequest {
    /// List the configurations of a benchmark before it runs. Told by [`ResultPart::Plan`](super::ResultPart::Plan) at once, then by one
    /// [`ResultPart::Estimated`](super::ResultPart::Estimated) for each simulated configuration that can run, as their models are compiled.
    /// There are no estimates for an MLPerf scenario.
    PlanBench(Box<BenchConfig>),
    /// Run one configuration of a plan, on any worker. Ends with [`JobResult::Row`](super::JobResult::Row); when it is cancelled, with
    /// the row of the measurements until then.
    RunConfiguration(Box<RunRequest>),
    /// Run one copy of a configuration's model on this processor and measure it; one worker for each copy. Ends with
    /// [`JobResult::CpuTimers`](super::JobResult::CpuTimers). [`ns_bench::cpu::cpu_row`] makes a row of all copies' timers.
    MeasureCpu {
        /// Number of the copy, from 0; the answer repeats it.
        copy: u32,
        /// The configuration to run.
        configuration: Box<Configuration>,
    },
    /// Run an MLPerf scenario on a configuration's copies and workers. Ends with [`JobResult::Mlperf`](super::JobResult::Mlperf).
    Mlperf {
        /// The scenario and its limits.
        settings: Box<MlperfSettings>,
        /// The configuration to run it on.
        configuration: Box<Configuration>,
    },
    /// Compile a model for a sweep of sizes and levels. Told by one [`ResultPart::Compiled`](super::ResultPart::Compiled) for each artifact as it
    /// ends.
    Compile(Box<CompileConfig>),
    /// Simulate one execution. Ends with [`JobResult::Profile`](super::JobResult::Profile).
    Profile(ProfileSpec),
    /// Simulate a whole benchmark run and keep it as a timeline. Ends with [`JobResult::Profile`](super::JobResult::Profile).
    Trace(Box<TraceSpec>),
    /// Run a study. Told by any number of [`ResultPart::Study`](super::ResultPart::Study), each replacing the previous one; ends with
    /// [`JobResult::Study`](super::JobResult::Study), which replaces them all.
    /// The text is what an earlier visit kept of it ([`StudyResult::resume`](ns_documents::studies::StudyResult::resume)); empty for nothing.
    Study(Box<StudySpec>, String),
    /// Make the trace of a study, by the name that [`ns_forms::share::study_file_name`] gives it. Ends with
    /// [`JobResult::StudyTrace`](super::JobResult::StudyTrace).
    StudyTrace(String),
    /// Read a file; its [`ns_container::ByteSource`] is sent along with this message. Ends with
    /// [`JobResult::Profile`](super::JobResult::Profile).
    Open {
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Open a model file of the user; its [`ns_container::ByteSource`] is sent along with this message. Ends with
    /// [`JobResult::Model`](super::JobResult::Model), whose id every request for a model takes from then on. It stays open.
    OpenModel {
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
        /// Sizes of open dimensions, and how operators without a known meaning are placed.
        settings: Box<ModelFileSettings>,
    },
    /// Keep a model file that another session has opened; its [`ns_container::ByteSource`] is sent along with this message. It is read when a
    /// request names it. Ends with [`JobResult::ModelKept`](super::JobResult::ModelKept).
    KeepModel {
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Open the model file that a link holds, as [`ns_forms::share::LinkedFile`] packs it. Ends as [`Self::OpenModel`].
    OpenLinkedModel(String),
    /// Read benchmark results of another tool; the file's [`ns_container::ByteSource`] is sent along with this message. Ends with
    /// [`JobResult::Imported`](super::JobResult::Imported), or for a model index with [`JobResult::Index`](super::JobResult::Index).
    Import {
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Read records of experiments into a set. Ends with [`JobResult::Records`](super::JobResult::Records).
    ReadRecords(RecordsKey, RecordsSource),
    /// List the experiments of a request. Ends with [`JobResult::ExperimentsPlan`](super::JobResult::ExperimentsPlan).
    PlanExperiments(Box<ExperimentsRequest>),
    /// Run one experiment of a plan, on any worker. Ends with [`JobResult::Experiment`](super::JobResult::Experiment).
    RunExperiment(Box<ExperimentJobRequest>),
    /// Look at a model as a picture. Ends with [`JobResult::Inspected`](super::JobResult::Inspected), or with a file.
    Inspect(InspectAsk),
}

/// Source of records of experiments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordsSource {
    /// In a file, whose [`ns_container::ByteSource`] is sent along with the message.
    File {
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Here: the lines of a file, which replaces the one of this name if the set has it.
    Lines {
        /// Name of the file.
        name: String,
        /// What it holds.
        lines: String,
    },
    /// In a link: files as [`RecordsRead::packed`](ns_documents::experiments::RecordsRead::packed) gives them, or `sample`.
    Link(String),
}

/// One experiment to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentJobRequest {
    /// Its position in the plan, which its answer repeats.
    pub row: u32,
    /// The run that it belongs to.
    pub run: ExperimentsRun,
    pub planned: PlannedExperiment,
}

/// One configuration to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// Its position in the sweep, which its answer repeats.
    pub row: u32,
    pub configuration: Configuration,
    /// Its stage times, as [`ResultPart::Estimated`](super::ResultPart::Estimated) told them; without them the model is compiled first.
    pub times: Option<ServiceTimes>,
    pub detail: RunDetail,
}

impl JobRequest {
    /// Whether the worker of studies runs it. A model file is for every worker.
    pub const fn is_study(&self) -> bool {
        match self {
            Self::Study(..) | Self::StudyTrace(_) => true,
            Self::ReadRecords(..) | Self::PlanExperiments(_) | Self::RunExperiment(_) => true,
            Self::PlanBench(_) | Self::RunConfiguration(_) | Self::MeasureCpu { .. } | Self::Mlperf { .. } => false,
            Self::Compile(_) | Self::Profile(_) | Self::Trace(_) | Self::Import { .. } | Self::Inspect(_) => false,
            Self::Open { .. } | Self::OpenModel { .. } | Self::KeepModel { .. } | Self::OpenLinkedModel(_) => false,
        }
    }

    /// The input of this request in words.
    pub fn describe(&self) -> String {
        match self {
            Self::PlanBench(config) => format!("the plan of {} on {}", config.model, config.instance_type),
            Self::RunConfiguration(run) => run.configuration.label(),
            Self::MeasureCpu { configuration, .. } => format!("the measurement of {}", configuration.label()),
            Self::Mlperf { settings, configuration } => {
                format!("the {} scenario of {}", settings.scenario.name(), configuration.label())
            }
            Self::Compile(config) => format!("the compile of {} for {}", config.model, config.instance_type),
            Self::Profile(spec) => {
                format!("the profile of {} ({}, {})", model_label(&spec.model), spec.workflow.name(), spec.instance)
            }
            Self::Trace(spec) => format!("the benchmark run of {} ({})", spec.spec.model, spec.spec.instance),
            // The title of the page and not of its form: the page of profiles would hold the forms of all studies for one word.
            Self::Study(spec, _) => format!("the study on the page {}", Page::of_study(spec.kind()).title()),
            Self::StudyTrace(name) => format!("the timeline of {}", file_label(name)),
            Self::Open { name, size }
            | Self::OpenModel { name, size, .. }
            | Self::KeepModel { name, size }
            | Self::Import { name, size }
            | Self::ReadRecords(_, RecordsSource::File { name, size }) => {
                format!("the file {name} ({})", format_bytes(u64_to_f64(*size)))
            }
            Self::ReadRecords(_, RecordsSource::Lines { name, .. }) => name.clone(),
            Self::PlanExperiments(_) => "the plan of the experiments".to_owned(),
            Self::RunExperiment(job) => {
                let PlannedExperiment { model, accelerator, backend, .. } = &job.planned;
                format!("the experiment of {model} on {} with {backend}", accelerator.name())
            }
            Self::ReadRecords(_, RecordsSource::Link(_)) => "the files of the link".to_owned(),
            Self::OpenLinkedModel(_) => "the model file of the link".to_owned(),
            Self::Inspect(ask) => ask.describe(),
        }
    }
}
