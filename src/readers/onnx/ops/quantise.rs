//! Quantised values and products of integers.

use crate::onnx::importer::Importer;
use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::low8;
use ns_base::refuse;
use ns_program::OperatorKind::Quantisation;
use ns_program::compose::{average_pool, leaky_relu, softmax};
use ns_program::{Binary, ElementType, InstructionId, Unary};

use super::Operator;
use super::elementwise::converted;
use super::product::{convolve, count_matmul, widened};

/// The note for every file with quantised values.
const NOTE: &str = "Values that are quantised and dequantised keep their steps, but what lies between is computed in single precision.";

/// Operators on quantised values, of ONNX and of onnxruntime.
pub(super) const OPS: &[Operator] = &[
    ("QuantizeLinear", Quantisation, |site| in_single_precision(site, quantise)),
    ("DequantizeLinear", Quantisation, |site| in_single_precision(site, dequantise)),
    ("DynamicQuantizeLinear", Quantisation, |site| reported(site, dynamic)),
    ("MatMulInteger", Quantisation, |site| reported(site, matmul_of_integers)),
    ("ConvInteger", Quantisation, |site| reported(site, convolution_of_integers)),
    ("QLinearMatMul", Quantisation, |site| reported(site, quantised_matmul)),
    ("QLinearConv", Quantisation, |site| reported(site, quantised_convolution)),
    ("QLinearAdd", Quantisation, |site| reported(site, |site| quantised_binary(site, Binary::Add))),
    ("QLinearMul", Quantisation, |site| reported(site, |site| quantised_binary(site, Binary::Mul))),
    ("QLinearSigmoid", Quantisation, |site| reported(site, quantised_sigmoid)),
    ("QLinearGlobalAveragePool", Quantisation, |site| reported(site, quantised_mean)),
    ("QLinearLeakyRelu", Quantisation, |site| reported(site, quantised_leaky_relu)),
    ("QLinearSoftmax", Quantisation, |site| reported(site, quantised_softmax)),
    ("QLinearConcat", Quantisation, |site| reported(site, quantised_join)),
    ("QLinearReduceMean", Quantisation, |site| reported(site, quantised_reduction)),
    ("QLinearAveragePool", Quantisation, |site| reported(site, quantised_pool)),
    ("QGemm", Quantisation, |site| reported(site, quantised_gemm)),
    ("DynamicQuantizeMatMul", Quantisation, |site| reported(site, dynamic_matmul)),
    ("MatMulIntegerToFloat", Quantisation, |site| reported(site, matmul_to_float)),
];

/// An operator computed in single precision, with a note.
fn in_single_precision(site: &mut Site<'_, '_>, run: fn(&mut Site<'_, '_>) -> Results) -> Results {
    site.importer.is_partial = true;
    site.importer.notes.insert(NOTE.to_owned());
    run(site)
}

/// An operator without a counterpart on a NeuronCore.
fn reported(site: &mut Site<'_, '_>, run: fn(&mut Site<'_, '_>) -> Results) -> Results {
    site.importer.report(&super::full_name(site.node), site.node);
    let note = "Products of whole numbers of 8 bits have no counterpart on a NeuronCore.";
    site.importer.notes.insert(note.to_owned());
    run(site)
}

/// A scale or a zero point, broadcast along the dimensions of `x`: one number, one for each index of an axis, or one for each
/// block of an axis.
fn spread(site: &mut Site<'_, '_>, row: InstructionId, x: InstructionId, axis: i64) -> Result<InstructionId, Failure> {
    let (own, dims) = (site.dims(row), site.dims(x));
    match own.as_slice() {
        [] => Ok(row),
        [1] => Ok(site.b().reshape(row, &[])?),
        [n] => {
            let axis = site.axis(axis, dims.len())?;
            let mut wide = vec![1; dims.len()];
            wide[axis] = *n;
            Ok(site.b().reshape(row, &wide)?)
        }
        _ if own.len() == dims.len() => {
            let axis = site.axis(axis, dims.len())?;
            if own == dims || own[axis] == 0 {
                return Ok(row);
            }
            let block = dims[axis].div_ceil(own[axis]);
            let mut many = own.clone();
            many.insert(axis + 1, block);
            let wide = site.b().unsqueeze(row, axis + 1)?;
            let wide = site.b().broadcast_to(wide, &many)?;
            let mut flat = own.clone();
            flat[axis] = own[axis].saturating_mul(block);
            let flat = site.b().reshape(wide, &flat)?;
            Ok(site.b().slice_dim(flat, axis, 0, dims[axis], 1)?)
        }
        _ => Err(site.fault(refuse!("cannot apply scales of {own:?} to {dims:?}"))),
    }
}

