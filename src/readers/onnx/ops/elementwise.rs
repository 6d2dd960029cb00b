//! Elementwise operators of numbers and booleans.

use crate::onnx::importer::Importer;
use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::usize_to_f64;
use ns_base::refuse;
use ns_program::OperatorKind::Elementwise;
use ns_program::compose::{floor_modulo, power_number};
use ns_program::{Binary, Comparison, ElementType, InstructionId, Unary};

use super::Operator;

pub(super) const OPS: &[Operator] = &[
    ("Abs", Elementwise, |site| unary(site, Unary::Abs)),
    ("Acos", Elementwise, |site| unary(site, Unary::Acos)),
    ("Acosh", Elementwise, |site| unary(site, Unary::Acosh)),
    ("Asin", Elementwise, |site| unary(site, Unary::Asin)),
    ("Asinh", Elementwise, |site| unary(site, Unary::Asinh)),
    ("Atan", Elementwise, |site| unary(site, Unary::Atan)),
    ("Atanh", Elementwise, |site| unary(site, Unary::Atanh)),
    ("Ceil", Elementwise, |site| unary(site, Unary::Ceil)),
    ("Cos", Elementwise, |site| unary(site, Unary::Cos)),
    ("Cosh", Elementwise, |site| unary(site, Unary::Cosh)),
    ("Erf", Elementwise, |site| unary(site, Unary::Erf)),
    ("Exp", Elementwise, |site| unary(site, Unary::Exp)),
    ("Floor", Elementwise, |site| unary(site, Unary::Floor)),
    ("IsNaN", Elementwise, |site| unary(site, Unary::IsNan)),
    ("Log", Elementwise, |site| unary(site, Unary::Log)),
    ("Neg", Elementwise, |site| unary(site, Unary::Neg)),
    ("Not", Elementwise, |site| unary(site, Unary::Not)),
    ("BitwiseNot", Elementwise, |site| unary(site, Unary::Not)),
    ("Round", Elementwise, |site| unary(site, Unary::RoundHalfEven)),
    ("Sigmoid", Elementwise, |site| unary(site, Unary::Logistic)),
    ("Sign", Elementwise, |site| unary(site, Unary::Sign)),
    ("Sin", Elementwise, |site| unary(site, Unary::Sin)),
    ("Sinh", Elementwise, |site| unary(site, Unary::Sinh)),
    ("Sqrt", Elementwise, |site| unary(site, Unary::Sqrt)),
    ("Tan", Elementwise, |site| unary(site, Unary::Tan)),
    ("Tanh", Elementwise, |site| unary(site, Unary::Tanh)),
    ("Add", Elementwise, |site| binary(site, Binary::Add)),
    ("Sub", Elementwise, |site| binary(site, Binary::Sub)),
    ("Mul", Elementwise, |site| binary(site, Binary::Mul)),
    ("Div", Elementwise, |site| binary(site, Binary::Div)),
    ("And", Elementwise, |site| binary(site, Binary::And)),
    ("BitwiseAnd", Elementwise, |site| binary(site, Binary::And)),
    ("Or", Elementwise, |site| binary(site, Binary::Or)),
    ("BitwiseOr", Elementwise, |site| binary(site, Binary::Or)),
    ("Xor", Elementwise, |site| binary(site, Binary::Xor)),
    ("BitwiseXor", Elementwise, |site| binary(site, Binary::Xor)),
    ("Max", Elementwise, |site| several(site, Binary::Max)),
    ("Min", Elementwise, |site| several(site, Binary::Min)),
    ("Sum", Elementwise, |site| several(site, Binary::Add)),
    ("Mean", Elementwise, mean),
    ("Pow", Elementwise, pow),
    ("Mod", Elementwise, modulo),
    ("BitShift", Elementwise, shift),
    ("Equal", Elementwise, |site| compare(site, Comparison::Eq)),
    ("Greater", Elementwise, |site| compare(site, Comparison::Gt)),
    ("GreaterOrEqual", Elementwise, |site| compare(site, Comparison::Ge)),
    ("Less", Elementwise, |site| compare(site, Comparison::Lt)),
    ("LessOrEqual", Elementwise, |site| compare(site, Comparison::Le)),
    ("Where", Elementwise, choose),
    ("Cast", Elementwise, cast),
    ("CastLike", Elementwise, cast_like),
    ("Reciprocal", Elementwise, reciprocal),
    ("Clip", Elementwise, clip),
    ("IsInf", Elementwise, is_infinite),
    ("Identity", Elementwise, |site| Ok(vec![site.x(0)?])),
    ("Dropout", Elementwise, dropout),
    ("Erfc", Elementwise, not_of_onnx),
];

