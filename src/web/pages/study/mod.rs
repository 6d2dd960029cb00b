//! The page of a study, whatever its subject: a form, examples, progress, the document of what came of it.

mod actions;
mod form;
mod page;

pub use page::StudyPage;
