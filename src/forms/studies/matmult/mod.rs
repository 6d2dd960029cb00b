//! The microbenchmark: one linear layer applied repeatedly.

mod form;
mod spec;

pub(super) use form::FORM;
pub use spec::MatmultStudy;