fn unary(site: &mut Site<'_, '_>, function: Unary) -> Results {
    let x = site.x(0)?;
    Ok(vec![site.b().unary(function, x)?])
}

fn binary(site: &mut Site<'_, '_>, function: Binary) -> Results {
    let (x, y) = (site.x(0)?, site.x(1)?);
    let y = early_broadcast(site, x, y)?;
    Ok(vec![site.b().binary(function, x, y)?])
}

/// Before version 7 the second operand broadcasts along the dimensions from `axis` on.
fn early_broadcast(site: &mut Site<'_, '_>, x: InstructionId, y: InstructionId) -> Result<InstructionId, Failure> {
    let Some(axis) = site.optional_int("axis")?.filter(|_| site.opset < 7) else { return Ok(y) };
    let rank = site.dims(x).len();
    let mut dims = site.dims(y);
    let after = rank.saturating_sub(site.axis(axis, rank)? + dims.len());
    dims.extend(std::iter::repeat_n(1, after));
    Ok(site.b().reshape(y, &dims)?)
}

fn several(site: &mut Site<'_, '_>, function: Binary) -> Results {
    let mut all = site.x(0)?;
    for next in site.inputs.clone().into_iter().skip(1).flatten() {
        all = site.b().binary(function, all, next)?;
    }
    Ok(vec![all])
}

fn mean(site: &mut Site<'_, '_>) -> Results {
    let count = site.inputs.iter().flatten().count();
    let sum = several(site, Binary::Add)?[0];
    Ok(vec![site.b().with_number(Binary::Div, sum, usize_to_f64(count))?])
}

fn pow(site: &mut Site<'_, '_>) -> Results {
    let (x, y) = (site.x(0)?, site.x(1)?);
    let known = site.known(y).is_some_and(|v| v.numbers.len() == 1).then(|| site.known_reals(1)).transpose()?;
    if let (Some([exponent]), true) = (known.as_deref(), site.dims(y).len() <= site.dims(x).len()) {
        return Ok(vec![power_number(site.b(), x, *exponent)?]);
    }
    let element = site.element(x);
    let y = site.b().convert(y, element)?;
    Ok(vec![site.b().binary(Binary::Pow, x, y)?])
}

fn modulo(site: &mut Site<'_, '_>) -> Results {
    let (x, y) = (site.x(0)?, site.x(1)?);
    if site.int("fmod", 0)? != 0 {
        return Ok(vec![site.b().binary(Binary::Rem, x, y)?]);
    }
    Ok(vec![floor_modulo(site.b(), x, y)?])
}

fn shift(site: &mut Site<'_, '_>) -> Results {
    let (x, y) = (site.x(0)?, site.x(1)?);
    let function = match site.text("direction", "")?.as_str() {
        "LEFT" => Binary::ShiftLeft,
        "RIGHT" => Binary::ShiftRightLogical,
        other => return Err(site.fault(refuse!("has the unknown direction {other:?}"))),
    };
    Ok(vec![site.b().binary(function, x, y)?])
}

fn compare(site: &mut Site<'_, '_>, how: Comparison) -> Results {
    let (x, y) = (site.x(0)?, site.x(1)?);
    let y = early_broadcast(site, x, y)?;
    Ok(vec![site.b().compare(how, x, y)?])
}

fn choose(site: &mut Site<'_, '_>) -> Results {
    let (condition, x, y) = (site.x(0)?, site.x(1)?, site.x(2)?);
    Ok(vec![site.b().select(condition, x, y)?])
}

fn cast(site: &mut Site<'_, '_>) -> Results {
    let (x, to) = (site.x(0)?, site.int("to", 0)?);
    if to == 8 {
        return Err(site.fault(refuse!("gives text, which no NeuronCore has")));
    }
    Ok(vec![converted(site, x, Importer::element(to)?)?])
}

