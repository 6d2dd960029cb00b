//! Language models on many cores.

mod form;
mod spec;

pub(super) use form::FORM;
pub use spec::LlmStudy;
