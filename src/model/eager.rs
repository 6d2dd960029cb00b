//! Values of aten ops, computed by the reference kernels. The order of operations is the one that lowering gives the
//! compiler, so that evaluating the compiled program gives the same bits.

use ns_base::Refusal;
use ns_base::convert::{u64_to_f32, usize_to_u32};
use ns_kernel::{ModelKernel, TABLE_KERNEL};
use ns_tensor::kernels::{
    BinaryOp, ReduceOp, SliceDim, UnaryOp, WindowDim, batch_norm, binary, broadcast_to, concatenate, convert,
    convolution, dot, dynamic_update_slice, gather_rows, layer_norm, log_softmax, matmul, max_window_gradient, mean,
    mean_dims, reduce, reduce_window, scalar, scatter_add_rows, slice, softmax, swap_channels, transpose, unary,
};
use ns_tensor::{Shape, Tensor, TensorError};

use super::AtenOp;

/// The intended result of a custom operator: a framework's ReLU when the kernel calls itself one, so that a wrong kernel
/// shows; else the kernel's own result.
fn custom(target: &str, x: &Tensor) -> Result<Tensor, TensorError> {
    if target == TABLE_KERNEL {
        return unary(UnaryOp::ReluKernel, x);
    }
    let fail = |e: Refusal| TensorError::Kernel { problem: e.to_string() };
    let kernel = ModelKernel::find(target).map_err(fail)?;
    if kernel.is_relu() {
        return unary(UnaryOp::ReluKernel, x);
    }
    Tensor::new(x.shape().clone(), kernel.values(x.dims(), &[x.data()]).map_err(fail)?)
}

/// The result of an op whose operands have been checked.
pub(super) fn compute(op: &AtenOp, inputs: &[&Tensor], result: &Shape) -> Result<Tensor, TensorError> {
    match (op, inputs) {
        (AtenOp::Permute { dims }, [x]) => transpose(x, dims),
        (AtenOp::View, [x]) => (*x).clone().reshaped(result.clone()),
        (AtenOp::Mm, [x, weight]) => matmul(x, weight),
        (AtenOp::Addmm, [x, weight, bias]) => binary(BinaryOp::Add, &matmul(x, weight)?, bias),
        (AtenOp::Relu, [x]) => binary(BinaryOp::Maximum, x, &Tensor::splat(Shape::new(x.shape().dtype, []), 0.0)?),
        (AtenOp::LogSoftmax { dim }, [x]) => log_softmax(x, *dim),
        (AtenOp::Mean, [x]) => mean(x),
        (AtenOp::Unary(op), [x]) => unary(*op, x),
        (AtenOp::Binary(op), [a, b]) => binary(*op, a, b),
        (AtenOp::Custom { target, .. }, [x]) => custom(target, x),
        (AtenOp::Matmul, [a, b]) => {
            let batch = usize_to_u32(a.shape().rank().saturating_sub(2));
            dot(a, b, batch, batch + 1, batch)
        }
        (AtenOp::Convolution { window, groups, transposed }, [x, weight, bias @ ..]) => {
            convolve(x, weight, bias.first().copied(), (window, *groups, *transposed))
        }
        (AtenOp::MaxPool2d { window }, [x]) => reduce_window(ReduceOp::Max, x, window),
        (AtenOp::AvgPool2d { window }, [x]) => {
            scalar(BinaryOp::Mul, &reduce_window(ReduceOp::Sum, x, window)?, 1.0 / u64_to_f32(window_elements(window)))
        }
        (AtenOp::BatchNorm { eps }, [x, weight, bias, mean, variance]) => {
            batch_norm(x, [weight, bias, mean, variance], *eps)
        }
        (AtenOp::LayerNorm { eps }, [x, weight, bias]) => layer_norm(x, weight, bias, *eps),
        (AtenOp::MeanDims { dims, .. }, [x]) => mean_dims(x, dims)?.reshaped(result.clone()),
        (AtenOp::SumDims { dims, .. }, [x]) => reduce(ReduceOp::Sum, x, dims)?.reshaped(result.clone()),
        (AtenOp::Full(value), []) => Tensor::splat(result.clone(), *value),
        (AtenOp::MaxPool2dBackward { window }, [gradient, x]) => max_window_gradient(x, gradient, window),
        (AtenOp::EmbeddingBackward { .. }, [gradient, indices]) => {
            scatter_add_rows(&Tensor::splat(result.clone(), 0.0)?, indices, gradient)
        }
        (AtenOp::CustomBackward { .. }, [gradient, x]) => {
            let zero = Tensor::splat(Shape::new(x.shape().dtype, []), 0.0)?;
            binary(BinaryOp::Mul, gradient, &binary(BinaryOp::Greater, x, &zero)?)
        }
        (AtenOp::Assign { .. } | AtenOp::Tuple, [first, ..]) => Ok((*first).clone()),
        (AtenOp::Softmax { dim }, [x]) => softmax(x, *dim),
        (AtenOp::Silu, [x]) => binary(BinaryOp::Mul, x, &unary(UnaryOp::Logistic, x)?),
        (AtenOp::Scalar { op, value, reversed }, [x]) => {
            let value = Tensor::splat(Shape::new(x.shape().dtype, []), *value)?;
            if *reversed { binary(*op, &value, x) } else { binary(*op, x, &value) }
        }
        (AtenOp::Embedding, [table, indices]) => gather_rows(table, indices),
        (AtenOp::Cat { dim }, operands) => concatenate(operands, *dim),
        (AtenOp::Slice { dim, start, end }, [x]) => slice(x, &ranges(x.dims(), *dim, *start, *end)),
        (AtenOp::Expand, [x]) => broadcast_to(x, result),
        (AtenOp::To(dtype), [x]) => convert(x, *dtype),
        (AtenOp::IndexCopy { dim }, [x, update, position]) => {
            let mut starts = vec![0.0; x.shape().rank()];
            if let (Some(start), Some(position)) = (starts.get_mut(*dim as usize), position.data().first()) {
                *start = *position;
            }
            dynamic_update_slice(x, update, &starts)
        }
        (op, inputs) => {
            Err(TensorError::Kernel { problem: format!("{op:?} has no value of {} operands", inputs.len()) })
        }
    }
}

/// Elements under a window.
pub fn window_elements(window: &[WindowDim; 2]) -> u64 {
    window[0].size * window[1].size
}

/// One range for each dimension: the full range, except for `dim`.
pub fn ranges(dims: &[u64], dim: u32, start: u64, end: u64) -> Vec<SliceDim> {
    let mut ranges: Vec<SliceDim> = dims.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect();
    if let Some(range) = ranges.get_mut(dim as usize) {
        (range.start, range.limit) = (start, end);
    }
    ranges
}

fn convolve(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    (window, groups, transposed): (&[WindowDim; 2], u64, bool),
) -> Result<Tensor, TensorError> {
    let y = if transposed {
        convolution(x, &swap_channels(weight)?, window, groups)?
    } else {
        convolution(x, weight, window, groups)?
    };
    let Some(bias) = bias else { return Ok(y) };
    let column = Shape::new(bias.shape().dtype, [bias.shape().elements(), 1, 1]);
    binary(BinaryOp::Add, &y, &bias.clone().reshaped(column)?)
}
