//! Elementwise operators of numbers and booleans.

use crate::onnx::importer::Importer;
use crate::onnx::site::{Failure, Results, Site};
use crate::program::compose::{floor_modulo, power_number};
use crate::program::{Binary, Comparison, ElementType, InstructionId, Unary};
use ns_base::convert::real_len;
use ns_base::refuse;

/// The results of an elementwise operator; `None` for other operators.
pub(super) fn run(site: &mut Site<'_, '_>, name: &str) -> Option<Results> {
    if let Some(function) = unary_of(name) {
        return Some(unary(site, function));
    }
    Some(match name {
        "Add" => binary(site, Binary::Add),
        "Sub" => binary(site, Binary::Sub),
        "Mul" => binary(site, Binary::Mul),
        "Div" => binary(site, Binary::Div),
        "And" | "BitwiseAnd" => binary(site, Binary::And),
        "Or" | "BitwiseOr" => binary(site, Binary::Or),
        "Xor" | "BitwiseXor" => binary(site, Binary::Xor),
        "Max" => several(site, Binary::Max),
        "Min" => several(site, Binary::Min),
        "Sum" => several(site, Binary::Add),
        "Mean" => mean(site),
        "Pow" => pow(site),
        "Mod" => modulo(site),
        "BitShift" => shift(site),
        "Equal" => compare(site, Comparison::Eq),
        "Greater" => compare(site, Comparison::Gt),
        "GreaterOrEqual" => compare(site, Comparison::Ge),
        "Less" => compare(site, Comparison::Lt),
        "LessOrEqual" => compare(site, Comparison::Le),
        "Where" => choose(site),
        "Cast" | "CastLike" => cast(site, name),
        "Reciprocal" => reciprocal(site),
        "Clip" => clip(site),
        "IsInf" => is_infinite(site),
        "Identity" | "Dropout" => same(site, name),
        "Erfc" => not_of_onnx(site),
        _ => return None,
    })
}

/// Functions of one operand that XLA has.
fn unary_of(name: &str) -> Option<Unary> {
    Some(match name {
        "Abs" => Unary::Abs,
        "Acos" => Unary::Acos,
        "Acosh" => Unary::Acosh,
        "Asin" => Unary::Asin,
        "Asinh" => Unary::Asinh,
        "Atan" => Unary::Atan,
        "Atanh" => Unary::Atanh,
        "Ceil" => Unary::Ceil,
        "Cos" => Unary::Cos,
        "Cosh" => Unary::Cosh,
        "Erf" => Unary::Erf,
        "Exp" => Unary::Exp,
        "Floor" => Unary::Floor,
        "IsNaN" => Unary::IsNan,
        "Log" => Unary::Log,
        "Neg" => Unary::Neg,
        "Not" | "BitwiseNot" => Unary::Not,
        "Round" => Unary::RoundHalfEven,
        "Sigmoid" => Unary::Logistic,
        "Sign" => Unary::Sign,
        "Sin" => Unary::Sin,
        "Sinh" => Unary::Sinh,
        "Sqrt" => Unary::Sqrt,
        "Tan" => Unary::Tan,
        "Tanh" => Unary::Tanh,
        _ => return None,
    })
}

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
    Ok(vec![site.b().with_number(Binary::Div, sum, real_len(count))?])
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

fn cast(site: &mut Site<'_, '_>, name: &str) -> Results {
    let x = site.x(0)?;
    let element = if name == "Cast" {
        let to = site.int("to", 0)?;
        if to == 8 {
            return Err(site.fault(refuse!("gives text, which no NeuronCore has")));
        }
        Importer::element(to)?
    } else {
        let like = site.x(1)?;
        site.element(like)
    };
    Ok(vec![site.b().convert(x, element)?])
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

/// Returns its operand; a dropout that does nothing also returns a mask that keeps all elements.
fn same(site: &mut Site<'_, '_>, name: &str) -> Results {
    let x = site.x(0)?;
    if name == "Identity" || site.node.outputs.len() < 2 {
        return Ok(vec![x]);
    }
    let dims = site.dims(x);
    let element = if site.opset < 10 { site.element(x) } else { ElementType::Pred };
    Ok(vec![x, site.b().full(element, &dims, 1.0)?])
}

/// tf2onnx keeps TensorFlow's complementary error function, which ONNX does not have: it is supported here, but other readers refuse the file.
fn not_of_onnx(site: &mut Site<'_, '_>) -> Results {
    site.importer.report(&site.node.op, &site.node.name);
    site.importer.notes.insert("ONNX has no operator Erfc: it is read as 1 - erf(x).".to_owned());
    unary(site, Unary::Erfc)
}
