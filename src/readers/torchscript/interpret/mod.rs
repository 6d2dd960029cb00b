//! Runs the model's method with values that stand for tensors.
//!
//! `run` executes statements, `expression` evaluates expressions, `builtin` has Python's functions and those of `prim`, `aten` passes calls to their
//! translation, `fold` computes with sizes.

mod aten;
mod builtin;
mod expression;
mod fold;
mod run;
mod state;

pub use run::run;
pub use state::{Interpreter, Stop};
