//! One artifact of an index.

use serde::{Deserialize, Serialize};

/// Whether an artifact was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryStatus {
    /// It is there.
    #[default]
    Finished,
    /// The compile failed; there is no file.
    Error,
}

impl EntryStatus {
    /// As in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Error => "error",
        }
    }
}

/// A compiled model, or the attempt at one. The first six fields are NeuronPerf's, in its order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// Path of the artifact; absent when the compile failed.
    pub filename: Option<String>,
    /// Samples of one inference.
    pub batch_size: u32,
    /// NeuronCores of one copy.
    pub pipeline_size: u32,
    /// 0 (most accurate) to 3 (fastest).
    pub performance_level: u8,
    /// Seconds the compile took, measured; absent where nobody measured it.
    pub compile_s: Option<f64>,
    /// Whether there is an artifact.
    pub status: EntryStatus,
    /// Specification of the model in the artifact, which is what gets simulated. An index of NeuronPerf has none.
    pub model: Option<String>,
    /// EC2 size it was compiled for.
    pub instance_type: Option<String>,
    /// Why the status is an error.
    pub error: Option<String>,
}

impl Default for ModelEntry {
    /// NeuronPerf's defaults.
    fn default() -> Self {
        Self {
            filename: None,
            batch_size: 1,
            pipeline_size: 1,
            performance_level: 3,
            compile_s: None,
            status: EntryStatus::Finished,
            model: None,
            instance_type: None,
            error: None,
        }
    }
}
