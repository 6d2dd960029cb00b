//! Elementwise functions.

use super::pick::{reals, wholes};
use super::special;
use crate::bytes::Top;
use crate::{ArrayType, Binary, Comparison, ElementType, Numbers, Unary, Value, round};
use ns_base::convert::{f64_to_f32, low16, low32};
use ns_base::{Refusal, refuse};

pub(super) fn unary(function: Unary, x: &Value, ty: &ArrayType) -> Result<Value, Refusal> {
    let numbers = match (&x.numbers, function) {
        (Numbers::Whole(v), _) if !of_reals(function) => {
            let element = x.ty.element;
            let f = |&v: &i64| whole_unary(function, element, v);
            Numbers::Whole(
                v.iter()
                    .map(f)
                    .collect::<Option<_>>()
                    .ok_or_else(|| refuse!("{function:?} has no meaning for {element}"))?,
            )
        }
        (Numbers::Complex(v), Unary::Real) => Numbers::Real(v.iter().map(|c| c[0]).collect()),
        (Numbers::Complex(v), Unary::Imag) => Numbers::Real(v.iter().map(|c| c[1]).collect()),
        (Numbers::Complex(v), Unary::Abs) => {
            Numbers::Real(v.iter().map(|c| round::real(ty.element, libm::hypot(c[0], c[1]))).collect())
        }
        (Numbers::Complex(v), Unary::Neg) => Numbers::Complex(v.iter().map(|c| [-c[0], -c[1]]).collect()),
        (Numbers::Complex(_), _) => return Err(refuse!("{function:?} has no meaning for {}", x.ty.element)),
        (_, Unary::IsFinite | Unary::IsNan | Unary::IsInf) => {
            let f = |&v: &f64| {
                i64::from(match function {
                    Unary::IsFinite => v.is_finite(),
                    Unary::IsNan => v.is_nan(),
                    _ => v.is_infinite(),
                })
            };
            Numbers::Whole(reals(x)?.iter().map(f).collect())
        }
        _ => {
            let element = x.ty.element;
            let f = |&v: &f64| Some(round::real(element, real_unary(function, v)?));
            Numbers::Real(
                reals(x)?
                    .iter()
                    .map(f)
                    .collect::<Option<_>>()
                    .ok_or_else(|| refuse!("{function:?} has no meaning for {element}"))?,
            )
        }
    };
    Ok(Value { ty: ty.clone(), numbers })
}

/// Whether integers are converted to floating point for the function.
const fn of_reals(function: Unary) -> bool {
    matches!(function, Unary::IsFinite | Unary::IsNan | Unary::IsInf)
}

fn whole_unary(function: Unary, element: ElementType, v: i64) -> Option<i64> {
    let bits = i64::try_from(element.bits()).ok()?;
    let unsigned = v.cast_unsigned() & (u64::MAX >> (64 - element.bits().min(64)));
    let result = match function {
        Unary::Abs => {
            if element.is_signed_integer() {
                v.wrapping_abs()
            } else {
                v
            }
        }
        Unary::Neg => v.wrapping_neg(),
        Unary::Not if element == ElementType::Pred => i64::from(v == 0),
        Unary::Not => !v,
        Unary::Sign if element.is_signed_integer() => v.signum(),
        Unary::Sign => i64::from(v != 0),
        Unary::Square => v.wrapping_mul(v),
        Unary::PopulationCount => i64::from(unsigned.count_ones()),
        Unary::Clz => i64::from(unsigned.leading_zeros()) - (64 - bits),
        Unary::Real | Unary::Ceil | Unary::Floor | Unary::RoundHalfAway | Unary::RoundHalfEven => v,
        _ => return None,
    };
    Some(round::whole(element, result))
}

