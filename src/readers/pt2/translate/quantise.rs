//! Numbers rounded to integers of few bits, and products of these numbers.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::usize_to_u32;
use ns_program::OperatorKind::Quantisation;
use ns_program::{Binary, Comparison, ElementType, InstructionId, Unary};

/// Rounding for quantisation-aware training.
pub const OPS: &[Row] = &[
    (&["fake_quantize_per_tensor_affine", "fake_quantize_per_tensor_affine_cachemask"], Quantisation, |c| {
        let x = c.x(0)?;
        let element = c.b().element(x);
        let (scale, zero) = (c.operand(1, element)?, c.operand(2, element)?);
        rounded(c, x, scale, zero)
    }),
    (&["_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"], Quantisation, |c| {
        let x = c.x(0)?;
        let element = c.b().element(x);
        let (scale, zero) = (c.operand(1, element)?, c.operand(2, element)?);
        let OpResult::Many(found) = rounded(c, x, scale, zero)? else { return Ok(OpResult::Unknown) };
        // Whether it rounds is a number of the program.
        let (given, dims) = (c.x(3)?, c.b().dims(x));
        let rounds = c.b().compare_number(Comparison::Ne, given, 0.0)?;
        let rounds = c.b().broadcast_to(rounds, &dims)?;
        let all = c.b().compare(Comparison::Eq, x, x)?;
        let mut results = Vec::with_capacity(2);
        for (value, other) in found.into_iter().flatten().zip([x, all]) {
            results.push(Some(c.b().select(rounds, value, other)?));
        }
        Ok(OpResult::Many(results))
    }),
    (&["fake_quantize_per_channel_affine", "fake_quantize_per_channel_affine_cachemask"], Quantisation, |c| {
        let (x, scale, zero) = (c.x(0)?, c.x(1)?, c.x(2)?);
        let (dims, element) = (c.b().dims(x), c.b().element(x));
        let axis = usize_to_u32(c.dimension("axis", 0, dims.len())?);
        let (scale, zero) = (c.b().convert(scale, element)?, c.b().convert(zero, element)?);
        let scale = c.b().broadcast_in(scale, &dims, vec![axis])?;
        let zero = c.b().broadcast_in(zero, &dims, vec![axis])?;
        rounded(c, x, scale, zero)
    }),
];

/// The product of two integer matrices. Fails when arguments do not fit.
pub fn whole_product(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, y) = (c.x(0)?, c.x(1)?);
    let (x, y) = (c.b().convert(x, ElementType::S32)?, c.b().convert(y, ElementType::S32)?);
    one(c.b().matmul(x, y)?)
}

/// The product with an integer weight in which each row has a scale. Fails when arguments do not fit.
pub fn scaled_product(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, weight, scales) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let element = c.b().element(x);
    let weight = c.b().convert(weight, element)?;
    let product = c.b().linear(x, weight, None)?;
    let scales = c.b().convert(scales, element)?;
    one(c.b().mul(product, scales)?)
}

/// The product of two matrices of few bits, each with a scale for all, or for each of its rows or columns. Fails when arguments do not fit.
pub fn product_of_scaled(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, y) = (c.x(0)?, c.x(1)?);
    let (x, y) = (c.b().convert(x, ElementType::F32)?, c.b().convert(y, ElementType::F32)?);
    let mut product = c.b().matmul(x, y)?;
    for place in [2, 3] {
        let scale = c.x(place)?;
        product = c.b().mul(product, scale)?;
    }
    match c.tensor("bias")? {
        Some(bias) => {
            let bias = c.b().convert(bias, ElementType::F32)?;
            one(c.b().add(product, bias)?)
        }
        None => one(product),
    }
}

/// Numbers rounded to a grid and converted back, clamped to its ends; some operators also return which numbers lie within.
fn rounded(c: &mut Call<'_, '_, '_>, x: InstructionId, scale: InstructionId, zero: InstructionId) -> CallOutcome {
    let (Some(least), Some(most)) = (c.float("quant_min"), c.float("quant_max")) else {
        return Err(c.missing("quant_min or quant_max"));
    };
    // As torch does: multiplied by the reciprocal.
    let unit = c.t.b.number(c.t.b.element(x), 1.0)?;
    let reciprocal = c.b().div(unit, scale)?;
    let scaled = c.b().mul(x, reciprocal)?;
    let whole = c.b().unary(Unary::RoundHalfEven, scaled)?;
    let placed = c.b().add(whole, zero)?;
    let limited = c.b().clamp_numbers(placed, Some(least), Some(most))?;
    let centred = c.b().sub(limited, zero)?;
    let value = c.b().mul(centred, scale)?;
    if !c.op.contains("cachemask") {
        return one(value);
    }
    let low = c.b().compare_number(Comparison::Ge, placed, least)?;
    let high = c.b().compare_number(Comparison::Le, placed, most)?;
    let inside = c.b().binary(Binary::And, low, high)?;
    Ok(OpResult::Many(vec![Some(value), Some(inside)]))
}
