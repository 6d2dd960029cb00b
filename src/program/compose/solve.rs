//! Square matrices by elimination: solutions, determinants, roots. The step for each row is unrolled.

use super::super::{Binary, Builder, Built, Comparison, ElementType, InstructionId, Unary};
use super::statistic::arg_extreme;
use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, refuse};

/// Most rows of a matrix that is eliminated.
const MOST_ROWS: u64 = 64;

/// Result of elimination with row exchanges.
#[derive(Clone, Copy, Debug)]
pub struct Elimination {
    /// The solution `x` of `a x = right`, `[.., n, k]`.
    pub solution: InstructionId,
    /// The pivot that each row was divided by, `[.., n]`.
    pub pivots: InstructionId,
    /// 1, or -1 after an odd number of row exchanges, `[..]`.
    pub sign: InstructionId,
}

/// The number of rows of square matrices `[.., n, n]`.
fn square(b: &Builder, a: InstructionId) -> Result<u64, Refusal> {
    match b.dims(a).as_slice() {
        &[.., n, m] if n == m && (1..=MOST_ROWS).contains(&n) && b.element(a).is_float() => Ok(n),
        _ => Err(refuse!("{} is not a square matrix of 1 to {MOST_ROWS} rows", b.type_of(a))),
    }
}

/// Right sides `[.., n, k]` with the leading dimensions of the matrices `a`, broadcast where needed.
fn beside(b: &mut Builder, a: InstructionId, right: InstructionId) -> Result<[InstructionId; 2], Refusal> {
    let (own, other) = (b.dims(a), b.dims(right));
    let fits = own.len() >= 2 && other.len() >= 2 && other[other.len() - 2] == own[own.len() - 1];
    if !fits {
        let (one, other) = (b.type_of(a), b.type_of(right));
        return Err(refuse!("{one} has no right side {other}"));
    }
    let leading = super::super::builder::broadcast_dims(&own[..own.len() - 2], &other[..other.len() - 2])?;
    let whole = |dims: &[u64]| [&leading[..], &dims[dims.len() - 2..]].concat();
    Ok([b.broadcast_to(a, &whole(&own))?, b.broadcast_to(right, &whole(&other))?])
}

/// Solves `a x = right` for square matrices, with partial pivoting: the row with the largest number of each column goes first.
/// Fails when sizes do not fit, or there are too many rows.
pub fn eliminate(b: &mut Builder, a: InstructionId, right: InstructionId) -> Result<Elimination, Refusal> {
    let n = square(b, a)?;
    let [a, right] = beside(b, a, right)?;
    let last = b.rank(a) - 1;
    let mut all = b.concatenate(&[a, right], last)?;
    let width = b.size(all, last)?;
    let rows = rows_of(b, a)?;
    let (mut pivots, mut sign) = (Vec::new(), None);
    for j in 0..n {
        let column = b.slice_dim(all, last, j, j + 1, 1)?;
        let size = b.unary(Unary::Abs, column)?;
        let is_left = b.compare_number(Comparison::Ge, rows, u64_to_f64(j))?;
        let never = b.number(b.element(size), -1.0)?;
        let size = b.select(is_left, size, never)?;
        let place = arg_extreme(b, size, last - 1, true, true)?;
        let (is_pivot, is_top) =
            (b.compare(Comparison::Eq, rows, place)?, b.compare_number(Comparison::Eq, rows, u64_to_f64(j))?);
        let zero = b.number(b.element(all), 0.0)?;
        let alone = b.select(is_pivot, all, zero)?;
        let pivot_row = b.reduce(Binary::Add, alone, &[last - 1], true)?;
        let top_row = b.slice_dim(all, last - 1, j, j + 1, 1)?;
        let (pivot_rows, top_rows) = (same_size(b, pivot_row, all)?, same_size(b, top_row, all)?);
        let exchanged = b.select(is_pivot, top_rows, all)?;
        let exchanged = b.select(is_top, pivot_rows, exchanged)?;
        let pivot = b.slice_dim(pivot_row, last, j, j + 1, 1)?;
        let one = b.number(b.element(all), 1.0)?;
        let is_none = b.compare_number(Comparison::Eq, pivot, 0.0)?;
        let divisor = b.select(is_none, one, pivot)?;
        let scaled = b.div(pivot_row, divisor)?;
        let factor = b.slice_dim(exchanged, last, j, j + 1, 1)?;
        let zero = b.number(b.element(factor), 0.0)?;
        let factor = b.select(is_top, zero, factor)?;
        let taken = b.mul(factor, scaled)?;
        let rest = b.sub(exchanged, taken)?;
        let scaled = same_size(b, scaled, all)?;
        all = b.select(is_top, scaled, rest)?;
        let is_moved = b.compare_number(Comparison::Ne, place, u64_to_f64(j))?;
        let minus = b.number(b.element(pivot), -1.0)?;
        let one = b.number(b.element(pivot), 1.0)?;
        let turn = b.select(is_moved, minus, one)?;
        sign = Some(match sign {
            Some(sign) => b.mul(sign, turn)?,
            None => turn,
        });
        pivots.push(pivot);
    }
    let sign = sign.ok_or_else(|| refuse!("there is nothing to eliminate"))?;
    let leading: Vec<u64> = b.dims(a)[..last - 1].to_vec();
    let pivots = b.concatenate(&pivots, last)?;
    let pivots = b.reshape(pivots, &[&leading[..], &[n]].concat())?;
    let sign = b.reshape(sign, &leading)?;
    Ok(Elimination { solution: b.slice_dim(all, last, n, width, 1)?, pivots, sign })
}

