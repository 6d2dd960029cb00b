//! Running sums, sorts and positions.

use super::super::{Binary, Builder, Built, Comparison, ElementType, InstructionId, WindowDim};
use ns_base::{Refusal, refuse};

/// Each element combined with all elements in front of it (with `is_reversed`, behind it) along a dimension. Fails when `x` does
/// not have the dimension.
pub fn cumulative(b: &mut Builder, with: Binary, x: InstructionId, dimension: usize, is_reversed: bool) -> Built {
    let rank = b.rank(x);
    if rank == 0 {
        return Ok(x);
    }
    let size = b.size(x, dimension)?;
    let reach = i64::try_from(size.saturating_sub(1))
        .map_err(|_| refuse!("a running combination of {size} elements is longer than 63 bits count"))?;
    let mut window = vec![WindowDim::ONE; rank];
    let (pad_low, pad_high) = if is_reversed { (0, reach) } else { (reach, 0) };
    window[dimension] = WindowDim { size: size.max(1), pad_low, pad_high, ..WindowDim::ONE };
    b.reduce_window(with, x, window)
}

/// The largest (or smallest) element so far along a dimension, and the position of the last of equal ones (s64). Fails when `x`
/// does not have the dimension.
pub fn running_extreme(
    b: &mut Builder,
    x: InstructionId,
    dimension: usize,
    is_largest: bool,
) -> Result<[InstructionId; 2], Refusal> {
    let values = cumulative(b, if is_largest { Binary::Max } else { Binary::Min }, x, dimension, false)?;
    let dims = b.dims(x);
    let places =
        if dims.is_empty() { b.number(ElementType::S64, 0.0)? } else { b.iota(ElementType::S64, &dims, dimension)? };
    let is_extreme = b.compare(Comparison::Eq, x, values)?;
    let never = b.number(ElementType::S64, -1.0)?;
    let places = b.select(is_extreme, places, never)?;
    Ok([values, cumulative(b, Binary::Max, places, dimension, false)?])
}

/// The sorted elements of a dimension, and their original positions (s64). Equal ones keep their order. Fails when `x` does not
/// have the dimension.
pub fn sort_places(
    b: &mut Builder,
    x: InstructionId,
    dimension: usize,
    is_descending: bool,
) -> Result<[InstructionId; 2], Refusal> {
    let dims = b.dims(x);
    let places = b.iota(ElementType::S64, &dims, dimension)?;
    let sorted = b.sort(x, &[places], dimension, is_descending)?;
    match sorted.as_slice() {
        [values, places] => Ok([*values, *places]),
        other => Err(refuse!("a sort of two arrays gives {}", other.len())),
    }
}

/// The `k` largest or smallest elements of a dimension in order, and their positions (s64). Fails when the dimension has fewer
/// elements.
pub fn top_places(
    b: &mut Builder,
    x: InstructionId,
    k: u64,
    dimension: usize,
    is_largest: bool,
) -> Result<[InstructionId; 2], Refusal> {
    let last = b.rank(x).saturating_sub(1);
    let turned = if dimension == last { x } else { b.swap_dims(x, dimension, last)? };
    let [values, places] = b.top_k(turned, k, is_largest)?;
    let places = b.convert(places, ElementType::S64)?;
    if dimension == last {
        return Ok([values, places]);
    }
    Ok([b.swap_dims(values, dimension, last)?, b.swap_dims(places, dimension, last)?])
}
