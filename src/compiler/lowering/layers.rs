//! The instructions of layers that need several: normalisations, convolutions, attention's softmax.
//!
//! The order of operations follows the reference kernels, so that both produce the same bits.

use crate::hlo::{DotDims, InstrId, Literal, OpMetadata, Opcode, ReduceKind};
use ns_base::convert::{u64_to_f32, usize_to_u32};
use ns_model::window_elements;
use ns_tensor::kernels::WindowDim;
use ns_tensor::{DType, Shape};

use super::builder::{Builder, Origin};

/// `e^(x - max) / sum(e^(x - max))`
pub(super) fn softmax(b: &mut Builder, x: InstrId, dim: u32, origin: Origin<'_>) -> InstrId {
    let shape = b.shape(x);
    let max = reduce(b, ReduceKind::Max, x, &[dim], origin);
    let max = along(b, max, &shape, &[dim], origin);
    let shifted = b.push(Opcode::Subtract, vec![x, max], shape.clone(), origin);
    let exp = b.push(Opcode::Exponential, vec![shifted], shape.clone(), origin);
    let sum = reduce(b, ReduceKind::Sum, exp, &[dim], origin);
    let sum = along(b, sum, &shape, &[dim], origin);
    b.push(Opcode::Divide, vec![exp, sum], shape, origin)
}

/// Products of the last two dimensions, batched over the others.
pub(super) fn matmul(b: &mut Builder, x: InstrId, y: InstrId, shape: Shape, origin: Origin<'_>) -> InstrId {
    let batch = usize_to_u32(shape.rank()).saturating_sub(2);
    let dims = DotDims { batch, lhs_contracting: batch + 1, rhs_contracting: batch };
    b.push(Opcode::Dot(dims), vec![x, y], shape, origin)
}

/// The convolution, then the bias along the channels. Weights of a transposed one are turned to `[out, in, ..]` first.
pub(super) fn convolution(
    b: &mut Builder,
    (x, weight, bias): (InstrId, InstrId, Option<InstrId>),
    (window, groups, transposed): (&[WindowDim; 2], u64, bool),
    shape: Shape,
    origin: Origin<'_>,
) -> InstrId {
    let weight = if transposed {
        let mut turned = b.shape(weight);
        turned.dims.swap(0, 1);
        b.push(Opcode::Transpose { permutation: vec![1, 0, 2, 3] }, vec![weight], turned, origin)
    } else {
        weight
    };
    let opcode = Opcode::Convolution { window: *window, feature_group_count: groups };
    let y = b.push(opcode, vec![x, weight], shape.clone(), origin);
    let Some(bias) = bias else { return y };
    let bias = b.push(Opcode::Broadcast { dimensions: vec![1] }, vec![bias], shape.clone(), origin);
    b.push(Opcode::Add, vec![y, bias], shape, origin)
}

/// The sum under each window times the reciprocal of the number of its elements.
pub(super) fn avg_pool(
    b: &mut Builder,
    x: InstrId,
    window: &[WindowDim; 2],
    shape: Shape,
    origin: Origin<'_>,
) -> InstrId {
    let opcode = Opcode::ReduceWindow { kind: ReduceKind::Sum, window: *window };
    let sum = b.push(opcode, vec![x], shape.clone(), origin);
    let factor = splat(b, 1.0 / u64_to_f32(window_elements(window)), &shape, origin);
    b.push(Opcode::Multiply, vec![sum, factor], shape, origin)
}

/// `x * scale + shift` with `scale = weight / sqrt(variance + eps)` and `shift = bias - mean * scale`. Scale and shift read
/// weights only: the compiler computes them once.
pub(super) fn batch_norm(
    b: &mut Builder,
    x: InstrId,
    [weight, bias, mean, variance]: [InstrId; 4],
    eps: f32,
    origin: Origin<'_>,
) -> InstrId {
    let (shape, vector) = (b.shape(x), b.shape(weight));
    let eps = splat(b, eps, &vector, origin);
    let variance = b.push(Opcode::Add, vec![variance, eps], vector.clone(), origin);
    let inverse = b.push(Opcode::Rsqrt, vec![variance], vector.clone(), origin);
    let scale = b.push(Opcode::Multiply, vec![weight, inverse], vector.clone(), origin);
    let moved = b.push(Opcode::Multiply, vec![mean, scale], vector.clone(), origin);
    let shift = b.push(Opcode::Subtract, vec![bias, moved], vector, origin);
    let channels = Opcode::Broadcast { dimensions: vec![1] };
    let scale = b.push(channels.clone(), vec![scale], shape.clone(), origin);
    let scaled = b.push(Opcode::Multiply, vec![x, scale], shape.clone(), origin);
    let shift = b.push(channels, vec![shift], shape.clone(), origin);
    b.push(Opcode::Add, vec![scaled, shift], shape, origin)
}

