//! Statistics along dimensions.

use super::super::{Binary, Builder, Built, Comparison, ElementType, InstructionId, Unary};
use ns_base::convert::u64_to_f64;
use ns_base::refuse;

/// Variance along dimensions: the sum of squares is divided by the number of elements minus `correction`. Fails when `x` does not
/// have the dimensions.
pub fn variance(b: &mut Builder, x: InstructionId, dimensions: &[usize], correction: f64, keeps: bool) -> Built {
    let element = b.element(x);
    let x = super::widened(b, x)?;
    let mean = b.mean(x, dimensions, true)?;
    let centred = b.sub(x, mean)?;
    let square = b.mul(centred, centred)?;
    let sum = b.reduce(Binary::Add, square, dimensions, keeps)?;
    let mut count = 1.0;
    for &d in dimensions {
        count *= u64_to_f64(b.size(x, d)?);
    }
    let result = b.with_number(Binary::Div, sum, (count - correction).max(0.0))?;
    b.convert(result, element)
}

/// `sum(|x|^p)^(1/p)` along dimensions; an infinite `p` gives the largest or the smallest magnitude, 0 counts the elements that are
/// not 0. Fails when `x` does not have the dimensions.
pub fn norm(b: &mut Builder, x: InstructionId, p: f64, dimensions: &[usize], keeps: bool) -> Built {
    if p == 0.0 {
        let counts = b.compare_number(Comparison::Ne, x, 0.0)?;
        let counts = b.convert(counts, b.element(x))?;
        return b.reduce(Binary::Add, counts, dimensions, keeps);
    }
    if p == 2.0 {
        let square = b.mul(x, x)?;
        let sum = b.reduce(Binary::Add, square, dimensions, keeps)?;
        return b.unary(Unary::Sqrt, sum);
    }
    let size = b.unary(Unary::Abs, x)?;
    if p.is_infinite() {
        let with = if p > 0.0 { Binary::Max } else { Binary::Min };
        return b.reduce(with, size, dimensions, keeps);
    }
    if p == 1.0 {
        return b.reduce(Binary::Add, size, dimensions, keeps);
    }
    let power = b.with_number(Binary::Pow, size, p)?;
    let sum = b.reduce(Binary::Add, power, dimensions, keeps)?;
    b.with_number(Binary::Pow, sum, 1.0 / p)
}

/// Distances between each row of `x`, `[.., rows, features]`, and each row of `y`, as norms of their differences. Fails when sizes
/// do not fit.
pub fn distances(b: &mut Builder, x: InstructionId, y: InstructionId, p: f64) -> Built {
    let (rows, columns) = (b.rank(x), b.rank(y));
    if rows < 2 || columns < 2 {
        let found = rows.min(columns);
        return Err(refuse!("the distances of rows needs an operand of rank 2 or more, not {found}"));
    }
    let x = b.unsqueeze(x, rows - 1)?;
    let y = b.unsqueeze(y, columns - 2)?;
    let difference = b.sub(x, y)?;
    let last = b.rank(difference) - 1;
    norm(b, difference, p, &[last], false)
}

/// The position of the first largest (or smallest) element of a dimension, as s64. Fails when `x` does not have the dimension or it
/// has no elements.
pub fn arg_extreme(b: &mut Builder, x: InstructionId, dimension: usize, is_largest: bool, keeps: bool) -> Built {
    let dims = b.dims(x);
    let size = b.size(x, dimension)?;
    if size == 0 {
        return Err(refuse!("{} has no element along dimension {dimension}", b.array(x)?));
    }
    let with = if is_largest { Binary::Max } else { Binary::Min };
    let extreme = b.reduce(with, x, &[dimension], true)?;
    let mut is_extreme = b.compare(Comparison::Eq, x, extreme)?;
    if b.element(x).is_float() {
        // With a NaN the extreme is NaN, which equals nothing: the first NaN is the place.
        let is_nan = b.compare(Comparison::Ne, x, x)?;
        is_extreme = b.binary(Binary::Or, is_extreme, is_nan)?;
    }
    let places = b.iota(ElementType::S64, &dims, dimension)?;
    let beyond = b.number(ElementType::S64, u64_to_f64(size - 1))?;
    let candidates = b.select(is_extreme, places, beyond)?;
    b.reduce(Binary::Min, candidates, &[dimension], keeps)
}
