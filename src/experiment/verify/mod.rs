//! Checks whether an experiment computes the same as eager execution. Two sets of rules of the PyTorch/XLA suite.
//!
//! `mean_relative_error` is the rule that its README describes: one number against a threshold. `same` is the rule
//! in force since 2024-07: closeness with a tolerance, and if that fails, a comparison of both errors against a double
//! precision run.

mod cases;
mod element;
mod mean_relative_error;
mod read;
mod same;
mod sum;
mod value;

pub use cases::{CaseVerdict, Rules, verify_cases};
pub use element::ElementType;
pub use mean_relative_error::{MreCode, MreOutcome, mean_relative_error_rules};
pub use read::read_outcome;
pub use same::{SameCode, SameSettings, same_rules};
pub use value::{Outcome, Output, Scalar, TensorValue};
