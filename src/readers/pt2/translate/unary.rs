//! Functions of one operand, including activations.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::{i64_to_f64, usize_to_u32};
use ns_program::OperatorKind::Function;
use ns_program::compose::{self, Elu, power_number};
use ns_program::{Binary, Builder, Built, Comparison, ElementType, InstructionId, Unary};

/// Functions of one operand.
pub const OPS: &[Row] = &[
    (&["abs", "absolute"], Function, |c| plain(c, Unary::Abs)),
    (&["neg", "negative", "_neg_view"], Function, |c| plain(c, Unary::Neg)),
    (&["exp"], Function, |c| plain(c, Unary::Exp)),
    (&["expm1", "special_expm1"], Function, |c| plain(c, Unary::ExpM1)),
    (&["log"], Function, |c| plain(c, Unary::Log)),
    (&["log1p", "special_log1p"], Function, |c| plain(c, Unary::Log1p)),
    (&["sqrt"], Function, |c| plain(c, Unary::Sqrt)),
    (&["rsqrt"], Function, |c| plain(c, Unary::Rsqrt)),
    (&["square"], Function, |c| plain(c, Unary::Square)),
    (&["sin"], Function, |c| plain(c, Unary::Sin)),
    (&["cos"], Function, |c| plain(c, Unary::Cos)),
    (&["tan"], Function, |c| plain(c, Unary::Tan)),
    (&["asin", "arcsin"], Function, |c| plain(c, Unary::Asin)),
    (&["acos", "arccos"], Function, |c| plain(c, Unary::Acos)),
    (&["atan", "arctan"], Function, |c| plain(c, Unary::Atan)),
    (&["sinh"], Function, |c| plain(c, Unary::Sinh)),
    (&["cosh"], Function, |c| plain(c, Unary::Cosh)),
    (&["tanh"], Function, |c| plain(c, Unary::Tanh)),
    (&["asinh", "arcsinh"], Function, |c| plain(c, Unary::Asinh)),
    (&["acosh", "arccosh"], Function, |c| plain(c, Unary::Acosh)),
    (&["atanh", "arctanh"], Function, |c| plain(c, Unary::Atanh)),
    (&["sigmoid", "special_expit"], Function, |c| plain(c, Unary::Logistic)),
    (&["erf", "special_erf"], Function, |c| plain(c, Unary::Erf)),
    (&["erfc", "special_erfc"], Function, |c| plain(c, Unary::Erfc)),
    (&["erfinv", "special_erfinv"], Function, |c| plain(c, Unary::ErfInv)),
    (&["ceil"], Function, |c| plain(c, Unary::Ceil)),
    (&["floor"], Function, |c| plain(c, Unary::Floor)),
    (&["sign", "sgn"], Function, |c| plain(c, Unary::Sign)),
    (&["digamma", "special_digamma", "special_psi"], Function, |c| plain(c, Unary::Digamma)),
    (&["lgamma", "special_gammaln"], Function, |c| plain(c, Unary::Lgamma)),
    (&["bitwise_not"], Function, |c| plain(c, Unary::Not)),
    (&["real"], Function, |c| plain(c, Unary::Real)),
    (&["imag"], Function, |c| plain(c, Unary::Imag)),
    (&["isnan"], Function, |c| question(c, Unary::IsNan)),
    (&["isinf"], Function, |c| question(c, Unary::IsInf)),
    (&["isfinite"], Function, |c| question(c, Unary::IsFinite)),
    (&["logical_not"], Function, |c| {
        let x = c.x(0)?;
        one(c.b().compare_number(Comparison::Eq, x, 0.0)?)
    }),
    (&["relu"], Function, |c| simple(c, compose::relu)),
    (&["silu"], Function, |c| simple(c, compose::silu)),
    (&["mish"], Function, |c| simple(c, compose::mish)),
    (&["selu"], Function, |c| simple(c, compose::selu)),
    (&["softsign"], Function, |c| simple(c, compose::softsign)),
    (&["log_sigmoid"], Function, |c| simple(c, compose::log_sigmoid)),
    (&["hardswish"], Function, |c| simple(c, compose::hard_swish)),
    (&["gelu"], Function, |c| match c.text("approximate") {
        Some("tanh") => simple(c, compose::gelu_tanh),
        _ => simple(c, compose::gelu_erf),
    }),
    (&["softplus"], Function, softplus),
    (&["glu"], Function, |c| {
        let x = c.x(0)?;
        let rank = c.b().rank(x);
        let dimension = c.dimension("dim", -1, rank)?;
        one(compose::glu(c.b(), x, dimension)?)
    }),
    (&["threshold"], Function, |c| {
        let (least, value) = (c.float_or("threshold", 0.0), c.float_or("value", 0.0));
        let x = c.x(0)?;
        let element = c.b().element(x);
        let is_above = c.b().compare_number(Comparison::Gt, x, least)?;
        let value = c.b().number(element, value)?;
        one(c.b().select(is_above, x, value)?)
    }),
    (&["hardshrink", "softshrink"], Function, |c| {
        let (lambda, is_soft) = (c.float_or("lambd", 0.5), c.op == "softshrink");
        let x = c.x(0)?;
        one(shrink(c.b(), x, lambda, is_soft)?)
    }),
    (&["relu6"], Function, |c| {
        let x = c.x(0)?;
        one(c.b().clamp_numbers(x, Some(0.0), Some(6.0))?)
    }),
    (&["hardtanh"], Function, |c| {
        let (low, high) = (c.float_or("min_val", -1.0), c.float_or("max_val", 1.0));
        let x = c.x(0)?;
        one(c.b().clamp_numbers(x, Some(low), Some(high))?)
    }),
    (&["hardsigmoid"], Function, |c| {
        let x = c.x(0)?;
        one(compose::hard_sigmoid(c.b(), x, 1.0 / 6.0, 0.5)?)
    }),
    (&["elu"], Function, |c| {
        let numbers = Elu {
            alpha: c.float_or("alpha", 1.0),
            scale: c.float_or("scale", 1.0),
            inner: c.float_or("input_scale", 1.0),
        };
        let x = c.x(0)?;
        one(compose::elu(c.b(), x, numbers)?)
    }),
    (&["celu"], Function, |c| {
        let alpha = c.float_or("alpha", 1.0);
        let x = c.x(0)?;
        one(compose::celu(c.b(), x, alpha)?)
    }),
    (&["leaky_relu"], Function, |c| with_slope(c, c.float_or("negative_slope", 0.01))),
    // The randomised rectifier outside training: the mean slope.
    (&["rrelu", "rrelu_with_noise"], Function, |c| match c.flag_or("training", false) {
        true => Ok(OpResult::Unknown),
        false => with_slope(c, (c.float_or("lower", 0.125) + c.float_or("upper", 1.0 / 3.0)) / 2.0),
    }),
    (&["prelu", "_prelu_kernel"], Function, |c| {
        let (x, slope) = (c.x(0)?, c.x(1)?);
        let dims = c.b().dims(x);
        let channel = usize::from(dims.len() > 1);
        let slope = match c.b().dims(slope).as_slice() {
            [n] if *n > 1 => c.b().broadcast_in(slope, &dims, vec![usize_to_u32(channel)])?,
            _ => slope,
        };
        one(compose::leaky_relu(c.b(), x, slope)?)
    }),
    (&["positive", "resolve_neg"], Function, |c| one(c.x(0)?)),
    (&["reciprocal"], Function, |c| {
        let x = operand(c)?;
        one(power_number(c.b(), x, -1.0)?)
    }),
    (&["exp2", "special_exp2"], Function, |c| {
        let x = operand(c)?;
        let x = c.b().with_number(Binary::Mul, x, std::f64::consts::LN_2)?;
        one(c.b().unary(Unary::Exp, x)?)
    }),
    (&["log2"], Function, |c| logarithm(c, std::f64::consts::LN_2)),
    (&["log10"], Function, |c| logarithm(c, std::f64::consts::LN_10)),
    (&["round", "special_round"], Function, |c| one(rounded(c)?)),
    (&["trunc", "fix"], Function, |c| {
        let x = operand(c)?;
        one(truncated(c.b(), x)?)
    }),
    (&["frac"], Function, |c| {
        let x = operand(c)?;
        let whole = truncated(c.b(), x)?;
        one(c.b().sub(x, whole)?)
    }),
    (&["clamp", "clip", "clamp_min", "clamp_max"], Function, |c| one(clamp(c)?)),
    (&["logit", "special_logit"], Function, |c| one(logit(c)?)),
    (&["deg2rad"], Function, |c| scaled(c, 1f64.to_radians())),
    (&["rad2deg"], Function, |c| scaled(c, 1f64.to_degrees())),
    (&["nan_to_num"], Function, |c| {
        let (nan, above, below) = (c.float_or("nan", 0.0), c.float("posinf"), c.float("neginf"));
        let x = c.x(0)?;
        one(without_nan(c.b(), x, nan, above, below)?)
    }),
];

