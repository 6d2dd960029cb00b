//! The study of values: a model computed as on a NeuronCore, compared with the reference.

mod document;
mod form;
mod run;

pub(super) use form::FORM;
pub(super) use run::start;