/// A conversion. To 8 bits, what is beyond the largest number becomes that number, unless `saturate` is 0.
pub(super) fn converted(
    site: &mut Site<'_, '_>,
    x: InstructionId,
    element: ElementType,
) -> Result<InstructionId, Failure> {
    let largest = element.largest_float8().filter(|_| site.element(x).is_float());
    let inside = match largest {
        Some(largest) if site.int("saturate", 1)? != 0 => site.b().clamp_numbers(x, Some(-largest), Some(largest))?,
        Some(largest) if element == ElementType::F8E5M2 => nan_where_rounding_overflows(site, x, largest)?,
        _ => x,
    };
    Ok(site.b().convert(inside, element)?)
}

/// NaN where only rounding goes beyond the largest number: the standard's table has an infinity there, but its reference
/// implementation and onnxruntime give NaN.
fn nan_where_rounding_overflows(
    site: &mut Site<'_, '_>,
    x: InstructionId,
    largest: f64,
) -> Result<InstructionId, Failure> {
    let element = site.element(x);
    let (half_a_step, whole_step) = (largest + 4_096.0, largest + 8_192.0);
    let size = site.b().unary(Unary::Abs, x)?;
    let above = site.b().compare_number(Comparison::Ge, size, half_a_step)?;
    let below = site.b().compare_number(Comparison::Lt, size, whole_step)?;
    let between = site.b().binary(Binary::And, above, below)?;
    let nan = site.b().number(element, f64::NAN)?;
    Ok(site.b().select(between, nan, x)?)
}

fn cast_like(site: &mut Site<'_, '_>) -> Results {
    let (x, like) = (site.x(0)?, site.x(1)?);
    let element = site.element(like);
    Ok(vec![converted(site, x, element)?])
}

fn reciprocal(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let element = site.element(x);
    let one = site.b().number(element, 1.0)?;
    Ok(vec![site.b().div(one, x)?])
}

fn clip(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    if site.opset < 11 {
        let low = site.float("min", f64::NEG_INFINITY)?;
        let high = site.float("max", f64::INFINITY)?;
        let finite = |n: f64| Some(n).filter(|n| n.is_finite());
        return Ok(vec![site.b().clamp_numbers(x, finite(low), finite(high))?]);
    }
    let mut limited = x;
    if let Some(low) = site.option(1) {
        limited = site.b().binary(Binary::Max, limited, low)?;
    }
    if let Some(high) = site.option(2) {
        limited = site.b().binary(Binary::Min, limited, high)?;
    }
    Ok(vec![limited])
}

fn is_infinite(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let (below, above) = (site.int("detect_negative", 1)? != 0, site.int("detect_positive", 1)? != 0);
    let infinite = site.b().unary(Unary::IsInf, x)?;
    let sign = match (below, above) {
        (true, true) => return Ok(vec![infinite]),
        (false, false) => {
            let dims = site.dims(x);
            return Ok(vec![site.b().full(ElementType::Pred, &dims, 0.0)?]);
        }
        (true, false) => Comparison::Lt,
        (false, true) => Comparison::Gt,
    };
    let has_sign = site.b().compare_number(sign, x, 0.0)?;
    Ok(vec![site.b().binary(Binary::And, infinite, has_sign)?])
}

/// A dropout does nothing when a model is used: it returns its operand, and a mask that keeps all elements.
fn dropout(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    if site.node.outputs.len() < 2 {
        return Ok(vec![x]);
    }
    let dims = site.dims(x);
    let element = if site.opset < 10 { site.element(x) } else { ElementType::Pred };
    Ok(vec![x, site.b().full(element, &dims, 1.0)?])
}

/// tf2onnx keeps TensorFlow's complementary error function, which ONNX does not have: it is supported here, but other readers refuse the file.
fn not_of_onnx(site: &mut Site<'_, '_>) -> Results {
    site.importer.report(&site.node.op, site.node);
    site.importer.notes.insert("ONNX has no operator Erfc: it is read as 1 - erf(x).".to_owned());
    unary(site, Unary::Erfc)
}
