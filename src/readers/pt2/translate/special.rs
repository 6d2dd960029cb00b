//! Tests of numbers, and rarer functions.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::refuse;
use ns_program::OperatorKind::Function;
use ns_program::builder::broadcast_dims;
use ns_program::compose::cumulative;
use ns_program::{Binary, Built, Comparison, ElementType, InstructionId, Unary};

/// Tests of numbers and rarer functions.
pub const OPS: &[Row] = &[
    (&["log_sigmoid_forward"], Function, |c| {
        let x = c.x(0)?;
        let value = ns_program::compose::log_sigmoid(c.b(), x)?;
        Ok(OpResult::Many(vec![Some(value), None]))
    }),
    (&["isneginf"], Function, |c| is_infinite(c, f64::NEG_INFINITY)),
    (&["isposinf"], Function, |c| is_infinite(c, f64::INFINITY)),
    (&["signbit"], Function, |c| {
        let x = c.x(0)?;
        one(below(c, x)?)
    }),
    (&["isreal"], Function, |c| {
        let x = c.x(0)?;
        if c.b().element(x).is_complex() {
            let imaginary = c.b().unary(Unary::Imag, x)?;
            return one(c.b().compare_number(Comparison::Eq, imaginary, 0.0)?);
        }
        let dims = c.b().dims(x);
        one(c.b().full(ElementType::Pred, &dims, 1.0)?)
    }),
    (&["isclose"], Function, |c| one(close(c)?)),
    (&["isin"], Function, |c| one(is_among(c)?)),
    (&["sinc", "special_sinc"], Function, |c| {
        let x = float(c, 0)?;
        let turned = c.b().with_number(Binary::Mul, x, std::f64::consts::PI)?;
        let sine = c.b().unary(Unary::Sin, turned)?;
        let quotient = c.b().div(sine, turned)?;
        one(or_else_at_zero(c, x, 1.0, quotient)?)
    }),
    (&["ldexp"], Function, |c| {
        let (x, power) = (float(c, 0)?, float(c, 1)?);
        let power = c.b().with_number(Binary::Mul, power, std::f64::consts::LN_2)?;
        let factor = c.b().unary(Unary::Exp, power)?;
        one(c.b().mul(x, factor)?)
    }),
    (&["special_entr"], Function, |c| {
        let x = float(c, 0)?;
        let log = c.b().unary(Unary::Log, x)?;
        let product = c.b().mul(x, log)?;
        let minus = c.b().unary(Unary::Neg, product)?;
        let own = or_else_at_zero(c, x, 0.0, minus)?;
        let is_below = c.b().compare_number(Comparison::Lt, x, 0.0)?;
        let least = c.t.b.number(c.t.b.element(x), f64::NEG_INFINITY)?;
        one(c.b().select(is_below, least, own)?)
    }),
    (&["special_ndtr"], Function, |c| {
        let x = float(c, 0)?;
        let scaled = c.b().with_number(Binary::Mul, x, -std::f64::consts::FRAC_1_SQRT_2)?;
        let twice = c.b().unary(Unary::Erfc, scaled)?;
        one(c.b().with_number(Binary::Mul, twice, 0.5)?)
    }),
    (&["special_ndtri"], Function, |c| {
        let x = float(c, 0)?;
        let twice = c.b().with_number(Binary::Mul, x, 2.0)?;
        let centred = c.b().with_number(Binary::Sub, twice, 1.0)?;
        let inverse = c.b().unary(Unary::ErfInv, centred)?;
        one(c.b().with_number(Binary::Mul, inverse, std::f64::consts::SQRT_2)?)
    }),
    (&["special_xlog1py"], Function, |c| {
        let (x, y) = (float(c, 0)?, float(c, 1)?);
        let log = c.b().unary(Unary::Log1p, y)?;
        let product = c.b().mul(x, log)?;
        one(or_else_at_zero(c, x, 0.0, product)?)
    }),
    (&["angle"], Function, |c| one(angle(c)?)),
    (&["gcd", "lcm"], Function, |c| one(divisor(c)?)),
    (&["logcumsumexp"], Function, |c| {
        let x = c.x(0)?;
        let rank = c.b().rank(x);
        let dimension = c.dimension("dim", 0, rank)?;
        let largest = c.b().reduce(Binary::Max, x, &[dimension], true)?;
        let shifted = c.b().sub(x, largest)?;
        let power = c.b().unary(Unary::Exp, shifted)?;
        let sum = cumulative(c.b(), Binary::Add, power, dimension, false)?;
        let log = c.b().unary(Unary::Log, sum)?;
        one(c.b().add(log, largest)?)
    }),
];

fn is_infinite(c: &mut Call<'_, '_, '_>, infinity: f64) -> CallOutcome {
    let x = c.x(0)?;
    if c.b().element(x).is_float() {
        return one(c.b().compare_number(Comparison::Eq, x, infinity)?);
    }
    let dims = c.b().dims(x);
    one(c.b().full(ElementType::Pred, &dims, 0.0)?)
}

