//! Custom operators: a kernel in the language of the tutorial, run on simulated GPSIMD processors, with the cost of every line, the
//! errors, and the gain of each step of the tutorial.

mod document;
mod run;
mod sweeps;
mod text;

pub(super) use run::start;
pub use text::{customop_reports_json, customop_text, customop_tutorial_text};
