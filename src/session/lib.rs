//! One facade over the product for every shell: requests from a shell ([`Request`]), events to it ([`Event`]), the [`Session`] that does
//! the work in steps, and what a shell uses of forms, links and documents.
//!
//! The page talks to a [`Session`] in a worker over messages; the command line calls one directly. Both see the same
//! requests and the same events, so the command line can print what the page shows.
//!
//! Start with:
//! - [`Session`], and [`protocol`]: what can be asked of it. Questions are answered at the next step, jobs one after another.
//! - `ns_forms` has what is asked, `ns_documents` what results look like.
//!
//! Invariants:
//! - A step is short, so that a shell can show progress and cancel; a request that cannot be done is an event with a sentence.
//! - A session reads no clock and no file by itself: what it needs of these a shell gives it.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod jobs;
mod open_profile;
pub mod protocol;
mod session;
mod timed_runs;
mod warm_up;
mod work;

pub use ns_bench::{FilePlan, FileStep, ModelEntry};
pub use ns_compiler::{AutoCast, CastType, CompileOptions, OptLevel, Workflow, engine_of};
pub use ns_container::ByteSource;
pub use ns_container::zip::Archive;
pub use ns_device::{
    BatchRule, FIXED_MODEL, ModelFileRef, ModelFileSettings, ModelFileValues, ModelKind, ModelLibrary, OpenedModel,
    OperatorKernels, casts_of, model_label,
};
pub use ns_documents::{
    ExportedFile, Hardware, OperatorKind, OperatorRow, OperatorTable, PROTOCOL_VERSION, ProfileInfo, ProfileKey,
    Recorder, RecorderCall,
    analysis::{
        Answer, GroupsOf, LinkedSentence, LinkedTable, Listing, MembersOf, PathStep, PathSteps, QueryOf, Question,
        Rows, SliceFilter,
    },
    build_id, costs, costs_markdown,
    experiments::{Choices, RecordsAsk, RecordsChoices, RecordsFile, RecordsKey, RecordsRead, RecordsResult},
    guide,
    inspect::{InspectAsk, InspectFile, InspectResult, TreeRow},
    overview::{Evidence, bounds_table, limits_table, lost_time_table},
    pages::{BenchPage, LOCAL_PAGE, PackedReports, bench_page, records_page, study_page},
    reports, summary_text,
    timeline::SearchHits,
};
pub use ns_formats::WriteFormat;
pub use ns_forms::{
    BundleLayout, Catalog, EXAMPLE_INSTANCE, EXAMPLE_MODEL, ExperimentField, ExperimentSpec, ExperimentView,
    HEAD_BYTES, InspectField, InspectSpec, InspectView, InstanceInfo, Kind, ModelInfo, ModelQuestions, OPERATOR_PLACES,
    ParameterInfo, ParameterKind, Piece, ProfileOrigin, ProfileSpec, SizeQuestion, TraceSpec, calls_neuronperf,
    catalog, commands, files_to_open, is_known_script, neuronperf_command, options, refuse_script, share, shelf, sniff,
};
pub use ns_kernel::{
    BUILT_IN, BuildScript, BuiltIn, MAX_SOURCE_BYTES, NamedKernel, TABLE_KERNEL, built_in, without_source,
};
pub use ns_machine::arch::size_name;
pub use ns_model::ModelSpec;
pub use ns_model::training::{MAX_MICRO_BATCHES, Optimizer, TrainingCall};
pub use ns_neuron::numerics::{NumericsReport, NumericsSpec, OutputComparison, Sample, checked_instance};
pub use ns_profile::levels::ALL_LEVELS;
pub use ns_profile::{Profile, Unit};
pub use ns_program::file::{may_have_files_beside, without_model_ending};
pub use ns_program::{ImportError, ImportOptions, ImportedModel, Inspection, Value};
pub use ns_tensor::Rounding;
pub use protocol::{
    AnalysisRequest, Ask, Control, Event, ExperimentJobRequest, ExportKind, JobId, JobRequest, JobResult, Message,
    ProfileQuestion, QuestionRequest, RecordsSource, Reply, Request, ResultPart, RunRequest,
};
pub use session::{Session, StepResult};
pub use timed_runs::TimedRuns;
pub use warm_up::warm_up;

/// The studies: their forms, and their results.
pub mod studies {
    pub use ns_documents::studies::{
        FigureAnswer, FigureTable, KernelComparison, KernelDocument, KernelRow, LlmAnswer, StudyReports, StudyResult,
        calibrated, compare_kernel, customop_reports_json, customop_text, customop_tutorial_text, kernel_profile,
        matmult_reports_json, matmult_text, token_profile,
    };
    pub use ns_forms::studies::*;
    pub use ns_llm::{MAX_CONFIG_BYTES, config_of_gguf, is_gguf};
    pub use ns_neuron::gpsimd::{CustomOpSpec, Workload};
}

/// The results of benchmarks, and what is kept of results.
pub mod results {
    pub use ns_documents::results::*;
    pub use ns_forms::results::*;
}
