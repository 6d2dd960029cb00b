//! Studies: their runs and the documents of their results.
//!
//! ```text
//! StudySpec (texts of a form or a link) -> start -> StudyRun, a step at a time -> StudyResult: a document and files
//! ```
//!
//! A study is a folder in this module with its run and its document, and a case of [`start`]. Its form is in `ns_forms`. Job, page, state
//! and links are common to all studies.

mod customop;
mod fidelity;
mod llm;
mod matmult;
mod nki;
mod numerics;
mod run;

pub use customop::{customop_reports_json, customop_text, customop_tutorial_text};
pub use fidelity::{FigureAnswer, FigureTable, KernelComparison, KernelRow, calibrated, compare_kernel};
pub use llm::{LlmAnswer, token_profile};
pub use matmult::{matmult_reports_json, matmult_text};
pub use nki::{KernelAnswers, KernelDocument, kernel_profile};
pub use run::{StudyFile, StudyReports, StudyResult, StudyRun, StudyStep, StudyTools, TRACE_MIME, start};
