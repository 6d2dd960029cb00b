//! Custom operators: a kernel in the language of the tutorial, run on simulated GPSIMD processors, with what every line costs, what is
//! wrong with it, and what each step of the tutorial gains.

mod cases;
mod document;
mod form;
mod run;
mod spec;
mod sweeps;

pub(super) use form::{FORM, followers};
pub use spec::CustomopStudy;
