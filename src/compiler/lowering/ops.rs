//! The instructions of each op.

use crate::hlo::{DotDims, Elementwise, InstrId, Literal, OpMetadata, Opcode, ParameterRole, ReduceKind};
use ns_base::convert::{u64_to_f32, usize_to_u32};
use ns_base::{Refusal, refuse};
use ns_model::{AtenOp, Node, ranges};
use ns_program::Comparison;
use ns_tensor::Shape;
use ns_tensor::kernels::{BinaryOp, UnaryOp};

use super::builder::{Builder, Origin};
use super::layers;

/// Appends the instructions of a node whose operands are lowered; returns the one with its result.
#[expect(clippy::too_many_lines, reason = "a row for each op")]
pub(super) fn lower_node(b: &mut Builder, node: &Node, operands: &[InstrId]) -> Result<InstrId, Refusal> {
    let name = node.op.profile_name();
    let origin = Origin { op: &name, scope: &node.scope };
    let shape = node.shape.clone();
    Ok(match (&node.op, operands) {
        (AtenOp::Input(n), []) => parameter(b, node, ParameterRole::Input(*n)),
        (AtenOp::Weight { path, .. }, []) => parameter(b, node, ParameterRole::Weight(path.clone())),
        (AtenOp::Permute { dims }, &[x]) => {
            b.push(Opcode::Transpose { permutation: dims.clone() }, vec![x], shape, origin)
        }
        (AtenOp::View, &[x]) => b.push(Opcode::Reshape, vec![x], shape, origin),
        (AtenOp::Mm, &[x, weight]) => product(b, x, weight, shape, origin),
        (AtenOp::Addmm, &[x, weight, bias]) => product_and_bias(b, [x, weight, bias], shape, origin),
        (AtenOp::Relu, &[x]) => relu(b, x, shape, origin),
        (AtenOp::LogSoftmax { dim }, &[x]) => {
            has_dimension(b, node, x, *dim)?;
            log_softmax(b, x, *dim, origin)
        }
        (AtenOp::Softmax { dim }, &[x]) => {
            has_dimension(b, node, x, *dim)?;
            layers::softmax(b, x, *dim, origin)
        }
        (AtenOp::Mean, &[x]) => mean(b, x, shape, origin),
        (AtenOp::Unary(op), &[x]) => unary(b, *op, x, shape, origin),
        (AtenOp::Binary(op), &[x, y]) => b.push(binary(*op), vec![x, y], shape, origin),
        (AtenOp::Scalar { op, value, reversed }, &[x]) => {
            with_number(b, (binary(*op), x), (*value, *reversed), shape, origin)
        }
        (AtenOp::Silu, &[x]) => silu(b, x, shape, origin),
        (AtenOp::Matmul, &[x, y]) => layers::matmul(b, x, y, shape, origin),
        (AtenOp::Convolution { window, groups, transposed }, [x, weight, bias @ ..]) => {
            layers::convolution(b, (*x, *weight, bias.first().copied()), (window, *groups, *transposed), shape, origin)
        }
        (AtenOp::MaxPool2d { window }, &[x]) => {
            b.push(Opcode::ReduceWindow { kind: ReduceKind::Max, window: *window }, vec![x], shape, origin)
        }
        (AtenOp::AvgPool2d { window }, &[x]) => layers::avg_pool(b, x, window, shape, origin),
        (AtenOp::BatchNorm { eps }, &[x, weight, bias, mean, variance]) => {
            layers::batch_norm(b, x, [weight, bias, mean, variance], *eps, origin)
        }
        (AtenOp::LayerNorm { eps }, &[x, weight, bias]) => layers::layer_norm(b, x, weight, bias, *eps, origin),
        (AtenOp::MeanDims { dims, .. }, &[x]) => {
            let mean = layers::mean_dims(b, x, dims, origin);
            layers::reshaped(b, mean, shape, origin)
        }
        (AtenOp::Embedding, &[table, indices]) => b.push(Opcode::Gather, vec![table, indices], shape, origin),
        (AtenOp::Cat { dim }, all @ [_, ..]) => {
            b.push(Opcode::Concatenate { dimension: *dim }, all.to_vec(), shape, origin)
        }
        (AtenOp::Slice { dim, start, end }, &[x]) => slice(b, x, (*dim, *start, *end), shape, origin),
        (AtenOp::Expand, &[x]) => stretch(b, x, &shape, origin),
        (AtenOp::To(_), &[x]) => b.push(Opcode::Convert, vec![x], shape, origin),
        (AtenOp::IndexCopy { dim }, &[x, update, position]) => {
            layers::index_copy(b, x, update, (*dim, position), origin)
        }
        (AtenOp::Tuple, all @ [_, ..]) => b.push(Opcode::Tuple, all.to_vec(), shape, origin),
        (AtenOp::Custom { target, .. }, &[x]) => custom_call(b, target, x, shape, origin),
        (AtenOp::SumDims { dims, .. }, &[x]) => {
            let sum = layers::reduce(b, ReduceKind::Sum, x, dims, origin);
            layers::reshaped(b, sum, shape, origin)
        }
        (AtenOp::Full(value), []) => layers::splat(b, *value, &shape, origin),
        (AtenOp::MaxPool2dBackward { window }, &[gradient, x]) => {
            b.push(Opcode::SelectAndScatter { window: *window }, vec![x, gradient], shape, origin)
        }
        (AtenOp::EmbeddingBackward { .. }, &[gradient, indices]) => {
            let zeros = layers::splat(b, 0.0, &shape, origin);
            b.push(Opcode::Scatter, vec![zeros, indices, gradient], shape, origin)
        }
        (AtenOp::CustomBackward { target, .. }, &[gradient, x]) => {
            b.push(Opcode::CustomCall { target: target.clone() }, vec![gradient, x], shape, origin)
        }
        (AtenOp::Assign { path }, &[x]) => b.push(Opcode::Copy { assigns: path.clone() }, vec![x], shape, origin),
        // Every op is above: with a number of operands that it does not have, the graph is damaged.
        (
            AtenOp::Input(_)
            | AtenOp::Weight { .. }
            | AtenOp::Permute { .. }
            | AtenOp::View
            | AtenOp::Addmm
            | AtenOp::Mm
            | AtenOp::Matmul
            | AtenOp::Convolution { .. }
            | AtenOp::MaxPool2d { .. }
            | AtenOp::AvgPool2d { .. }
            | AtenOp::BatchNorm { .. }
            | AtenOp::LayerNorm { .. }
            | AtenOp::MeanDims { .. }
            | AtenOp::SumDims { .. }
            | AtenOp::Full(_)
            | AtenOp::MaxPool2dBackward { .. }
            | AtenOp::EmbeddingBackward { .. }
            | AtenOp::CustomBackward { .. }
            | AtenOp::Assign { .. }
            | AtenOp::Softmax { .. }
            | AtenOp::Silu
            | AtenOp::Scalar { .. }
            | AtenOp::Embedding
            | AtenOp::Cat { .. }
            | AtenOp::Slice { .. }
            | AtenOp::Expand
            | AtenOp::To(_)
            | AtenOp::IndexCopy { .. }
            | AtenOp::Tuple
            | AtenOp::Relu
            | AtenOp::LogSoftmax { .. }
            | AtenOp::Mean
            | AtenOp::Unary(_)
            | AtenOp::Binary(_)
            | AtenOp::Custom { .. },
            operands,
        ) => {
            return Err(refuse!(
                "{path} has {found} operands: the graph is damaged, trace the model again",
                path = node.path(),
                found = operands.len()
            ));
        }
    })
}

