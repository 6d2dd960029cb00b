//! Each operation of a program as instructions of the module.

use super::constant_forms::ConstantForm;
use super::emit::Emit;
use super::flatten::{Combine, FlatId, FlatNode};
use super::{affine, moves, products, windows};
use crate::hlo::{Elementwise, InstrId, Opcode, ReduceKind, Work, WorkKind};
use ns_base::Refusal;
use ns_base::convert::usize_to_u32;
use ns_program::{Binary, Foreign, Op, Unary};
use ns_tensor::Shape;
use ns_tensor::kernels::SliceDim;

type Result<T> = std::result::Result<T, Refusal>;

/// Appends the instructions of an operation; returns the one with its result.
pub(super) fn place(e: &mut Emit<'_>, id: FlatId) -> Result<InstrId> {
    let flat = e.flat;
    let node = &flat.nodes[id];
    let shape = e.shape_of(&node.ty);
    match &node.op {
        Op::Parameter(_) => Ok(e.input(shape)),
        Op::Unary(function) => unary(e, *function),
        Op::Binary(function) => binary(e, *function),
        Op::Compare(comparison) => {
            let (a, b) = (e.operand(0)?, e.operand(1)?);
            Ok(e.push(Opcode::Elementwise(Elementwise::Compare(*comparison)), vec![a, b], shape))
        }
        Op::Select => select(e, shape),
        Op::Clamp => {
            let (low, x, high) = (e.operand(0)?, e.operand(1)?, e.operand(2)?);
            let low = e.repeated_number(low, &shape);
            let high = e.repeated_number(high, &shape);
            let above = e.of_two(Opcode::Maximum, x, low);
            Ok(e.of_two(Opcode::Minimum, above, high))
        }
        Op::Convert => {
            let x = e.operand(0)?;
            Ok(if e.shape(x).dtype == shape.dtype { x } else { e.push(Opcode::Convert, vec![x], shape) })
        }
        Op::BitcastConvert | Op::ReducePrecision { .. } => one_pass(e, "bitcast", shape),
        Op::Dot(dims) => products::dot(e, dims, shape),
        Op::Convolution { window, dims, feature_group_count, batch_group_count } => {
            products::convolution(e, window, dims, (*feature_group_count, *batch_group_count), shape)
        }
        Op::Reduce { dimensions } => reduce(e, node.combine, dimensions, shape),
        Op::ReduceWindow { window } => windows::reduce_window(e, window, node.combine, shape),
        Op::BatchNormInference { epsilon, feature } => batch_norm(e, *epsilon, *feature),
        Op::BatchNormTraining { epsilon, feature } => batch_norm_training(e, *epsilon, *feature, node.part),
        _ => rearranged(e, node, shape),
    }
}

/// Operations that move values without computing any.
fn rearranged(e: &mut Emit<'_>, node: &FlatNode, shape: Shape) -> Result<InstrId> {
    match &node.op {
        Op::Broadcast { dimensions } => {
            let x = e.operand(0)?;
            Ok(e.repeated(x, dimensions, &shape.dims))
        }
        Op::Reshape => {
            let x = e.operand(0)?;
            Ok(e.reshaped(x, shape.dims))
        }
        Op::Transpose { permutation } => {
            let x = e.operand(0)?;
            Ok(e.transposed(x, permutation.clone()))
        }
        Op::Slice { starts, limits, strides } => {
            let x = e.operand(0)?;
            let range = |((&start, &limit), &stride)| SliceDim { start, limit, stride };
            Ok(e.sliced(x, starts.iter().zip(limits).zip(strides).map(range).collect()))
        }
        Op::Concatenate { dimension } => {
            let all = (0..node.operands.len()).map(|n| e.operand(n)).collect::<Result<Vec<_>>>()?;
            if let [one] = all.as_slice() {
                return Ok(*one);
            }
            Ok(e.push(Opcode::Concatenate { dimension: *dimension }, all, shape))
        }
        Op::Gather(dims) => moves::gather(e, dims, shape),
        Op::DynamicSlice { sizes } => moves::dynamic_slice(e, sizes, shape),
        Op::DynamicUpdateSlice => moves::dynamic_update_slice(e, shape),
        Op::Pad { low, high, interior } => moves::pad(e, low, high, interior, shape),
        Op::Reverse { .. } => moves::moved(e, "reverse", shape),
        Op::Scatter(_) => {
            e.estimate("scatter");
            moves::moved(e, "scatter", shape)
        }
        _ => by_cost(e, node, shape),
    }
}

