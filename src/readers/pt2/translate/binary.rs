//! Functions of two or three operands, comparisons, choices.

use super::super::argument::Argument;
use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::Refusal;
use ns_program::OperatorKind::Elementwise;
use ns_program::compose::{floor_divide, floor_modulo, power_number, truncated_quotient};
use ns_program::{Binary, Builder, Built, Comparison, ElementType, InstructionId, Unary};

/// Functions of two or three operands.
pub const OPS: &[Row] = &[
    (&["eq"], Elementwise, |c| compare(c, Comparison::Eq)),
    (&["ne", "not_equal"], Elementwise, |c| compare(c, Comparison::Ne)),
    (&["lt", "less"], Elementwise, |c| compare(c, Comparison::Lt)),
    (&["le", "less_equal"], Elementwise, |c| compare(c, Comparison::Le)),
    (&["gt", "greater"], Elementwise, |c| compare(c, Comparison::Gt)),
    (&["ge", "greater_equal"], Elementwise, |c| compare(c, Comparison::Ge)),
    (&["add", "__add__"], Elementwise, |c| arithmetic(c, Binary::Add)),
    (&["sub", "subtract"], Elementwise, |c| arithmetic(c, Binary::Sub)),
    (&["mul", "multiply"], Elementwise, |c| arithmetic(c, Binary::Mul)),
    (&["maximum", "fmax"], Elementwise, |c| arithmetic(c, Binary::Max)),
    (&["minimum", "fmin"], Elementwise, |c| arithmetic(c, Binary::Min)),
    (&["atan2", "arctan2"], Elementwise, |c| arithmetic(c, Binary::Atan2)),
    (&["fmod"], Elementwise, |c| arithmetic(c, Binary::Rem)),
    (&["rsub"], Elementwise, |c| {
        let alpha = c.float_or("alpha", 1.0);
        let (x, y) = both(c)?;
        let x = if alpha == 1.0 { x } else { c.b().with_number(Binary::Mul, x, alpha)? };
        one(c.b().sub(y, x)?)
    }),
    (&["floor_divide"], Elementwise, |c| composed(c, floor_divide)),
    (&["div", "divide"], Elementwise, |c| match c.text("rounding_mode") {
        Some("floor") => composed(c, floor_divide),
        Some("trunc") => composed(c, truncated_quotient),
        _ => composed(c, Builder::div),
    }),
    (&["true_divide"], Elementwise, |c| composed(c, Builder::div)),
    (&["remainder"], Elementwise, |c| composed(c, floor_modulo)),
    (&["pow", "float_power"], Elementwise, power),
    (&["xlogy", "special_xlogy"], Elementwise, |c| composed(c, times_log)),
    (&["hypot"], Elementwise, |c| composed(c, hypotenuse)),
    (&["logaddexp"], Elementwise, |c| composed(c, |b, x, y| log_of_sum(b, x, y, 1.0))),
    (&["logaddexp2"], Elementwise, |c| composed(c, |b, x, y| log_of_sum(b, x, y, std::f64::consts::LN_2))),
    (&["copysign"], Elementwise, |c| composed(c, with_sign)),
    (&["heaviside"], Elementwise, |c| composed(c, step)),
    (&["bitwise_and", "__and__", "__iand__"], Elementwise, |c| bits(c, Binary::And)),
    (&["bitwise_or", "__or__", "__ior__"], Elementwise, |c| bits(c, Binary::Or)),
    (&["bitwise_xor", "__xor__", "__ixor__"], Elementwise, |c| bits(c, Binary::Xor)),
    (&["bitwise_left_shift", "__lshift__", "__ilshift__"], Elementwise, |c| bits(c, Binary::ShiftLeft)),
    (&["bitwise_right_shift", "__rshift__", "__irshift__"], Elementwise, |c| bits(c, Binary::ShiftRightArithmetic)),
    (&["logical_and"], Elementwise, |c| logical(c, Binary::And)),
    (&["logical_or"], Elementwise, |c| logical(c, Binary::Or)),
    (&["logical_xor"], Elementwise, |c| logical(c, Binary::Xor)),
    (&["where"], Elementwise, choice),
    (&["masked_fill"], Elementwise, |c| {
        let x = c.x(0)?;
        let element = c.b().element(x);
        let mask = c.x(1)?;
        let mask = c.b().convert(mask, ElementType::Pred)?;
        let value = c.operand(2, element)?;
        one(c.b().select(mask, value, x)?)
    }),
    (&["lerp"], Elementwise, |c| {
        let element = c.result()?.element;
        let (x, end, share) = (c.operand(0, element)?, c.operand(1, element)?, c.operand(2, element)?);
        let gap = c.b().sub(end, x)?;
        let part = c.b().mul(gap, share)?;
        one(c.b().add(x, part)?)
    }),
    (&["addcmul"], Elementwise, |c| scaled_sum(c, Binary::Mul)),
    (&["addcdiv"], Elementwise, |c| scaled_sum(c, Binary::Div)),
];

