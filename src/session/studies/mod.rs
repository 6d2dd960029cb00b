//! Studies: subjects that a person looks into with a form, a run and a document of what came of it.
//!
//! ```text
//! StudySpec (texts of a form or a link) -> start -> StudyRun, a step at a time -> StudyResult: a document and files
//! ```
//!
//! A study is a folder in here with its form ([`StudyForm`]: fields, examples), what it runs, and how its document is made, and a
//! variant of [`StudySpec`] and [`StudyKind`]. Job, page, state and links take it from there.

mod customop;
mod form;
mod matmult;
mod run;
mod spec;

pub use customop::CustomopStudy;
pub use form::{FieldGroup, FieldKind, GroupLook, StudyExample, StudyField, StudyForm};
pub use matmult::MatmultStudy;
pub use run::{StudyFile, StudyResult, TRACE_MIME};
pub(super) use run::{StudyRun, StudyStep};
pub use spec::{StudyKind, StudySpec};