/// Operations without an opcode of their own: work of a known cost.
fn by_cost(e: &mut Emit<'_>, node: &FlatNode, shape: Shape) -> Result<InstrId> {
    match &node.op {
        Op::SelectAndScatter { window } => {
            e.estimate("select-and-scatter");
            let under: u64 = window.iter().map(|w| w.size).product();
            worked(e, "select-and-scatter", WorkKind::Vector, u32::try_from(under).unwrap_or(u32::MAX).min(64), shape)
        }
        Op::Sort { .. } | Op::TopK { .. } => {
            let name = if matches!(node.op, Op::TopK { .. }) { "top-k" } else { "sort" };
            sorted(e, name, shape)
        }
        Op::BatchNormGrad { .. } => {
            e.estimate("batch-norm-grad");
            worked(e, "batch-norm-grad", WorkKind::Vector, 4, shape)
        }
        Op::Map => one_pass(e, "map", shape),
        Op::Fft { .. } => {
            e.estimate("fft");
            let passes = shape.dims.last().copied().unwrap_or(1).max(2).ilog2() * 4;
            worked(e, "fft", WorkKind::Vector, passes, shape)
        }
        Op::Rng { .. } | Op::RngBitGenerator { .. } => one_pass(e, "rng", shape),
        Op::CustomCall(call) => custom_call(e, call, shape),
        Op::Collective(what) => {
            e.note("operations between cores are placed as copies through device memory of one core");
            let name = what.name.clone();
            moves::moved(e, &name, shape)
        }
        Op::Opaque(what) => assumed(e, what, shape),
        // These do not depend on an input, or are gone when the program is written out.
        _ => Err(e.wrong("an operation that cannot be lowered")),
    }
}

fn unary(e: &mut Emit<'_>, function: Unary) -> Result<InstrId> {
    let x = e.operand(0)?;
    let opcode = match function {
        Unary::Neg => Opcode::Negate,
        Unary::Exp => Opcode::Exponential,
        Unary::Log => Opcode::Log,
        Unary::Tanh => Opcode::Tanh,
        Unary::Sqrt => Opcode::Sqrt,
        Unary::Rsqrt => Opcode::Rsqrt,
        Unary::Logistic => Opcode::Logistic,
        Unary::Square => return Ok(e.of_two(Opcode::Multiply, x, x)),
        other => Opcode::Elementwise(Elementwise::Unary(other)),
    };
    Ok(e.of_one(opcode, x))
}

fn binary(e: &mut Emit<'_>, function: Binary) -> Result<InstrId> {
    let exponent = match e.forms[e.operand_id(1)?] {
        ConstantForm::Splat(value) if function == Binary::Pow => Some(value),
        _ => None,
    };
    let a = e.operand(0)?;
    match exponent {
        Some(2.0) => return Ok(e.of_two(Opcode::Multiply, a, a)),
        Some(0.5) => return Ok(e.of_one(Opcode::Sqrt, a)),
        Some(-0.5) => return Ok(e.of_one(Opcode::Rsqrt, a)),
        Some(3.0) => {
            let square = e.of_two(Opcode::Multiply, a, a);
            return Ok(e.of_two(Opcode::Multiply, square, a));
        }
        _ => {}
    }
    let opcode = match function {
        Binary::Add => Opcode::Add,
        Binary::Sub => Opcode::Subtract,
        Binary::Mul => Opcode::Multiply,
        Binary::Div => Opcode::Divide,
        Binary::Max => Opcode::Maximum,
        Binary::Min => Opcode::Minimum,
        other => Opcode::Elementwise(Elementwise::Binary(other)),
    };
    if let Some(result) = affine::with_vector_of_view(e, &opcode)? {
        return Ok(result);
    }
    let b = e.operand(1)?;
    if let Some(result) = affine::with_shift_last(e, &opcode, a, b) {
        return Ok(result);
    }
    Ok(e.of_two(opcode, a, b))
}

/// One pass of the vector engine, which also reads a mask.
fn select(e: &mut Emit<'_>, shape: Shape) -> Result<InstrId> {
    let operands = (0..3).map(|n| e.operand(n)).collect::<Result<Vec<_>>>()?;
    let work = Work { name: "select".to_owned(), kind: WorkKind::Vector, elements: shape.elements(), passes: 1 };
    Ok(e.push(Opcode::Work(work), operands, shape))
}

fn reduce(e: &mut Emit<'_>, combine: Option<Combine>, dimensions: &[u32], shape: Shape) -> Result<InstrId> {
    let kind = match combine {
        Some(Combine::Sum) => ReduceKind::Sum,
        Some(Combine::Product) => ReduceKind::Product,
        Some(Combine::Max) => ReduceKind::Max,
        Some(Combine::Min) => ReduceKind::Min,
        // An arg max finds the maximum and searches for its position.
        _ => return worked(e, "reduce", WorkKind::Vector, 2, shape),
    };
    let x = e.operand(0)?;
    if dimensions.is_empty() {
        return Ok(x);
    }
    Ok(e.reduced(kind, x, dimensions))
}

