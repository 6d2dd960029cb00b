//! Resizing by means over all elements that an element of the result covers, so that shrinking loses none (`antialias`).

use super::super::{ArrayType, Builder, Built, DotDims, ElementType, InstructionId, Numbers, Value};
use ns_base::convert::{u64_to_f64, usize_to_u32};
use ns_base::refuse;

/// How elements are weighted by their distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Falloff {
    /// Linearly.
    Linear,
    /// By a cubic curve with the coefficient -0.5.
    Cubic,
}

/// Most weights of a resizing.
const MOST_WEIGHTS: u64 = 1 << 20;

/// Resizes one dimension of `x`; `step` is the number of the operand's elements for each element of the result. Fails when `x` does
/// not have the dimension or the sizes are too large.
pub fn smooth_resize(b: &mut Builder, x: InstructionId, dimension: usize, size: u64, how: (Falloff, f64)) -> Built {
    let from = b.size(x, dimension)?;
    let (falloff, step) = how;
    if size == 0 || from == 0 || size.saturating_mul(from) > MOST_WEIGHTS || step.is_nan() || step <= 0.0 {
        return Err(refuse!("a dimension of {from} elements cannot be resized to {size}"));
    }
    if from == size && step == 1.0 {
        return Ok(x);
    }
    let weights: Vec<f64> = (0..size).flat_map(|at| shares(at, from, falloff, step)).collect();
    let element = b.element(x);
    let ty = ArrayType::new(ElementType::F32, [size, from]);
    let weights = b.constant(Value { ty, numbers: Numbers::Real(weights) })?;
    let wide = b.convert(x, ElementType::F32)?;
    let dims =
        DotDims { lhs_contracting: vec![usize_to_u32(dimension)], rhs_contracting: vec![1], ..DotDims::default() };
    let product = b.dot(wide, weights, dims)?;
    // The new dimension is the last.
    let rank = b.rank(product);
    let mut order: Vec<usize> = (0..rank - 1).collect();
    order.insert(dimension, rank - 1);
    let turned = b.transpose(product, &order)?;
    b.convert(turned, element)
}

/// The weight of each element of the operand in element `at` of the result.
fn shares(at: u64, from: u64, falloff: Falloff, step: f64) -> Vec<f64> {
    let reach = if falloff == Falloff::Linear { 1.0 } else { 2.0 } * step.max(1.0);
    let centre = step * (u64_to_f64(at) + 0.5);
    let first = (centre - reach + 0.5).max(0.0).trunc();
    let last = (centre + reach + 0.5).trunc().min(u64_to_f64(from));
    let weight = |i: u64| {
        let i = u64_to_f64(i);
        if i < first || i >= last {
            return 0.0;
        }
        let distance = ((i - centre + 0.5) / step.max(1.0)).abs();
        match falloff {
            Falloff::Linear => (1.0 - distance).max(0.0),
            Falloff::Cubic if distance < 1.0 => (1.5 * distance - 2.5) * distance * distance + 1.0,
            Falloff::Cubic if distance < 2.0 => ((-0.5 * distance + 2.5) * distance - 4.0) * distance + 2.0,
            Falloff::Cubic => 0.0,
        }
    };
    let all: Vec<f64> = (0..from).map(weight).collect();
    let sum: f64 = all.iter().sum();
    if sum == 0.0 { all } else { all.into_iter().map(|w| w / sum).collect() }
}
