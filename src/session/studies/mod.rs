//! Studies: subjects with a form, a run and a document of its results.
//!
//! ```text
//! StudySpec (texts of a form or a link) -> start -> StudyRun, a step at a time -> StudyResult: a document and files
//! ```
//!
//! A study is a folder in this module with its form ([`StudyForm`]: fields, examples), its run and its document, and a
//! variant of [`StudySpec`] and [`StudyKind`]. Job, page, state and links are common to all studies.

mod customop;
mod form;
mod llm;
mod matmult;
mod nki;
mod numerics;
mod run;
mod spec;

pub use customop::{
    CustomopStudy, KernelOfFiles, check_shapes, customop_reports_json, customop_text, customop_tutorial_text,
    placed_kernel,
};
pub(crate) use form::field;
pub use form::{
    AUTO_CAST_TYPES, AUTO_CASTS, FieldGroup, FieldKind, FormField, GroupLook, OPT_LEVELS, StudyExample, StudyForm,
};
pub use llm::{LlmAnswer, LlmStudy, token_profile};
pub use matmult::{MatmultStudy, matmult_reports_json, matmult_text};
pub(crate) use nki::KernelAnswers;
pub use nki::{KernelDocument, NkiStudy, OwnKernel, kernel_profile};
pub use ns_llm::{MAX_CONFIG_BYTES, config_of_gguf, is_gguf};
pub use ns_neuron::gpsimd::{CustomOpSpec, Workload};
pub use numerics::NumericsStudy;
pub use run::{StudyFile, StudyReports, StudyResult, TRACE_MIME};
pub(super) use run::{StudyRun, StudyStep};
pub(crate) use spec::StudyTools;
pub use spec::{FileField, StudyKind, StudySpec};
