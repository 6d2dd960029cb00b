//! Dtypes, shapes, tensors and reference kernels: the numbers a model works on, with no idea of a device.

mod dtype;
mod shape;

pub use dtype::DType;
pub use shape::Shape;