/// `x * scale + shift`; scale and shift are computed when the model is loaded.
fn batch_norm(e: &mut Emit<'_>, epsilon: f32, feature: u32) -> Result<InstrId> {
    let [x, scale, offset, mean, variance] = five(e)?;
    let shape = e.shape(x);
    let vector = e.shape(variance);
    let eps = e.splat(f64::from(epsilon), vector);
    let variance = e.of_two(Opcode::Add, variance, eps);
    let inverse = e.of_one(Opcode::Rsqrt, variance);
    let scale = e.of_two(Opcode::Multiply, scale, inverse);
    let moved = e.of_two(Opcode::Multiply, mean, scale);
    let shift = e.of_two(Opcode::Subtract, offset, moved);
    let scale = e.repeated(scale, &[feature], &shape.dims);
    let scaled = e.of_two(Opcode::Multiply, x, scale);
    let shift = e.repeated(shift, &[feature], &shape.dims);
    Ok(e.of_two(Opcode::Add, scaled, shift))
}

fn five(e: &mut Emit<'_>) -> Result<[InstrId; 5]> {
    Ok([e.operand(0)?, e.operand(1)?, e.operand(2)?, e.operand(3)?, e.operand(4)?])
}

/// Batch normalisation with the batch's own statistics; layer normalisation is written as this on `[1, rows, n]`.
fn batch_norm_training(e: &mut Emit<'_>, epsilon: f32, feature: u32, part: u32) -> Result<InstrId> {
    let x = e.operand(0)?;
    let shape = e.shape(x);
    let others: Vec<u32> = (0..usize_to_u32(shape.rank())).filter(|d| *d != feature).collect();
    // Leading dimensions of size one would keep the rows from being seen as rows.
    if feature == 1 && shape.dims.first() == Some(&1) {
        let rows = e.reshaped(x, shape.dims[1..].to_vec());
        let lost: Vec<u32> = (1..usize_to_u32(shape.rank()) - 1).collect();
        let result = normalised(e, rows, &lost, 0, epsilon, part)?;
        return Ok(if part == 0 { e.reshaped(result, shape.dims) } else { result });
    }
    normalised(e, x, &others, feature, epsilon, part)
}

fn normalised(e: &mut Emit<'_>, x: InstrId, lost: &[u32], feature: u32, epsilon: f32, part: u32) -> Result<InstrId> {
    let shape = e.shape(x);
    let mean = e.mean(x, lost);
    if part == 1 {
        return Ok(mean);
    }
    let means = e.along(mean, lost, &shape.dims);
    let centred = e.of_two(Opcode::Subtract, x, means);
    let square = e.of_two(Opcode::Multiply, centred, centred);
    let variance = e.mean(square, lost);
    if part == 2 {
        return Ok(variance);
    }
    let eps_shape = e.shape(variance);
    let eps = e.splat(f64::from(epsilon), eps_shape);
    let variance = e.of_two(Opcode::Add, variance, eps);
    let inverse = e.of_one(Opcode::Rsqrt, variance);
    let inverse = e.along(inverse, lost, &shape.dims);
    let mut result = e.of_two(Opcode::Multiply, centred, inverse);
    for (n, opcode, neutral) in [(1, Opcode::Multiply, 1.0), (2, Opcode::Add, 0.0)] {
        if e.forms[e.operand_id(n)?] != ConstantForm::Splat(neutral) {
            let vector = e.operand(n)?;
            let vector = e.repeated(vector, &[feature], &shape.dims);
            result = e.of_two(opcode, result, vector);
        }
    }
    Ok(result)
}

