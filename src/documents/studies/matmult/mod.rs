//! The microbenchmark: one linear layer applied repeatedly, measured as the microbenchmark guide does, with the guide's pitfalls to
//! switch on.
//!
//! ```text
//! MatmultStudy -> cases -> Done, each as it ends -> document: of one case (single.rs) or of a sweep (sweep.rs)
//! ```

mod command;
mod document;
mod processor;
mod run;
mod single;
mod sweep;
mod text;

pub(super) use run::start;
pub use text::{matmult_reports_json, matmult_text};