/// Smallest and largest number of a quantised type.
fn range(element: ElementType) -> (f64, f64) {
    let bits = i32::from(low8(element.bits()));
    if element.is_signed_integer() {
        (-libm::ldexp(1.0, bits - 1), libm::ldexp(1.0, bits - 1) - 1.0)
    } else {
        (0.0, libm::ldexp(1.0, bits) - 1.0)
    }
}

/// `clamp(round(x / scale) + zero)` as `element`.
fn to_steps(
    site: &mut Site<'_, '_>,
    x: InstructionId,
    scale: InstructionId,
    zero: Option<InstructionId>,
    element: ElementType,
) -> Result<InstructionId, Failure> {
    let quotient = site.b().div(x, scale)?;
    if !element.is_integer() {
        return converted(site, quotient, element);
    }
    let b = site.b();
    let mut steps = b.unary(Unary::RoundHalfEven, quotient)?;
    if let Some(zero) = zero {
        let zero = b.convert(zero, b.element(x))?;
        steps = b.add(steps, zero)?;
    }
    let (low, high) = range(element);
    let inside = b.clamp_numbers(steps, Some(low), Some(high))?;
    Ok(b.convert(inside, element)?)
}

/// `(x - zero) scale` in the scale's element type.
fn from_steps(
    site: &mut Site<'_, '_>,
    x: InstructionId,
    scale: InstructionId,
    zero: Option<InstructionId>,
) -> Result<InstructionId, Failure> {
    let b = site.b();
    let element = b.element(scale);
    let mut steps = b.convert(x, element)?;
    if let Some(zero) = zero {
        let zero = b.convert(zero, element)?;
        steps = b.sub(steps, zero)?;
    }
    Ok(b.mul(steps, scale)?)
}

fn quantise(site: &mut Site<'_, '_>) -> Results {
    let (x, scale) = (site.x(0)?, site.x(1)?);
    let axis = site.int("axis", 1)?;
    let element = match (site.option(2), site.int("output_dtype", 0)?) {
        (Some(zero), _) => site.element(zero),
        (None, 0) => ElementType::U8,
        (None, code) => Importer::element(code)?,
    };
    let scale = spread(site, scale, x, axis)?;
    let own = site.element(x);
    let scale = site.b().convert(scale, own)?;
    let zero = site.option(2).map(|zero| spread(site, zero, x, axis)).transpose()?;
    Ok(vec![to_steps(site, x, scale, zero, element)?])
}

fn dequantise(site: &mut Site<'_, '_>) -> Results {
    let (x, scale) = (site.x(0)?, site.x(1)?);
    let axis = site.int("axis", 1)?;
    let scale = spread(site, scale, x, axis)?;
    let zero = site.option(2).map(|zero| spread(site, zero, x, axis)).transpose()?;
    Ok(vec![from_steps(site, x, scale, zero)?])
}

/// Quantised 8-bit values, their scale and zero point, from the range of the operand.
fn dynamic(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let all: Vec<usize> = (0..site.dims(x).len()).collect();
    let b = site.b();
    let high = b.reduce(Binary::Max, x, &all, false)?;
    let high = b.with_number(Binary::Max, high, 0.0)?;
    let low = b.reduce(Binary::Min, x, &all, false)?;
    let low = b.with_number(Binary::Min, low, 0.0)?;
    let width = b.sub(high, low)?;
    let scale = b.with_number(Binary::Div, width, 255.0)?;
    let zero = b.div(low, scale)?;
    let zero = b.unary(Unary::Neg, zero)?;
    let zero = b.unary(Unary::RoundHalfEven, zero)?;
    let zero = b.clamp_numbers(zero, Some(0.0), Some(255.0))?;
    let zero = b.convert(zero, ElementType::U8)?;
    Ok(vec![to_steps(site, x, scale, Some(zero), ElementType::U8)?, scale, zero])
}

