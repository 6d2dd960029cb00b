//! Shapes of aten ops: the one place that defines which operands are valid. Tracing and eager execution both use it.

use ns_base::Order;
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};
use ns_tensor::kernels::{
    BinaryOp, WindowDim, broadcast_shapes, concatenate_shape, convolution_shape, dot_shape, gather_rows_shape,
    reduce_window_shape, slice_shape, update_fits,
};
use ns_tensor::{DType, Shape, TensorError};

use super::AtenOp;
use super::eager::ranges;

/// Most bytes of one traced tensor: 2^44 (16 TiB), far beyond any device and far below overflow.
const MAX_TRACED_BYTES: u64 = 1 << 44;

/// A problem with the operands of an op; [`Problem::at`] adds the op and its location.
pub(super) enum Problem {
    Mismatch { left: (&'static str, Shape), right: (&'static str, Shape), expected: String },
    Operand { name: &'static str, shape: Shape, expected: String },
}

impl Problem {
    pub(super) fn at(self, op: &str, scope: &str) -> Refusal {
        match self {
            Self::Mismatch { left: (left_name, left), right: (right_name, right), expected } => {
                let (left, right) = (dims(&left), dims(&right));
                refuse!("{op} in {scope}: {left_name} {left} does not match {right_name} {right}: {expected}")
            }
            Self::Operand { name, shape, expected } => {
                refuse!("{op} in {scope}: {name} {} is not possible: {expected}", dims(&shape))
            }
        }
    }
}

/// Only the dimensions, as in PyTorch's messages.
pub(crate) fn dims(shape: &Shape) -> String {
    let list: Vec<String> = shape.dims.iter().map(u64::to_string).collect();
    format!("[{}]", list.join(","))
}

fn operand(name: &'static str, shape: &Shape, expected: impl Into<String>) -> Problem {
    Problem::Operand { name, shape: shape.clone(), expected: expected.into() }
}

fn mismatch(left: (&'static str, &Shape), right: (&'static str, &Shape), expected: impl Into<String>) -> Problem {
    Problem::Mismatch { left: (left.0, left.1.clone()), right: (right.0, right.1.clone()), expected: expected.into() }
}

/// The shape of an op's result. `wanted` is the requested shape of a view.
pub(super) fn infer(op: &AtenOp, inputs: &[&Shape], wanted: Option<&Shape>) -> Result<Shape, Problem> {
    let shape = match (op, inputs) {
        (AtenOp::Permute { dims }, [x]) => permute(x, dims)?,
        (AtenOp::View, [x]) => view(x, wanted.unwrap_or(x))?,
        (AtenOp::Mm, [x, weight]) => mm(x, weight)?,
        (AtenOp::Addmm, [x, weight, bias]) => addmm(x, weight, bias)?,
        (AtenOp::LogSoftmax { dim } | AtenOp::Softmax { dim }, [x]) => along(x, *dim)?,
        (AtenOp::Mean, [x]) => {
            if x.elements() == 0 {
                return Err(operand("input", x, "the mean of no elements is not a number"));
            }
            Shape::new(x.dtype, [])
        }
        (AtenOp::Binary(op), [a, b]) => broadcast(*op, a, b)?,
        (AtenOp::Matmul, [a, b]) => matmul(a, b)?,
        (AtenOp::Convolution { window, groups, transposed }, [x, weight, bias @ ..]) => {
            convolution(x, (weight, *transposed), bias.first().copied(), window, *groups)?
        }
        (AtenOp::MaxPool2d { window } | AtenOp::AvgPool2d { window }, [x]) => {
            reduce_window_shape(x, window).map_err(|e| operand("input", x, e.to_string()))?
        }
        (AtenOp::BatchNorm { .. }, [x, statistics @ ..]) => {
            let channels = x.dims.get(1).copied().unwrap_or(0);
            per_feature(x, statistics, channels)?
        }
        (AtenOp::LayerNorm { .. }, [x, weights @ ..]) => per_feature(x, weights, x.dims.last().copied().unwrap_or(0))?,
        (AtenOp::MeanDims { dims, keepdim }, [x]) => mean_dims(x, dims, *keepdim)?,
        (AtenOp::SumDims { dims, keepdim }, [x]) => without_dims(x, dims, *keepdim)?,
        (AtenOp::Full(_), []) => wanted.cloned().unwrap_or_else(|| Shape::f32([])),
        (AtenOp::MaxPool2dBackward { window }, [gradient, x]) => max_pool_gradient(gradient, x, window)?,
        (AtenOp::EmbeddingBackward { rows }, [gradient, indices]) => table_gradient(gradient, indices, *rows),
        (AtenOp::Embedding, [table, indices]) => embedding(table, indices)?,
        (AtenOp::Cat { dim }, all) => {
            let first = all.first().copied().cloned().unwrap_or_else(|| Shape::f32([]));
            concatenate_shape(all, *dim).map_err(|e| operand("input", &first, e.to_string()))?
        }
        (AtenOp::Slice { dim, start, end }, [x]) => {
            let known = (*dim as usize) < x.rank();
            let shape = slice_shape(x, &ranges(&x.dims, *dim, *start, *end)).ok().filter(|_| known);
            shape.ok_or_else(|| operand("input", x, format!("it has no elements {start}..{end} in dimension {dim}")))?
        }
        (AtenOp::Expand, [x]) => expand(x, wanted.unwrap_or(x))?,
        (AtenOp::To(dtype), [x]) => Shape::new(*dtype, x.dims.clone()),
        (AtenOp::IndexCopy { dim }, [x, update, position]) => index_copy(x, update, position, *dim)?,
        (op, [first, ..]) if op.keeps_shape() => (*first).clone(),
        (_, inputs) => {
            let first = inputs.first().map_or_else(|| Shape::f32([]), |s| (*s).clone());
            return Err(operand("input", &first, format!("the op does not take {} operands", inputs.len())));
        }
    };
    check_size(&shape)?;
    Ok(shape)
}

fn along(x: &Shape, dim: u32) -> Result<Shape, Problem> {
    if (dim as usize) < x.rank() {
        Ok(x.clone())
    } else {
        Err(operand("input", x, format!("it has no dimension {dim}")))
    }
}

fn embedding(table: &Shape, indices: &Shape) -> Result<Shape, Problem> {
    if indices.dtype != DType::S32 {
        return Err(operand("indices", indices, format!("expected s32, not {}", indices.dtype)));
    }
    gather_rows_shape(table, indices).map_err(|e| operand("table", table, e.to_string()))
}

/// The weight of a transposed convolution has its channels in the opposite order.
fn convolution(
    x: &Shape,
    (weight, transposed): (&Shape, bool),
    bias: Option<&Shape>,
    window: &[WindowDim; 2],
    groups: u64,
) -> Result<Shape, Problem> {
    let mut turned = weight.clone();
    if transposed && turned.rank() == 4 {
        turned.dims.swap(0, 1);
    }
    let shape = convolution_shape(x, &turned, window, groups).map_err(|e| misfit(x, weight, &e))?;
    match bias {
        Some(bias) if bias.dims != [shape.dims[1]] => {
            Err(mismatch(("bias", bias), ("weight", weight), format!("expected [{}]", shape.dims[1])))
        }
        _ => Ok(shape),
    }
}

fn expand(x: &Shape, wanted: &Shape) -> Result<Shape, Problem> {
    let same = broadcast(BinaryOp::Add, x, wanted)?;
    if same == *wanted {
        Ok(same)
    } else {
        Err(mismatch(("input", x), ("expanded", wanted), "only dimensions of one can be repeated"))
    }
}

fn index_copy(x: &Shape, update: &Shape, position: &Shape, dim: u32) -> Result<Shape, Problem> {
    if position.dtype != DType::S32 || position.elements() != 1 || dim as usize >= x.rank() {
        return Err(operand("position", position, format!("expected one s32 within dimension {dim}")));
    }
    update_fits(x, update, x.rank()).map_err(|e| misfit(x, update, &e))?;
    Ok(x.clone())
}

/// Refuses shapes whose size in bytes is beyond any machine.
pub(super) fn check_size(shape: &Shape) -> Result<(), Problem> {
    if shape.checked_elements().is_none() || shape.bytes() > MAX_TRACED_BYTES {
        return Err(operand("result", shape, "it would be larger than 16 TiB: use smaller sizes"));
    }
    Ok(())
}

/// The requirements of `torch.nn.functional.linear` on its operands: `[.., k]`, `[n, k]` and `[n]`.
pub(super) fn check_linear(x: &Shape, weight: &Shape, bias: Option<&Shape>) -> Result<(), Problem> {
    if weight.rank() != 2 {
        return Err(operand("weight", weight, "expected a matrix [out_features, in_features]"));
    }
    if x.rank() < 2 {
        return Err(operand("input", x, "expected at least two dimensions"));
    }
    let k = weight.dims[1];
    if x.dims[x.rank() - 1] != k {
        return Err(mismatch(("input", x), ("weight", weight), format!("expected last dimension {k}")));
    }
    match bias {
        Some(bias) if bias.dims != [weight.dims[0]] => {
            Err(mismatch(("bias", bias), ("weight", weight), format!("expected [{}]", weight.dims[0])))
        }
        _ => Ok(()),
    }
}

fn mm(x: &Shape, weight: &Shape) -> Result<Shape, Problem> {
    for (name, s) in [("input", x), ("weight", weight)] {
        if s.rank() != 2 {
            return Err(operand(name, s, "expected a matrix"));
        }
    }
    if x.dims[1] != weight.dims[0] {
        let expected = format!("expected last dimension {}", weight.dims[0]);
        return Err(mismatch(("input", x), ("weight", weight), expected));
    }
    if x.dtype != weight.dtype {
        return Err(mismatch(("input", x), ("weight", weight), format!("{} is not {}", x.dtype, weight.dtype)));
    }
    Ok(Shape::new(x.dtype, [x.dims[0], weight.dims[1]]))
}

fn addmm(x: &Shape, weight: &Shape, bias: &Shape) -> Result<Shape, Problem> {
    let shape = mm(x, weight)?;
    if bias.dims != [shape.dims[1]] {
        return Err(mismatch(("bias", bias), ("weight", weight), format!("expected [{}]", shape.dims[1])));
    }
    Ok(shape)
}

fn permute(x: &Shape, dims: &[u32]) -> Result<Shape, Problem> {
    let mut sorted = dims.to_vec();
    sorted.order();
    if sorted.len() != x.rank() || sorted.iter().enumerate().any(|(i, &d)| i != d as usize) {
        return Err(operand("input", x, format!("{dims:?} does not name each of its dimensions once")));
    }
    Ok(Shape::new(x.dtype, dims.iter().map(|&d| x.dims[d as usize]).collect::<Vec<_>>()))
}

fn view(x: &Shape, wanted: &Shape) -> Result<Shape, Problem> {
    if wanted.checked_elements() != x.checked_elements() {
        let expected = format!("expected {} elements", x.elements());
        return Err(mismatch(("view", wanted), ("input", x), expected));
    }
    Ok(Shape::new(x.dtype, wanted.dims.clone()))
}

fn broadcast(op: BinaryOp, a: &Shape, b: &Shape) -> Result<Shape, Problem> {
    broadcast_shapes(op.name(), a, b).map_err(|e| {
        let expected = match e {
            TensorError::Mismatch { expected, .. } => expected,
            other => other.to_string(),
        };
        mismatch(("input", a), ("other", b), expected)
    })
}

fn misfit(x: &Shape, weight: &Shape, error: &TensorError) -> Problem {
    let expected = match error {
        TensorError::Mismatch { expected, .. } => expected.clone(),
        other => other.to_string(),
    };
    mismatch(("input", x), ("weight", weight), expected)
}

fn matmul(a: &Shape, b: &Shape) -> Result<Shape, Problem> {
    let batch = usize_to_u32(a.rank().saturating_sub(2));
    if a.rank() < 2 || a.rank() != b.rank() {
        return Err(mismatch(("input", a), ("other", b), "expected the same number of dimensions, at least two"));
    }
    dot_shape(a, b, batch, batch + 1, batch).map_err(|e| {
        let expected = match e {
            TensorError::Mismatch { expected, .. } => expected,
            other => other.to_string(),
        };
        mismatch(("input", a), ("other", b), expected)
    })
}

fn per_feature(x: &Shape, weights: &[&Shape], features: u64) -> Result<Shape, Problem> {
    match weights.iter().find(|w| w.dims != [features] || w.dtype != x.dtype) {
        Some(wrong) => Err(mismatch(("input", x), ("weight", wrong), format!("expected [{features}]"))),
        None => Ok(x.clone()),
    }
}

/// A table of `rows`, each as wide as what every index of the gradient has.
fn table_gradient(gradient: &Shape, indices: &Shape, rows: u64) -> Shape {
    let row = gradient.dims.get(indices.rank()..).unwrap_or(&[]);
    Shape::new(gradient.dtype, [rows].into_iter().chain(row.iter().copied()).collect::<Vec<_>>())
}

fn max_pool_gradient(gradient: &Shape, x: &Shape, window: &[WindowDim; 2]) -> Result<Shape, Problem> {
    let forward = reduce_window_shape(x, window).map_err(|e| operand("input", x, e.to_string()))?;
    if forward != *gradient {
        return Err(mismatch(("gradient", gradient), ("input", x), format!("expected {}", dims(&forward))));
    }
    Ok(x.clone())
}

fn mean_dims(x: &Shape, dims: &[u32], keepdim: bool) -> Result<Shape, Problem> {
    if dims.iter().any(|&d| x.dims.get(d as usize) == Some(&0)) {
        return Err(operand("input", x, "the mean of no elements is not a number"));
    }
    without_dims(x, dims, keepdim)
}

fn without_dims(x: &Shape, dims: &[u32], keepdim: bool) -> Result<Shape, Problem> {
    if dims.windows(2).any(|w| w[0] >= w[1]) || dims.iter().any(|&d| d as usize >= x.rank()) {
        return Err(operand("input", x, format!("it has no dimensions {dims:?}, ascending")));
    }
    let mut left = x.clone();
    for &d in dims.iter().rev() {
        if keepdim {
            left.dims[d as usize] = 1;
        } else {
            left.dims.remove(d as usize);
        }
    }
    Ok(left)
}
