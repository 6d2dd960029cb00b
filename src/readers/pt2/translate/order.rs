//! Order statistics, sums without NaN, norms of matrices, areas under curves.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::{u64_to_f64, u64_to_i64, usize_to_u32};
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Reduction;
use ns_program::builder::RowGather;
use ns_program::compose::{floor_divide, floor_modulo, norm, sort_places};
use ns_program::{Binary, Comparison, ElementType, InstructionId, Unary};

/// Most rows whose pairs are unrolled.
const MOST_ROWS: u64 = 2048;

/// Order statistics, and sums and norms that are composed of others.
pub const OPS: &[Row] = &[
    (&["nansum", "nanmean"], Reduction, of_numbers),
    (&["median", "kthvalue"], Reduction, in_order),
    (&["mode"], Reduction, most_frequent),
    (&["nonzero_static"], Reduction, places_not_zero),
    (&["quantile"], Reduction, quantile),
    (&["linalg_matrix_norm", "frobenius_norm"], Reduction, matrix_norm),
    (&["renorm"], Reduction, super::algebra::limited),
    (&["trapezoid", "trapz"], Reduction, area),
    (&["pdist", "_pdist_forward"], Reduction, between_rows),
];

/// Sums and means of elements that are not NaN.
fn of_numbers(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let (along, keeps) = (c.dimensions("dim", rank)?, c.flag_or("keepdim", false));
    let element = c.b().element(x);
    if !element.is_float() {
        let sum = c.b().reduce(Binary::Add, x, &along, keeps)?;
        return one(sum);
    }
    let is_none = c.b().unary(Unary::IsNan, x)?;
    let zero = c.b().number(element, 0.0)?;
    let cleared = c.b().select(is_none, zero, x)?;
    let sum = c.b().reduce(Binary::Add, cleared, &along, keeps)?;
    if c.op == "nansum" {
        return one(sum);
    }
    let is_number = c.b().unary(Unary::Not, is_none)?;
    let counts = c.b().convert(is_number, element)?;
    let count = c.b().reduce(Binary::Add, counts, &along, keeps)?;
    one(c.b().div(sum, count)?)
}

/// The median, or the `k`-th smallest element, of all elements or along a dimension with its position.
fn in_order(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let mut x = c.x(0)?;
    let is_whole = c.op == "median" && c.arg("dim").is_none();
    if is_whole {
        let all = c.b().array(x)?.elements().unwrap_or(0);
        x = c.b().reshape(x, &[all])?;
    }
    let rank = c.b().rank(x);
    if rank == 0 {
        let place = c.b().number(ElementType::S64, 0.0)?;
        return Ok(OpResult::Many(vec![Some(x), Some(place)]));
    }
    let dimension = if is_whole { 0 } else { c.dimension("dim", -1, rank)? };
    let size = c.b().size(x, dimension)?;
    let at = match c.int("k") {
        Some(k) if c.op == "kthvalue" => u64::try_from(k).ok().and_then(|k| k.checked_sub(1)),
        _ => size.checked_sub(1).map(|n| n / 2),
    };
    let at = at
        .filter(|&at| at < size)
        .ok_or_else(|| refuse!("a dimension of {size} elements has no element at this place of the order"))?;
    let sorted = sort_places(c.b(), x, dimension, false)?;
    let mut picked = Vec::with_capacity(2);
    for all in sorted {
        let slice = c.b().slice_dim(all, dimension, at, at + 1, 1)?;
        let keeps = c.flag_or("keepdim", false) && !is_whole;
        picked.push(if keeps { slice } else { c.b().squeeze(slice, dimension)? });
    }
    if is_whole { one(picked[0]) } else { Ok(OpResult::Many(picked.into_iter().map(Some).collect())) }
}

