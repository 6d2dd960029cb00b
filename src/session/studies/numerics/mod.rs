//! The study of values: a model computed as on a NeuronCore, compared with the reference.

mod form;
mod run;

pub(super) use form::FORM;
pub(super) use run::start;
