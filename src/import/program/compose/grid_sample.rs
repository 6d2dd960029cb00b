//! Samples of pictures at places between their elements.

use super::super::{Binary, BuildError, Builder, Built, Comparison, ElementType, InstructionId, Unary};
use crate::base::convert::real;

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

/// How a picture is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSample {
    /// Whether a sample is the nearest element; else it is a mean of four by their distances.
    pub is_nearest: bool,
    /// What lies beyond the edges.
    pub beyond: Beyond,
    /// Whether -1 and 1 are the middles of the outermost elements; else their outer edges.
    pub aligns_corners: bool,
}

/// Samples of `x`, `[batch, channels, height, width]`, at the places of `grid`, `[batch, rows, columns, 2]`: column, then row, each
/// from -1 to 1. The result is `[batch, channels, rows, columns]`.
///
/// # Errors
/// When sizes do not fit.
pub fn grid_sample(b: &mut Builder, x: InstructionId, grid: InstructionId, how: GridSample) -> Built {
    let (dims, places) = (b.dims(x), b.dims(grid));
    let (&[n, _, height, width], &[batch, rows, columns, 2]) = (&dims[..], &places[..]) else {
        return Err(BuildError(format!("a picture {dims:?} is not sampled at places {places:?}")));
    };
    if n != batch || height == 0 || width == 0 {
        return Err(BuildError(format!("a picture {dims:?} is not sampled at places {places:?}")));
    }
    let element = b.element(x);
    let grid = b.convert(grid, ElementType::F32)?;
    let mut axes = Vec::with_capacity(2);
    for (at, size) in [(0, width), (1, height)] {
        let places = b.pick(grid, 3, at)?;
        axes.push(Axis { places: place(b, places, size, how)?, size });
    }
    let mut sum: Option<InstructionId> = None;
    let corners: &[[f64; 2]] =
        if how.is_nearest { &[[0.0, 0.0]] } else { &[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] };
    for corner in corners {
        let column = tap(b, &axes[0], corner[0], how.is_nearest)?;
        let row = tap(b, &axes[1], corner[1], how.is_nearest)?;
        let share = b.mul(column.share, row.share)?;
        let found = elements(b, x, [row.index, column.index], [rows, columns])?;
        let share = b.unsqueeze(share, 1)?;
        let share = b.convert(share, element)?;
        let part = b.mul(found, share)?;
        sum = Some(match sum {
            Some(sum) => b.add(sum, part)?,
            None => part,
        });
    }
    sum.ok_or_else(|| BuildError("a sample of nothing".to_owned()))
}

/// Places along one dimension of a picture, counted in its elements.
struct Axis {
    places: InstructionId,
    size: u64,
}

/// An element beside each place: which one, and its share of the sample.
struct Tap {
    index: InstructionId,
    share: InstructionId,
}

/// Places from -1 to 1 as places from 0 to `size`.
fn place(b: &mut Builder, places: InstructionId, size: u64, how: GridSample) -> Built {
    let size = real(size);
    let (factor, shift) =
        if how.aligns_corners { ((size - 1.0) / 2.0, (size - 1.0) / 2.0) } else { (size / 2.0, (size - 1.0) / 2.0) };
    let scaled = b.with_number(Binary::Mul, places, factor)?;
    let places = b.with_number(Binary::Add, scaled, shift)?;
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
    let last = real(axis.size) - 1.0;
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
    let (low, high) = (b.compare_number(Comparison::Ge, index, 0.0)?, b.compare_number(Comparison::Le, index, last)?);
    let is_inside = b.binary(Binary::And, low, high)?;
    let none = b.number(ElementType::F32, 0.0)?;
    let share = b.select(is_inside, share, none)?;
    let index = b.clamp_numbers(index, Some(0.0), Some(last))?;
    Ok(Tap { index: b.convert(index, ElementType::S32)?, share })
}

/// Elements of all channels at rows and columns of a picture.
fn elements(b: &mut Builder, x: InstructionId, [row, column]: [InstructionId; 2], result: [u64; 2]) -> Built {
    let dims = b.dims(x);
    let start = b.with_number(Binary::Mul, row, real(dims[3]))?;
    let flat = b.add(start, column)?;
    let count = result[0].saturating_mul(result[1]);
    let flat = b.reshape(flat, &[dims[0], 1, count])?;
    let flat = b.broadcast_to(flat, &[dims[0], dims[1], count])?;
    let picture = b.reshape(x, &[dims[0], dims[1], dims[2].saturating_mul(dims[3])])?;
    let found = b.take_along(picture, flat, 2)?;
    b.reshape(found, &[dims[0], dims[1], result[0], result[1]])
}
