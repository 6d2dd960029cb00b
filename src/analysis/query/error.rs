//! Why a text is not a query.

use thiserror::Error;

use ns_base::Refusal;

/// A query that is not understood, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: {problem}")]
pub struct QueryError {
    /// Its column, in characters from 1.
    pub column: usize,
    /// What is wrong and what to write.
    pub problem: Refusal,
}
