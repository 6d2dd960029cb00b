//! Why a model does not run on a simulated device.

use thiserror::Error;

use super::library::LibraryError;
use ns_compiler::{StageError, UnsupportedOption};
use ns_machine::arch::UnpublishedFigures;
use ns_neuron::sim::SimError;

/// Why a model does not run on a simulated device. The texts say what to do.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DeviceError {
    /// An unknown instance type.
    #[error("unknown instance type '{name}': the nearest are {nearest}")]
    UnknownInstance { name: String, nearest: String },
    /// The cores of the instance cannot be simulated.
    #[error("{instance}: {error}")]
    NotSimulated {
        instance: &'static str,
        /// The figures of the cores that are not published.
        error: UnpublishedFigures,
    },
    /// The cores of the instance do not support an option.
    #[error(transparent)]
    Option(#[from] UnsupportedOption),
    /// The model is not known, or its file cannot be used.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A stage between the model and the core refused it.
    #[error("{model}: {error}")]
    Stage {
        /// The model's name for display.
        model: String,
        error: Box<StageError>,
    },
    /// The same for a program without a name of its own.
    #[error(transparent)]
    Program(Box<StageError>),
    #[error(transparent)]
    Simulate(#[from] SimError),
}

impl DeviceError {
    /// The error of a stage, together with its model.
    #[must_use]
    pub fn about(self, model: &str) -> Self {
        match self {
            Self::Program(error) => Self::Stage { model: model.to_owned(), error },
            other => other,
        }
    }
}

impl From<StageError> for DeviceError {
    fn from(error: StageError) -> Self {
        Self::Program(Box::new(error))
    }
}

impl From<LibraryError> for String {
    /// For the boundary of the session, where errors are texts.
    fn from(error: LibraryError) -> Self {
        error.to_string()
    }
}

impl From<DeviceError> for String {
    /// For the boundary of the session, where errors are texts.
    fn from(error: DeviceError) -> Self {
        error.to_string()
    }
}
