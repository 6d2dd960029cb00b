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
mod colours;
mod experiments;
mod export;
pub mod guide;
mod hardware;
mod inspect;
mod jobs;
mod marks;
mod open_profile;
mod operators;
mod overview;
mod pages;
mod part;
mod profile_info;
pub mod protocol;
mod recorder;
pub mod reports;
pub mod results;
mod session;
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
pub use experiments::{Choices, RecordsAsk, RecordsChoices, RecordsFile, RecordsKey, RecordsRead, RecordsResult};
pub use export::ExportedFile;
pub use hardware::{Hardware, costs, costs_markdown};
pub use inspect::{InspectAsk, InspectFile, InspectResult, TreeRow};
pub use ns_bench::{FilePlan, FileStep, ModelEntry};
pub use ns_compiler::{AutoCast, CastType, CompileOptions, OptLevel, Workflow, engine_of};
pub use ns_container::ByteSource;
pub use ns_container::zip::Archive;
pub use ns_device::{
    BatchRule, FIXED_MODEL, ModelFileRef, ModelFileSettings, ModelFileValues, ModelKind, ModelLibrary, OpenedModel,
    OperatorKernels, casts_of, model_label,
};
pub use ns_formats::WriteFormat;
pub use ns_forms::{
    BundleLayout, Catalog, EXAMPLE_INSTANCE, EXAMPLE_MODEL, ExperimentField, ExperimentSpec, HEAD_BYTES, InspectField,
    InspectSpec, InspectView, InstanceInfo, Kind, ModelInfo, ModelQuestions, OPERATOR_PLACES, ParameterInfo,
    ParameterKind, Piece, ProfileOrigin, ProfileSpec, SizeQuestion, TraceSpec, calls_neuronperf, catalog, commands,
    files_to_open, is_known_script, neuronperf_command, options, refuse_script, share, shelf, sniff,
};
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
pub use protocol::{
    AnalysisRequest, Ask, Control, Event, ExperimentJobRequest, ExportKind, JobId, JobRequest, JobResult, Message,
    ProfileQuestion, QuestionRequest, RecordsSource, Reply, Request, ResultPart, RunRequest,
};
pub use recorder::{Recorder, RecorderCall};
pub use session::{Session, StepResult};
pub use summary_text::summary_text;
pub use timed_runs::TimedRuns;
pub use timeline::SearchHits;
pub use version::{PROTOCOL_VERSION, build_id};
pub use warm_up::warm_up;
