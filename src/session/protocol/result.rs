//! How requests end.

use serde::{Deserialize, Serialize};

use crate::base::Diagnostic;
use crate::bench::cpu::CpuTimers;
use crate::bench::mlperf::MlperfResult;
use crate::bench::{ModelIndex, Report, RowResult};
use crate::device::OpenedModel;
use crate::insight::Insights;
use crate::neuron::numerics::NumericsReport;
use crate::session::experiments::{RecordsRead, RecordsShown};
use crate::session::inspect::InspectShown;
use crate::session::share::LinkedFile;
use crate::session::studies::StudyResult;
use crate::session::{Answer, Catalog, Listed, OperatorTable, ProfileInfo};
use crate::view::timeline::{GroupKind, SliceDetails, SliceLink, TimelineTile};

/// What a job ends with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JobResult {
    /// A benchmark, a plan or a compile has ended: its parts are all of its result.
    AllParts,
    /// One configuration has ended, well or not.
    Row {
        /// Position of the configuration in the sweep.
        row: u32,
        /// What came of it.
        result: Box<RowResult>,
    },
    /// What one copy measured on this processor.
    CpuTimers {
        /// Which copy.
        copy: u32,
        /// Its times.
        timers: Box<CpuTimers>,
    },
    /// The result of an MLPerf scenario, with its verdict.
    Mlperf(Box<MlperfResult>),
    /// Results of a file, marked as imported.
    Imported {
        /// Name of the file.
        name: String,
        /// Its rows.
        reports: Vec<Report>,
        /// What was odd about it.
        diagnostics: Vec<Diagnostic>,
    },
    /// A model index.
    Index {
        /// Name of the file.
        name: String,
        /// Its entries, also those that failed or could not be understood.
        index: Box<ModelIndex>,
        /// What was odd about it, one sentence each.
        warnings: Vec<String>,
    },
    /// A model file is open: what it is called and what it holds.
    Model(Box<(OpenedModel, LinkedFile)>),
    /// A model file that another session opened is kept here too.
    ModelKept,
    /// A profile can be asked about.
    Profile(Box<ProfileInfo>),
    /// A device's outputs beside the reference's.
    Numerics(Box<NumericsReport>),
    /// What a study has come to, in place of what its parts told.
    Study(Box<StudyResult>),
    /// What a set of records holds now.
    Records(RecordsRead),
    /// A model as a picture.
    Inspected(Box<InspectShown>),
}

/// The answer to a question or an analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// What can be run.
    Catalog(Catalog),
    /// A view of records.
    Records(Box<RecordsShown>),
    /// What to draw.
    Timeline(TimelineTile),
    /// Everything about one slice; absent when there is none.
    Details(Option<Box<SliceDetails>>),
    /// Slices found.
    Search(SearchHits),
    /// Time by operator.
    Operators(OperatorTable),
    /// Metrics, bounds and findings; absent when the profile does not say what instructions and DMAs did.
    Summary(Option<Box<Insights>>),
    /// What was found about a profile.
    Analysed(Box<Answer>),
    /// A table about a profile.
    Listed(Box<Listed>),
    /// Flow arrows.
    Flows {
        /// From where to where.
        arrows: Vec<(SliceLink, SliceLink)>,
        /// Number of arrows in all of the profile.
        total: u64,
    },
    /// Mean number of busy tracks in each part of the span.
    Density(Vec<f64>),
}

/// A file to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedFile {
    /// Name to save it under.
    pub file_name: String,
    /// Media type.
    pub mime: String,
    /// Its content.
    pub bytes: Vec<u8>,
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
