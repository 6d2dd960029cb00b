//! Functions of two or three operands, comparisons, choices.

use super::super::argument::Argument;
use super::call::{Call, Done, Made, one};
use crate::program::compose::{floor_divide, floor_modulo, power_number, truncated_quotient};
use crate::program::{Binary, Built, Comparison, ElementType, InstructionId, Unary};
use ns_base::Refusal;

/// Translates functions of two or three operands.
///
/// # Errors
/// When arguments do not fit.
pub fn translate(c: &mut Call<'_, '_, '_>) -> Made {
    if let Some(how) = comparison(c.op) {
        return compare(c, how);
    }
    if let Some(value) = arithmetic(c)? {
        return one(value);
    }
    if let Some(value) = bits(c)? {
        return one(value);
    }
    if let Some(value) = of_three(c)? {
        return one(value);
    }
    Ok(Done::Unknown)
}

fn comparison(op: &str) -> Option<Comparison> {
    Some(match op {
        "eq" => Comparison::Eq,
        "ne" | "not_equal" => Comparison::Ne,
        "lt" | "less" => Comparison::Lt,
        "le" | "less_equal" => Comparison::Le,
        "gt" | "greater" => Comparison::Gt,
        "ge" | "greater_equal" => Comparison::Ge,
        _ => return None,
    })
}

/// Comparison in the element type that can hold both operands.
fn compare(c: &mut Call<'_, '_, '_>, how: Comparison) -> Made {
    let element = common_element(c, &[0, 1])?;
    let (a, b) = (c.operand(0, element)?, c.operand(1, element)?);
    one(c.b().compare(how, a, b)?)
}

/// The element type in which torch computes operands: the higher kind wins, then the one with dimensions, then the wider.
///
/// # Errors
/// When an operand is missing.
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

/// Arithmetic in the element type of the result.
fn arithmetic(c: &mut Call<'_, '_, '_>) -> Result<Option<InstructionId>, Refusal> {
    let with = match c.op {
        "add" | "__add__" => Binary::Add,
        "sub" | "subtract" => Binary::Sub,
        "mul" | "multiply" => Binary::Mul,
        "maximum" | "fmax" => Binary::Max,
        "max" if c.overload == "other" => Binary::Max,
        "minimum" | "fmin" => Binary::Min,
        "min" if c.overload == "other" => Binary::Min,
        "atan2" | "arctan2" => Binary::Atan2,
        "fmod" => Binary::Rem,
        _ => return other_arithmetic(c),
    };
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
    c.b().binary(with, a, b).map(Some)
}

fn other_arithmetic(c: &mut Call<'_, '_, '_>) -> Result<Option<InstructionId>, Refusal> {
    let element = match c.op {
        "rsub" | "div" | "divide" | "true_divide" | "floor_divide" | "remainder" | "pow" | "float_power" | "xlogy"
        | "special_xlogy" | "hypot" | "logaddexp" | "logaddexp2" | "copysign" | "squared_difference" | "heaviside" => {
            c.result()?.element
        }
        _ => return Ok(None),
    };
    if matches!(c.op, "pow" | "float_power")
        && let Ok(argument) = c.at(1)
        && let Some(exponent) = c.number_of(argument)
    {
        let x = c.operand(0, element)?;
        return power_number(c.b(), x, exponent).map(Some);
    }
    let (x, y) = (c.operand(0, element)?, c.operand(1, element)?);
    let value = match c.op {
        "rsub" => {
            let alpha = c.float_or("alpha", 1.0);
            let x = if alpha == 1.0 { x } else { c.b().with_number(Binary::Mul, x, alpha)? };
            c.b().sub(y, x)?
        }
        "floor_divide" => floor_divide(c.b(), x, y)?,
        "div" | "divide" => match c.text("rounding_mode") {
            Some("floor") => floor_divide(c.b(), x, y)?,
            Some("trunc") => truncated_quotient(c.b(), x, y)?,
            _ => c.b().div(x, y)?,
        },
        "true_divide" => c.b().div(x, y)?,
        "remainder" => floor_modulo(c.b(), x, y)?,
        "pow" | "float_power" => c.b().binary(Binary::Pow, x, y)?,
        _ => return made_of_others(c, x, y),
    };
    Ok(Some(value))
}

