//! The study of language models: how fast one reads and writes on some cores, and where it fits.

mod answer;
mod document;
mod grid;
mod run;
mod token;
mod traffic;

pub use answer::LlmAnswer;
pub(super) use run::start;
pub use token::token_profile;
