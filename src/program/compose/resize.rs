//! Resizing of images, one dimension after the other.

use super::super::builder::RowGather;
use super::super::{ArrayType, Builder, Built, ElementType, InstructionId, Numbers, Value};
use ns_base::convert::{f64_to_i64, u64_to_f64, u64_to_i64, usize_to_i64, usize_to_u32};
use ns_base::refuse;

/// How values between elements are interpolated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResizeMode {
    /// The element at the position rounded down.
    Nearest,
    /// The element at the centre-aligned position, rounded down.
    NearestExact,
    /// Linear, between two elements.
    Linear,
    /// Cubic, through four elements, with this coefficient (-0.75 in PyTorch).
    Cubic(f64),
}

/// A resizing of one dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resize {
    /// How values between elements are interpolated.
    pub mode: ResizeMode,
    /// Whether the first and last elements stay at the ends (`align_corners`).
    pub aligns_corners: bool,
    /// Elements of the operand per element of the result, if it is not the quotient of the sizes.
    pub step: Option<f64>,
}

/// Most elements of a resized dimension.
const MAX_SIZE: u64 = 1 << 20;

/// Resizes one dimension of `x`. Fails when `x` does not have the dimension or the size is too large.
pub fn resize(b: &mut Builder, x: InstructionId, dimension: usize, size: u64, how: Resize) -> Built {
    let from = b.size(x, dimension)?;
    if size == 0 || size > MAX_SIZE || from == 0 {
        return Err(refuse!("a dimension of {from} elements cannot be resized to {size}"));
    }
    let is_same_grid = how.step.is_none_or(|s| s == 1.0);
    if from == size && is_same_grid {
        return Ok(x);
    }
    let is_multiple = size.is_multiple_of(from) && how.step.is_none_or(|s| s * u64_to_f64(size) == u64_to_f64(from));
    if is_multiple && matches!(how.mode, ResizeMode::Nearest | ResizeMode::NearestExact) {
        return repeated(b, x, dimension, size / from);
    }
    let taps: Vec<Vec<(i64, f64)>> = (0..size).map(|at| taps(at, from, size, how)).collect();
    let mut sum = None;
    for tap in 0..taps.first().map_or(0, Vec::len) {
        let places: Vec<i64> = taps.iter().map(|t| t[tap].0.clamp(0, u64_to_i64(from) - 1)).collect();
        let indices = b.whole_row(ElementType::S64, &places)?;
        let part = b.take(x, indices, RowGather { dimension, wraps: false })?;
        if taps[0].len() == 1 {
            return Ok(part);
        }
        let ty = ArrayType::new(b.element(x), [size]);
        let weights = b.constant(Value { ty, numbers: Numbers::Real(taps.iter().map(|t| t[tap].1).collect()) })?;
        let dims = b.dims(part);
        let weights = b.broadcast_in(weights, &dims, vec![usize_to_u32(dimension)])?;
        let weighted = b.mul(part, weights)?;
        sum = Some(match sum {
            Some(sum) => b.add(sum, weighted)?,
            None => weighted,
        });
    }
    sum.ok_or_else(|| refuse!("there is nothing to resize"))
}

/// Repeats each element of a dimension.
fn repeated(b: &mut Builder, x: InstructionId, dimension: usize, times: u64) -> Built {
    let mut dims = b.dims(x);
    let apart = b.unsqueeze(x, dimension + 1)?;
    let mut many = b.dims(apart);
    many[dimension + 1] = times;
    let many = b.broadcast_to(apart, &many)?;
    dims[dimension] = dims[dimension].saturating_mul(times);
    b.reshape(many, &dims)
}

/// Elements of the operand that element `at` of the result reads, with their weights.
fn taps(at: u64, from: u64, size: u64, how: Resize) -> Vec<(i64, f64)> {
    let step = how.step.unwrap_or(u64_to_f64(from) / u64_to_f64(size));
    let at = u64_to_f64(at);
    match how.mode {
        ResizeMode::Nearest => return vec![(f64_to_i64((at * step).floor()), 1.0)],
        ResizeMode::NearestExact => return vec![(f64_to_i64(((at + 0.5) * step).floor()), 1.0)],
        _ => {}
    }
    let place = match how.aligns_corners {
        true if size > 1 => at * u64_to_f64(from - 1) / u64_to_f64(size - 1),
        true => 0.0,
        false => (at + 0.5) * step - 0.5,
    };
    match how.mode {
        ResizeMode::Cubic(a) => {
            let first = place.floor();
            let t = place - first;
            let near = |d: f64| ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
            let far = |d: f64| ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
            let shares = [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)];
            shares.iter().enumerate().map(|(i, &share)| (f64_to_i64(first) + usize_to_i64(i) - 1, share)).collect()
        }
        _ => {
            let place = place.max(0.0);
            let first = place.floor();
            vec![(f64_to_i64(first), 1.0 - (place - first)), (f64_to_i64(first) + 1, place - first)]
        }
    }
}
