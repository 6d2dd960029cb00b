//! Tensors without operands, values of in-place writes, and quantised numbers.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::{i64_to_f64, i64_to_u64, u64_to_f64, usize_to_u32};
use ns_base::refuse;
use ns_program::OperatorKind::Creation;
use ns_program::{ArrayType, Binary, Comparison, ElementType, Numbers, Unary, Value};

/// Most numbers of a range that is computed here.
const MAX_ROW: u64 = 1 << 20;

/// Operations that create tensors.
pub const OPS: &[Row] = &[
    (&["zeros", "zeros_like", "new_zeros", "zero"], Creation, |c| filled(c, 0.0)),
    (&["empty", "empty_like", "new_empty", "empty_strided"], Creation, |c| filled(c, 0.0)),
    (&["new_empty_strided", "empty_permuted"], Creation, |c| filled(c, 0.0)),
    (&["ones", "ones_like", "new_ones"], Creation, |c| filled(c, 1.0)),
    (&["full", "full_like", "new_full", "scalar_tensor"], Creation, full),
    (&["copy", "fill"], Creation, in_place_value),
    (&["arange"], Creation, arange),
    (&["linspace"], Creation, linspace),
    (&["logspace"], Creation, |c| {
        let OpResult::One(exponents) = linspace(c)? else { return Ok(OpResult::Unknown) };
        let base = c.float_or("base", 10.0);
        let scaled = c.b().with_number(Binary::Mul, exponents, libm::log(base))?;
        one(c.b().unary(Unary::Exp, scaled)?)
    }),
    (&["fft_fftfreq", "fft_rfftfreq"], Creation, frequencies),
    (&["eye"], Creation, |c| {
        let ty = c.result()?;
        let row = c.b().iota(ElementType::S32, &ty.dims, 0)?;
        let column = c.b().iota(ElementType::S32, &ty.dims, 1)?;
        let is_equal = c.b().compare(Comparison::Eq, row, column)?;
        one(c.b().convert(is_equal, ty.element)?)
    }),
];

fn filled(c: &mut Call<'_, '_, '_>, value: f64) -> CallOutcome {
    let ty = c.result()?;
    one(c.b().full(ty.element, &ty.dims, value)?)
}

/// The new value of an in-place write's first operand.
fn in_place_value(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let ty = c.b().array(x)?.clone();
    let value = c.operand(1, ty.element)?;
    one(c.b().broadcast_to(value, &ty.dims)?)
}

/// A tensor filled with one number.
fn full(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let ty = c.result()?;
    let place = match c.op {
        "scalar_tensor" => 0,
        "new_full" => 2,
        _ => 1,
    };
    let value = match c.tensor("fill_value")? {
        Some(value) => c.b().convert(value, ty.element)?,
        None => c.operand(place, ty.element)?,
    };
    one(c.b().broadcast_to(value, &ty.dims)?)
}

/// A range of numbers with equal steps.
fn arange(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let ty = c.result()?;
    let (start, step) = (c.float_or("start", 0.0), c.float_or("step", 1.0));
    let mut row = c.b().iota(ty.element, &ty.dims, 0)?;
    if step != 1.0 {
        row = c.b().with_number(Binary::Mul, row, step)?;
    }
    if start != 0.0 {
        row = c.b().with_number(Binary::Add, row, start)?;
    }
    one(row)
}

/// Equally spaced numbers from a start to an end.
fn linspace(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let ty = c.result()?;
    let (start, end) = (c.float("start"), c.float("end"));
    let (Some(start), Some(end)) = (start, end) else { return Ok(OpResult::Unknown) };
    let too_large = || refuse!("a row of numbers of sizes {:?} is too large: the limit is {MAX_ROW}", ty.dims);
    let count = ty.elements().filter(|&n| n <= MAX_ROW).ok_or_else(too_large)?;
    let step = if count > 1 { (end - start) / u64_to_f64(count - 1) } else { 0.0 };
    // As torch does: the second half is computed from the end.
    let number =
        |i: u64| if i < count / 2 { start + step * u64_to_f64(i) } else { end - step * u64_to_f64(count - 1 - i) };
    let numbers = Numbers::Real((0..count).map(number).collect());
    let row = c.b().constant(Value { ty: ArrayType::new(ElementType::F64, ty.dims), numbers })?;
    one(c.b().convert(row, ty.element)?)
}

/// Frequencies of a transform, from 0 up; for a full transform the negative ones come last.
fn frequencies(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let count = c.int("n").ok_or_else(|| c.missing("n"))?;
    if count < 1 || i64_to_u64(count) > MAX_ROW {
        return Err(refuse!("n is {count} and must be from 1 to {}", MAX_ROW.cast_signed()));
    }
    let width = i64_to_f64(count) * c.float_or("d", 1.0);
    let places: Vec<i64> = match c.op {
        "fft_rfftfreq" => (0..=count / 2).collect(),
        _ => (0..count).map(|i| if i < (count + 1) / 2 { i } else { i - count }).collect(),
    };
    let ty = ArrayType::new(ElementType::F64, [places.len() as u64]);
    let row = c
        .b()
        .constant(Value { ty, numbers: Numbers::Real(places.iter().map(|&i| i64_to_f64(i) / width).collect()) })?;
    let element = c.result().map_or(ElementType::F32, |ty| ty.element);
    one(c.b().convert(row, element)?)
}

/// Translates `quantized_decomposed`: conversions to integers of few bits and back, with one scale or one for each channel. Fails
/// when arguments do not fit.
pub fn quantised(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let is_back = c.op.starts_with("dequantize_per");
    let is_forth = c.op.starts_with("quantize_per");
    if !(is_back || is_forth) || c.op.ends_with("token") || c.op.ends_with("group") {
        return Ok(OpResult::Unknown);
    }
    let ty = c.result()?;
    let x = c.x(0)?;
    let wide = c.b().convert(x, ElementType::F32)?;
    let dims = ty.dims.clone();
    let (scale, zero) = if c.op.ends_with("channel") {
        let scales = c.tensor("scales")?.ok_or_else(|| c.missing("scales"))?;
        let zeros = c.tensor("zero_points")?.ok_or_else(|| c.missing("zero_points"))?;
        let axis = c.dimension("axis", 0, dims.len())?;
        let scales = c.b().convert(scales, ElementType::F32)?;
        let zeros = c.b().convert(zeros, ElementType::F32)?;
        let scales = c.b().broadcast_in(scales, &dims, vec![usize_to_u32(axis)])?;
        (scales, c.b().broadcast_in(zeros, &dims, vec![usize_to_u32(axis)])?)
    } else {
        (c.operand(1, ElementType::F32)?, c.operand(2, ElementType::F32)?)
    };
    if is_back {
        let centred = c.b().sub(wide, zero)?;
        return one(c.b().mul(centred, scale)?);
    }
    let scaled = c.b().div(wide, scale)?;
    let rounded = c.b().unary(Unary::RoundHalfEven, scaled)?;
    let moved = c.b().add(rounded, zero)?;
    let (low, high) = (c.float("quant_min"), c.float("quant_max"));
    let limited = c.b().clamp_numbers(moved, low, high)?;
    one(c.b().convert(limited, ty.element)?)
}