fn real_unary(function: Unary, v: f64) -> Option<f64> {
    Some(match function {
        Unary::Abs => libm::fabs(v),
        Unary::Acos => libm::acos(v),
        Unary::Acosh => libm::acosh(v),
        Unary::Asin => libm::asin(v),
        Unary::Asinh => libm::asinh(v),
        Unary::Atan => libm::atan(v),
        Unary::Atanh => libm::atanh(v),
        Unary::Cbrt => libm::cbrt(v),
        Unary::Ceil => libm::ceil(v),
        Unary::Cos => libm::cos(v),
        Unary::Cosh => libm::cosh(v),
        Unary::Digamma => special::digamma(v),
        Unary::Erf => libm::erf(v),
        Unary::ErfInv => special::erf_inv(v),
        Unary::Erfc => libm::erfc(v),
        Unary::Exp => libm::exp(v),
        Unary::ExpM1 => libm::expm1(v),
        Unary::Floor => libm::floor(v),
        Unary::Imag => 0.0,
        Unary::Lgamma => libm::lgamma(v),
        Unary::Log => libm::log(v),
        Unary::Log1p => libm::log1p(v),
        Unary::Logistic => 1.0 / (1.0 + libm::exp(-v)),
        Unary::Neg => -v,
        Unary::Real => v,
        Unary::RoundHalfAway => libm::round(v),
        Unary::RoundHalfEven => libm::rint(v),
        Unary::Rsqrt => 1.0 / libm::sqrt(v),
        Unary::Sign => {
            if v.is_nan() || v == 0.0 {
                v
            } else {
                libm::copysign(1.0, v)
            }
        }
        Unary::Sin => libm::sin(v),
        Unary::Sinh => libm::sinh(v),
        Unary::Sqrt => libm::sqrt(v),
        Unary::Square => v * v,
        Unary::Tan => libm::tan(v),
        Unary::Tanh => libm::tanh(v),
        Unary::Clz | Unary::IsFinite | Unary::IsInf | Unary::IsNan | Unary::Not | Unary::PopulationCount => {
            return None;
        }
    })
}

pub(super) fn binary(function: Binary, a: &Value, b: &Value, ty: &ArrayType) -> Result<Value, Refusal> {
    if a.numbers.len() != b.numbers.len() {
        return Err(refuse!("{} and {} have no common shape", a.ty, b.ty));
    }
    let element = a.ty.element;
    let none = || refuse!("{function:?} has no meaning for {element}");
    let numbers = match (&a.numbers, &b.numbers) {
        (Numbers::Real(a), Numbers::Real(b)) if function == Binary::Complex => {
            Numbers::Complex(a.iter().zip(b).map(|(&a, &b)| [a, b]).collect())
        }
        (Numbers::Real(a), Numbers::Real(b)) => {
            let f = |(&a, &b): (&f64, &f64)| Some(round::real(element, real_binary(function, a, b)?));
            Numbers::Real(a.iter().zip(b).map(f).collect::<Option<_>>().ok_or_else(none)?)
        }
        (Numbers::Whole(a), Numbers::Whole(b)) => {
            let f = |(&a, &b): (&i64, &i64)| Some(round::whole(element, whole_binary(function, element, a, b)?));
            Numbers::Whole(a.iter().zip(b).map(f).collect::<Option<_>>().ok_or_else(none)?)
        }
        (Numbers::Complex(a), Numbers::Complex(b)) => {
            let f = |(&a, &b): (&[f64; 2], &[f64; 2])| complex_binary(function, a, b);
            Numbers::Complex(a.iter().zip(b).map(f).collect::<Option<_>>().ok_or_else(none)?)
        }
        _ => return Err(refuse!("{} and {} have different element types", a.ty, b.ty)),
    };
    Ok(Value { ty: ty.clone(), numbers })
}

/// One operation on two floating point numbers, before rounding.
pub(super) fn real_binary(function: Binary, a: f64, b: f64) -> Option<f64> {
    let either_nan = a.is_nan() || b.is_nan();
    Some(match function {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Rem => libm::fmod(a, b),
        Binary::Max if either_nan => f64::NAN,
        Binary::Min if either_nan => f64::NAN,
        Binary::Max => {
            if a >= b {
                a
            } else {
                b
            }
        }
        Binary::Min => {
            if a <= b {
                a
            } else {
                b
            }
        }
        Binary::Pow => libm::pow(a, b),
        Binary::Atan2 => libm::atan2(a, b),
        _ => return None,
    })
}

