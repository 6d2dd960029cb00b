//! Slices of an array at indices, and updates written at indices.

use std::rc::Rc;

use super::evaluator::Stop;
use super::pick::{count, for_each_index, pick, strides, wholes};
use super::reduce::{Combine, joined, number};
use crate::{ArrayType, GatherDims, Numbers, ScatterDims, Value};
use ns_base::convert::{u64_to_i64, usize_to_u32};
use ns_base::{Refusal, refuse};

pub(super) fn gather(x: &Value, indices: &Value, dims: &GatherDims, ty: &ArrayType) -> Result<Value, Refusal> {
    let numbers = wholes(indices)?;
    let (own, index_strides) = (strides(&x.ty.dims), strides(&indices.ty.dims));
    let rank = x.ty.dims.len();
    let vector = dims.index_vector_dim as usize;
    let is_collapsed = |d: usize| {
        dims.collapsed_slice_dims.contains(&usize_to_u32(d)) || dims.operand_batching_dims.contains(&usize_to_u32(d))
    };
    let window: Vec<usize> = (0..rank).filter(|&d| !is_collapsed(d)).collect();
    let batch: Vec<usize> = (0..ty.dims.len()).filter(|d| !dims.offset_dims.contains(&usize_to_u32(*d))).collect();
    let index_dims: Vec<usize> = (0..indices.ty.dims.len()).filter(|&d| d != vector).collect();
    let is_whole = dims.slice_sizes.len() == rank
        && window.len() == dims.offset_dims.len()
        && batch.len() == index_dims.len()
        && dims.start_index_map.iter().all(|&d| (d as usize) < rank)
        && dims.operand_batching_dims.len() == dims.start_indices_batching_dims.len()
        && dims.operand_batching_dims.iter().all(|&d| (d as usize) < rank)
        && dims.start_indices_batching_dims.iter().all(|d| index_dims.contains(&(*d as usize)))
        && dims.offset_dims.iter().all(|&d| (d as usize) < ty.dims.len());
    if !is_whole {
        return Err(refuse!("{} has no slices {ty} at {}", x.ty, indices.ty));
    }
    let vector_step = index_strides.get(vector).copied().unwrap_or(0);
    let mut map = Vec::with_capacity(count(&ty.dims)?);
    for_each_index::<Refusal>(&ty.dims, |_, at| {
        let index_at: i64 = batch.iter().zip(&index_dims).map(|(&b, &d)| u64_to_i64(at[b]) * index_strides[d]).sum();
        let mut position = 0i64;
        for (n, &d) in dims.start_index_map.iter().enumerate() {
            let i = usize::try_from(index_at + u64_to_i64(n as u64) * vector_step).unwrap_or(usize::MAX);
            let start = *numbers.get(i).ok_or_else(|| refuse!("an index of the indices lies outside"))?;
            let d = d as usize;
            let last = u64_to_i64(x.ty.dims[d].saturating_sub(dims.slice_sizes[d]));
            position += start.clamp(0, last) * own[d];
        }
        for (&d, index_dim) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
            let which = index_dims.iter().position(|&i| i == *index_dim as usize).unwrap_or(0);
            position += u64_to_i64(at[batch[which]]) * own[d as usize];
        }
        for (&d, &offset) in window.iter().zip(&dims.offset_dims) {
            position += u64_to_i64(at[offset as usize]) * own[d];
        }
        map.push(usize::try_from(position).map_err(|_| refuse!("an index lies outside"))?);
        Ok(())
    })?;
    Ok(Value { ty: ty.clone(), numbers: pick(&x.numbers, None, &map)? })
}

