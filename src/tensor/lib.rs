//! Dtypes, shapes, tensors and reference kernels: the numbers of a model, independent of any device.
//!
//! Kernels compute in single precision in one fixed order (sums ascend), never contract a multiply and an add, and take
//! transcendental functions from `libm`: the same bits come out natively and in a browser.

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
