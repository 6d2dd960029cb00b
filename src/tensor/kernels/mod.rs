//! Reference kernels. One fixed order of operations each, so that results have the same bits on every target.

mod elementwise;
mod layout;
mod matmul;
mod reduce;

pub use elementwise::{BinaryOp, UnaryOp, binary, broadcast_shapes, unary};
pub use layout::{broadcast_in_dim, broadcast_to, convert, transpose};
pub use matmul::{dot, dot_shape, matmul};
pub use reduce::{ReduceOp, log_softmax, mean, reduce};