/// `(x - mean) * rsqrt(variance + eps) * weight + bias` over the last dimension.
pub(super) fn layer_norm(
    b: &mut Builder,
    x: InstrId,
    weight: InstrId,
    bias: InstrId,
    eps: f32,
    origin: Origin<'_>,
) -> InstrId {
    let shape = b.shape(x);
    let last = usize_to_u32(shape.rank()).saturating_sub(1);
    let mean = mean_dims(b, x, &[last], origin);
    let mean = along(b, mean, &shape, &[last], origin);
    let centred = b.push(Opcode::Subtract, vec![x, mean], shape.clone(), origin);
    let square = b.push(Opcode::Multiply, vec![centred, centred], shape.clone(), origin);
    let variance = mean_dims(b, square, &[last], origin);
    let rows = b.shape(variance);
    let eps = splat(b, eps, &rows, origin);
    let variance = b.push(Opcode::Add, vec![variance, eps], rows.clone(), origin);
    let scale = b.push(Opcode::Rsqrt, vec![variance], rows, origin);
    let scale = along(b, scale, &shape, &[last], origin);
    let normal = b.push(Opcode::Multiply, vec![centred, scale], shape.clone(), origin);
    let columns = Opcode::Broadcast { dimensions: vec![last] };
    let weight = b.push(columns.clone(), vec![weight], shape.clone(), origin);
    let scaled = b.push(Opcode::Multiply, vec![normal, weight], shape.clone(), origin);
    let bias = b.push(columns, vec![bias], shape.clone(), origin);
    b.push(Opcode::Add, vec![scaled, bias], shape, origin)
}

/// The sum along dimensions times the reciprocal of the number of elements.
pub(super) fn mean_dims(b: &mut Builder, x: InstrId, dims: &[u32], origin: Origin<'_>) -> InstrId {
    let operand = b.shape(x);
    let count: u64 = dims.iter().filter_map(|&d| operand.dims.get(d as usize)).product();
    let sum = reduce(b, ReduceKind::Sum, x, dims, origin);
    let shape = b.shape(sum);
    let factor = splat(b, 1.0 / u64_to_f32(count), &shape, origin);
    b.push(Opcode::Multiply, vec![sum, factor], shape, origin)
}

/// A part of `x` replaced at `position` of dimension `dim`.
pub(super) fn index_copy(
    b: &mut Builder,
    x: InstrId,
    update: InstrId,
    (dim, position): (u32, InstrId),
    origin: Origin<'_>,
) -> InstrId {
    let shape = b.shape(x);
    let index = Shape::new(DType::S32, []);
    let position = reshaped(b, position, index.clone(), origin);
    let mut operands = vec![x, update];
    let metadata = || origin.metadata("dynamic-update-slice");
    let zero = b.push_with(Opcode::Constant(Literal(0.0)), Vec::new(), index, metadata());
    operands.extend((0..usize_to_u32(shape.rank())).map(|d| if d == dim { position } else { zero }));
    b.push(Opcode::DynamicUpdateSlice, operands, shape, origin)
}

/// The same elements with other dimensions; adds nothing when the dimensions do not change.
pub(super) fn reshaped(b: &mut Builder, x: InstrId, shape: Shape, origin: Origin<'_>) -> InstrId {
    if b.shape(x) == shape { x } else { b.push(Opcode::Reshape, vec![x], shape, origin) }
}

/// One number in every element of a shape.
pub(super) fn splat(b: &mut Builder, value: f32, shape: &Shape, origin: Origin<'_>) -> InstrId {
    let scalar = Shape::new(shape.dtype, []);
    let metadata: OpMetadata = origin.metadata("constant");
    let constant = b.push_with(Opcode::Constant(Literal(value)), Vec::new(), scalar, metadata);
    if shape.rank() == 0 {
        return constant;
    }
    b.push(Opcode::Broadcast { dimensions: Vec::new() }, vec![constant], shape.clone(), origin)
}

pub(super) fn reduce(b: &mut Builder, kind: ReduceKind, x: InstrId, dims: &[u32], origin: Origin<'_>) -> InstrId {
    let mut shape = b.shape(x);
    for &d in dims.iter().rev().filter(|d| (**d as usize) < b.shape(x).rank()) {
        shape.dims.remove(d as usize);
    }
    b.push(Opcode::Reduce { kind, dimensions: dims.to_vec() }, vec![x], shape, origin)
}

/// A reduced value repeated along the dimensions it lost.
fn along(b: &mut Builder, x: InstrId, shape: &Shape, lost: &[u32], origin: Origin<'_>) -> InstrId {
    let dimensions = (0..usize_to_u32(shape.rank())).filter(|d| !lost.contains(d)).collect();
    b.push(Opcode::Broadcast { dimensions }, vec![x], shape.clone(), origin)
}
