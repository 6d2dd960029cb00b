//! Quotients, remainders and powers with the rules of frameworks.

use super::super::{Binary, Builder, Built, Comparison, InstructionId, Unary};
use ns_base::convert::usize_to_u32;

/// `a / b` rounded down, in the element type of the operands. Fails when sizes or element types do not fit.
pub fn floor_divide(b: &mut Builder, x: InstructionId, y: InstructionId) -> Built {
    if b.element(x).is_float() {
        let quotient = b.div(x, y)?;
        return b.unary(Unary::Floor, quotient);
    }
    // Integers: the quotient is truncated, and is one less if the remainder and the divisor have different signs.
    let cut = b.div(x, y)?;
    if !b.element(x).is_signed_integer() {
        return Ok(cut);
    }
    let is_less = is_other_sign(b, x, y)?;
    let one = b.convert(is_less, b.element(cut))?;
    b.sub(cut, one)
}

/// The remainder of [`floor_divide`]: it has the divisor's sign. Fails when sizes or element types do not fit.
pub fn floor_modulo(b: &mut Builder, x: InstructionId, y: InstructionId) -> Built {
    let rest = b.binary(Binary::Rem, x, y)?;
    let element = b.element(x);
    if !element.is_float() && !element.is_signed_integer() {
        return Ok(rest);
    }
    let is_other = is_other_sign(b, x, y)?;
    let moved = b.add(rest, y)?;
    b.select(is_other, moved, rest)
}

/// `a / b`, rounded towards zero. Fails when sizes or element types do not fit.
pub fn truncated_quotient(b: &mut Builder, x: InstructionId, y: InstructionId) -> Built {
    let quotient = b.div(x, y)?;
    if !b.element(x).is_float() {
        return Ok(quotient);
    }
    let size = b.unary(Unary::Abs, quotient)?;
    let size = b.unary(Unary::Floor, size)?;
    let sign = b.unary(Unary::Sign, quotient)?;
    b.mul(size, sign)
}

/// `x` to the power of a number: small integer powers are products. Fails when `x` is not an array.
pub fn power_number(b: &mut Builder, x: InstructionId, exponent: f64) -> Built {
    if exponent == 1.0 {
        Ok(x)
    } else if exponent == 2.0 {
        b.mul(x, x)
    } else if exponent == 3.0 {
        let square = b.mul(x, x)?;
        b.mul(square, x)
    } else if exponent == 0.5 {
        b.unary(Unary::Sqrt, x)
    } else if exponent == -0.5 {
        b.unary(Unary::Rsqrt, x)
    } else if exponent == -1.0 {
        let one = b.number(b.element(x), 1.0)?;
        b.div(one, x)
    } else {
        b.with_number(Binary::Pow, x, exponent)
    }
}

/// One-hot booleans in a new last dimension: true at the index that `x` gives. Fails when `x` is not of whole numbers.
pub fn one_hot(b: &mut Builder, x: InstructionId, classes: u64) -> Built {
    let (element, rank) = (b.element(x), b.rank(x));
    let mut dims = b.dims(x);
    dims.push(classes);
    let places = b.iota(element, &dims, rank)?;
    let wanted = b.broadcast_in(x, &dims, (0..usize_to_u32(rank)).collect())?;
    b.compare(Comparison::Eq, places, wanted)
}

/// Where the remainder of `x / y` is not 0 and its sign differs from that of `y`.
fn is_other_sign(b: &mut Builder, x: InstructionId, y: InstructionId) -> Built {
    let rest = b.binary(Binary::Rem, x, y)?;
    let is_rest = b.compare_number(Comparison::Ne, rest, 0.0)?;
    let rest_below = b.compare_number(Comparison::Lt, rest, 0.0)?;
    let below = b.compare_number(Comparison::Lt, y, 0.0)?;
    let differs = b.compare(Comparison::Ne, rest_below, below)?;
    b.binary(Binary::And, is_rest, differs)
}
