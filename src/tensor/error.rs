//! What can be wrong with tensors and with what is done to them.

use thiserror::Error;

use super::Shape;

/// A tensor or a kernel call that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TensorError {
    /// Two operands do not fit each other.
    #[error("{op}: {left} does not fit {right}: {expected}")]
    Mismatch {
        /// The kernel.
        op: &'static str,
        /// The first operand's shape.
        left: Shape,
        /// The second operand's shape.
        right: Shape,
        /// What would have been right.
        expected: String,
    },
    /// An attribute names a dimension the operand does not have.
    #[error("{op}: dimensions {dimensions:?} do not fit {shape}: {expected}")]
    Dimensions {
        /// The kernel.
        op: &'static str,
        /// The dimensions asked for.
        dimensions: Vec<u64>,
        /// The operand's shape.
        shape: Shape,
        /// What would have been right.
        expected: &'static str,
    },
    /// More elements than this program will hold in memory.
    #[error(
        "a tensor of {shape} has {elements} elements, more than the {limit} that can be computed: use a smaller size"
    )]
    TooLarge {
        /// The shape.
        shape: Shape,
        /// Its elements, saturated.
        elements: u64,
        /// The most that is allowed.
        limit: u64,
    },
    /// The kernel of a custom operator cannot compute it.
    #[error("{problem}")]
    Kernel {
        /// Which kernel, where and why.
        problem: String,
    },
    /// The data does not have one value per element.
    #[error("a tensor of {shape} needs {needed} values, {found} were given")]
    DataLength {
        /// The shape.
        shape: Shape,
        /// Its elements.
        needed: u64,
        /// Values given.
        found: u64,
    },
}
