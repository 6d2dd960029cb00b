//! One facade over the product for every shell: what a shell may ask ([`Request`]), what it is told ([`Event`]), the
//! [`Session`] that does the work in steps, what a file is read through ([`ByteSource`]), and share links.
//!
//! The page talks to a [`Session`] in a worker over messages; the command line calls one directly. Both see the same
//! requests and the same events, so what one shows the other can print.

mod analysis;
mod bundle;
mod catalog;
mod experiments;
mod export;
mod held;
mod ids;
mod jobs;
mod marks;
mod operators;
mod profile_info;
pub mod protocol;
pub mod results;
#[allow(clippy::module_inception)]
mod session;
pub mod share;
mod source;
pub mod studies;
mod summary_json;
mod timeline;
mod warm_up;

pub use crate::compiler::{AutoCast, CastType, CompileOptions, OptLevel, Workflow};
pub use crate::kernel::without_source;
pub use crate::neuron::numerics::{NumericsReport, NumericsSpec, Origin, OutputComparison, Sample, value_text};
pub use crate::tensor::Rounding;
pub use analysis::{
    Answer, Chosen, GroupsOf, InOrderShown, Listed, Listing, MembersOf, PathShown, PathStep, QueryOf, Question, Rows,
    Said,
};
pub use bundle::{BundleLayout, MOST_FILES, Piece, files_to_open};
pub use catalog::{Catalog, InstanceInfo, ModelInfo, ParameterInfo, ParameterKind};
pub use experiments::{
    Choices, ExperimentField, ExperimentSpec, ExperimentView, RecordsAsk, RecordsChoices, RecordsFile, RecordsKey,
    RecordsRead, RecordsShown, RecordsTold,
};
pub use ids::{JobId, ProfileKey};
pub use operators::{OperatorKind, OperatorRow, OperatorTable};
pub use profile_info::{ProfileInfo, ProfileOrigin, ProfileSpec, TraceSpec};
pub use protocol::{Event, ExportKind, PROTOCOL_VERSION, Request, RunRequest, SearchHits, build_id};
pub use session::{Session, StepResult};
pub use source::{ByteSource, MemorySource};
pub use warm_up::warm_up;
