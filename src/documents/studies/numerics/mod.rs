//! The study of values: a model computed as on a NeuronCore, compared with the reference.

mod document;
mod records;
mod run;

pub(super) use run::start;
