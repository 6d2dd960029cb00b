//! Functions of one operand, including activations.

use super::call::{Call, Done, Made, one};
use crate::program::compose::{self, Elu, power_number};
use crate::program::{Binary, Builder, Built, Comparison, ElementType, InstructionId, Unary};
use ns_base::Refusal;
use ns_base::convert::{narrow, real_signed};

/// Translates functions of one operand.
///
/// # Errors
/// When arguments do not fit.
pub fn translate(c: &mut Call<'_, '_, '_>) -> Made {
    if let Some(function) = plain(c.op) {
        let x = operand(c)?;
        return one(c.b().unary(function, x)?);
    }
    if let Some(value) = question(c)? {
        return one(value);
    }
    if let Some(value) = activation(c)? {
        return one(value);
    }
    if let Some(value) = other(c)? {
        return one(value);
    }
    Ok(Done::Unknown)
}

/// The operand in the element type of the result: roots of integers are not integers.
fn operand(c: &mut Call<'_, '_, '_>) -> Built {
    let element = c.result()?.element;
    let x = c.x(0)?;
    if element.is_complex() || c.b().element(x).is_complex() { Ok(x) } else { c.b().convert(x, element) }
}

/// Functions that XLA has too.
fn plain(op: &str) -> Option<Unary> {
    Some(match op {
        "abs" | "absolute" => Unary::Abs,
        "neg" | "negative" | "_neg_view" => Unary::Neg,
        "exp" => Unary::Exp,
        "expm1" | "special_expm1" => Unary::ExpM1,
        "log" => Unary::Log,
        "log1p" | "special_log1p" => Unary::Log1p,
        "sqrt" => Unary::Sqrt,
        "rsqrt" => Unary::Rsqrt,
        "square" => Unary::Square,
        "sin" => Unary::Sin,
        "cos" => Unary::Cos,
        "tan" => Unary::Tan,
        "asin" | "arcsin" => Unary::Asin,
        "acos" | "arccos" => Unary::Acos,
        "atan" | "arctan" => Unary::Atan,
        "sinh" => Unary::Sinh,
        "cosh" => Unary::Cosh,
        "tanh" => Unary::Tanh,
        "asinh" | "arcsinh" => Unary::Asinh,
        "acosh" | "arccosh" => Unary::Acosh,
        "atanh" | "arctanh" => Unary::Atanh,
        "sigmoid" | "special_expit" => Unary::Logistic,
        "erf" | "special_erf" => Unary::Erf,
        "erfc" | "special_erfc" => Unary::Erfc,
        "erfinv" | "special_erfinv" => Unary::ErfInv,
        "ceil" => Unary::Ceil,
        "floor" => Unary::Floor,
        "sign" | "sgn" => Unary::Sign,
        "digamma" | "special_digamma" | "special_psi" => Unary::Digamma,
        "lgamma" | "special_gammaln" => Unary::Lgamma,
        "bitwise_not" => Unary::Not,
        "real" => Unary::Real,
        "imag" => Unary::Imag,
        _ => return None,
    })
}

/// Functions that give booleans.
fn question(c: &mut Call<'_, '_, '_>) -> Result<Option<InstructionId>, Refusal> {
    let function = match c.op {
        "isnan" => Unary::IsNan,
        "isinf" => Unary::IsInf,
        "isfinite" => Unary::IsFinite,
        "logical_not" => {
            let x = c.x(0)?;
            return c.b().compare_number(Comparison::Eq, x, 0.0).map(Some);
        }
        _ => return Ok(None),
    };
    let x = c.x(0)?;
    if c.b().element(x).is_float() {
        return c.b().unary(function, x).map(Some);
    }
    let dims = c.b().dims(x);
    let answer = if function == Unary::IsFinite { 1.0 } else { 0.0 };
    c.b().full(ElementType::Pred, &dims, answer).map(Some)
}

