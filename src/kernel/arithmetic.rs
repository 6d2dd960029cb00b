//! Arithmetic of the kernel language. Single precision is computed in single precision; unsigned integers wrap; a
//! case that C++ leaves undefined for signed integers is reported as a problem.

use super::parse::ast::BinaryOp;
use super::problem::Problem;
use super::types::Scalar;
use super::value::Value;
use ns_base::convert::{
    f64_to_f32, f64_to_i64, f64_to_u64, i64_to_f32, i64_to_f64, i128_to_f64, low8, low16, low32, u64_to_f32, u64_to_f64,
};

/// Wraps an integer into a type, as C++ converts it.
pub(crate) fn wrap(value: i64, to: Scalar) -> i64 {
    let bits = value.cast_unsigned();
    match to {
        Scalar::Bool => i64::from(value != 0),
        Scalar::I8 => i64::from(low8(bits).cast_signed()),
        Scalar::U8 => i64::from(low8(bits)),
        Scalar::I16 => i64::from(low16(bits).cast_signed()),
        Scalar::U16 => i64::from(low16(bits)),
        Scalar::I32 => i64::from(low32(bits).cast_signed()),
        Scalar::U32 => i64::from(low32(bits)),
        Scalar::I64 | Scalar::U64 | Scalar::F32 | Scalar::F64 => value,
    }
}

/// The text of an integer in its type, for messages.
pub(crate) fn integer_text(value: i64, scalar: Scalar) -> String {
    if scalar == Scalar::U64 { value.cast_unsigned().to_string() } else { value.to_string() }
}

/// Converts a number. Fails when a float does not fit in an integer type.
pub(crate) fn convert(value: Value, from: Scalar, to: Scalar) -> Result<Value, Problem> {
    if from == to {
        return Ok(value);
    }
    let float = match value {
        Value::F32(x) => f64::from(x),
        Value::F64(x) => x,
        Value::Int(i) => return Ok(from_int(i, from, to)),
        other => return Ok(other),
    };
    match to {
        Scalar::F32 => Ok(Value::F32(f64_to_f32(float))),
        Scalar::F64 => Ok(Value::F64(float)),
        Scalar::Bool => Ok(Value::bool(float != 0.0)),
        _ => float_to_int(float, to),
    }
}

fn from_int(i: i64, from: Scalar, to: Scalar) -> Value {
    match (to, from) {
        (Scalar::F32, Scalar::U64) => Value::F32(u64_to_f32(i.cast_unsigned())),
        (Scalar::F32, _) => Value::F32(i64_to_f32(i)),
        (Scalar::F64, Scalar::U64) => Value::F64(u64_to_f64(i.cast_unsigned())),
        (Scalar::F64, _) => Value::F64(i64_to_f64(i)),
        _ => Value::Int(wrap(i, to)),
    }
}

fn float_to_int(x: f64, to: Scalar) -> Result<Value, Problem> {
    let part = libm::trunc(x);
    let (low, high) = to.range().unwrap_or((0, 0));
    // 2^64 and 2^63 are exact in f64, so the comparison is too.
    if part.is_nan() || part < i128_to_f64(low) || part >= i128_to_f64(high) + 1.0 {
        let text = format!("the conversion overflows {}: {x} is not between {low} and {high}", to.name());
        return Err(Problem::error("overflow", text));
    }
    Ok(Value::Int(if to == Scalar::U64 { f64_to_u64(part).cast_signed() } else { f64_to_i64(part) }))
}

/// Applies an operator to two numbers of one promoted type. Comparisons return a bool. Fails on an integer division by zero, and
/// when the result of a signed operation does not fit.
pub(crate) fn binary(op: BinaryOp, scalar: Scalar, l: Value, r: Value) -> Result<Value, Problem> {
    match (l, r) {
        (Value::F32(a), Value::F32(b)) => Ok(float(op, a, b, Value::F32, libm::fmodf)),
        (Value::F64(a), Value::F64(b)) => Ok(float(op, a, b, Value::F64, libm::fmod)),
        (Value::Int(a), Value::Int(b)) => integer(op, scalar, a, b),
        _ => Ok(Value::Uninit),
    }
}

fn float<T>(op: BinaryOp, a: T, b: T, make: fn(T) -> Value, rem: fn(T, T) -> T) -> Value
where
    T: PartialOrd
        + Copy
        + std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>
        + std::ops::Div<Output = T>,
{
    match op {
        BinaryOp::Add => make(a + b),
        BinaryOp::Sub => make(a - b),
        BinaryOp::Mul => make(a * b),
        BinaryOp::Div => make(a / b),
        BinaryOp::Lt => Value::bool(a < b),
        BinaryOp::Le => Value::bool(a <= b),
        BinaryOp::Gt => Value::bool(a > b),
        BinaryOp::Ge => Value::bool(a >= b),
        BinaryOp::Eq => Value::bool(a == b),
        BinaryOp::Ne => Value::bool(a != b),
        // The checker allows no other operator on floats.
        _ => make(rem(a, b)),
    }
}

