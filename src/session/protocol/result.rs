//! How requests end.

use ns_base::Diagnostic;
use ns_bench::cpu::CpuTimers;
use ns_bench::mlperf::MlperfResult;
use ns_bench::{ModelIndex, Report, RowResult};
use ns_device::OpenedModel;
use ns_documents::analysis::{Answer, LinkedTable};
use ns_documents::experiments::{RecordsRead, RecordsResult};
use ns_documents::inspect::InspectResult;
use ns_documents::studies::StudyResult;
use ns_documents::timeline::SearchHits;
use ns_documents::{OperatorTable, ProfileInfo};
use ns_experiment::sweep::{ExperimentRow, ExperimentsPlan};
use ns_forms::Catalog;
use ns_forms::share::LinkedFile;
use ns_view::timeline::{SliceDetails, SliceLink, TimelineTile};

#[derive(Clone, Debug, PartialEq)]
pub enum JobResult {
    /// A benchmark, a plan or a compile has ended: its parts are all of its result.
    AllParts,
    /// One configuration has ended, well or not.
    Row {
        /// Position of the configuration in the sweep.
        row: u32,
        result: Box<RowResult>,
    },
    /// The measurement of one copy on this processor.
    CpuTimers {
        /// Number of the copy.
        copy: u32,
        timers: Box<CpuTimers>,
    },
    /// The result of an MLPerf scenario, with its verdict.
    Mlperf(Box<MlperfResult>),
    /// Results of a file, marked as imported.
    Imported {
        /// Name of the file.
        name: String,
        reports: Vec<Report>,
        /// Notes on problems in the file.
        diagnostics: Vec<Diagnostic>,
    },
    Index {
        /// Name of the file.
        name: String,
        /// Its entries, also those that failed or could not be understood.
        index: Box<ModelIndex>,
        /// Notes on problems in the file, one sentence each.
        warnings: Vec<String>,
    },
    /// A model file is open: its name and contents.
    Model(Box<(OpenedModel, LinkedFile)>),
    /// A model file that another session opened is kept here too.
    ModelKept,
    /// A profile is ready for questions.
    Profile(Box<ProfileInfo>),
    /// The trace that a study makes, as a file to open.
    StudyTrace {
        /// Name of the file.
        name: String,
        text: String,
    },
    /// The result of a study, which replaces its parts.
    Study(Box<StudyResult>),
    /// The present content of a set of records.
    Records(RecordsRead),
    /// The experiments of a request.
    ExperimentsPlan(Box<ExperimentsPlan>),
    /// One experiment has ended, well or not.
    Experiment {
        /// Position of the experiment in the plan.
        row: u32,
        result: Box<ExperimentRow>,
    },
    /// A model as a picture.
    Inspected(Box<InspectResult>),
}

/// The answer to a question or an analysis.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The models and instances that can be run.
    Catalog(Catalog),
    /// A view of records.
    Records(Box<RecordsResult>),
    /// The shapes to draw on the timeline.
    Timeline(TimelineTile),
    /// Everything about one slice; absent if the slice does not exist.
    Details(Option<Box<SliceDetails>>),
    /// Slices found.
    Search(SearchHits),
    /// Time by operator.
    Operators(OperatorTable),
    /// The answer to an analysis of a profile.
    Analysed(Box<Answer>),
    /// A table about a profile.
    Listed(Box<LinkedTable>),
    /// Flow arrows.
    Flows {
        /// The arrows, each from one slice to another.
        arrows: Vec<(SliceLink, SliceLink)>,
        /// Number of arrows in all of the profile.
        total: u64,
    },
    /// Mean number of busy tracks in each part of the span.
    Density(Vec<f64>),
}