/// Activation functions.
fn activation(c: &mut Call<'_, '_, '_>) -> Result<Option<InstructionId>, Refusal> {
    let simple: Option<fn(&mut Builder, InstructionId) -> Built> = match c.op {
        "relu" => Some(compose::relu),
        "silu" => Some(compose::silu),
        "mish" => Some(compose::mish),
        "selu" => Some(compose::selu),
        "softsign" => Some(compose::softsign),
        "log_sigmoid" => Some(compose::log_sigmoid),
        "hardswish" => Some(compose::hard_swish),
        "gelu" if c.text("approximate") == Some("tanh") => Some(compose::gelu_tanh),
        "gelu" => Some(compose::gelu_erf),
        _ => None,
    };
    if let Some(simple) = simple {
        let x = c.x(0)?;
        return simple(c.b(), x).map(Some);
    }
    let value = match c.op {
        "softplus" => {
            let beta = c.float_or("beta", 1.0);
            let border = c.float_or("threshold", 20.0);
            let x = c.x(0)?;
            let soft = compose::softplus(c.b(), x, beta)?;
            if border >= 20.0 {
                // In single precision the two are equal beyond this value.
                return Ok(Some(soft));
            }
            let scaled = c.b().with_number(Binary::Mul, x, beta)?;
            let is_above = c.b().compare_number(Comparison::Gt, scaled, border)?;
            c.b().select(is_above, x, soft)?
        }
        "glu" => {
            let x = c.x(0)?;
            let rank = c.b().rank(x);
            let dimension = c.dimension("dim", -1, rank)?;
            compose::glu(c.b(), x, dimension)?
        }
        "threshold" => {
            let (least, value) = (c.float_or("threshold", 0.0), c.float_or("value", 0.0));
            let x = c.x(0)?;
            let element = c.b().element(x);
            let is_above = c.b().compare_number(Comparison::Gt, x, least)?;
            let value = c.b().number(element, value)?;
            c.b().select(is_above, x, value)?
        }
        "hardshrink" | "softshrink" => {
            let lambda = c.float_or("lambd", 0.5);
            let is_soft = c.op == "softshrink";
            let x = c.x(0)?;
            shrink(c.b(), x, lambda, is_soft)?
        }
        _ => return rectifier(c),
    };
    Ok(Some(value))
}

