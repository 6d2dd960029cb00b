//! The study of values: a model computed as on a NeuronCore, compared with the reference.

mod document;
mod form;
mod records;
mod run;
mod spec;

pub(super) use form::FORM;
pub(super) use run::start;
pub use spec::NumericsStudy;
