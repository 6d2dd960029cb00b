//! Reference kernels. Each has one fixed order of operations, so that results have the same bits on every target.

mod elementwise;
mod layout;
mod matmul;
mod norm;
mod reduce;
mod select;
mod window;

pub use elementwise::{BinaryOp, UnaryOp, binary, broadcast_shapes, unary};
pub use layout::{broadcast_in_dim, broadcast_to, convert, transpose};
pub use matmul::{Accumulation, dot, dot_in, dot_shape, matmul};
pub use norm::{batch_norm, layer_norm, mean_dims, scalar, softmax};
pub use reduce::{ReduceOp, log_softmax, mean, reduce};
pub use select::{
    SliceDim, concatenate, concatenate_shape, dynamic_update_slice, gather_rows, gather_rows_shape, scatter_add_rows,
    slice, slice_shape, update_fits,
};
pub use window::{
    WindowDim, convolution, convolution_in, convolution_shape, max_window_gradient, reduce_window, reduce_window_shape,
    swap_channels,
};
