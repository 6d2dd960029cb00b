//! The errors of tensors and of operations on them.

use thiserror::Error;

use super::Shape;

/// A tensor or a kernel call that is not valid.
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
        /// The requirement.
        expected: String,
    },
    /// An attribute names a dimension the operand does not have.
    #[error("{op}: dimensions {dimensions:?} do not fit {shape}: {expected}")]
    Dimensions {
        /// The kernel.
        op: &'static str,
        /// The given dimensions.
        dimensions: Vec<u64>,
        /// The operand's shape.
        shape: Shape,
        /// The requirement.
        expected: &'static str,
    },
    /// More elements than the program holds in memory.
    #[error(
        "a tensor of {shape} has {elements} elements, more than the {limit} that can be computed: use a smaller size"
    )]
    TooLarge {
        /// The shape.
        shape: Shape,
        /// Its elements, saturated.
        elements: u64,
        /// The limit.
        limit: u64,
    },
    /// The kernel of a custom operator cannot compute its result.
    #[error("{problem}")]
    Kernel {
        /// The kernel, the position and the problem.
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