/// The index of each row, `[.., n, 1]`.
fn rows_of(b: &mut Builder, a: InstructionId) -> Built {
    let mut dims = b.dims(a);
    let last = dims.len() - 1;
    dims[last] = 1;
    b.iota(ElementType::S64, &dims, last - 1)
}

fn same_size(b: &mut Builder, x: InstructionId, like: InstructionId) -> Built {
    let dims = b.dims(like);
    b.broadcast_to(x, &dims)
}

/// Identity matrices in the shape of `a`. Fails when `a` is not an array of square matrices.
pub fn identity_like(b: &mut Builder, a: InstructionId) -> Built {
    square(b, a)?;
    let (dims, element) = (b.dims(a), b.element(a));
    let row = b.iota(ElementType::S64, &dims, dims.len() - 2)?;
    let column = b.iota(ElementType::S64, &dims, dims.len() - 1)?;
    let is_equal = b.compare(Comparison::Eq, row, column)?;
    b.convert(is_equal, element)
}

/// Cholesky factor: the lower triangle `l` for which `l` times its transpose is the matrix. Only the matrix's lower triangle is
/// read. Fails when `a` is not an array of square matrices, or they have too many rows.
pub fn cholesky(b: &mut Builder, a: InstructionId) -> Built {
    let n = square(b, a)?;
    let (last, mut rest, mut columns) = (b.rank(a) - 1, a, Vec::new());
    let rows = rows_of(b, a)?;
    for j in 0..n {
        let column = b.slice_dim(rest, last, j, j + 1, 1)?;
        let pivot = b.slice_dim(column, last - 1, j, j + 1, 1)?;
        let root = b.unary(Unary::Sqrt, pivot)?;
        let column = b.div(column, root)?;
        let is_left = b.compare_number(Comparison::Ge, rows, u64_to_f64(j))?;
        let zero = b.number(b.element(a), 0.0)?;
        let column = b.select(is_left, column, zero)?;
        columns.push(column);
        let turned = b.swap_dims(column, last - 1, last)?;
        let square = b.mul(column, turned)?;
        rest = b.sub(rest, square)?;
    }
    b.concatenate(&columns, last)
}

/// Solves `a x = right` for triangular matrices, whose other half is not read; with `is_unit` the diagonal counts as ones. Fails
/// when sizes do not fit, or there are too many rows.
pub fn solve_triangle(b: &mut Builder, a: InstructionId, right: InstructionId, is_upper: bool, is_unit: bool) -> Built {
    let n = square(b, a)?;
    let [a, mut rest] = beside(b, a, right)?;
    let last = b.rank(a) - 1;
    let mut found = Vec::new();
    for step in 0..n {
        let j = if is_upper { n - 1 - step } else { step };
        let column = b.slice_dim(a, last, j, j + 1, 1)?;
        let mut row = b.slice_dim(rest, last - 1, j, j + 1, 1)?;
        if !is_unit {
            let pivot = b.slice_dim(column, last - 1, j, j + 1, 1)?;
            row = b.div(row, pivot)?;
        }
        found.push(row);
        let taken = b.mul(column, row)?;
        rest = b.sub(rest, taken)?;
    }
    if is_upper {
        found.reverse();
    }
    b.concatenate(&found, last - 1)
}
