//! Requests of a shell about records of experiments, and the answers.

use serde::{Deserialize, Serialize};

use ns_forms::ExperimentSpec;
use ns_view::document::Document;

/// Identifies one set of records that a session holds. The shell chooses the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordsKey(pub u32);

/// A request about a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordsAsk {
    /// A view to show. Answered by `Reply::Records` of `ns_session`.
    Show(Box<ExperimentSpec>),
    /// A file to save. Answered by `Message::File` of `ns_session`.
    Save(Box<ExperimentSpec>, RecordsFile),
}

impl RecordsAsk {
    /// The request in words, for the message after a crash.
    pub const fn describe(&self) -> &'static str {
        match self {
            Self::Show(_) => "a view of the records",
            Self::Save(..) => "the download",
        }
    }
}

/// Formats in which a view can be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordsFile {
    /// The output of `neuronscope aggregate --format csv`.
    Csv,
    /// The output of `neuronscope aggregate --format svg`.
    Svg,
}

/// The content of a set.
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordsResult {
    /// The document of the view.
    pub document: Document,
    /// The request, with the values used for choices that were left open.
    pub spec: ExperimentSpec,
    /// The other possible choices.
    pub choices: RecordsChoices,
    /// Choices that cannot be used, a sentence each; the document begins with them.
    pub problems: Vec<String>,
    /// Files that can be saved of this view.
    pub files: Vec<RecordsFile>,
}

/// Values and their labels.
pub type Choices = Vec<(String, String)>;

/// The possible choices of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsChoices {
    /// Views that have something to show: their names in links and their titles.
    pub views: Choices,
    pub accelerators: Choices,
    pub tests: Choices,
    pub backends: Choices,
    /// Runs that changes may refer to.
    pub against: Choices,
}
