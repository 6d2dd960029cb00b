//! The page of a study, whatever its subject: a form, examples, progress, the document with the result.

mod actions;
mod form;
mod page;

pub use actions::open_for_study;
pub use page::StudyPage;
