//! Samples of images at positions between their elements.

use super::super::{Binary, Builder, Built, Comparison, ElementType, InstructionId, Unary};
use ns_base::convert::{u64_to_f64, usize_to_u32};
use ns_base::{Refusal, refuse};

/// Values beyond the edges of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    Zero,
    /// The nearest element of the edge.
    Edge,
    /// The image, mirrored at its edges.
    Mirror,
}

/// How a sample between elements is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    Nearest,
    /// Linear interpolation: the mean of two neighbours along each dimension, weighted by distance.
    Linear,
    /// Cubic interpolation: the weighted mean of four neighbours along each dimension, with the coefficient -0.75.
    Cubic,
}

/// How an image is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSample {
    /// How a sample between elements is computed.
    pub between: Between,
    /// Values beyond the edges.
    pub beyond: Beyond,
    /// Whether -1 and 1 are the centres of the outermost elements; else they are their outer edges.
    pub aligns_corners: bool,
}

/// Samples of `x`, `[batch, channels, spatial ..]`, at the positions `grid`, `[batch, result .., spatial]`: the last dimension first, each from
/// -1 to 1. The result is `[batch, channels, result ..]`. Fails when sizes do not fit.
pub fn grid_sample(b: &mut Builder, x: InstructionId, grid: InstructionId, how: GridSample) -> Built {
    let (dims, places) = (b.dims(x), b.dims(grid));
    let spatial = dims.len().saturating_sub(2);
    let fits = matches!(spatial, 2 | 3)
        && places.len() == dims.len()
        && places.last() == Some(&(spatial as u64))
        && places[0] == dims[0]
        && !dims[2..].contains(&0);
    if !fits {
        let (one, other) = (b.type_of(x), b.type_of(grid));
        return Err(refuse!("a picture {one} is not sampled at places {other}"));
    }
    let (element, result) = (b.element(x), places[1..=spatial].to_vec());
    let grid = b.convert(grid, ElementType::F32)?;
    // For each dimension, first to last: the elements that a sample reads.
    let mut taps: Vec<Vec<Tap>> = Vec::with_capacity(spatial);
    for (d, &size) in dims[2..].iter().enumerate() {
        let at = b.pick(grid, spatial + 1, (spatial - 1 - d) as u64)?;
        taps.push(taps_along(b, at, size, how)?);
    }
    let mut sum: Option<InstructionId> = None;
    let count = taps[0].len().pow(usize_to_u32(spatial));
    for number in 0..count {
        let mut rest = number;
        let mut share: Option<InstructionId> = None;
        let mut indices = Vec::with_capacity(spatial);
        // The last dimension in turn first.
        for all in taps.iter().rev() {
            let tap = &all[rest % all.len()];
            rest /= all.len();
            share = Some(match share {
                Some(share) => b.mul(share, tap.share)?,
                None => tap.share,
            });
            indices.insert(0, tap.index);
        }
        let share = share.ok_or_else(|| refuse!("there is nothing to sample"))?;
        let found = elements(b, x, &indices, &result)?;
        let share = b.unsqueeze(share, 1)?;
        let share = b.convert(share, element)?;
        let part = b.mul(found, share)?;
        sum = Some(match sum {
            Some(sum) => b.add(sum, part)?,
            None => part,
        });
    }
    sum.ok_or_else(|| refuse!("there is nothing to sample"))
}

/// One neighbouring element of each position: its index, and its weight.
struct Tap {
    index: InstructionId,
    share: InstructionId,
}

/// The elements of one dimension that the samples at these positions read.
fn taps_along(b: &mut Builder, places: InstructionId, size: u64, how: GridSample) -> Result<Vec<Tap>, Refusal> {
    let places = to_positions(b, places, size, how)?;
    match how.between {
        Between::Cubic => {
            let front = b.unary(Unary::Floor, places)?;
            let past = b.sub(places, front)?;
            let taps = [-1.0, 0.0, 1.0, 2.0];
            taps.into_iter().map(|step| cubic_tap(b, front, past, step, (size, how))).collect()
        }
        between => {
            let places = within(b, places, size, how)?;
            let steps: &[f64] = if between == Between::Nearest { &[0.0] } else { &[0.0, 1.0] };
            let axis = Axis { places, size };
            steps.iter().map(|&step| tap(b, &axis, step, between == Between::Nearest)).collect()
        }
    }
}

/// Positions along one dimension of an image, in units of its elements.
struct Axis {
    places: InstructionId,
    size: u64,
}

/// The element `step` after the one in front of each position, with its weight on the cubic curve. Elements beyond the edges are mapped inside
/// one by one.
fn cubic_tap(
    b: &mut Builder,
    front: InstructionId,
    past: InstructionId,
    step: f64,
    (size, how): (u64, GridSample),
) -> Result<Tap, Refusal> {
    const A: f64 = -0.75;
    // The distance from the position to the element, 0 to 2.
    let distance = b.with_number(Binary::Sub, past, step)?;
    let distance = b.unary(Unary::Abs, distance)?;
    // Coefficients of the curve from the third power down: within one element of the position, or beyond.
    let curve =
        if step == 0.0 || step == 1.0 { [A + 2.0, -(A + 3.0), 0.0, 1.0] } else { [A, -5.0 * A, 8.0 * A, -4.0 * A] };
    let mut share = b.with_number(Binary::Mul, distance, curve[0])?;
    for (i, &number) in curve[1..].iter().enumerate() {
        share = b.with_number(Binary::Add, share, number)?;
        if i < 2 {
            share = b.mul(share, distance)?;
        }
    }
    let index = b.with_number(Binary::Add, front, step)?;
    let index = within(b, index, size, how)?;
    inside(b, index, share, size)
}