/// One operation on two integers, before wrapping.
pub(super) fn whole_binary(function: Binary, element: ElementType, a: i64, b: i64) -> Option<i64> {
    let is_signed = element.is_signed_integer();
    let bits = i64::try_from(element.bits()).ok()?;
    let (ua, ub) = (a.cast_unsigned(), b.cast_unsigned());
    let is_inside = (0..bits).contains(&b);
    if element == ElementType::Pred {
        return Some(match function {
            Binary::Add | Binary::Or | Binary::Max => a | b,
            Binary::Mul | Binary::And | Binary::Min => a & b,
            Binary::Xor => a ^ b,
            _ => return None,
        });
    }
    Some(match function {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div if b == 0 => -1,
        Binary::Div if is_signed => a.wrapping_div(b),
        Binary::Div => (ua / ub).cast_signed(),
        Binary::Rem if b == 0 => a,
        Binary::Rem if is_signed => a.wrapping_rem(b),
        Binary::Rem => (ua % ub).cast_signed(),
        Binary::Max => {
            if is_signed {
                a.max(b)
            } else {
                ua.max(ub).cast_signed()
            }
        }
        Binary::Min => {
            if is_signed {
                a.min(b)
            } else {
                ua.min(ub).cast_signed()
            }
        }
        Binary::Pow => power(a, b, is_signed),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => {
            if is_inside {
                a << b
            } else {
                0
            }
        }
        // Outside, also by a negative number of bits, only the sign is left.
        Binary::ShiftRightArithmetic => a >> if is_inside { b } else { bits - 1 },
        Binary::ShiftRightLogical if is_inside => ((ua & (u64::MAX >> (64 - element.bits()))) >> b).cast_signed(),
        Binary::ShiftRightLogical => 0,
        Binary::Atan2 | Binary::Complex => return None,
    })
}

fn power(base: i64, exponent: i64, is_signed: bool) -> i64 {
    if is_signed && exponent < 0 {
        return match base {
            1 => 1,
            -1 => {
                if exponent % 2 == 0 {
                    1
                } else {
                    -1
                }
            }
            0 => -1,
            _ => 0,
        };
    }
    let (mut result, mut base, mut left) = (1i64, base, exponent.cast_unsigned());
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        left >>= 1;
    }
    result
}

fn complex_binary(function: Binary, [ar, ai]: [f64; 2], [br, bi]: [f64; 2]) -> Option<[f64; 2]> {
    Some(match function {
        Binary::Add => [ar + br, ai + bi],
        Binary::Sub => [ar - br, ai - bi],
        Binary::Mul => [ar * br - ai * bi, ar * bi + ai * br],
        Binary::Div => {
            let d = br * br + bi * bi;
            [(ar * br + ai * bi) / d, (ai * br - ar * bi) / d]
        }
        _ => return None,
    })
}

pub(super) fn compare(comparison: Comparison, a: &Value, b: &Value) -> Result<Value, Refusal> {
    fn each<T: PartialOrd>(comparison: Comparison, a: &[T], b: &[T]) -> Vec<bool> {
        a.iter().zip(b).map(|(a, b)| comparison.holds(a, b)).collect()
    }
    if a.numbers.len() != b.numbers.len() {
        return Err(refuse!("{} and {} have no common shape", a.ty, b.ty));
    }
    let results: Vec<bool> = match (&a.numbers, &b.numbers) {
        (Numbers::Real(a), Numbers::Real(b)) => each(comparison, a, b),
        (Numbers::Whole(x), Numbers::Whole(y)) if a.ty.element == ElementType::U64 => {
            x.iter().zip(y).map(|(a, b)| comparison.holds(&a.cast_unsigned(), &b.cast_unsigned())).collect()
        }
        (Numbers::Whole(a), Numbers::Whole(b)) => each(comparison, a, b),
        (Numbers::Complex(a), Numbers::Complex(b)) => each(comparison, a, b),
        _ => return Err(refuse!("{} and {} have different element types", a.ty, b.ty)),
    };
    let ty = ArrayType::new(ElementType::Pred, a.ty.dims.clone());
    Ok(Value { ty, numbers: Numbers::Whole(results.into_iter().map(i64::from).collect()) })
}

