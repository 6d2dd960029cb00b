//! What a shell may ask about records of experiments, and what it is told.

use serde::{Deserialize, Serialize};

use super::spec::ExperimentSpec;
use crate::view::document::Document;

/// Names one set of records that a session holds. The shell chooses the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordsKey(pub u32);

/// What is asked about a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordsAsk {
    /// What to show. Told by [`Reply::Records`](crate::session::Reply::Records).
    Show(Box<ExperimentSpec>),
    /// A file to keep. Told by [`Told::File`](crate::session::Told::File).
    Save(Box<ExperimentSpec>, RecordsFile),
}

impl RecordsAsk {
    /// What a person would call it, for the message after a crash.
    #[must_use]
    pub const fn describe(&self) -> &'static str {
        match self {
            Self::Show(_) => "a view of the records",
            Self::Save(..) => "the download",
        }
    }
}

/// What can be saved of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordsFile {
    /// What `neuronscope aggregate --format csv` prints.
    Csv,
    /// What `neuronscope aggregate --format svg` prints.
    Svg,
}

/// What a set holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsRead {
    /// Its files: name and size in bytes.
    pub files: Vec<(String, u64)>,
    /// Records that can be used.
    pub records: u64,
    /// Rows of NeuronPerf reports.
    pub reports: u64,
    /// Remarks about lines.
    pub remarks: u64,
    /// All files as text for a link; absent when they are too large for one.
    pub packed: Option<String>,
}

/// A view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordsShown {
    /// What to show.
    pub document: Document,
    /// What was asked, with what is used where the shell left it open.
    pub spec: ExperimentSpec,
    /// What else could be chosen.
    pub choices: RecordsChoices,
    /// Files that can be saved of this view.
    pub files: Vec<RecordsFile>,
}

/// Values and what they are called.
pub type Choices = Vec<(String, String)>;

/// What can be chosen of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsChoices {
    /// Views that have something to show: their names in links and their titles.
    pub views: Choices,
    /// Accelerators.
    pub accelerators: Choices,
    /// Tests.
    pub tests: Choices,
    /// Backends.
    pub backends: Choices,
    /// Runs that changes may refer to.
    pub against: Choices,
}
