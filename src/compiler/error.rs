//! Why a stage between a model and a core refuses the model.

use std::fmt;

use ns_base::Refusal;

/// Why a model cannot be traced, lowered, placed, optimised or compiled for a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageError {
    /// The path of the operation that code generation refuses; `None` where the error is about the whole program.
    pub path: Option<String>,
    pub refusal: Refusal,
}

impl StageError {
    /// The refusal of one operation.
    pub(crate) const fn at(path: String, refusal: Refusal) -> Self {
        Self { path: Some(path), refusal }
    }
}

impl From<Refusal> for StageError {
    fn from(refusal: Refusal) -> Self {
        Self { path: None, refusal }
    }
}

impl From<StageError> for Refusal {
    fn from(error: StageError) -> Self {
        error.refusal
    }
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl std::error::Error for StageError {}
