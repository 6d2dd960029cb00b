//! The values of a model.

mod form;
mod spec;

pub(super) use form::FORM;
pub use spec::NumericsStudy;
