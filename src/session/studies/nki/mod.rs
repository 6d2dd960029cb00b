//! NKI kernels: the author's Python file is recorded, and its instructions run on a simulated NeuronCore.

mod document;
mod form;
mod run;
mod spec;

pub(super) use form::{FORM, followers};
pub use spec::NkiStudy;
