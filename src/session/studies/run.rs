//! A study at work.

use serde::{Deserialize, Serialize};

use crate::view::document::Document;

/// What a study came to, or has come to until now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyResult {
    /// What is shown.
    pub document: Document,
    /// What can be saved; there when the study is over.
    pub files: Vec<StudyFile>,
}

/// A file that a study made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyFile {
    /// What its button says: `CSV`.
    pub label: String,
    /// What it is saved as: `matmult.csv`.
    pub name: String,
    /// Media type.
    pub mime: String,
    /// Its content.
    pub text: String,
}

/// Media type of a trace that the profile page opens.
pub const TRACE_MIME: &str = "application/json; profile=trace";

impl StudyFile {
    /// Whether it is a trace, which can be opened as a timeline.
    #[must_use]
    pub fn is_trace(&self) -> bool {
        self.mime == TRACE_MIME
    }
}

/// A study at work.
pub(in crate::session) trait StudyRun {
    /// Works for about `budget_events` simulated events, or the next part that cannot be divided.
    ///
    /// # Errors
    /// When nothing can be shown: what was wrong and what to do.
    fn step(&mut self, budget_events: u32) -> Result<StudyStep, String>;
}

/// Where a study is after a step.
pub(in crate::session) enum StudyStep {
    /// There is more to do.
    More {
        /// Parts done.
        done: u64,
        /// Parts in all.
        total: u64,
        /// What comes next: `n 1024, batch 1`.
        label: String,
        /// What can be shown until now, when it is more than before.
        shown: Option<Box<StudyResult>>,
    },
    /// It is over.
    Done(Box<StudyResult>),
}
