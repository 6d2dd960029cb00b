//! Why a module is not converted, and whether other sizes may help.

use ns_base::Refusal;

use ns_program::ImportError;

/// What an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The file, whatever its open sizes are.
    File,
    /// The sizes: no array can have them, or the model itself refuses them.
    Sizes,
    /// Operations that contradict each other with these sizes.
    Contradiction,
}

/// An error, and what it is about.
#[derive(Debug)]
pub(super) struct MlirFailure {
    pub error: ImportError,
    pub cause: Cause,
}

impl MlirFailure {
    /// Sizes that are refused.
    pub fn of_sizes(refusal: Refusal) -> Self {
        Self { error: ImportError::from(refusal.advise("give other sizes with --dim")), cause: Cause::Sizes }
    }
}

impl From<ImportError> for MlirFailure {
    fn from(error: ImportError) -> Self {
        Self { error, cause: Cause::File }
    }
}
