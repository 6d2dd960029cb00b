//! Slices of an array at indices.

use super::error::{ComputeError, OpResult, Three};
use super::pick::{count, for_each_index, pick, strides, wholes};
use crate::base::convert::{narrow, signed};
use crate::import::program::{ArrayType, GatherDims, Value};

pub(super) fn gather(x: &Value, indices: &Value, dims: &GatherDims, ty: &ArrayType) -> OpResult<Value> {
    let numbers = wholes(indices)?;
    let (own, index_strides) = (strides(&x.ty.dims), strides(&indices.ty.dims));
    let rank = x.ty.dims.len();
    let vector = dims.index_vector_dim as usize;
    let is_collapsed =
        |d: usize| dims.collapsed_slice_dims.contains(&narrow(d)) || dims.operand_batching_dims.contains(&narrow(d));
    let window: Vec<usize> = (0..rank).filter(|&d| !is_collapsed(d)).collect();
    let batch: Vec<usize> = (0..ty.dims.len()).filter(|d| !dims.offset_dims.contains(&narrow(*d))).collect();
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
        return Err(ComputeError::three(Three::Slices, [&x.ty, ty, &indices.ty]));
    }
    let vector_step = index_strides.get(vector).copied().unwrap_or(0);
    let mut map = Vec::with_capacity(count(&ty.dims)?);
    for_each_index::<ComputeError>(&ty.dims, |_, at| {
        let index_at: i64 = batch.iter().zip(&index_dims).map(|(&b, &d)| signed(at[b]) * index_strides[d]).sum();
        let mut position = 0i64;
        for (n, &d) in dims.start_index_map.iter().enumerate() {
            let i = usize::try_from(index_at + signed(n as u64) * vector_step).unwrap_or(usize::MAX);
            let start = *numbers.get(i).ok_or(ComputeError::Outside("an index of the indices"))?;
            let d = d as usize;
            let last = signed(x.ty.dims[d].saturating_sub(dims.slice_sizes[d]));
            position += start.clamp(0, last) * own[d];
        }
        for (&d, index_dim) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
            let which = index_dims.iter().position(|&i| i == *index_dim as usize).unwrap_or(0);
            position += signed(at[batch[which]]) * own[d as usize];
        }
        for (&d, &offset) in window.iter().zip(&dims.offset_dims) {
            position += signed(at[offset as usize]) * own[d];
        }
        map.push(usize::try_from(position).map_err(|_| ComputeError::Outside("an index"))?);
        Ok(())
    })?;
    Ok(Value { ty: ty.clone(), numbers: pick(&x.numbers, None, &map)? })
}
