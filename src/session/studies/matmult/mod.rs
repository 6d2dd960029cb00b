//! The microbenchmark: one linear layer applied over and over, measured as the microbenchmark guide does, with the guide's pitfalls to
//! switch on.

mod document;
mod form;
mod run;
mod spec;

pub(super) use form::FORM;
pub use spec::MatmultStudy;