/// Comparison in the element type that can hold both operands.
fn compare(c: &mut Call<'_, '_, '_>, how: Comparison) -> CallOutcome {
    let element = common_element(c, &[0, 1])?;
    let (a, b) = (c.operand(0, element)?, c.operand(1, element)?);
    one(c.b().compare(how, a, b)?)
}

/// The element type in which torch computes operands: the higher kind wins, then the one with dimensions, then the wider. Fails
/// when an operand is missing.
pub fn common_element(c: &mut Call<'_, '_, '_>, places: &[usize]) -> Result<ElementType, Refusal> {
    let mut best: Option<(u8, bool, u64, ElementType)> = None;
    for &place in places {
        let argument = c.at(place)?;
        let rank = match argument {
            Argument::Tensor(name) => {
                let x = c.value(name)?;
                let ty = c.b().array(x)?.clone();
                (kind(ty.element), !ty.dims.is_empty(), ty.element.bits(), ty.element)
            }
            Argument::Float(_) | Argument::SymFloat(_) => (kind(ElementType::F32), false, 0, ElementType::F32),
            Argument::Bool(_) => (kind(ElementType::Pred), false, 0, ElementType::Pred),
            _ => (kind(ElementType::S64), false, 0, ElementType::S64),
        };
        let is_better = |old: &(u8, bool, u64, ElementType)| (rank.0, rank.1, rank.2) > (old.0, old.1, old.2);
        best = match best {
            Some((_, _, 16, ElementType::F16 | ElementType::Bf16))
                if matches!(rank.3, ElementType::F16 | ElementType::Bf16) && Some(rank.3) != best.map(|x| x.3) =>
            {
                Some((rank.0, true, 32, ElementType::F32))
            }
            Some(old) if !is_better(&old) => Some(old),
            _ => Some(rank),
        };
    }
    Ok(best.map_or(ElementType::F32, |b| b.3))
}

/// Booleans, whole numbers, floats, complex numbers.
fn kind(element: ElementType) -> u8 {
    match element {
        ElementType::Pred => 0,
        e if e.is_integer() => 1,
        e if e.is_float() => 2,
        _ => 3,
    }
}

/// Arithmetic in the element type of the result. Fails when arguments do not fit.
pub fn arithmetic(c: &mut Call<'_, '_, '_>, with: Binary) -> CallOutcome {
    let element = c.result()?.element;
    // A sum of booleans is their disjunction, a product their conjunction.
    let with = match (with, element) {
        (Binary::Add, ElementType::Pred) => Binary::Or,
        (Binary::Mul, ElementType::Pred) => Binary::And,
        (other, _) => other,
    };
    let (a, mut b) = (c.operand(0, element)?, c.operand(1, element)?);
    let alpha = c.float_or("alpha", 1.0);
    if alpha != 1.0 {
        b = c.b().with_number(Binary::Mul, b, alpha)?;
    }
    one(c.b().binary(with, a, b)?)
}

/// A function of both operands in the element type of the result.
fn composed(
    c: &mut Call<'_, '_, '_>,
    function: fn(&mut Builder, InstructionId, InstructionId) -> Built,
) -> CallOutcome {
    let (x, y) = both(c)?;
    one(function(c.b(), x, y)?)
}

/// Both operands in the element type of the result.
fn both(c: &mut Call<'_, '_, '_>) -> Result<(InstructionId, InstructionId), Refusal> {
    let element = c.result()?.element;
    Ok((c.operand(0, element)?, c.operand(1, element)?))
}