fn integer(op: BinaryOp, scalar: Scalar, a: i64, b: i64) -> Result<Value, Problem> {
    let unsigned_64 = scalar == Scalar::U64;
    let (ua, ub) = (a.cast_unsigned(), b.cast_unsigned());
    let overflow = |operation: &str| {
        let (ty, a, sign, b) = (scalar.name(), integer_text(a, scalar), op.sign(), integer_text(b, scalar));
        Problem::error("overflow", format!("{operation} overflows {ty}: {a} {sign} {b}"))
    };
    let ordered = |less: bool, equal: bool| {
        Value::bool(match op {
            BinaryOp::Lt => less,
            BinaryOp::Le => less || equal,
            BinaryOp::Gt => !less && !equal,
            BinaryOp::Ge => !less,
            BinaryOp::Eq => equal,
            _ => !equal,
        })
    };
    if op.compares() {
        return Ok(ordered(if unsigned_64 { ua < ub } else { a < b }, a == b));
    }
    let (result, operation) = match op {
        BinaryOp::Add => (if unsigned_64 { Some(a.wrapping_add(b)) } else { a.checked_add(b) }, "the sum"),
        BinaryOp::Sub => (if unsigned_64 { Some(a.wrapping_sub(b)) } else { a.checked_sub(b) }, "the difference"),
        BinaryOp::Mul => (if unsigned_64 { Some(a.wrapping_mul(b)) } else { a.checked_mul(b) }, "the product"),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(Problem::error("divide_by_zero", "division by zero")),
        BinaryOp::Div => (if unsigned_64 { Some((ua / ub).cast_signed()) } else { a.checked_div(b) }, "the quotient"),
        BinaryOp::Rem => (if unsigned_64 { Some((ua % ub).cast_signed()) } else { a.checked_rem(b) }, "the remainder"),
        BinaryOp::And => (Some(a & b), ""),
        BinaryOp::Or => (Some(a | b), ""),
        BinaryOp::Xor => (Some(a ^ b), ""),
        BinaryOp::Shl | BinaryOp::Shr => {
            let bits = scalar.bytes() * 8;
            if b < 0 || b.cast_unsigned() >= bits {
                return Err(overflow("the shift"));
            }
            let shifted = if op == BinaryOp::Shl {
                a.wrapping_shl(low32(ub))
            } else if unsigned_64 {
                (ua >> b).cast_signed()
            } else {
                a >> b
            };
            return Ok(Value::Int(wrap(shifted, scalar)));
        }
        _ => (None, "the operation"),
    };
    let Some(result) = result else { return Err(overflow(operation)) };
    let wrapped = wrap(result, scalar);
    if scalar.is_signed() && wrapped != result {
        return Err(overflow(operation));
    }
    Ok(Value::Int(wrapped))
}

/// The negative of a number. Fails when the result does not fit.
pub(crate) fn negate(scalar: Scalar, value: Value) -> Result<Value, Problem> {
    match value {
        Value::F32(x) => Ok(Value::F32(-x)),
        Value::F64(x) => Ok(Value::F64(-x)),
        Value::Int(i) => integer(BinaryOp::Sub, scalar, 0, i),
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(op: BinaryOp, scalar: Scalar, a: i64, b: i64) -> Result<i64, &'static str> {
        binary(op, scalar, Value::Int(a), Value::Int(b)).map(Value::int).map_err(|p| p.code())
    }

    #[test]
    fn signed_overflow_is_a_problem_and_unsigned_wraps() {
        let max = i64::from(i32::MAX);
        assert_eq!(int(BinaryOp::Add, Scalar::I32, max, 1), Err("overflow"));
        assert_eq!(int(BinaryOp::Mul, Scalar::I32, 65_536, 65_536), Err("overflow"));
        assert_eq!(int(BinaryOp::Add, Scalar::U32, i64::from(u32::MAX), 1), Ok(0));
        assert_eq!(int(BinaryOp::Sub, Scalar::U32, 0, 1), Ok(i64::from(u32::MAX)));
        assert_eq!(int(BinaryOp::Sub, Scalar::U64, 0, 1), Ok(-1));
        assert_eq!(int(BinaryOp::Gt, Scalar::U64, -1, 1), Ok(1));
        assert_eq!(int(BinaryOp::Div, Scalar::I64, i64::MIN, -1), Err("overflow"));
        assert_eq!(int(BinaryOp::Div, Scalar::I32, 7, -2), Ok(-3));
        assert_eq!(int(BinaryOp::Rem, Scalar::I32, -7, 2), Ok(-1));
        assert_eq!(int(BinaryOp::Rem, Scalar::U32, 7, 0), Err("divide_by_zero"));
        assert_eq!(int(BinaryOp::Shl, Scalar::I32, 1, 32), Err("overflow"));
        assert_eq!(int(BinaryOp::Shr, Scalar::U64, -1, 60), Ok(15));
    }

    #[test]
    fn conversions_are_those_of_cpp() {
        assert_eq!(convert(Value::Int(300), Scalar::I32, Scalar::U8), Ok(Value::Int(44)));
        assert_eq!(convert(Value::Int(-1), Scalar::I32, Scalar::U32), Ok(Value::Int(i64::from(u32::MAX))));
        assert_eq!(convert(Value::F32(-2.9), Scalar::F32, Scalar::I32), Ok(Value::Int(-2)));
        assert_eq!(convert(Value::Int(-1), Scalar::U64, Scalar::F64), Ok(Value::F64(u64::MAX as f64)));
        for bad in [f32::NAN, f32::INFINITY, -1.0, 4.3e9] {
            let code = convert(Value::F32(bad), Scalar::F32, Scalar::U32).map_err(|p| p.code());
            assert_eq!(code, Err("overflow"), "{bad}");
        }
    }
}
