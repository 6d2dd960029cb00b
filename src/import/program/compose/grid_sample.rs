//! Samples of pictures at places between their elements.

use super::super::{Binary, BuildError, Builder, Built, Comparison, ElementType, InstructionId, Pair, Unary};
use crate::base::convert::{narrow, real};

/// What lies beyond the edges of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Zeros.
    Zero,
    /// The nearest element of the edge.
    Edge,
    /// The picture, mirrored at its edges.
    Mirror,
}

/// What a sample between elements is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The nearest element.
    Nearest,
    /// A mean of the two around it along each dimension, by their distances.
    Linear,
    /// A mean of the four around it along each dimension, by the cubic curve with -0.75.
    Cubic,
}

/// How a picture is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSample {
    /// What a sample between elements is.
    pub between: Between,
    /// What lies beyond the edges.
    pub beyond: Beyond,
    /// Whether -1 and 1 are the middles of the outermost elements; else their outer edges.
    pub aligns_corners: bool,
}

/// Samples of `x`, `[batch, channels, spatial ..]`, at the places of `grid`, `[batch, result .., spatial]`: the last dimension first, each from
/// -1 to 1. The result is `[batch, channels, result ..]`.
///
/// # Errors
/// When sizes do not fit.
pub fn grid_sample(b: &mut Builder, x: InstructionId, grid: InstructionId, how: GridSample) -> Built {
    let (dims, places) = (b.dims(x), b.dims(grid));
    let spatial = dims.len().saturating_sub(2);
    let fits = matches!(spatial, 2 | 3)
        && places.len() == dims.len()
        && places.last() == Some(&(spatial as u64))
        && places[0] == dims[0]
        && !dims[2..].contains(&0);
    if !fits {
        let (one, other) = (b.type_of(x).clone(), b.type_of(grid).clone());
        return Err(BuildError::Unlike { pair: Pair::Sampled, one, other });
    }
    let (element, result) = (b.element(x), places[1..=spatial].to_vec());
    let grid = b.convert(grid, ElementType::F32)?;
    // Of each dimension, first to last, the elements that a sample is made of.
    let mut taps: Vec<Vec<Tap>> = Vec::with_capacity(spatial);
    for (d, &size) in dims[2..].iter().enumerate() {
        let at = b.pick(grid, spatial + 1, (spatial - 1 - d) as u64)?;
        taps.push(taps_along(b, at, size, how)?);
    }
    let mut sum: Option<InstructionId> = None;
    let count = taps[0].len().pow(narrow(spatial));
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
        let share = share.ok_or(BuildError::Nothing("sample"))?;
        let found = elements(b, x, &indices, &result)?;
        let share = b.unsqueeze(share, 1)?;
        let share = b.convert(share, element)?;
        let part = b.mul(found, share)?;
        sum = Some(match sum {
            Some(sum) => b.add(sum, part)?,
            None => part,
        });
    }
    sum.ok_or(BuildError::Nothing("sample"))
}

/// An element beside each place: which one, and its share of the sample.
struct Tap {
    index: InstructionId,
    share: InstructionId,
}

/// The elements of a dimension that samples at these places are made of.
fn taps_along(b: &mut Builder, places: InstructionId, size: u64, how: GridSample) -> Result<Vec<Tap>, BuildError> {
    let places = counted(b, places, size, how)?;
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

/// Places along one dimension of a picture, counted in its elements.
struct Axis {
    places: InstructionId,
    size: u64,
}

/// The element `step` behind the one in front of each place, with its share on the cubic curve. What lies beyond the edges is put inside
/// element by element.
fn cubic_tap(
    b: &mut Builder,
    front: InstructionId,
    past: InstructionId,
    step: f64,
    (size, how): (u64, GridSample),
) -> Result<Tap, BuildError> {
    const A: f64 = -0.75;
    // The distance from the place to the element, 0 to 2.
    let distance = b.with_number(Binary::Sub, past, step)?;
    let distance = b.unary(Unary::Abs, distance)?;
    // Numbers of the curve from the third power down: near the place, or one element away.
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

/// Places from -1 to 1 as places from 0 to `size`.
fn counted(b: &mut Builder, places: InstructionId, size: u64, how: GridSample) -> Built {
    let size = real(size);
    let (factor, shift) =
        if how.aligns_corners { ((size - 1.0) / 2.0, (size - 1.0) / 2.0) } else { (size / 2.0, (size - 1.0) / 2.0) };
    let scaled = b.with_number(Binary::Mul, places, factor)?;
    b.with_number(Binary::Add, scaled, shift)
}

/// Places put inside the picture as its edges are continued; those beyond zeros stay.
fn within(b: &mut Builder, places: InstructionId, size: u64, how: GridSample) -> Built {
    let size = real(size);
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

/// `low + span - | |x - low| mod 2 span - span |`: a way back and forth between `low` and `low + span`.
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

/// The element `step` behind the one in front of each place. Its share is none where it lies beyond the picture.
fn tap(b: &mut Builder, axis: &Axis, step: f64, is_nearest: bool) -> Result<Tap, BuildError> {
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

/// An element and its share, which is none where the element lies beyond the picture.
fn inside(b: &mut Builder, index: InstructionId, share: InstructionId, size: u64) -> Result<Tap, BuildError> {
    let last = real(size) - 1.0;
    let (low, high) = (b.compare_number(Comparison::Ge, index, 0.0)?, b.compare_number(Comparison::Le, index, last)?);
    let is_inside = b.binary(Binary::And, low, high)?;
    let none = b.number(ElementType::F32, 0.0)?;
    let share = b.select(is_inside, share, none)?;
    let index = b.clamp_numbers(index, Some(0.0), Some(last))?;
    Ok(Tap { index: b.convert(index, ElementType::S32)?, share })
}

/// Elements of all channels at places along each spatial dimension, first to last.
fn elements(b: &mut Builder, x: InstructionId, indices: &[InstructionId], result: &[u64]) -> Built {
    let dims = b.dims(x);
    let mut flat: Option<InstructionId> = None;
    for (&index, &size) in indices.iter().zip(&dims[2..]) {
        flat = Some(match flat {
            Some(flat) => {
                let start = b.with_number(Binary::Mul, flat, real(size))?;
                b.add(start, index)?
            }
            None => index,
        });
    }
    let flat = flat.ok_or(BuildError::Nothing("sample"))?;
    let product = |all: &[u64]| all.iter().fold(1u64, |n, &d| n.saturating_mul(d));
    let count = product(result);
    let flat = b.reshape(flat, &[dims[0], 1, count])?;
    let flat = b.broadcast_to(flat, &[dims[0], dims[1], count])?;
    let picture = b.reshape(x, &[dims[0], dims[1], product(&dims[2..])])?;
    let found = b.take_along(picture, flat, 2)?;
    b.reshape(found, &[&dims[..2], result].concat())
}