fn power(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let exponent = c.at(1).ok().and_then(|argument| c.number_of(argument));
    let Some(exponent) = exponent else { return composed(c, |b, x, y| b.binary(Binary::Pow, x, y)) };
    let element = c.result()?.element;
    let x = c.operand(0, element)?;
    one(power_number(c.b(), x, exponent)?)
}

/// `x log y`, which is 0 where `x` is.
fn times_log(b: &mut Builder, x: InstructionId, y: InstructionId) -> Built {
    let log = b.unary(Unary::Log, y)?;
    let product = b.mul(x, log)?;
    let is_zero = b.compare_number(Comparison::Eq, x, 0.0)?;
    let zero = b.number(b.element(x), 0.0)?;
    b.select(is_zero, zero, product)
}

fn hypotenuse(b: &mut Builder, x: InstructionId, y: InstructionId) -> Built {
    let (x, y) = (b.mul(x, x)?, b.mul(y, y)?);
    let sum = b.add(x, y)?;
    b.unary(Unary::Sqrt, sum)
}

/// The logarithm of the sum of two powers; `unit` is the natural logarithm of their base.
fn log_of_sum(b: &mut Builder, x: InstructionId, y: InstructionId, unit: f64) -> Built {
    let largest = b.binary(Binary::Max, x, y)?;
    let gap = b.sub(x, y)?;
    let gap = b.unary(Unary::Abs, gap)?;
    let gap = if unit == 1.0 { b.unary(Unary::Neg, gap)? } else { b.with_number(Binary::Mul, gap, -unit)? };
    let small = b.unary(Unary::Exp, gap)?;
    let rest = b.unary(Unary::Log1p, small)?;
    let rest = if unit == 1.0 { rest } else { b.with_number(Binary::Div, rest, unit)? };
    b.add(largest, rest)
}

/// 0 below 0, 1 above; `y` where `x` is 0.
fn step(b: &mut Builder, x: InstructionId, y: InstructionId) -> Built {
    let is_above = b.compare_number(Comparison::Gt, x, 0.0)?;
    let step = b.convert(is_above, b.element(x))?;
    let is_zero = b.compare_number(Comparison::Eq, x, 0.0)?;
    b.select(is_zero, y, step)
}

/// `x` with the sign of `y`.
fn with_sign(b: &mut Builder, x: InstructionId, y: InstructionId) -> Built {
    let size = b.unary(Unary::Abs, x)?;
    let minus = b.unary(Unary::Neg, size)?;
    let is_below = b.compare_number(Comparison::Lt, y, 0.0)?;
    b.select(is_below, minus, size)
}

/// Bitwise operations.
fn bits(c: &mut Call<'_, '_, '_>, with: Binary) -> CallOutcome {
    let (a, b) = both(c)?;
    one(c.b().binary(with, a, b)?)
}

/// Logical operations.
fn logical(c: &mut Call<'_, '_, '_>, with: Binary) -> CallOutcome {
    let (a, b) = (c.operand(0, ElementType::Pred)?, c.operand(1, ElementType::Pred)?);
    one(c.b().binary(with, a, b)?)
}

/// Elements of one operand where a condition holds, else of another. With a condition alone, the number of results depends on data.
fn choice(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    if c.node.inputs.len() != 3 {
        return Ok(OpResult::Unknown);
    }
    let element = c.result()?.element;
    let condition = c.x(0)?;
    let condition = c.b().convert(condition, ElementType::Pred)?;
    let (a, b) = (c.operand(1, element)?, c.operand(2, element)?);
    one(c.b().select(condition, a, b)?)
}

/// `x + factor y`, where `y` is a product or a quotient.
fn scaled_sum(c: &mut Call<'_, '_, '_>, with: Binary) -> CallOutcome {
    let element = c.result()?.element;
    let factor = c.float_or("value", 1.0);
    let (x, y, z) = (c.operand(0, element)?, c.operand(1, element)?, c.operand(2, element)?);
    let y = c.b().binary(with, y, z)?;
    let y = if factor == 1.0 { y } else { c.b().with_number(Binary::Mul, y, factor)? };
    one(c.b().add(x, y)?)
}
