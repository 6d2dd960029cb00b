//! The study of values: a model computed as on a NeuronCore, compared with the reference.

mod document;
mod form;
mod records;
mod run;

pub(super) use form::FORM;
pub use records::NumericsStudy;
pub(super) use run::start;
