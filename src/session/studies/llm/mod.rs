//! The study of language models: how fast one reads and writes on some cores, and where it fits.

mod answer;
mod document;
mod form;
mod grid;
mod run;
mod spec;
mod token;
mod traffic;

pub use answer::LlmAnswer;
pub use spec::LlmStudy;
pub use token::token_profile;

pub(super) use form::FORM;
pub(super) use run::start;
