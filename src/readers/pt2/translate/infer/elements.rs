//! Results with the sizes of their operands but another element type: sums of two types, roots of integers,
//! conversions, reductions.

use super::super::binary::common_element;
use super::super::call::Call;
use super::{Types, operand};
use ns_base::{Refusal, refuse};
use ns_program::builder::broadcast_dims;
use ns_program::{ArrayType, ElementType};

/// The element type with a number of torch's `ScalarType` (`c10/core/ScalarType.h`), which TorchScript writes for a `dtype`.
pub const fn scalar_type(number: i64) -> Option<ElementType> {
    Some(match number {
        0 => ElementType::U8,
        1 => ElementType::S8,
        2 => ElementType::S16,
        3 => ElementType::S32,
        4 => ElementType::S64,
        5 => ElementType::F16,
        6 => ElementType::F32,
        7 => ElementType::F64,
        9 => ElementType::C64,
        10 => ElementType::C128,
        11 => ElementType::Pred,
        15 => ElementType::Bf16,
        23 => ElementType::F8E5M2,
        24 => ElementType::F8E4M3Fn,
        25 => ElementType::F8E5M2Fnuz,
        26 => ElementType::F8E4M3Fnuz,
        27 => ElementType::U16,
        _ => return None,
    })
}

/// The element type of the argument `dtype`, if it is given. Fails when its number is unknown.
pub fn dtype_argument(c: &Call<'_, '_, '_>) -> Result<Option<ElementType>, Refusal> {
    let Some(number) = c.int("dtype") else { return Ok(None) };
    let known = scalar_type(number);
    let element = known.ok_or_else(|| refuse!("the element type {number} is not known here"))?;
    Ok(Some(element))
}

/// Types of results that have the sizes of their operands. Fails when operands do not fit.
pub fn types(c: &mut Call<'_, '_, '_>) -> Types {
    let element = match c.op {
        op if is_of_common_type(op) => common_element(c, &[0, 1])?,
        "div" | "divide" if c.text("rounding_mode").is_some() => common_element(c, &[0, 1])?,
        "div" | "divide" | "true_divide" | "xlogy" | "special_xlogy" | "hypot" | "logaddexp" | "logaddexp2"
        | "atan2" | "arctan2" => float_of(common_element(c, &[0, 1])?),
        "float_power" => ElementType::F64,
        "where" => return select_type(c),
        "lerp" | "addcmul" | "addcdiv" => return broadcast(c, 3),
        "clamp" | "clip" | "clamp_min" | "clamp_max" => clamped(c)?,
        "cumsum" | "cumprod" => match dtype_argument(c)? {
            Some(element) => element,
            None => sum_of(operand(c, 0)?.element),
        },
        op if is_conversion(op) => converted(c)?,
        "softmax" | "_softmax" | "special_softmax" | "log_softmax" | "_log_softmax" | "special_log_softmax" => {
            match dtype_argument(c)? {
                Some(element) => element,
                None => operand(c, 0)?.element,
            }
        }
        op if is_for_floats(op) => float_of(operand(c, 0)?.element),
        _ => return Ok(None),
    };
    let mut dims = operand(c, 0).map(|ty| ty.dims).unwrap_or_default();
    if let Ok(second) = operand(c, 1) {
        dims = broadcast_dims(&dims, &second.dims)?;
    }
    Ok(Some(vec![ArrayType::new(element, dims)]))
}

/// Whether an operation's result has the type that both operands are converted to.
fn is_of_common_type(op: &str) -> bool {
    matches!(
        op,
        "add"
            | "__add__"
            | "sub"
            | "subtract"
            | "mul"
            | "multiply"
            | "maximum"
            | "minimum"
            | "fmax"
            | "fmin"
            | "max"
            | "min"
            | "fmod"
            | "rsub"
            | "floor_divide"
            | "remainder"
            | "pow"
            | "copysign"
            | "heaviside"
            | "bitwise_and"
            | "__and__"
            | "__iand__"
            | "bitwise_or"
            | "__or__"
            | "__ior__"
            | "bitwise_xor"
            | "__xor__"
            | "__ixor__"
            | "bitwise_left_shift"
            | "__lshift__"
            | "__ilshift__"
            | "bitwise_right_shift"
            | "__rshift__"
            | "__irshift__"
    )
}