/// Converts positions from -1 to 1 into positions from 0 to `size`.
fn to_positions(b: &mut Builder, places: InstructionId, size: u64, how: GridSample) -> Built {
    let size = u64_to_f64(size);
    let (factor, shift) =
        if how.aligns_corners { ((size - 1.0) / 2.0, (size - 1.0) / 2.0) } else { (size / 2.0, (size - 1.0) / 2.0) };
    let scaled = b.with_number(Binary::Mul, places, factor)?;
    b.with_number(Binary::Add, scaled, shift)
}

/// Positions mapped inside the image as its edges continue; with zeros beyond the edges they stay.
fn within(b: &mut Builder, places: InstructionId, size: u64, how: GridSample) -> Built {
    let size = u64_to_f64(size);
    match how.beyond {
        Beyond::Zero => Ok(places),
        Beyond::Edge => b.clamp_numbers(places, Some(0.0), Some(size - 1.0)),
        Beyond::Mirror => {
            let (low, span) = if how.aligns_corners { (0.0, size - 1.0) } else { (-0.5, size) };
            let inside = mirrored(b, places, low, span)?;
            b.clamp_numbers(inside, Some(0.0), Some(size - 1.0))
        }
    }
}

/// `low + span - | |x - low| mod 2 span - span |`: back and forth between `low` and `low + span`.
fn mirrored(b: &mut Builder, x: InstructionId, low: f64, span: f64) -> Built {
    if span == 0.0 {
        return b.with_number(Binary::Mul, x, 0.0);
    }
    let from_low = b.with_number(Binary::Sub, x, low)?;
    let distance = b.unary(Unary::Abs, from_low)?;
    let round = b.with_number(Binary::Rem, distance, 2.0 * span)?;
    let off = b.with_number(Binary::Sub, round, span)?;
    let off = b.unary(Unary::Abs, off)?;
    let back = b.unary(Unary::Neg, off)?;
    b.with_number(Binary::Add, back, low + span)
}

/// The element `step` after the one in front of each position. Its weight is 0 if it lies beyond the image.
fn tap(b: &mut Builder, axis: &Axis, step: f64, is_nearest: bool) -> Result<Tap, Refusal> {
    let front = b.unary(if is_nearest { Unary::RoundHalfEven } else { Unary::Floor }, axis.places)?;
    let index = b.with_number(Binary::Add, front, step)?;
    let share = if is_nearest {
        let none = b.with_number(Binary::Mul, index, 0.0)?;
        b.with_number(Binary::Add, none, 1.0)?
    } else {
        let distance = b.sub(axis.places, index)?;
        let distance = b.unary(Unary::Abs, distance)?;
        let near = b.unary(Unary::Neg, distance)?;
        b.with_number(Binary::Add, near, 1.0)?
    };
    inside(b, index, share, axis.size)
}

/// An element and its weight, which is 0 if the element lies beyond the image.
fn inside(b: &mut Builder, index: InstructionId, share: InstructionId, size: u64) -> Result<Tap, Refusal> {
    let last = u64_to_f64(size) - 1.0;
    let (low, high) = (b.compare_number(Comparison::Ge, index, 0.0)?, b.compare_number(Comparison::Le, index, last)?);
    let is_inside = b.binary(Binary::And, low, high)?;
    let none = b.number(ElementType::F32, 0.0)?;
    let share = b.select(is_inside, share, none)?;
    let index = b.clamp_numbers(index, Some(0.0), Some(last))?;
    Ok(Tap { index: b.convert(index, ElementType::S32)?, share })
}

/// Elements of all channels at indices along each spatial dimension, first to last.
fn elements(b: &mut Builder, x: InstructionId, indices: &[InstructionId], result: &[u64]) -> Built {
    let dims = b.dims(x);
    let mut flat: Option<InstructionId> = None;
    for (&index, &size) in indices.iter().zip(&dims[2..]) {
        flat = Some(match flat {
            Some(flat) => {
                let start = b.with_number(Binary::Mul, flat, u64_to_f64(size))?;
                b.add(start, index)?
            }
            None => index,
        });
    }
    let flat = flat.ok_or_else(|| refuse!("there is nothing to sample"))?;
    let product = |all: &[u64]| all.iter().fold(1u64, |n, &d| n.saturating_mul(d));
    let count = product(result);
    let flat = b.reshape(flat, &[dims[0], 1, count])?;
    let flat = b.broadcast_to(flat, &[dims[0], dims[1], count])?;
    let picture = b.reshape(x, &[dims[0], dims[1], product(&dims[2..])])?;
    let found = b.take_along(picture, flat, 2)?;
    b.reshape(found, &[&dims[..2], result].concat())
}
