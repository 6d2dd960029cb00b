//! The page of values: a model computed as a NeuronCore would, beside the reference.

mod actions;
mod form;
mod page;
mod result;

pub use page::NumericsPage;
