//! The errors of a model: each message names the op, where it was called, and the shapes.

use thiserror::Error;

use ns_tensor::{Shape, TensorError};

/// A model that cannot be traced or run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Two operands of an op do not fit each other.
    #[error("{op} in {scope}: {left_name} {} does not match {right_name} {}: {expected}", dims(left), dims(right))]
    Mismatch {
        /// The op, `aten::addmm`.
        op: String,
        /// The module path it was called in, `NN[model]/Linear[layer1]`.
        scope: String,
        /// The role of the first operand in the op.
        left_name: &'static str,
        left: Box<Shape>,
        /// The role of the second operand in the op.
        right_name: &'static str,
        right: Box<Shape>,
        expected: String,
    },
    /// One operand has a shape that the op does not accept.
    #[error("{op} in {scope}: {name} {} is not possible: {expected}", dims(shape))]
    Operand {
        op: String,
        /// The module path it was called in.
        scope: String,
        /// The role of the operand in the op.
        name: &'static str,
        shape: Shape,
        expected: String,
    },
    /// A module was called with the wrong number of inputs.
    #[error("{scope} takes {expected} input(s), {found} were given")]
    Inputs {
        scope: String,
        /// The number of inputs it takes.
        expected: usize,
        /// The number of inputs given.
        found: usize,
    },
    /// A value could not be computed.
    #[error("{op} in {scope}: {source}")]
    Compute {
        op: String,
        /// The module path it was called in.
        scope: String,
        source: Box<TensorError>,
    },
    /// A value of one trace or run was used in another.
    #[error("{op} in {scope}: an operand belongs to another trace or run; use the values this forward was given")]
    ForeignValue {
        op: String,
        /// The module path it was called in.
        scope: String,
    },
}

/// Only the dimensions, as in PyTorch's messages.
fn dims(shape: &Shape) -> String {
    let list: Vec<String> = shape.dims.iter().map(u64::to_string).collect();
    format!("[{}]", list.join(","))
}
