//! The studies: what each is asked, as the fields of a form and as options of a command.
//!
//! A study is a folder in this module with its specification and its form ([`StudyForm`]: fields, examples), and a row of `studies!`.
//! Its run and the document of its results are in `ns_documents`.

mod customop;
mod fidelity;
mod form;
mod llm;
mod matmult;
mod nki;
mod numerics;
mod spec;

pub use customop::{CasePurpose, CustomopStudy, KernelCase, KernelOfFiles, check_shapes, placed_kernel};
pub use fidelity::FidelityStudy;
pub use form::{
    AUTO_CAST_TYPES, AUTO_CASTS, FieldGroup, FieldKind, FormField, GroupLook, OPT_LEVELS, StudyExample, StudyForm,
    field,
};
pub use llm::LlmStudy;
pub use matmult::MatmultStudy;
pub use nki::{BuiltInKernel, LIST_HAS_ITS_OWN, NkiStudy, is_notebook, python_of};
pub use numerics::NumericsStudy;
pub use spec::{FileField, StudyKind, StudySpec};