/// The mode along a dimension, the smallest of several, with the last of its positions.
fn most_frequent(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    if rank == 0 {
        let place = c.b().number(ElementType::S64, 0.0)?;
        return Ok(OpResult::Many(vec![Some(x), Some(place)]));
    }
    let (d, keeps) = (c.dimension("dim", -1, rank)?, c.flag_or("keepdim", false));
    let (size, dims) = (c.b().size(x, d)?, c.b().dims(x));
    if size == 0 || size > MOST_ROWS {
        return Ok(OpResult::Unknown);
    }
    let last = c.b().swap_dims(x, d, rank - 1)?;
    let (one_side, other) = (c.b().unsqueeze(last, rank)?, c.b().unsqueeze(last, rank - 1)?);
    let is_same = c.b().compare(Comparison::Eq, one_side, other)?;
    let counts = c.b().convert(is_same, ElementType::S32)?;
    let counts = c.b().reduce(Binary::Add, counts, &[rank], false)?;
    let counts = c.b().swap_dims(counts, d, rank - 1)?;
    let most = c.b().reduce(Binary::Max, counts, &[d], true)?;
    let is_most = c.b().compare(Comparison::Eq, counts, most)?;
    let element = c.b().element(x);
    let beyond = c.b().first_value(Binary::Min, element)?;
    let candidates = c.b().select(is_most, x, beyond)?;
    let value = c.b().reduce(Binary::Min, candidates, &[d], true)?;
    let is_value = c.b().compare(Comparison::Eq, x, value)?;
    let places = c.b().iota(ElementType::S64, &dims, d)?;
    let never = c.b().number(ElementType::S64, -1.0)?;
    let places = c.b().select(is_value, places, never)?;
    let place = c.b().reduce(Binary::Max, places, &[d], true)?;
    let mut results = [value, place];
    if !keeps {
        for result in &mut results {
            *result = c.b().squeeze(*result, d)?;
        }
    }
    Ok(OpResult::Many(results.into_iter().map(Some).collect()))
}

/// Positions of elements that are not zero, in order: a fixed number of them, filled up if there are fewer.
fn places_not_zero(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let (dims, wanted) = (c.b().dims(x), c.int("size").and_then(|n| u64::try_from(n).ok()));
    let all = c.b().array(x)?.elements().unwrap_or(0);
    let (Some(wanted), true) = (wanted, all > 0 && !dims.is_empty()) else { return Ok(OpResult::Unknown) };
    let row = c.b().reshape(x, &[all])?;
    let is_there = c.b().compare_number(Comparison::Ne, row, 0.0)?;
    let places = c.b().iota(ElementType::S64, &[all], 0)?;
    let beyond = c.b().whole(ElementType::S64, i64::try_from(all).unwrap_or(i64::MAX))?;
    let keys = c.b().select(is_there, places, beyond)?;
    let [sorted, _] = sort_places(c.b(), keys, 0, false)?;
    let first = c.b().slice_dim(sorted, 0, 0, wanted.min(all), 1)?;
    let more = i64::try_from(wanted.saturating_sub(all));
    let more = more.map_err(|_| refuse!("a row of places of {wanted} elements is longer than 63 bits count"))?;
    let found = c.b().pad_with(first, beyond, &[(0, more, 0)])?;
    let is_place = c.b().compare(Comparison::Lt, found, beyond)?;
    let fill = c.t.b.whole(ElementType::S64, c.int_or("fill_value", -1))?;
    let (mut columns, mut step) = (Vec::new(), 1u64);
    for &n in dims.iter().rev() {
        let (divisor, size) =
            (c.b().whole(ElementType::S64, u64_to_i64(step))?, c.b().whole(ElementType::S64, u64_to_i64(n))?);
        let quotient = floor_divide(c.b(), found, divisor)?;
        let column = floor_modulo(c.b(), quotient, size)?;
        columns.push(c.b().select(is_place, column, fill)?);
        step = step.saturating_mul(n);
    }
    columns.reverse();
    one(c.b().stack(&columns, 1)?)
}

/// Quantiles, interpolated linearly between the nearest two elements.
fn quantile(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    if !matches!(c.text("interpolation"), None | Some("linear")) {
        return Ok(OpResult::Unknown);
    }
    let mut x = c.x(0)?;
    let element = c.b().element(x);
    let shares = c.operand(1, element)?;
    let (rank, keeps) = (c.b().rank(x), c.flag_or("keepdim", false));
    let dimension = match c.int("dim") {
        Some(_) => c.dimension("dim", 0, rank)?,
        None => {
            let all = c.b().array(x)?.elements().unwrap_or(0);
            x = c.b().reshape(x, &[all])?;
            0
        }
    };
    let size = c.b().size(x, dimension)?;
    let is_single = c.b().rank(shares) == 0;
    let row = if is_single { c.b().reshape(shares, &[1])? } else { shares };
    let last = u64_to_f64(size.saturating_sub(1));
    let places = c.b().with_number(Binary::Mul, row, last)?;
    let front = c.b().unary(Unary::Floor, places)?;
    let behind = c.b().unary(Unary::Ceil, places)?;
    let share = c.b().sub(places, front)?;
    let [sorted, _] = sort_places(c.b(), x, dimension, false)?;
    let how = RowGather { dimension, wraps: false };
    let mut found = Vec::with_capacity(2);
    for side in [front, behind] {
        let index = c.b().convert(side, ElementType::S64)?;
        found.push(c.b().take(sorted, index, how)?);
    }
    let gap = c.b().sub(found[1], found[0])?;
    let dims = c.b().dims(gap);
    let share = c.b().broadcast_in(share, &dims, vec![usize_to_u32(dimension)])?;
    let part = c.b().mul(gap, share)?;
    let mut value = c.b().add(found[0], part)?;
    // The quantiles are the first dimension; the reduced dimension stays with size one if it is kept.
    let count = c.b().rank(value);
    let order: Vec<usize> = std::iter::once(dimension).chain((0..count).filter(|&d| d != dimension)).collect();
    value = c.b().transpose(value, &order)?;
    if keeps {
        value = c.b().unsqueeze(value, dimension + 1)?;
    }
    one(if is_single { c.b().squeeze(value, 0)? } else { value })
}