/// The greatest common divisor of integers by Euclid's algorithm, or their least common multiple. The number of turns is enough for all integers.
fn divisor(c: &mut Call<'_, '_, '_>) -> Built {
    let element = super::binary::common_element(c, &[0, 1])?;
    let (x, y) = (c.operand(0, element)?, c.operand(1, element)?);
    if !element.is_integer() {
        let found = c.b().type_of(x);
        return Err(refuse!("a common divisor or multiple needs whole numbers, not {found}"));
    }
    let (x, y) = (c.b().unary(Unary::Abs, x)?, c.b().unary(Unary::Abs, y)?);
    let dims = broadcast_dims(&c.b().dims(x), &c.b().dims(y))?;
    let (x, y) = (c.b().broadcast_to(x, &dims)?, c.b().broadcast_to(y, &dims)?);
    // Neighbouring Fibonacci numbers take the most turns: 1.44 for each bit.
    let turns = element.bits() * 3 / 2;
    let state = c.b().repeat(turns, &[x, y], |b, _, state| {
        let is_done = b.compare_number(Comparison::Eq, state[1], 0.0)?;
        let unit = b.number(element, 1.0)?;
        let by = b.select(is_done, unit, state[1])?;
        let rest = b.binary(Binary::Rem, state[0], by)?;
        let greatest = b.select(is_done, state[0], state[1])?;
        Ok(vec![greatest, rest])
    })?;
    if c.op == "gcd" {
        return Ok(state[0]);
    }
    let is_none = c.b().compare_number(Comparison::Eq, state[0], 0.0)?;
    let unit = c.b().number(element, 1.0)?;
    let by = c.b().select(is_none, unit, state[0])?;
    let share = c.b().div(x, by)?;
    c.b().mul(share, y)
}

/// The operand at a position; integers are converted to single precision.
fn float(c: &mut Call<'_, '_, '_>, place: usize) -> Built {
    let x = match c.at(place)? {
        super::super::argument::Argument::Tensor(_) => c.x(place)?,
        _ => c.operand(place, ElementType::F32)?,
    };
    if c.b().element(x).is_float() { Ok(x) } else { c.b().convert(x, ElementType::F32) }
}

/// `number` where `x` is 0, else `value`.
fn or_else_at_zero(c: &mut Call<'_, '_, '_>, x: InstructionId, number: f64, value: InstructionId) -> Built {
    let is_zero = c.b().compare_number(Comparison::Eq, x, 0.0)?;
    let number = c.t.b.number(c.t.b.element(value), number)?;
    c.b().select(is_zero, number, value)
}

/// Whether the sign of a number is negative: it is less than 0, or it is a 0 whose reciprocal is negative.
fn below(c: &mut Call<'_, '_, '_>, x: InstructionId) -> Built {
    let is_below = c.b().compare_number(Comparison::Lt, x, 0.0)?;
    let element = c.b().element(x);
    if !element.is_float() {
        return Ok(is_below);
    }
    let unit = c.b().number(element, 1.0)?;
    let reciprocal = c.b().div(unit, x)?;
    let is_minus = c.b().compare_number(Comparison::Lt, reciprocal, 0.0)?;
    c.b().binary(Binary::Or, is_below, is_minus)
}

/// `|x - y| <= atol + rtol |y|`.
fn close(c: &mut Call<'_, '_, '_>) -> Built {
    let (x, y) = (float(c, 0)?, float(c, 1)?);
    let (relative, absolute) = (c.float_or("rtol", 1e-5), c.float_or("atol", 1e-8));
    let gap = c.b().sub(x, y)?;
    let gap = c.b().unary(Unary::Abs, gap)?;
    let size = c.b().unary(Unary::Abs, y)?;
    let allowed = c.b().with_number(Binary::Mul, size, relative)?;
    let allowed = c.b().with_number(Binary::Add, allowed, absolute)?;
    let is_near = c.b().compare(Comparison::Le, gap, allowed)?;
    let is_same = c.b().compare(Comparison::Eq, x, y)?;
    let is_finite = c.b().unary(Unary::IsFinite, y)?;
    let is_near = c.b().binary(Binary::And, is_near, is_finite)?;
    let answer = c.b().binary(Binary::Or, is_near, is_same)?;
    if !c.flag_or("equal_nan", false) {
        return Ok(answer);
    }
    let (first, second) = (c.b().unary(Unary::IsNan, x)?, c.b().unary(Unary::IsNan, y)?);
    let both = c.b().binary(Binary::And, first, second)?;
    c.b().binary(Binary::Or, answer, both)
}

/// Whether each element occurs in the second operand.
fn is_among(c: &mut Call<'_, '_, '_>) -> Built {
    let element = super::binary::common_element(c, &[0, 1])?;
    let (x, wanted) = (c.operand(0, element)?, c.operand(1, element)?);
    let count = c.b().array(wanted)?.elements().unwrap_or(0);
    let wanted = c.b().reshape(wanted, &[count])?;
    let rank = c.b().rank(x);
    let each = c.b().unsqueeze(x, rank)?;
    let is_it = c.b().compare(Comparison::Eq, each, wanted)?;
    let is_in = c.b().reduce(Binary::Or, is_it, &[rank], false)?;
    if c.flag_or("invert", false) { c.b().unary(Unary::Not, is_in) } else { Ok(is_in) }
}

/// The angle of a complex number; for a negative real number, pi.
fn angle(c: &mut Call<'_, '_, '_>) -> Built {
    let x = c.x(0)?;
    if c.b().element(x).is_complex() {
        let (real, imaginary) = (c.b().unary(Unary::Real, x)?, c.b().unary(Unary::Imag, x)?);
        return c.b().binary(Binary::Atan2, imaginary, real);
    }
    let x = float(c, 0)?;
    let is_below = c.b().compare_number(Comparison::Lt, x, 0.0)?;
    let element = c.b().element(x);
    let (half, none) = (c.b().number(element, std::f64::consts::PI)?, c.b().number(element, 0.0)?);
    c.b().select(is_below, half, none)
}