pub(super) fn select(which: &Value, yes: &Value, no: &Value) -> Result<Value, Refusal> {
    let which_numbers = wholes(which)?;
    let n = yes.numbers.len();
    if no.numbers.len() != n || (which_numbers.len() != n && !which.ty.dims.is_empty()) {
        return Err(refuse!("{}, {} and {} have no common shape", which.ty, yes.ty, no.ty));
    }
    let is = |i: usize| which_numbers.get(if which_numbers.len() == 1 { 0 } else { i }).is_some_and(|&w| w != 0);
    fn go<T: Copy>(is: impl Fn(usize) -> bool, a: &[T], b: &[T]) -> Vec<T> {
        a.iter().zip(b).enumerate().map(|(i, (&a, &b))| if is(i) { a } else { b }).collect()
    }
    let numbers = match (&yes.numbers, &no.numbers) {
        (Numbers::Real(a), Numbers::Real(b)) => Numbers::Real(go(is, a, b)),
        (Numbers::Whole(a), Numbers::Whole(b)) => Numbers::Whole(go(is, a, b)),
        (Numbers::Complex(a), Numbers::Complex(b)) => Numbers::Complex(go(is, a, b)),
        _ => return Err(refuse!("{} and {} have different element types", yes.ty, no.ty)),
    };
    Ok(Value { ty: yes.ty.clone(), numbers })
}

pub(super) fn clamp(low: &Value, x: &Value, high: &Value) -> Result<Value, Refusal> {
    let at = |n: usize, i: usize| if n == 1 { 0 } else { i };
    let outside = || refuse!("{} and {} do not bound {}", low.ty, high.ty, x.ty);
    let element = x.ty.element;
    let numbers = match (&low.numbers, &x.numbers, &high.numbers) {
        (Numbers::Real(l), Numbers::Real(v), Numbers::Real(h)) => {
            let f = |(i, &v): (usize, &f64)| {
                let (l, h) = (*l.get(at(l.len(), i))?, *h.get(at(h.len(), i))?);
                real_binary(Binary::Min, real_binary(Binary::Max, v, l)?, h)
            };
            Numbers::Real(v.iter().enumerate().map(f).collect::<Option<_>>().ok_or_else(outside)?)
        }
        (Numbers::Whole(l), Numbers::Whole(v), Numbers::Whole(h)) => {
            let f = |(i, &v): (usize, &i64)| {
                let (l, h) = (*l.get(at(l.len(), i))?, *h.get(at(h.len(), i))?);
                whole_binary(Binary::Min, element, whole_binary(Binary::Max, element, v, l)?, h)
            };
            Numbers::Whole(v.iter().enumerate().map(f).collect::<Option<_>>().ok_or_else(outside)?)
        }
        _ => return Err(outside()),
    };
    Ok(Value { ty: x.ty.clone(), numbers })
}

pub(super) fn convert(x: &Value, ty: &ArrayType) -> Result<Value, Refusal> {
    let (from, to) = (x.ty.element, ty.element);
    let numbers = match &x.numbers {
        Numbers::Real(v) if to.is_float() => Numbers::Real(v.iter().map(|&v| round::real(to, v)).collect()),
        Numbers::Real(v) if to.is_complex() => Numbers::Complex(v.iter().map(|&v| [round::real(to, v), 0.0]).collect()),
        Numbers::Real(v) => Numbers::Whole(v.iter().map(|&v| round::truncated(to, v)).collect()),
        Numbers::Whole(v) if to.is_float() => {
            Numbers::Real(v.iter().map(|&v| round::real(to, round::as_real(from, v))).collect())
        }
        Numbers::Whole(v) if to.is_complex() => {
            Numbers::Complex(v.iter().map(|&v| [round::real(to, round::as_real(from, v)), 0.0]).collect())
        }
        Numbers::Whole(v) => Numbers::Whole(v.iter().map(|&v| round::whole(to, v)).collect()),
        Numbers::Complex(v) if to.is_complex() => Numbers::Complex(v.clone()),
        Numbers::Complex(v) => Numbers::Real(v.iter().map(|c| round::real(to, c[0])).collect()),
    };
    Ok(Value { ty: ty.clone(), numbers })
}

