//! Windows that move over arrays: pooling and its gradient.

use std::rc::Rc;

use super::evaluator::Stop;
use super::pick::{count, for_each_index, strides};
use super::reduce::{Combine, joined, joined_results, number};
use crate::{ArrayType, Numbers, Value, WindowDim};
use ns_base::{Refusal, refuse};

/// Index in the operand of a window's element; `None` on padding and between elements.
pub(super) fn place(window: &WindowDim, at: u64, inside: u64, size: u64) -> Option<i64> {
    let at = i64::try_from(at.checked_mul(window.stride)?).ok()?;
    let inside = i64::try_from(inside.checked_mul(window.window_dilation)?).ok()?;
    let padded = at.checked_add(inside)?.checked_sub(window.pad_low)?;
    let dilation = i64::try_from(window.base_dilation.max(1)).ok()?;
    if padded < 0 || padded % dilation != 0 {
        return None;
    }
    let place = padded / dilation;
    (place < i64::try_from(size).ok()?).then_some(place)
}

/// Number of positions of a window along a dimension.
pub(super) fn places(window: &WindowDim, size: u64) -> Result<u64, Refusal> {
    let wide = |n: u64| i64::try_from(n).map_err(|_| refuse!("a window is too large"));
    let dilated =
        if size == 0 { 0 } else { wide(size)?.saturating_sub(1).saturating_mul(wide(window.base_dilation)?) + 1 };
    let padded = dilated.saturating_add(window.pad_low).saturating_add(window.pad_high);
    let reach = wide(window.size)?.saturating_sub(1).saturating_mul(wide(window.window_dilation)?) + 1;
    if padded < reach || window.stride == 0 || window.size == 0 {
        return Ok(0);
    }
    Ok(((padded - reach) / wide(window.stride)? + 1).cast_unsigned())
}

fn result_dims(x: &ArrayType, window: &[WindowDim]) -> Result<Vec<u64>, Refusal> {
    if window.len() != x.dims.len() {
        return Err(refuse!("the window has {} dimensions and {x} has {}", window.len(), x.dims.len()));
    }
    window.iter().zip(&x.dims).map(|(w, &d)| places(w, d)).collect()
}

/// Indices of the elements under the window at a position, in order.
fn under(x: &ArrayType, own: &[i64], window: &[WindowDim], at: &[u64], found: &mut Vec<usize>) -> Result<(), Refusal> {
    found.clear();
    let sizes: Vec<u64> = window.iter().map(|w| w.size).collect();
    for_each_index::<Refusal>(&sizes, |_, inside| {
        let mut position = 0;
        for d in 0..window.len() {
            let Some(p) = place(&window[d], at[d], inside[d], x.dims[d]) else { return Ok(()) };
            position += p * own[d];
        }
        found.push(usize::try_from(position).map_err(|_| refuse!("a window lies outside"))?);
        Ok(())
    })
}

pub(super) fn reduce_window(
    operands: &[Rc<Value>],
    window: &[WindowDim],
    combine: &Combine,
    mut call: impl FnMut(Vec<Value>) -> Result<Vec<Value>, Stop>,
) -> Result<Vec<Value>, Stop> {
    let n = operands.len() / 2;
    let (arrays, initial) = operands.split_at(n);
    let first = arrays.first().ok_or_else(|| refuse!("there is nothing to combine"))?;
    let dims = result_dims(&first.ty, window)?;
    let own = strides(&first.ty.dims);
    let mut found = Vec::new();
    let mut results: Vec<Vec<Value>> = vec![Vec::with_capacity(count(&dims)?); n];
    for_each_index::<Stop>(&dims, |_, at| {
        under(&first.ty, &own, window, at, &mut found)?;
        if let (Some(fold), [x], [start]) = (combine.folder(first.ty.element), arrays, initial) {
            let value = fold(&x.numbers, &start.numbers, &mut found.iter().copied())?;
            results[0].push(Value { ty: start.ty.clone(), numbers: value });
            return Ok(());
        }
        let mut state: Vec<Value> = initial.iter().map(|v| v.as_ref().clone()).collect();
        for &i in &found {
            state.extend(arrays.iter().map(|a| number(a, i)));
            state = call(state)?;
        }
        for (all, value) in results.iter_mut().zip(state) {
            all.push(value);
        }
        Ok(())
    })?;
    Ok(joined_results(results, initial, &dims)?)
}

/// Adds each value of `source` at the element that its window chose. `call` runs the computation that
/// chooses (0) and the one that adds (1).
pub(super) fn select_and_scatter(
    x: &Value,
    source: &Value,
    initial: &Value,
    window: &[WindowDim],
    call: &mut dyn FnMut(usize, Vec<Value>) -> Result<Vec<Value>, Stop>,
) -> Result<Value, Stop> {
    let dims = result_dims(&x.ty, window)?;
    if dims != source.ty.dims {
        return Err(refuse!("the window has {dims:?} places and the source is {}", source.ty).into());
    }
    let own = strides(&x.ty.dims);
    let mut result: Vec<Value> = vec![initial.clone(); count(&x.ty.dims)?];
    let mut found = Vec::new();
    for_each_index::<Stop>(&dims, |n, at| {
        under(&x.ty, &own, window, at, &mut found)?;
        let Some(&first) = found.first() else { return Ok(()) };
        let mut chosen = first;
        for &candidate in &found[1..] {
            let keeps = call(0, vec![number(x, chosen), number(x, candidate)])?;
            if keeps.first().is_some_and(|v| matches!(&v.numbers, Numbers::Whole(w) if w.first() == Some(&0))) {
                chosen = candidate;
            }
        }
        let mut sum = call(1, vec![result[chosen].clone(), number(source, n)])?;
        result[chosen] = sum.pop().ok_or_else(|| refuse!("the computation that adds gives nothing"))?;
        Ok(())
    })?;
    Ok(joined(result, &ArrayType::new(initial.ty.element, x.ty.dims.clone()))?)
}