/// Functions of two numbers that are composed of simpler ones.
fn made_of_others(
    c: &mut Call<'_, '_, '_>,
    x: InstructionId,
    y: InstructionId,
) -> Result<Option<InstructionId>, Refusal> {
    let element = c.b().element(x);
    let value = match c.op {
        "xlogy" | "special_xlogy" => {
            let log = c.b().unary(Unary::Log, y)?;
            let product = c.b().mul(x, log)?;
            let is_zero = c.b().compare_number(Comparison::Eq, x, 0.0)?;
            let zero = c.b().number(element, 0.0)?;
            c.b().select(is_zero, zero, product)?
        }
        "hypot" => {
            let (x, y) = (c.b().mul(x, x)?, c.b().mul(y, y)?);
            let sum = c.b().add(x, y)?;
            c.b().unary(Unary::Sqrt, sum)?
        }
        "logaddexp" => {
            let largest = c.b().binary(Binary::Max, x, y)?;
            let gap = c.b().sub(x, y)?;
            let gap = c.b().unary(Unary::Abs, gap)?;
            let gap = c.b().unary(Unary::Neg, gap)?;
            let small = c.b().unary(Unary::Exp, gap)?;
            let rest = c.b().unary(Unary::Log1p, small)?;
            c.b().add(largest, rest)?
        }
        "squared_difference" => {
            let gap = c.b().sub(x, y)?;
            c.b().mul(gap, gap)?
        }
        "heaviside" => {
            let is_above = c.b().compare_number(Comparison::Gt, x, 0.0)?;
            let step = c.b().convert(is_above, element)?;
            let is_zero = c.b().compare_number(Comparison::Eq, x, 0.0)?;
            c.b().select(is_zero, y, step)?
        }
        "copysign" => {
            let size = c.b().unary(Unary::Abs, x)?;
            let minus = c.b().unary(Unary::Neg, size)?;
            let is_below = c.b().compare_number(Comparison::Lt, y, 0.0)?;
            c.b().select(is_below, minus, size)?
        }
        "logaddexp2" => {
            let largest = c.b().binary(Binary::Max, x, y)?;
            let gap = c.b().sub(x, y)?;
            let gap = c.b().unary(Unary::Abs, gap)?;
            let gap = c.b().with_number(Binary::Mul, gap, -std::f64::consts::LN_2)?;
            let small = c.b().unary(Unary::Exp, gap)?;
            let rest = c.b().unary(Unary::Log1p, small)?;
            let rest = c.b().with_number(Binary::Div, rest, std::f64::consts::LN_2)?;
            c.b().add(largest, rest)?
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// Bitwise and logical operations.
fn bits(c: &mut Call<'_, '_, '_>) -> Result<Option<InstructionId>, Refusal> {
    let (with, is_logical) = match c.op {
        "bitwise_and" | "__and__" | "__iand__" => (Binary::And, false),
        "bitwise_or" | "__or__" | "__ior__" => (Binary::Or, false),
        "bitwise_xor" | "__xor__" | "__ixor__" => (Binary::Xor, false),
        "bitwise_left_shift" | "__lshift__" | "__ilshift__" => (Binary::ShiftLeft, false),
        "bitwise_right_shift" | "__rshift__" | "__irshift__" => (Binary::ShiftRightArithmetic, false),
        "logical_and" => (Binary::And, true),
        "logical_or" => (Binary::Or, true),
        "logical_xor" => (Binary::Xor, true),
        _ => return Ok(None),
    };
    let element = if is_logical { ElementType::Pred } else { c.result()?.element };
    let (a, b) = (c.operand(0, element)?, c.operand(1, element)?);
    c.b().binary(with, a, b).map(Some)
}

/// Functions of three operands.
fn of_three(c: &mut Call<'_, '_, '_>) -> Result<Option<InstructionId>, Refusal> {
    let value = match c.op {
        "where" if c.node.inputs.len() == 3 => {
            let element = c.result()?.element;
            let condition = c.x(0)?;
            let condition = c.b().convert(condition, ElementType::Pred)?;
            let (a, b) = (c.operand(1, element)?, c.operand(2, element)?);
            c.b().select(condition, a, b)?
        }
        "masked_fill" => {
            let x = c.x(0)?;
            let element = c.b().element(x);
            let mask = c.x(1)?;
            let mask = c.b().convert(mask, ElementType::Pred)?;
            let value = c.operand(2, element)?;
            c.b().select(mask, value, x)?
        }
        "lerp" => {
            let element = c.result()?.element;
            let (x, end, share) = (c.operand(0, element)?, c.operand(1, element)?, c.operand(2, element)?);
            let gap = c.b().sub(end, x)?;
            let part = c.b().mul(gap, share)?;
            c.b().add(x, part)?
        }
        "addcmul" | "addcdiv" => {
            let element = c.result()?.element;
            let factor = c.float_or("value", 1.0);
            let with = if c.op == "addcmul" { Binary::Mul } else { Binary::Div };
            let (x, y, z) = (c.operand(0, element)?, c.operand(1, element)?, c.operand(2, element)?);
            let product = c.b().binary(with, y, z)?;
            scaled_sum(c, x, product, factor)?
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// `x + factor y`.
fn scaled_sum(c: &mut Call<'_, '_, '_>, x: InstructionId, y: InstructionId, factor: f64) -> Built {
    let y = if factor == 1.0 { y } else { c.b().with_number(Binary::Mul, y, factor)? };
    c.b().add(x, y)
}