/// The operand in the element type of the result: roots of integers are not integers.
fn operand(c: &mut Call<'_, '_, '_>) -> Built {
    let element = c.result()?.element;
    let x = c.x(0)?;
    if element.is_complex() || c.b().element(x).is_complex() { Ok(x) } else { c.b().convert(x, element) }
}

/// A function that XLA has too.
fn plain(c: &mut Call<'_, '_, '_>, function: Unary) -> CallOutcome {
    let x = operand(c)?;
    one(c.b().unary(function, x)?)
}

/// A function that gives booleans.
fn question(c: &mut Call<'_, '_, '_>, function: Unary) -> CallOutcome {
    let x = c.x(0)?;
    if c.b().element(x).is_float() {
        return one(c.b().unary(function, x)?);
    }
    let dims = c.b().dims(x);
    let answer = if function == Unary::IsFinite { 1.0 } else { 0.0 };
    one(c.b().full(ElementType::Pred, &dims, answer)?)
}

/// An activation function without settings.
fn simple(c: &mut Call<'_, '_, '_>, function: fn(&mut Builder, InstructionId) -> Built) -> CallOutcome {
    let x = c.x(0)?;
    one(function(c.b(), x)?)
}

fn softplus(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let beta = c.float_or("beta", 1.0);
    let border = c.float_or("threshold", 20.0);
    let x = c.x(0)?;
    let soft = compose::softplus(c.b(), x, beta)?;
    if border >= 20.0 {
        // In single precision the two are equal beyond this value.
        return one(soft);
    }
    let scaled = c.b().with_number(Binary::Mul, x, beta)?;
    let is_above = c.b().compare_number(Comparison::Gt, scaled, border)?;
    one(c.b().select(is_above, x, soft)?)
}

/// `x` above 0, `slope x` below.
fn with_slope(c: &mut Call<'_, '_, '_>, slope: f64) -> CallOutcome {
    let x = c.x(0)?;
    let element = c.b().element(x);
    let slope = c.b().number(element, slope)?;
    one(compose::leaky_relu(c.b(), x, slope)?)
}

/// The logarithm to a base, whose natural logarithm is given.
fn logarithm(c: &mut Call<'_, '_, '_>, base: f64) -> CallOutcome {
    let x = operand(c)?;
    let log = c.b().unary(Unary::Log, x)?;
    one(c.b().with_number(Binary::Div, log, base)?)
}

/// A product with a number.
fn scaled(c: &mut Call<'_, '_, '_>, factor: f64) -> CallOutcome {
    let x = operand(c)?;
    one(c.b().with_number(Binary::Mul, x, factor)?)
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

/// Rounded to a number of decimal places.
fn rounded(c: &mut Call<'_, '_, '_>) -> Built {
    let places = i64_to_f64(c.int_or("decimals", 0));
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
