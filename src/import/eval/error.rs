//! Why a program cannot be evaluated.

use thiserror::Error;

/// Why a program cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvalError {
    /// An operation cannot be computed.
    #[error("{instruction} ({computation}): {what}")]
    At {
        /// The instruction.
        instruction: String,
        /// The computation it is in.
        computation: String,
        /// What is wrong.
        what: String,
    },
    /// The inputs are not what the program takes.
    #[error("{0}")]
    Inputs(String),
    /// The program needs more operations than were granted.
    #[error("the program needs more than {0} operations: choose smaller inputs")]
    Budget(u64),
}

/// An operation that cannot be computed, without its place.
pub(super) type OpResult<T> = Result<T, String>;