/// An operand as 32-bit integers minus its zero point; `axis` is the dimension of the zero points if they are an array.
fn centred(site: &mut Site<'_, '_>, at: usize, zero: usize, axis: i64) -> Result<InstructionId, Failure> {
    let x = site.x(at)?;
    let wide = widened(site, x)?;
    let Some(zero) = site.option(zero) else { return Ok(wide) };
    let zero = spread(site, zero, x, axis)?;
    let zero = widened(site, zero)?;
    Ok(site.b().sub(wide, zero)?)
}

fn matmul_of_integers(site: &mut Site<'_, '_>) -> Results {
    let (x, y) = (centred(site, 0, 2, -2)?, centred(site, 1, 3, -1)?);
    let product = site.b().matmul(x, y)?;
    count_matmul(site, x, product);
    Ok(vec![product])
}

fn convolution_of_integers(site: &mut Site<'_, '_>) -> Results {
    let (x, w) = (centred(site, 0, 2, 1)?, centred(site, 1, 3, 0)?);
    Ok(vec![convolve(site, x, w, None)?])
}

fn real(site: &mut Site<'_, '_>, at: usize, axis: i64) -> Result<InstructionId, Failure> {
    let (x, scale, zero) = (site.x(at)?, site.x(at + 1)?, site.option(at + 2));
    let scale = spread(site, scale, x, axis)?;
    let zero = zero.map(|zero| spread(site, zero, x, axis)).transpose()?;
    from_steps(site, x, scale, zero)
}

/// A result, quantised by the last two operands.
fn stepped(site: &mut Site<'_, '_>, x: InstructionId, at: usize) -> Results {
    let (scale, zero) = (site.x(at)?, site.option(at + 1));
    let element = zero.map_or(ElementType::U8, |zero| site.element(zero));
    Ok(vec![to_steps(site, x, scale, zero, element)?])
}

fn quantised_binary(site: &mut Site<'_, '_>, function: Binary) -> Results {
    let (x, y) = (real(site, 0, 1)?, real(site, 3, 1)?);
    let result = site.b().binary(function, x, y)?;
    stepped(site, result, 6)
}

fn quantised_sigmoid(site: &mut Site<'_, '_>) -> Results {
    let x = real(site, 0, 1)?;
    let result = site.b().unary(Unary::Logistic, x)?;
    stepped(site, result, 3)
}

fn quantised_mean(site: &mut Site<'_, '_>) -> Results {
    if site.int("channels_last", 0)? != 0 {
        return Err(site.fault(refuse!("with channels last is not known")));
    }
    let x = real(site, 0, 1)?;
    let axes: Vec<usize> = (2..site.dims(x).len()).collect();
    let result = site.b().mean(x, &axes, true)?;
    stepped(site, result, 3)
}

fn quantised_leaky_relu(site: &mut Site<'_, '_>) -> Results {
    let x = real(site, 0, 1)?;
    let (element, slope) = (site.element(x), site.float("alpha", 0.01)?);
    let slope = site.b().number(element, slope)?;
    let result = leaky_relu(site.b(), x, slope)?;
    stepped(site, result, 3)
}

fn quantised_softmax(site: &mut Site<'_, '_>) -> Results {
    let x = real(site, 0, 1)?;
    let axis = site.axis_of(x, -1)?;
    let result = softmax(site.b(), x, axis)?;
    stepped(site, result, 3)
}

/// The result's scale and zero point come first, then the operands with theirs.
fn quantised_join(site: &mut Site<'_, '_>) -> Results {
    let mut parts = Vec::new();
    for at in (2..site.inputs.len()).step_by(3) {
        parts.push(real(site, at, 1)?);
    }
    let first = parts.first().copied().ok_or_else(|| site.fault(refuse!("has no operands")))?;
    let axis = site.axis_of(first, 1)?;
    let result = site.b().concatenate(&parts, axis)?;
    stepped(site, result, 0)
}

