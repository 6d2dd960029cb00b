//! Why an experiment did not run.

use thiserror::Error;

/// Why an experiment has no times.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The combination can be planned, but not run here.
    #[error("{what} cannot be run: {instead}")]
    NotHere {
        what: &'static str,
        /// What to use instead.
        instead: &'static str,
    },
    /// The model cannot be built, compiled or computed.
    #[error("{model}: {reason}")]
    Model {
        model: String,
        /// The error of the stage that failed.
        reason: String,
    },
    /// The device cannot be simulated.
    #[error("{instance}: {reason}")]
    Device { instance: &'static str, reason: String },
}

impl RunError {
    /// Whether the suite would have skipped the experiment instead of trying it.
    pub fn is_skip(&self) -> bool {
        matches!(self, Self::NotHere { .. })
    }
}