/// The index of the operand's element for each element of the updates; `None` for those outside, which are left out.
fn targets(x: &Value, indices: &Value, updates: &Value, dims: &ScatterDims) -> Result<Vec<Option<usize>>, Refusal> {
    let numbers = wholes(indices)?;
    let (own, index_strides) = (strides(&x.ty.dims), strides(&indices.ty.dims));
    let rank = x.ty.dims.len();
    let vector = dims.index_vector_dim as usize;
    let is_inserted = |d: usize| {
        dims.inserted_window_dims.contains(&usize_to_u32(d)) || dims.input_batching_dims.contains(&usize_to_u32(d))
    };
    let window: Vec<usize> = (0..rank).filter(|&d| !is_inserted(d)).collect();
    let batch: Vec<usize> =
        (0..updates.ty.dims.len()).filter(|d| !dims.update_window_dims.contains(&usize_to_u32(*d))).collect();
    let index_dims: Vec<usize> = (0..indices.ty.dims.len()).filter(|&d| d != vector).collect();
    let is_whole = window.len() == dims.update_window_dims.len()
        && batch.len() == index_dims.len()
        && dims.scatter_dims_to_operand_dims.iter().all(|&d| (d as usize) < rank)
        && dims.input_batching_dims.len() == dims.scatter_indices_batching_dims.len()
        && dims.update_window_dims.iter().all(|&d| (d as usize) < updates.ty.dims.len());
    if !is_whole {
        return Err(refuse!("{} cannot be put into {} at {}", updates.ty, x.ty, indices.ty));
    }
    let vector_step = index_strides.get(vector).copied().unwrap_or(0);
    let mut found = Vec::new();
    for_each_index::<Refusal>(&updates.ty.dims, |_, at| {
        let index_at: i64 = batch.iter().zip(&index_dims).map(|(&b, &d)| u64_to_i64(at[b]) * index_strides[d]).sum();
        let mut place = vec![0i64; rank];
        for (n, &d) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
            let i = usize::try_from(index_at + u64_to_i64(n as u64) * vector_step).unwrap_or(usize::MAX);
            place[d as usize] += *numbers.get(i).ok_or_else(|| refuse!("an index of the indices lies outside"))?;
        }
        for (&d, index_dim) in dims.input_batching_dims.iter().zip(&dims.scatter_indices_batching_dims) {
            if let (Some(which), Some(to)) =
                (index_dims.iter().position(|&i| i == *index_dim as usize), place.get_mut(d as usize))
            {
                *to += u64_to_i64(at[batch[which]]);
            }
        }
        for (&d, &from) in window.iter().zip(&dims.update_window_dims) {
            place[d] = place[d].saturating_add(u64_to_i64(at[from as usize]));
        }
        let is_inside = place.iter().zip(&x.ty.dims).all(|(&p, &d)| (0..u64_to_i64(d)).contains(&p));
        let position: i64 = if is_inside { place.iter().zip(&own).map(|(p, s)| p * s).sum() } else { -1 };
        found.push(usize::try_from(position).ok());
        Ok(())
    })?;
    Ok(found)
}

pub(super) fn scatter(
    operands: &[Rc<Value>],
    dims: &ScatterDims,
    combine: &Combine,
    mut call: impl FnMut(Vec<Value>) -> Result<Vec<Value>, Stop>,
) -> Result<Vec<Value>, Stop> {
    let n = operands.len().saturating_sub(1) / 2;
    if n == 0 || operands.len() != 2 * n + 1 {
        return Err(refuse!("a scatter does not take {} operands", operands.len()).into());
    }
    let (arrays, indices, updates) = (&operands[..n], &operands[n], &operands[n + 1..]);
    let targets = targets(&arrays[0], indices, &updates[0], dims)?;
    if let (Combine::Second, [x], [update]) = (combine, arrays, updates) {
        return Ok(vec![replaced(x, update, &targets)?]);
    }
    let elements = arrays[0].numbers.len();
    let mut results: Vec<Vec<Value>> = arrays.iter().map(|a| (0..elements).map(|i| number(a, i)).collect()).collect();
    for (from, to) in targets.iter().enumerate() {
        let Some(to) = *to else { continue };
        let mut arguments: Vec<Value> = results.iter().map(|r| r[to].clone()).collect();
        arguments.extend(updates.iter().map(|u| number(u, from)));
        for (all, value) in results.iter_mut().zip(call(arguments)?) {
            all[to] = value;
        }
    }
    let joined = results
        .into_iter()
        .zip(arrays)
        .map(|(values, a)| joined(values, &a.ty))
        .collect::<Result<Vec<Value>, Refusal>>()?;
    Ok(joined)
}

/// Updates written in place of the present elements.
fn replaced(x: &Value, update: &Value, targets: &[Option<usize>]) -> Result<Value, Refusal> {
    fn go<T: Copy>(into: &mut [T], from: &[T], targets: &[Option<usize>]) {
        for (&value, to) in from.iter().zip(targets) {
            if let Some(slot) = to.and_then(|t| into.get_mut(t)) {
                *slot = value;
            }
        }
    }
    let mut numbers = x.numbers.clone();
    match (&mut numbers, &update.numbers) {
        (Numbers::Real(a), Numbers::Real(b)) => go(a, b, targets),
        (Numbers::Whole(a), Numbers::Whole(b)) => go(a, b, targets),
        (Numbers::Complex(a), Numbers::Complex(b)) => go(a, b, targets),
        _ => return Err(refuse!("the updates have another element type")),
    }
    Ok(Value { ty: x.ty.clone(), numbers })
}
