//! Dtypes, shapes, tensors and reference kernels: the numbers of a model, independent of any device.
//!
//! Start with:
//! - [`Tensor`]: a [`Shape`] and its values in single precision, whatever the dtype.
//! - [`kernels`], one function for each operation.
//! - [`Rounder`], which rounds values to a [`FloatFormat`], as the casts of a core do.
//!
//! Invariants:
//! - Kernels compute in single precision in one fixed order (sums ascend), never contract a multiply and an add, and take
//!   transcendental functions from `libm`: the same bits come out natively and in a browser.
//! - A tensor has at most [`MAX_ELEMENTS`]; one with more is an error, not an allocation.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod dtype;
mod error;
mod format;
pub mod kernels;
mod round;
mod shape;
mod value;

pub use dtype::DType;
pub use error::TensorError;
pub use format::{FloatFormat, Rounder, Rounding};
pub use round::{round_bf16, round_f16, round_slice, round_to};
pub use shape::Shape;
pub use value::{MAX_ELEMENTS, Tensor};
