//! The page of values: a model computed as on a NeuronCore, compared with the reference.

mod actions;
mod form;
mod page;
mod result;

pub use page::NumericsPage;
