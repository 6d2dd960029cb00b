//! Evaluates a program: every operation with XLA's meaning, one after another, on the processor.
//!
//! The results are the reference for a device's numbers; speed is not the goal. Floating point numbers are computed in double precision
//! and rounded to their type after each operation.

mod casts;
mod convolution;
mod custom;
mod elementwise;
mod evaluator;
mod fourier;
mod indexing;
mod layout;
mod normalise;
mod pick;
mod product;
mod reduce;
mod simple;
mod sort;
mod special;
mod windows;

pub use casts::{Arithmetic, Casts, Outside};
pub use custom::is_known as is_known_custom_call;
pub use evaluator::{Evaluation, check_calls, evaluate, evaluate_with};
pub(crate) use reduce::reduce_with;
pub use simple::value_of;
