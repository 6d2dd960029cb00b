//! One facade over the product for every shell: requests from a shell ([`Request`]), events to it ([`Event`]), the
//! [`Session`] that does the work in steps, access to files ([`ByteSource`]), and share links.
//!
//! The page talks to a [`Session`] in a worker over messages; the command line calls one directly. Both see the same
//! requests and the same events, so the command line can print what the page shows.
//!
//! Start with:
//! - [`Session`], and [`protocol`]: what can be asked of it. Questions are answered at the next step, jobs one after another.
//! - [`options`]: the options of a benchmark as rows, from which form, flags, links and help come; [`studies`]: the forms of the studies.
//! - [`share`]: links to pages; [`shelf`]: what a browser keeps between visits.
//!
//! Invariants:
//! - A step is short, so that a shell can show progress and cancel; a request that cannot be done is an event with a sentence.
//! - A session reads no clock and no file by itself: what it needs of these a shell gives it.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod analysis;
mod bundle;
mod catalog;
mod colours;
pub mod commands;
mod example;
mod experiments;
mod export;
mod file_kind;
pub mod guide;
mod hardware;
mod inspect;
mod jobs;
mod marks;
mod open_profile;
mod operators;
pub mod options;
mod overview;
mod pages;
mod part;
mod profile_info;
mod profile_spec;
pub mod protocol;
mod questions;
mod recorder;
pub mod reports;
pub mod results;
#[allow(clippy::module_inception, reason = "the facade has the name of the room")]
mod script;
mod session;
pub mod share;
pub mod shelf;
pub mod studies;
mod summary_json;
mod summary_text;
mod timed_runs;
mod timeline;
mod version;
mod warm_up;
mod work;

pub use analysis::{
    Answer, GroupsOf, LinkedSentence, LinkedSlices, LinkedTable, Listing, MembersOf, PathStep, PathSteps, QueryOf,
    Question, Rows, SliceFilter,
};
pub use bundle::{BundleLayout, MOST_FILES, Piece, files_to_open};
pub use catalog::{Catalog, InstanceInfo, ModelInfo, ParameterInfo, ParameterKind, catalog};
pub use example::{EXAMPLE_INSTANCE, EXAMPLE_MODEL};
pub use experiments::{
    Choices, ExperimentField, ExperimentSpec, ExperimentView, RecordsAsk, RecordsChoices, RecordsFile, RecordsKey,
    RecordsRead, RecordsResult,
};
pub use export::ExportedFile;
pub use file_kind::{HEAD_BYTES, Kind, sniff};
pub use hardware::{Hardware, costs, costs_markdown};
pub use inspect::{InspectAsk, InspectField, InspectFile, InspectResult, InspectSpec, InspectView, TreeRow};
pub use ns_bench::{FilePlan, FileStep, ModelEntry};
pub use ns_compiler::{AutoCast, CastType, CompileOptions, OptLevel, Workflow, engine_of};
pub use ns_container::ByteSource;
pub use ns_container::zip::Archive;
pub use ns_device::{
    BatchRule, FIXED_MODEL, ModelFileRef, ModelFileSettings, ModelFileValues, ModelKind, ModelLibrary, OpenedModel,
    OperatorKernels, casts_of, model_label,
};
pub use ns_formats::WriteFormat;
pub use ns_kernel::{
    BUILT_IN, BuildScript, BuiltIn, MAX_SOURCE_BYTES, NamedKernel, TABLE_KERNEL, built_in, without_source,
};
pub use ns_model::ModelSpec;
pub use ns_model::training::{MAX_MICRO_BATCHES, Optimizer, TrainingCall};
pub use ns_neuron::numerics::{NumericsReport, NumericsSpec, OutputComparison, Sample, checked_instance};
pub use ns_profile::levels::ALL_LEVELS;
pub use ns_profile::{Profile, Unit};
pub use ns_program::file::{may_have_files_beside, without_model_ending};
pub use ns_program::{ImportError, ImportOptions, ImportedModel, Inspection, Value};
pub use ns_tensor::Rounding;
pub use operators::{OperatorKind, OperatorRow, OperatorTable};
pub use overview::{Evidence, bounds_table, limits_table, lost_time_table};
pub use pages::{BenchPage, LOCAL_PAGE, PackedReports, bench_page, study_page};
pub use profile_info::{ProfileInfo, ProfileKey};
pub use profile_spec::{ProfileOrigin, ProfileSpec, TraceSpec};
pub use protocol::{
    AnalysisRequest, Ask, Control, Event, ExperimentJobRequest, ExportKind, JobId, JobRequest, JobResult, Message,
    ProfileQuestion, QuestionRequest, RecordsSource, Reply, Request, ResultPart, RunRequest,
};
pub use questions::{ModelQuestions, OPERATOR_PLACES, OperatorQuestion, SizeQuestion};
pub use recorder::{Recorder, RecorderCall};
pub use script::{calls_neuronperf, is_known_script, neuronperf_command, refuse_script};
pub use session::{Session, StepResult};
pub use summary_text::summary_text;
pub use timed_runs::TimedRuns;
pub use timeline::SearchHits;
pub use version::{PROTOCOL_VERSION, build_id};
pub use warm_up::warm_up;