fn parameter(b: &mut Builder, node: &Node, role: ParameterRole) -> InstrId {
    let index = b.next_parameter();
    let metadata = OpMetadata { op_type: node.op.profile_name(), op_name: node.path() };
    b.push_with(Opcode::Parameter { index, role }, Vec::new(), node.shape.clone(), metadata)
}

fn has_dimension(b: &Builder, node: &Node, x: InstrId, dim: u32) -> Result<(), Refusal> {
    let rank = b.shape(x).rank();
    if (dim as usize) < rank {
        Ok(())
    } else {
        Err(refuse!(
            "{} names dimension {dim} of an operand of {rank} dimensions: the graph is damaged, trace the model again",
            node.path()
        ))
    }
}

/// `x * 2`, or `2 * x` where the operands are the other way round.
fn with_number(
    b: &mut Builder,
    (opcode, x): (Opcode, InstrId),
    (number, reversed): (f32, bool),
    shape: Shape,
    origin: Origin<'_>,
) -> InstrId {
    let number = layers::splat(b, number, &shape, origin);
    let operands = if reversed { vec![number, x] } else { vec![x, number] };
    b.push(opcode, operands, shape, origin)
}

fn slice(b: &mut Builder, x: InstrId, (dim, start, end): (u32, u64, u64), shape: Shape, origin: Origin<'_>) -> InstrId {
    let ranges = ranges(&b.shape(x).dims, dim, start, end);
    b.push(Opcode::Slice { ranges }, vec![x], shape, origin)
}