/// The Frobenius norm of a matrix, or its largest sum of a row or a column.
fn matrix_norm(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let (rank, keeps) = (c.b().rank(x), c.flag_or("keepdim", false));
    let along = match c.ints("dim") {
        Some(_) => c.dimensions("dim", rank)?,
        None if c.op == "frobenius_norm" => (0..rank).collect(),
        None if rank >= 2 => vec![rank - 2, rank - 1],
        None => return Ok(OpResult::Unknown),
    };
    let order = match c.float("ord") {
        Some(order) => order,
        None if matches!(c.text("ord"), None | Some("fro")) => {
            return one(norm(c.b(), x, 2.0, &along, keeps)?);
        }
        None => return Ok(OpResult::Unknown),
    };
    let (&[rows, columns], true) = (along.as_slice(), order.abs() == 1.0 || order.is_infinite()) else {
        return Ok(OpResult::Unknown);
    };
    let (inner, outer) = if order.is_infinite() { (columns, rows) } else { (rows, columns) };
    let sums = norm(c.b(), x, 1.0, &[inner], true)?;
    let with = if order > 0.0 { Binary::Max } else { Binary::Min };
    let value = c.b().reduce(with, sums, &[outer], true)?;
    if keeps {
        return one(value);
    }
    let dims = c.b().dims(value);
    let kept: Vec<u64> = (0..rank).filter(|d| !along.contains(d)).map(|d| dims[d]).collect();
    one(c.b().reshape(value, &kept)?)
}

/// The area under a curve: half the sum of neighbours, times their distance.
fn area(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let y = c.x(0)?;
    let rank = c.b().rank(y);
    let d = c.dimension("dim", -1, rank)?;
    let halves = |c: &mut Call<'_, '_, '_>, x: InstructionId, d: usize| -> Result<[InstructionId; 2], Refusal> {
        let size = c.b().size(x, d)?;
        let later = c.b().slice_dim(x, d, 1.min(size), size, 1)?;
        Ok([c.b().slice_dim(x, d, 0, size.saturating_sub(1), 1)?, later])
    };
    let [earlier, later] = halves(c, y, d)?;
    let both = c.b().add(earlier, later)?;
    let parts = match c.tensor("x")? {
        None => {
            let half = c.float_or("dx", 1.0) / 2.0;
            c.b().with_number(Binary::Mul, both, half)?
        }
        Some(x) => {
            let own = c.b().rank(x);
            let at = if own == 1 { 0 } else { d };
            let [from, to] = halves(c, x, at)?;
            let mut step = c.b().sub(to, from)?;
            if own == 1 {
                let dims = c.b().dims(both);
                step = c.b().broadcast_in(step, &dims, vec![usize_to_u32(d)])?;
            }
            let product = c.b().mul(both, step)?;
            c.b().with_number(Binary::Mul, product, 0.5)?
        }
    };
    one(c.b().reduce(Binary::Add, parts, &[d], false)?)
}

/// The distance of each pair of rows of a matrix.
fn between_rows(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, p) = (c.x(0)?, c.float_or("p", 2.0));
    let rows = c.b().size(x, 0)?;
    if rows > MOST_ROWS {
        return Err(refuse!(
            "a matrix of distances between rows of sizes {:?} is too large: the limit is {MOST_ROWS}",
            [rows]
        ));
    }
    let pairs = || (0..u64_to_i64(rows)).flat_map(|i| (i + 1..u64_to_i64(rows)).map(move |j| (i, j)));
    let (first, second): (Vec<i64>, Vec<i64>) = pairs().unzip();
    let how = RowGather { dimension: 0, wraps: false };
    let mut sides = Vec::with_capacity(2);
    for places in [first, second] {
        let row = c.b().whole_row(ElementType::S64, &places)?;
        sides.push(c.b().take(x, row, how)?);
    }
    let gap = c.b().sub(sides[0], sides[1])?;
    one(norm(c.b(), gap, p, &[1], false)?)
}
