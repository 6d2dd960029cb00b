//! Why an experiment did not run.

use thiserror::Error;

/// Why there are no times.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The combination can be planned, but not run here.
    #[error("{what} cannot be run: {instead}")]
    NotHere {
        /// What was asked for.
        what: &'static str,
        /// What can be done.
        instead: &'static str,
    },
    /// The model can not be built, compiled or computed.
    #[error("{model}: {reason}")]
    Model {
        /// The model.
        model: String,
        /// What its stage said.
        reason: String,
    },
    /// The device can not be simulated.
    #[error("{instance}: {reason}")]
    Device {
        /// The instance.
        instance: &'static str,
        /// What the simulator said.
        reason: String,
    },
}

impl RunError {
    /// Whether the suite would have skipped the experiment instead of trying it.
    #[must_use]
    pub fn is_skip(&self) -> bool {
        matches!(self, Self::NotHere { .. })
    }
}
