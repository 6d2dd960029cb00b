//! Why a program cannot be compiled.

use thiserror::Error;

use crate::hlo::VerifyError;

/// Why a program cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FromProgramError {
    /// A loop or a branch that depends on data.
    #[error("{name}: {what}; a NeuronCore runs a fixed program, so the number of turns and the branch must be known")]
    Control {
        name: String,
        /// The part that depends on data.
        what: &'static str,
    },
    /// More instructions than can be placed.
    #[error("the program has more than {limit} instructions once its calls and loops are written out")]
    Size { limit: usize },
    #[error("{name}: {what}")]
    Instruction { name: String, what: String },
    /// No result depends on an input.
    #[error("no result depends on an input: there is nothing to compute on a call")]
    NoWork,
    /// The result is not well formed: a defect of this module.
    #[error("the program makes an invalid module: {0}")]
    Invalid(VerifyError),
}