/// `maximum(x, 0)`
fn relu(b: &mut Builder, x: InstrId, shape: Shape, origin: Origin<'_>) -> InstrId {
    let zero = constant(b, 0.0, &shape, origin, "maximum");
    let zeros = stretch(b, zero, &shape, origin);
    b.push(Opcode::Maximum, vec![x, zeros], shape, origin)
}

/// `x * logistic(x)`
fn silu(b: &mut Builder, x: InstrId, shape: Shape, origin: Origin<'_>) -> InstrId {
    let gate = b.push(Opcode::Logistic, vec![x], shape.clone(), origin);
    b.push(Opcode::Multiply, vec![x, gate], shape, origin)
}

/// `dot(x, weight)` of two matrices.
fn product(b: &mut Builder, x: InstrId, weight: InstrId, shape: Shape, origin: Origin<'_>) -> InstrId {
    b.push(Opcode::Dot(DotDims { batch: 0, lhs_contracting: 1, rhs_contracting: 0 }), vec![x, weight], shape, origin)
}

fn product_and_bias(b: &mut Builder, [x, weight, bias]: [InstrId; 3], shape: Shape, origin: Origin<'_>) -> InstrId {
    let dot = product(b, x, weight, shape.clone(), origin);
    b.push(Opcode::Add, vec![dot, bias], shape, origin)
}

/// A scalar. Profiles show a constant under the name of the op that needs it: setting the zeros of a ReLU in memory is an
/// `aten__relu_maximum` among the data transfers.
fn constant(b: &mut Builder, value: f32, like: &Shape, origin: Origin<'_>, user: &str) -> InstrId {
    let shape = Shape::new(like.dtype, []);
    b.push_with(Opcode::Constant(Literal(value)), Vec::new(), shape, origin.metadata(user))
}

/// Broadcasts a value to `shape` by the trailing-dimension rule. HLO's broadcast does not stretch dimensions of size one,
/// so they are dropped first.
pub(super) fn stretch(b: &mut Builder, from: InstrId, shape: &Shape, origin: Origin<'_>) -> InstrId {
    let operand = b.shape(from);
    if operand.dims == shape.dims {
        return from;
    }
    let lead = shape.rank().saturating_sub(operand.rank());
    let kept: Vec<usize> =
        (0..operand.rank()).filter(|&i| shape.dims.get(i + lead) == Some(&operand.dims[i])).collect();
    let dimensions = kept.iter().map(|&i| usize_to_u32(i + lead)).collect();
    let dims: Vec<u64> = kept.iter().map(|&i| operand.dims[i]).collect();
    let from = if dims == operand.dims {
        from
    } else {
        b.push(Opcode::Reshape, vec![from], Shape::new(operand.dtype, dims), origin)
    };
    b.push(Opcode::Broadcast { dimensions }, vec![from], Shape::new(operand.dtype, shape.dims.clone()), origin)
}