fn quantised_reduction(site: &mut Site<'_, '_>) -> Results {
    let x = real(site, 0, 1)?;
    let rank = site.dims(x).len();
    let axes = match site.ints("axes")? {
        Some(axes) => site.axes(&axes, rank)?,
        None => (0..rank).collect(),
    };
    let keeps = site.int("keepdims", 1)? != 0;
    let result = site.b().mean(x, &axes, keeps)?;
    stepped(site, result, 3)
}

fn quantised_pool(site: &mut Site<'_, '_>) -> Results {
    if site.int("channels_last", 0)? != 0 {
        return Err(site.fault(refuse!("with channels last is not known")));
    }
    let x = real(site, 0, 1)?;
    let spec = super::pool::spec(site, x)?;
    let result = average_pool(site.b(), x, &spec, None)?;
    stepped(site, result, 3)
}

/// An integer bias, whose scale is the product of two scales.
fn real_bias(site: &mut Site<'_, '_>, bias: usize, scales: [usize; 2]) -> Result<Option<InstructionId>, Failure> {
    let Some(bias) = site.option(bias) else { return Ok(None) };
    let (first, second) = (site.x(scales[0])?, site.x(scales[1])?);
    let scale = site.b().mul(first, second)?;
    let element = site.element(scale);
    let bias = site.b().convert(bias, element)?;
    Ok(Some(site.b().mul(bias, scale)?))
}

fn quantised_gemm(site: &mut Site<'_, '_>) -> Results {
    // Scales are those of the result's columns.
    let columns = if site.int("transB", 0)? == 0 { 1 } else { 0 };
    let (mut a, mut b) = (real(site, 0, 1)?, real(site, 3, columns)?);
    for (x, name) in [(&mut a, "transA"), (&mut b, "transB")] {
        if site.int(name, 0)? != 0 {
            *x = site.b().swap_dims(*x, 0, 1)?;
        }
    }
    let mut result = site.b().matmul(a, b)?;
    count_matmul(site, a, result);
    let alpha = site.float("alpha", 1.0)?;
    result = site.b().with_number(Binary::Mul, result, alpha)?;
    if let Some(bias) = real_bias(site, 6, [1, 4])? {
        result = site.b().add(result, bias)?;
    }
    if site.option(7).is_none() { Ok(vec![result]) } else { stepped(site, result, 7) }
}

/// A product with the dequantised second operand, and a bias.
fn matmul_of_real(site: &mut Site<'_, '_>, x: InstructionId, y: InstructionId, bias: usize) -> Results {
    let product = site.b().matmul(x, y)?;
    count_matmul(site, x, product);
    Ok(vec![site.plus(product, bias)?])
}

/// The second operand with its scale and zero point.
fn real_weight(site: &mut Site<'_, '_>, scale: usize, zero: usize) -> Result<InstructionId, Failure> {
    let (y, scale) = (site.x(1)?, site.x(scale)?);
    let scale = spread(site, scale, y, -1)?;
    let zero = site.option(zero).map(|zero| spread(site, zero, y, -1)).transpose()?;
    from_steps(site, y, scale, zero)
}

fn dynamic_matmul(site: &mut Site<'_, '_>) -> Results {
    let steps = dynamic(site)?;
    let x = from_steps(site, steps[0], steps[1], Some(steps[2]))?;
    let y = real_weight(site, 2, 3)?;
    matmul_of_real(site, x, y, 4)
}

fn matmul_to_float(site: &mut Site<'_, '_>) -> Results {
    let (x, scale, zero) = (site.x(0)?, site.x(2)?, site.option(4));
    let scale = spread(site, scale, x, -2)?;
    let x = from_steps(site, x, scale, zero)?;
    let y = real_weight(site, 3, 5)?;
    matmul_of_real(site, x, y, 6)
}

fn quantised_matmul(site: &mut Site<'_, '_>) -> Results {
    let (x, y) = (real(site, 0, -2)?, real(site, 3, -1)?);
    let product = site.b().matmul(x, y)?;
    count_matmul(site, x, product);
    stepped(site, product, 6)
}

fn quantised_convolution(site: &mut Site<'_, '_>) -> Results {
    let (x, w) = (real(site, 0, 1)?, real(site, 3, 0)?);
    let bias = real_bias(site, 8, [1, 4])?;
    let result = convolve(site, x, w, bias)?;
    stepped(site, result, 6)
}