fn custom_call(e: &mut Emit<'_>, call: &Foreign, shape: Shape) -> Result<InstrId> {
    let last = usize_to_u32(shape.rank()).saturating_sub(1);
    match call.name.as_str() {
        "AwsNeuronGelu" | "AwsNeuronGeluApprxTanh" => {
            let x = e.operand(0)?;
            Ok(e.of_one(Opcode::Gelu, x))
        }
        "AwsNeuronErf" | "mhlo.erf" => {
            let x = e.operand(0)?;
            Ok(e.of_one(Opcode::Elementwise(Elementwise::Unary(Unary::Erf)), x))
        }
        "AwsNeuronSilu" => {
            let x = e.operand(0)?;
            let gate = e.of_one(Opcode::Logistic, x);
            Ok(e.of_two(Opcode::Multiply, x, gate))
        }
        "AwsNeuronSoftmax" => {
            let x = e.operand(0)?;
            let max = e.reduced(ReduceKind::Max, x, &[last]);
            let max = e.along(max, &[last], &shape.dims);
            let shifted = e.of_two(Opcode::Subtract, x, max);
            let exp = e.of_one(Opcode::Exponential, shifted);
            let sum = e.reduced(ReduceKind::Sum, exp, &[last]);
            let sum = e.along(sum, &[last], &shape.dims);
            Ok(e.of_two(Opcode::Divide, exp, sum))
        }
        "AwsNeuronRmsNorm" => {
            let (x, weight) = (e.operand(0)?, e.operand(1)?);
            let square = e.of_two(Opcode::Multiply, x, x);
            let mean = e.mean(square, &[last]);
            let (eps, rows) = (e.operand(2)?, e.shape(mean));
            let eps = e.reshaped(eps, Vec::new());
            let eps = e.repeated(eps, &[], &rows.dims);
            let mean = e.of_two(Opcode::Add, mean, eps);
            let inverse = e.of_one(Opcode::Rsqrt, mean);
            let inverse = e.along(inverse, &[last], &shape.dims);
            let normal = e.of_two(Opcode::Multiply, x, inverse);
            let weight = e.repeated(weight, &[last], &shape.dims);
            Ok(e.of_two(Opcode::Multiply, normal, weight))
        }
        name if ns_program::eval::is_known_custom_call(name) => e.operand(0),
        _ => assumed(e, call, shape),
    }
}

/// An operator without a known meaning.
fn assumed(e: &mut Emit<'_>, what: &Foreign, shape: Shape) -> Result<InstrId> {
    let asked = e.assumed.get(&what.name).cloned();
    if let Some(super::UnknownOpPolicy::Kernel(kernel)) = asked {
        return on_kernel(e, &kernel, &shape);
    }
    e.guess(&what.name, asked.is_none());
    match asked.unwrap_or(super::UnknownOpPolicy::Elementwise) {
        super::UnknownOpPolicy::Elementwise => worked(e, &what.name, WorkKind::Vector, 1, shape),
        super::UnknownOpPolicy::Move => moves::moved(e, &what.name, shape),
        super::UnknownOpPolicy::Sort | super::UnknownOpPolicy::Kernel(_) => sorting_network(e, &what.name, shape),
    }
}

/// The user's kernel, whose result has the shape of each of its inputs.
fn on_kernel(e: &mut Emit<'_>, kernel: &str, shape: &Shape) -> Result<InstrId> {
    let operands = e.operands()?;
    for x in &operands {
        let of = e.shape(*x);
        if of != *shape {
            return Err(e.wrong(&format!(
                "a kernel takes tensors of the shape that it gives, {shape}, and this operator takes one of {of}; pass a tensor of that shape"
            )));
        }
    }
    Ok(e.push(Opcode::CustomCall { target: kernel.to_owned() }, operands, shape.clone()))
}

fn one_pass(e: &mut Emit<'_>, name: &str, shape: Shape) -> Result<InstrId> {
    worked(e, name, WorkKind::Vector, 1, shape)
}

fn sorted(e: &mut Emit<'_>, name: &str, shape: Shape) -> Result<InstrId> {
    e.estimate(name);
    sorting_network(e, name, shape)
}

/// A sorting network on the GpSimd engine: half the square of the logarithm of a row's length passes.
fn sorting_network(e: &mut Emit<'_>, name: &str, shape: Shape) -> Result<InstrId> {
    let x = e.operand(0)?;
    let row = e.shape(x).dims.last().copied().unwrap_or(1).max(2);
    let levels = u64::from(row.next_power_of_two().ilog2());
    let passes = u32::try_from(levels * (levels + 1) / 2).unwrap_or(u32::MAX);
    worked(e, name, WorkKind::GpSimd, passes, shape)
}

/// Work over the largest of operands and result.
pub(super) fn worked(e: &mut Emit<'_>, name: &str, kind: WorkKind, passes: u32, shape: Shape) -> Result<InstrId> {
    let mut operands = Vec::new();
    for n in 0.. {
        match e.operand_id(n) {
            Ok(id) => operands.push(e.value(id)?),
            Err(_) => break,
        }
    }
    let most = operands.iter().map(|&o| e.shape(o).elements()).max().unwrap_or(0);
    let elements = most.max(shape.elements());
    Ok(e.push(Opcode::Work(Work { name: name.to_owned(), kind, elements, passes }), operands, shape))
}

impl Emit<'_> {
    /// A number repeated to a shape; a value that already has the shape is returned as it is.
    pub fn repeated_number(&mut self, x: InstrId, shape: &Shape) -> InstrId {
        if self.shape(x).rank() == 0 { self.repeated(x, &[], &shape.dims) } else { x }
    }
}
