//! The evaluator: computes a module by the reference kernels, in single precision or as a device would.

mod arithmetic;
mod compute;
mod evaluation;

pub use arithmetic::{Arithmetic, NoWatch, Place, Reference, Watch};
pub use evaluation::{Evaluation, evaluate};
