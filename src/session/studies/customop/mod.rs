//! Custom operators: a kernel in the language of the tutorial, run on simulated GPSIMD processors, with the cost of every line, the
//! errors, and the gain of each step of the tutorial.

mod cases;
mod document;
mod files;
mod form;
mod run;
mod spec;
mod sweeps;
mod text;

pub use files::{KernelOfFiles, check_shapes, placed_kernel};
pub(super) use form::{FORM, followers};
pub(super) use run::start;
pub use spec::CustomopStudy;
pub(super) use spec::{pack_source, source};
pub use text::{customop_reports_json, customop_text, customop_tutorial_text};
