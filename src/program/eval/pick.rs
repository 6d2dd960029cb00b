//! Arrays made from elements of other arrays: which element goes where.

use crate::{Numbers, Value};
use ns_base::{Refusal, refuse};

/// Marks a position that takes the fill instead of an element.
pub(super) const NOWHERE: usize = usize::MAX;

/// Most elements of an array, so that its numbers fit in a browser's memory.
pub(super) const MAX_ELEMENTS: u64 = 1 << 28;

/// Number of elements as a `usize`.
pub(super) fn count(dims: &[u64]) -> Result<usize, Refusal> {
    let n = dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
    match n.filter(|&n| n <= MAX_ELEMENTS).map(usize::try_from) {
        Some(Ok(n)) => Ok(n),
        _ => Err(refuse!("an array of {dims:?} elements is too large to compute")),
    }
}

/// Distance between neighbours of each dimension, row-major.
pub(super) fn strides(dims: &[u64]) -> Vec<i64> {
    let mut strides = vec![1i64; dims.len()];
    for i in (0..dims.len().saturating_sub(1)).rev() {
        strides[i] = strides[i + 1].saturating_mul(i64::try_from(dims[i + 1]).unwrap_or(i64::MAX));
    }
    strides
}

/// Positions `offset + sum(index[i] * steps[i])` for every index of `dims`, in order.
pub(super) fn strided(dims: &[u64], steps: &[i64], offset: i64) -> Result<Vec<usize>, Refusal> {
    let n = count(dims)?;
    let mut map = Vec::with_capacity(n);
    let mut index = vec![0u64; dims.len()];
    let mut at = offset;
    for _ in 0..n {
        map.push(usize::try_from(at).unwrap_or(NOWHERE));
        for d in (0..dims.len()).rev() {
            index[d] += 1;
            // Beyond the array, a step may not fit into 64 bits; the way back undoes it.
            at = at.wrapping_add(steps[d]);
            if index[d] < dims[d] {
                break;
            }
            at = at.wrapping_sub(steps[d].wrapping_mul(i64::try_from(dims[d]).unwrap_or(i64::MAX)));
            index[d] = 0;
        }
    }
    Ok(map)
}

/// Calls `f` with every index of `dims`, in order.
pub(super) fn for_each_index<E>(dims: &[u64], mut f: impl FnMut(usize, &[u64]) -> Result<(), E>) -> Result<(), E>
where
    E: From<Refusal>,
{
    let n = count(dims)?;
    let mut index = vec![0u64; dims.len()];
    for at in 0..n {
        f(at, &index)?;
        for d in (0..dims.len()).rev() {
            index[d] += 1;
            if index[d] < dims[d] {
                break;
            }
            index[d] = 0;
        }
    }
    Ok(())
}

/// The elements of `from` at these positions; the first element of `fill` where the position is [`NOWHERE`].
pub(super) fn pick(from: &Numbers, fill: Option<&Value>, map: &[usize]) -> Result<Numbers, Refusal> {
    fn go<T: Copy>(from: &[T], fill: Option<T>, map: &[usize]) -> Result<Vec<T>, Refusal> {
        let one = |&at: &usize| {
            let found = if at == NOWHERE { fill } else { from.get(at).copied() };
            found.ok_or_else(|| refuse!("an index lies outside"))
        };
        map.iter().map(one).collect()
    }
    let fill = fill.map(|v| &v.numbers);
    Ok(match (from, fill) {
        (Numbers::Real(v), Some(Numbers::Real(f))) => Numbers::Real(go(v, f.first().copied(), map)?),
        (Numbers::Real(v), None) => Numbers::Real(go(v, None, map)?),
        (Numbers::Whole(v), Some(Numbers::Whole(f))) => Numbers::Whole(go(v, f.first().copied(), map)?),
        (Numbers::Whole(v), None) => Numbers::Whole(go(v, None, map)?),
        (Numbers::Complex(v), Some(Numbers::Complex(f))) => Numbers::Complex(go(v, f.first().copied(), map)?),
        (Numbers::Complex(v), None) => Numbers::Complex(go(v, None, map)?),
        _ => return Err(refuse!("the fill has another element type")),
    })
}

/// The integers of a value.
pub(super) fn wholes(value: &Value) -> Result<&[i64], Refusal> {
    match &value.numbers {
        Numbers::Whole(v) => Ok(v),
        _ => Err(refuse!("{} holds no whole numbers", value.ty)),
    }
}

/// The real numbers of a value; integers are converted.
pub(super) fn reals(value: &Value) -> Result<std::borrow::Cow<'_, [f64]>, Refusal> {
    match &value.numbers {
        Numbers::Real(v) => Ok(v.into()),
        Numbers::Whole(v) => Ok(v.iter().map(|&v| crate::round::as_real(value.ty.element, v)).collect()),
        Numbers::Complex(_) => Err(refuse!("{} holds complex numbers", value.ty)),
    }
}
