//! Figures of devices beside what the model predicts.

mod form;
mod spec;

pub(super) use form::{FORM, followers};
pub use spec::FidelityStudy;