pub(super) fn bitcast(x: &Value, ty: &ArrayType) -> Result<Value, Refusal> {
    let unknown = || refuse!("the bits of {} are not read as {ty}", x.ty);
    if x.ty.element.bits() != ty.element.bits() {
        return Err(unknown());
    }
    let bits: Vec<u64> = match (&x.numbers, x.ty.element) {
        (Numbers::Whole(v), _) => v.iter().map(|&v| v.cast_unsigned()).collect(),
        (Numbers::Real(v), ElementType::F32) => v.iter().map(|&v| u64::from(f64_to_f32(v).to_bits())).collect(),
        (Numbers::Real(v), ElementType::F64) => v.iter().map(|&v| v.to_bits()).collect(),
        (Numbers::Real(v), ElementType::F16) => v.iter().map(|&v| half::f16::from_f64(v).to_bits().into()).collect(),
        (Numbers::Real(v), ElementType::Bf16) => v.iter().map(|&v| half::bf16::from_f64(v).to_bits().into()).collect(),
        _ => return Err(unknown()),
    };
    let numbers = match ty.element {
        ElementType::F32 => Numbers::Real(bits.iter().map(|&b| f32::from_bits(low32(b)).into()).collect()),
        ElementType::F64 => Numbers::Real(bits.iter().map(|&b| f64::from_bits(b)).collect()),
        ElementType::F16 => Numbers::Real(bits.iter().map(|&b| half::f16::from_bits(low16(b)).to_f64()).collect()),
        ElementType::Bf16 => Numbers::Real(bits.iter().map(|&b| half::bf16::from_bits(low16(b)).to_f64()).collect()),
        to if to.is_integer() => Numbers::Whole(bits.iter().map(|&b| round::whole(to, b.cast_signed())).collect()),
        _ => return Err(unknown()),
    };
    Ok(Value { ty: ty.clone(), numbers })
}

pub(super) fn reduce_precision(x: &Value, exponent_bits: u32, mantissa_bits: u32) -> Result<Value, Refusal> {
    if !(1..=11).contains(&exponent_bits) || mantissa_bits > 52 {
        return Err(refuse!("{exponent_bits} bits of exponent and {mantissa_bits} of mantissa are not a format"));
    }
    let f = |&v: &f64| round::to_small(v, exponent_bits, mantissa_bits, Top::Ieee, true);
    Ok(Value { ty: x.ty.clone(), numbers: Numbers::Real(reals(x)?.iter().map(f).collect()) })
}

#[cfg(test)]
mod tests {
    use super::super::value_of;
    use crate::{ArrayType, Binary, ElementType, Numbers, Op, Value};

    #[test]
    fn a_shift_by_a_number_outside_of_the_bits_leaves_the_sign_or_nothing() {
        let ty = ArrayType::new(ElementType::S32, [4]);
        let value = |numbers: [i64; 4]| Value { ty: ty.clone(), numbers: Numbers::Whole(numbers.to_vec()) };
        let least = i64::from(i32::MIN);
        let (x, by) = (value([least, least, 8, -8]), value([-1, 32, -1, 2]));
        let shifted = |f| value_of(&Op::Binary(f), &[&x, &by], &ty).unwrap().numbers;
        assert_eq!(shifted(Binary::ShiftRightArithmetic), Numbers::Whole(vec![-1, -1, 0, -2]));
        assert_eq!(shifted(Binary::ShiftLeft), Numbers::Whole(vec![0, 0, 0, -32]));
        assert_eq!(shifted(Binary::ShiftRightLogical), Numbers::Whole(vec![0, 0, 0, (1 << 30) - 2]));
    }
}