/// Piecewise linear activation functions: one slope below 0 and one above, or bounds.
fn rectifier(c: &mut Call<'_, '_, '_>) -> Result<Option<InstructionId>, Refusal> {
    let value = match c.op {
        "relu6" => {
            let x = c.x(0)?;
            c.b().clamp_numbers(x, Some(0.0), Some(6.0))?
        }
        "hardtanh" => {
            let (low, high) = (c.float_or("min_val", -1.0), c.float_or("max_val", 1.0));
            let x = c.x(0)?;
            c.b().clamp_numbers(x, Some(low), Some(high))?
        }
        "hardsigmoid" => {
            let x = c.x(0)?;
            compose::hard_sigmoid(c.b(), x, 1.0 / 6.0, 0.5)?
        }
        "elu" => {
            let numbers = Elu {
                alpha: c.float_or("alpha", 1.0),
                scale: c.float_or("scale", 1.0),
                inner: c.float_or("input_scale", 1.0),
            };
            let x = c.x(0)?;
            compose::elu(c.b(), x, numbers)?
        }
        "celu" => {
            let alpha = c.float_or("alpha", 1.0);
            let x = c.x(0)?;
            compose::celu(c.b(), x, alpha)?
        }
        "leaky_relu" => {
            let slope = c.float_or("negative_slope", 0.01);
            let x = c.x(0)?;
            let element = c.b().element(x);
            let slope = c.b().number(element, slope)?;
            compose::leaky_relu(c.b(), x, slope)?
        }
        // The randomised rectifier outside training: the mean slope.
        "rrelu" | "rrelu_with_noise" if !c.flag_or("training", false) => {
            let slope = (c.float_or("lower", 0.125) + c.float_or("upper", 1.0 / 3.0)) / 2.0;
            let x = c.x(0)?;
            let element = c.b().element(x);
            let slope = c.b().number(element, slope)?;
            compose::leaky_relu(c.b(), x, slope)?
        }
        "prelu" | "_prelu_kernel" => {
            let (x, slope) = (c.x(0)?, c.x(1)?);
            let dims = c.b().dims(x);
            let channel = usize::from(dims.len() > 1);
            let slope = match c.b().dims(slope).as_slice() {
                [n] if *n > 1 => c.b().broadcast_in(slope, &dims, vec![narrow(channel)])?,
                _ => slope,
            };
            compose::leaky_relu(c.b(), x, slope)?
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// 0 near 0, `x` beyond; the soft variant moves `x` by `lambda` towards 0.
fn shrink(b: &mut Builder, x: InstructionId, lambda: f64, is_soft: bool) -> Built {
    let element = b.element(x);
    let zero = b.number(element, 0.0)?;
    let is_above = b.compare_number(Comparison::Gt, x, lambda)?;
    let is_below = b.compare_number(Comparison::Lt, x, -lambda)?;
    let (right, left) = match is_soft {
        true => (b.with_number(Binary::Sub, x, lambda)?, b.with_number(Binary::Add, x, lambda)?),
        false => (x, x),
    };
    let below = b.select(is_below, left, zero)?;
    b.select(is_above, right, below)
}

/// Functions composed of others.
fn other(c: &mut Call<'_, '_, '_>) -> Result<Option<InstructionId>, Refusal> {
    let value = match c.op {
        "positive" | "resolve_neg" => c.x(0)?,
        "reciprocal" => {
            let x = operand(c)?;
            power_number(c.b(), x, -1.0)?
        }
        "exp2" | "special_exp2" => {
            let x = operand(c)?;
            let x = c.b().with_number(Binary::Mul, x, std::f64::consts::LN_2)?;
            c.b().unary(Unary::Exp, x)?
        }
        "log2" | "log10" => {
            let base = if c.op == "log2" { std::f64::consts::LN_2 } else { std::f64::consts::LN_10 };
            let x = operand(c)?;
            let log = c.b().unary(Unary::Log, x)?;
            c.b().with_number(Binary::Div, log, base)?
        }
        "round" | "special_round" => rounded(c)?,
        "trunc" | "fix" => {
            let x = operand(c)?;
            truncated(c.b(), x)?
        }
        "frac" => {
            let x = operand(c)?;
            let whole = truncated(c.b(), x)?;
            c.b().sub(x, whole)?
        }
        "clamp" | "clip" | "clamp_min" | "clamp_max" => clamp(c)?,
        "logit" | "special_logit" => logit(c)?,
        "deg2rad" | "rad2deg" => {
            let factor = if c.op == "deg2rad" { 1f64.to_radians() } else { 1f64.to_degrees() };
            let x = operand(c)?;
            c.b().with_number(Binary::Mul, x, factor)?
        }
        "nan_to_num" => {
            let (nan, above, below) = (c.float_or("nan", 0.0), c.float("posinf"), c.float("neginf"));
            let x = c.x(0)?;
            without_nan(c.b(), x, nan, above, below)?
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// Rounded to a number of decimal places.
fn rounded(c: &mut Call<'_, '_, '_>) -> Built {
    let places = real_signed(c.int_or("decimals", 0));
    let x = operand(c)?;
    if !c.b().element(x).is_float() {
        return Ok(x);
    }
    let factor = libm::pow(10.0, places);
    let scaled = if places == 0.0 { x } else { c.b().with_number(Binary::Mul, x, factor)? };
    let rounded = c.b().unary(Unary::RoundHalfEven, scaled)?;
    if places == 0.0 { Ok(rounded) } else { c.b().with_number(Binary::Div, rounded, factor) }
}

/// The logarithm of a probability's odds; the probability may be clamped away from 0 and 1.
fn logit(c: &mut Call<'_, '_, '_>) -> Built {
    let epsilon = c.float("eps");
    let x = operand(c)?;
    let x = match epsilon {
        Some(e) => c.b().clamp_numbers(x, Some(e), Some(1.0 - e))?,
        None => x,
    };
    let element = c.b().element(x);
    let unit = c.b().number(element, 1.0)?;
    let rest = c.b().sub(unit, x)?;
    let odds = c.b().div(x, rest)?;
    c.b().unary(Unary::Log, odds)
}

/// The integer part of each number.
fn truncated(b: &mut Builder, x: InstructionId) -> Built {
    if !b.element(x).is_float() {
        return Ok(x);
    }
    let size = b.unary(Unary::Abs, x)?;
    let size = b.unary(Unary::Floor, size)?;
    let sign = b.unary(Unary::Sign, x)?;
    b.mul(size, sign)
}

/// Clamps to bounds that are numbers or tensors.
fn clamp(c: &mut Call<'_, '_, '_>) -> Built {
    let element = c.result()?.element;
    let x = c.x(0)?;
    let mut x = c.b().convert(x, element)?;
    for (name, with) in [("min", Binary::Max), ("max", Binary::Min)] {
        if let Some(limit) = c.tensor(name)? {
            let limit = c.b().convert(limit, element)?;
            x = c.b().binary(with, x, limit)?;
        } else if let Some(limit) = c.float(name) {
            x = c.b().with_number(with, x, limit)?;
        }
    }
    Ok(x)
}

/// Replaces infinities and NaN by numbers.
fn without_nan(b: &mut Builder, x: InstructionId, nan: f64, above: Option<f64>, below: Option<f64>) -> Built {
    let element = b.element(x);
    if !element.is_float() {
        return Ok(x);
    }
    let largest = match element {
        ElementType::F16 => 65_504.0,
        ElementType::Bf16 => 3.389_531_389_251_535_5e38,
        ElementType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let is_nan = b.unary(Unary::IsNan, x)?;
    let number = b.number(element, nan)?;
    let mut x = b.select(is_nan, number, x)?;
    for (infinity, limit) in [(f64::INFINITY, above.unwrap_or(largest)), (f64::NEG_INFINITY, below.unwrap_or(-largest))]
    {
        let is_it = b.compare_number(Comparison::Eq, x, infinity)?;
        let limit = b.number(element, limit)?;
        x = b.select(is_it, limit, x)?;
    }
    Ok(x)
}
