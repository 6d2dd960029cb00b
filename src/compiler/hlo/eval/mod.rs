//! The evaluator: computes a module by the reference kernels, in single precision or as a device would.

mod arithmetic;
mod compute;
mod error;
mod evaluation;

pub use arithmetic::{Arithmetic, Place, Reference, Unwatched, Watch};
pub use error::EvalError;
pub use evaluation::{Evaluation, evaluate};
