//! Sorts elements.

use std::rc::Rc;

use super::evaluator::Stop;
use super::pick::{count, pick, strides};
use super::reduce::number;
use crate::{ArrayType, ElementType, Numbers, Value};
use ns_base::convert::{i64_to_f64, usize_to_i64};
use ns_base::{Refusal, refuse};

/// Sorts arrays together along a dimension. `before` gets a pair from each array and says whether the first comes first.
pub(super) fn sort(
    operands: &[Rc<Value>],
    dimension: u32,
    mut before: impl FnMut(Vec<Value>) -> Result<Vec<Value>, Stop>,
) -> Result<Vec<Value>, Stop> {
    let first = operands.first().ok_or_else(|| refuse!("there is nothing to sort"))?;
    let d = dimension as usize;
    let none = || refuse!("{} has no dimension {d}", first.ty);
    let size = *first.ty.dims.get(d).ok_or_else(none)?;
    let size = usize::try_from(size).map_err(|_| refuse!("the dimension is too long"))?;
    let step = usize::try_from(strides(&first.ty.dims)[d]).unwrap_or(1);
    let total = count(&first.ty.dims)?;
    let mut map = vec![0usize; total];
    for start in (0..total).filter(|at| (at / step).is_multiple_of(size.max(1))) {
        let row: Vec<usize> = (0..size).map(|i| start + i * step).collect();
        let mut comes_first = |a: usize, b: usize| -> Result<bool, Stop> {
            let pair = operands.iter().flat_map(|v| [number(v, a), number(v, b)]).collect();
            let said = before(pair)?;
            Ok(
                matches!(said.first().map(|v| &v.numbers), Some(Numbers::Whole(w)) if w.first().is_some_and(|&w| w != 0)),
            )
        };
        for (to, from) in row.iter().zip(merge_sorted(&row, &mut comes_first)?) {
            map[*to] = from;
        }
    }
    let sorted = operands
        .iter()
        .map(|v| Ok(Value { ty: v.ty.clone(), numbers: pick(&v.numbers, None, &map)? }))
        .collect::<Result<Vec<Value>, Refusal>>()?;
    Ok(sorted)
}

/// A stable merge sort. It is our own because the comparison is a program that may fail or contradict itself.
fn merge_sorted<E>(row: &[usize], before: &mut dyn FnMut(usize, usize) -> Result<bool, E>) -> Result<Vec<usize>, E> {
    if row.len() < 2 {
        return Ok(row.to_vec());
    }
    let (left, right) = row.split_at(row.len() / 2);
    let (left, right) = (merge_sorted(left, before)?, merge_sorted(right, before)?);
    let mut merged = Vec::with_capacity(row.len());
    let (mut l, mut r) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    while let (Some(&a), Some(&b)) = (l.peek(), r.peek()) {
        // Equal elements keep their order: the right one goes first only when it comes before.
        if before(b, a)? {
            merged.extend(r.next());
        } else {
            merged.extend(l.next());
        }
    }
    merged.extend(l);
    merged.extend(r);
    Ok(merged)
}

/// The `k` largest or smallest elements of the last dimension with their positions. NaN counts as the largest.
pub(super) fn top_k(x: &Value, k: u64, is_largest: bool, index: ElementType) -> Result<[Value; 2], Refusal> {
    let size = x.ty.dims.last().copied().ok_or_else(|| refuse!("one number has no largest ones"))?;
    if k > size {
        return Err(refuse!("{} does not have {k} elements in its last dimension", x.ty));
    }
    let (size, k) = (count(&[size])?, count(&[k])?);
    let (mut map, mut places) = (Vec::new(), Vec::new());
    for start in (0..x.numbers.len()).step_by(size.max(1)) {
        let mut row: Vec<usize> = (start..start + size).collect();
        let key = |i: usize| match &x.numbers {
            Numbers::Real(v) => Ok(if v[i].is_nan() { f64::INFINITY } else { v[i] }),
            Numbers::Whole(v) => Ok(i64_to_f64(v[i])),
            Numbers::Complex(_) => Err(refuse!("complex numbers have no order")),
        };
        let keys = row.iter().map(|&i| key(i)).collect::<Result<Vec<f64>, Refusal>>()?;
        row.sort_by(|&a, &b| {
            let (a, b) = (keys[a - start], keys[b - start]);
            if is_largest { b.total_cmp(&a) } else { a.total_cmp(&b) }
        });
        map.extend_from_slice(&row[..k]);
        places.extend(row[..k].iter().map(|&i| usize_to_i64(i - start)));
    }
    let mut dims = x.ty.dims.clone();
    if let Some(last) = dims.last_mut() {
        *last = k as u64;
    }
    let values = Value { ty: ArrayType::new(x.ty.element, dims.clone()), numbers: pick(&x.numbers, None, &map)? };
    Ok([values, Value { ty: ArrayType::new(index, dims), numbers: Numbers::Whole(places) }])
}