/// `x - max - log(sum(exp(x - max)))`
fn log_softmax(b: &mut Builder, x: InstrId, dim: u32, origin: Origin<'_>) -> InstrId {
    let shape = b.shape(x);
    let mut reduced = shape.clone();
    reduced.dims.remove(dim as usize);
    let rest: Vec<u32> = (0..usize_to_u32(shape.rank())).filter(|d| *d != dim).collect();
    let reduce = |kind| Opcode::Reduce { kind, dimensions: vec![dim] };
    let along =
        |b: &mut Builder, v| b.push(Opcode::Broadcast { dimensions: rest.clone() }, vec![v], shape.clone(), origin);
    let max = b.push(reduce(ReduceKind::Max), vec![x], reduced.clone(), origin);
    let max = along(b, max);
    let shifted = b.push(Opcode::Subtract, vec![x, max], shape.clone(), origin);
    let exp = b.push(Opcode::Exponential, vec![shifted], shape.clone(), origin);
    let sum = b.push(reduce(ReduceKind::Sum), vec![exp], reduced.clone(), origin);
    let log = b.push(Opcode::Log, vec![sum], reduced, origin);
    let log = along(b, log);
    b.push(Opcode::Subtract, vec![shifted, log], shape, origin)
}

/// The sum of all elements times the reciprocal of their number.
fn mean(b: &mut Builder, x: InstrId, shape: Shape, origin: Origin<'_>) -> InstrId {
    let operand = b.shape(x);
    let dimensions = (0..usize_to_u32(operand.rank())).collect();
    let sum = b.push(Opcode::Reduce { kind: ReduceKind::Sum, dimensions }, vec![x], shape.clone(), origin);
    let factor = constant(b, 1.0 / u64_to_f32(operand.elements()), &shape, origin, "multiply");
    b.push(Opcode::Multiply, vec![sum, factor], shape, origin)
}

fn unary(b: &mut Builder, op: UnaryOp, x: InstrId, shape: Shape, origin: Origin<'_>) -> InstrId {
    let opcode = match op {
        UnaryOp::Neg => Opcode::Negate,
        UnaryOp::Exp => Opcode::Exponential,
        UnaryOp::Log => Opcode::Log,
        UnaryOp::Tanh => Opcode::Tanh,
        UnaryOp::Sqrt => Opcode::Sqrt,
        UnaryOp::Rsqrt => Opcode::Rsqrt,
        UnaryOp::Gelu => Opcode::Gelu,
        UnaryOp::GeluDerivative => Opcode::GeluDerivative,
        UnaryOp::Logistic => Opcode::Logistic,
        UnaryOp::ReluKernel => return custom_call(b, "relu", x, shape, origin),
    };
    b.push(opcode, vec![x], shape, origin)
}

const fn binary(op: BinaryOp) -> Opcode {
    match op {
        BinaryOp::Add => Opcode::Add,
        BinaryOp::Sub => Opcode::Subtract,
        BinaryOp::Mul => Opcode::Multiply,
        BinaryOp::Div => Opcode::Divide,
        BinaryOp::Maximum => Opcode::Maximum,
        BinaryOp::Minimum => Opcode::Minimum,
        BinaryOp::Greater => Opcode::Elementwise(Elementwise::Compare(Comparison::Gt)),
        BinaryOp::Equal => Opcode::Elementwise(Elementwise::Compare(Comparison::Eq)),
    }
}

fn custom_call(b: &mut Builder, target: &str, x: InstrId, shape: Shape, origin: Origin<'_>) -> InstrId {
    b.push(Opcode::CustomCall { target: target.to_owned() }, vec![x], shape, origin)
}