/// Whether an operation only changes the element type.
fn is_conversion(op: &str) -> bool {
    matches!(
        op,
        "to" | "_to_copy"
            | "type_as"
            | "float"
            | "half"
            | "double"
            | "long"
            | "int"
            | "bool"
            | "bfloat16"
            | "_autocast_to_full_precision"
            | "_autocast_to_reduced_precision"
    )
}

/// Single precision for integers and booleans.
pub fn float_of(element: ElementType) -> ElementType {
    if element.is_float() || element.is_complex() { element } else { ElementType::F32 }
}

/// 64-bit integers for integers and booleans, as torch sums them.
pub fn sum_of(element: ElementType) -> ElementType {
    if element.is_integer() || element == ElementType::Pred { ElementType::S64 } else { element }
}

/// Functions that give floating point numbers even for integers.
fn is_for_floats(op: &str) -> bool {
    let plain = op.strip_prefix("special_").unwrap_or(op);
    matches!(
        plain,
        "exp"
            | "exp2"
            | "expm1"
            | "log"
            | "log1p"
            | "log2"
            | "log10"
            | "sqrt"
            | "rsqrt"
            | "reciprocal"
            | "sin"
            | "cos"
            | "tan"
            | "asin"
            | "arcsin"
            | "acos"
            | "arccos"
            | "atan"
            | "arctan"
            | "sinh"
            | "cosh"
            | "tanh"
            | "asinh"
            | "arcsinh"
            | "acosh"
            | "arccosh"
            | "atanh"
            | "arctanh"
            | "sigmoid"
            | "expit"
            | "erf"
            | "erfc"
            | "erfinv"
            | "digamma"
            | "lgamma"
            | "gammaln"
            | "logit"
            | "deg2rad"
            | "rad2deg"
    )
}

/// The element type of a clamped tensor: bounds that are tensors or fractions count too.
fn clamped(c: &mut Call<'_, '_, '_>) -> Result<ElementType, Refusal> {
    let own = operand(c, 0)?.element;
    let mut is_fraction = false;
    for name in ["min", "max"] {
        if let Some(limit) = c.tensor(name)? {
            is_fraction |= c.b().element(limit).is_float();
        } else {
            is_fraction |= matches!(c.arg(name), Some(super::super::super::argument::Argument::Float(_)));
        }
    }
    Ok(if is_fraction { float_of(own) } else { own })
}

/// The element type of a conversion.
fn converted(c: &mut Call<'_, '_, '_>) -> Result<ElementType, Refusal> {
    Ok(match c.op {
        "float" => ElementType::F32,
        "half" => ElementType::F16,
        "double" => ElementType::F64,
        "long" => ElementType::S64,
        "int" => ElementType::S32,
        "bool" => ElementType::Pred,
        "bfloat16" => ElementType::Bf16,
        "type_as" => operand(c, 1)?.element,
        _ => match (c.tensor("other")?, dtype_argument(c)?) {
            (Some(other), _) => c.b().element(other),
            (None, Some(element)) => element,
            (None, None) => operand(c, 0)?.element,
        },
    })
}

/// A select between two operands by a condition.
fn select_type(c: &mut Call<'_, '_, '_>) -> Types {
    let element = common_element(c, &[1, 2])?;
    let mut dims = operand(c, 0)?.dims;
    for place in 1..3 {
        if let Ok(ty) = operand(c, place) {
            dims = broadcast_dims(&dims, &ty.dims)?;
        }
    }
    Ok(Some(vec![ArrayType::new(element, dims)]))
}

/// A function of several operands, element by element.
fn broadcast(c: &mut Call<'_, '_, '_>, places: usize) -> Types {
    let all: Vec<usize> = (0..places).collect();
    let element = common_element(c, &all)?;
    let mut dims = Vec::new();
    for place in all {
        if let Ok(ty) = operand(c, place) {
            dims = broadcast_dims(&dims, &ty.dims)?;
        }
    }
    Ok(Some(vec![ArrayType::new(element, dims)]))
}
