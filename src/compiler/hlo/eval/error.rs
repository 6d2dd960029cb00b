//! Why a module cannot be evaluated.

use thiserror::Error;

use ns_base::Refusal;
use ns_tensor::{Shape, TensorError};

/// A module that cannot be evaluated with these parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EvalError {
    /// Too few values.
    #[error("instruction %{name}: no value was given for parameter {index}")]
    MissingParameter { name: String, index: u32 },
    /// A value of another shape.
    #[error("instruction %{name}: parameter {index} is {expected}, a value of {found} was given")]
    ParameterShape { name: String, index: u32, expected: Shape, found: Shape },
    /// A custom call whose kernel is not known, or does not terminate.
    #[error("instruction %{name}: {source}")]
    Kernel { name: String, source: Box<Refusal> },
    /// A kernel refused its operands.
    #[error("instruction %{name}: {source}")]
    Compute { name: String, source: Box<TensorError> },
    /// An operation of a model file: it is placed by its cost, and its values come from the program.
    #[error("instruction %{name}: {opcode} is not computed on a simulated device; the model's own program computes it")]
    NotEvaluated { name: String, opcode: &'static str },
    /// An operand has no value: the module is not well formed.
    #[error("instruction %{name}: an operand has no value; verify the module")]
    NoOperand { name: String },
}
