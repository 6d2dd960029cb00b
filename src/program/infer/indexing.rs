//! Operations that read or write at computed indices.
use super::{Inference, check_dimensions};
use crate::{ArrayType, GatherDims, Op, ScatterDims, Type};
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};

pub(super) fn result(at: &Inference<'_>) -> Result<Type, Refusal> {
    match at.op {
        Op::DynamicSlice { sizes } => dynamic_slice(at, sizes),
        Op::DynamicUpdateSlice => dynamic_update_slice(at),
        Op::Gather(dims) => gather(at, dims),
        Op::Scatter(dims) => scatter(at, dims),
        _ => Ok(at.declared.clone()),
    }
}

/// Start indices are one number for each dimension, or one vector for all dimensions.
fn check_starts(at: &Inference<'_>, first: usize, rank: usize) -> Result<(), Refusal> {
    let starts = at.operands.len() - first;
    let is_vector = starts == 1 && at.array(first)?.dims.len() == 1 && at.array(first)?.dims[0] == rank as u64;
    if starts != rank && !is_vector {
        return Err(refuse!("it has {starts} start indices for {rank} dimensions"));
    }
    for i in first..at.operands.len() {
        let index = at.array(i)?;
        if !index.element.is_integer() || !(index.dims.is_empty() || is_vector) {
            return Err(refuse!("a start index is {index} and must be one whole number"));
        }
    }
    Ok(())
}

fn dynamic_slice(at: &Inference<'_>, sizes: &[u64]) -> Result<Type, Refusal> {
    let from = at.array(0)?;
    check_starts(at, 1, from.dims.len())?;
    if sizes.len() != from.dims.len() || sizes.iter().zip(&from.dims).any(|(size, dim)| size > dim) {
        return Err(refuse!("it takes a part of sizes {sizes:?} of {from}"));
    }
    Ok(Type::Array(ArrayType::new(from.element, sizes)))
}

fn dynamic_update_slice(at: &Inference<'_>) -> Result<Type, Refusal> {
    let (whole, part) = (at.array(0)?, at.array(1)?);
    check_starts(at, 2, whole.dims.len())?;
    let fits = part.dims.len() == whole.dims.len() && part.dims.iter().zip(&whole.dims).all(|(p, w)| p <= w);
    if !fits || part.element != whole.element {
        return Err(refuse!("it puts {part} into {whole}"));
    }
    Ok(at.operands[0].clone())
}

/// Sizes of the indices' dimensions, without the one that holds an index.
fn batch_sizes(indices: &ArrayType, index_vector_dim: u32) -> Result<Vec<u64>, Refusal> {
    let axis = index_vector_dim as usize;
    if axis > indices.dims.len() {
        return Err(refuse!("its index_vector_dim is {axis} and its indices are {indices}"));
    }
    Ok(indices.dims.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, &d)| d).collect())
}

fn gather(at: &Inference<'_>, dims: &GatherDims) -> Result<Type, Refusal> {
    let (from, indices) = (at.array(0)?, at.array(1)?);
    let rank = from.dims.len();
    if !indices.element.is_integer() {
        return Err(refuse!("its indices are {indices} and must be whole numbers"));
    }
    if dims.slice_sizes.len() != rank || dims.slice_sizes.iter().zip(&from.dims).any(|(size, dim)| size > dim) {
        return Err(refuse!("it takes slices of sizes {:?} of {from}", dims.slice_sizes));
    }
    check_dimensions(&dims.collapsed_slice_dims, rank, "collapsed_slice_dims")?;
    check_dimensions(&dims.start_index_map, rank, "start_index_map")?;
    check_dimensions(&dims.operand_batching_dims, rank, "operand_batching_dims")?;
    let mut batch = batch_sizes(indices, dims.index_vector_dim)?.into_iter();
    let is_dropped = |i: u32| dims.collapsed_slice_dims.contains(&i) || dims.operand_batching_dims.contains(&i);
    let kept =
        dims.slice_sizes.iter().enumerate().filter(|(i, _)| !is_dropped(usize_to_u32(*i))).map(|(_, &size)| size);
    let offset: Vec<u64> = kept.collect();
    let result_rank = batch.len() + offset.len();
    check_dimensions(&dims.offset_dims, result_rank, "offset_dims")?;
    if offset.len() != dims.offset_dims.len() {
        return Err(refuse!(
            "its slices have {} dimensions and offset_dims has {}",
            offset.len(),
            dims.offset_dims.len()
        ));
    }
    let sizes = (0..usize_to_u32(result_rank)).map(|i| match dims.offset_dims.iter().position(|&d| d == i) {
        Some(k) => offset[k],
        None => batch.next().unwrap_or(1),
    });
    Ok(Type::Array(ArrayType::new(from.element, sizes.collect::<Vec<_>>())))
}

fn scatter(at: &Inference<'_>, dims: &ScatterDims) -> Result<Type, Refusal> {
    let n = at.operands.len() / 2;
    if at.operands.len().is_multiple_of(2) {
        return Err(refuse!("it has {} operands and takes as many arrays as updates, and indices", at.operands.len()));
    }
    let indices = at.array(n)?;
    let batch = batch_sizes(indices, dims.index_vector_dim)?.len();
    for i in 0..n {
        let (whole, update) = (at.array(i)?, at.array(n + 1 + i)?);
        check_dimensions(&dims.update_window_dims, update.dims.len(), "update_window_dims")?;
        check_dimensions(&dims.inserted_window_dims, whole.dims.len(), "inserted_window_dims")?;
        check_dimensions(&dims.scatter_dims_to_operand_dims, whole.dims.len(), "scatter_dims_to_operand_dims")?;
        let window = dims.update_window_dims.len() + dims.inserted_window_dims.len() + dims.input_batching_dims.len();
        if update.dims.len() != batch + dims.update_window_dims.len() || window != whole.dims.len() {
            return Err(refuse!("it puts {update} into {whole} at {indices}"));
        }
    }
    let types: Vec<Type> = at.operands[..n].iter().map(|t| (*t).clone()).collect();
    Ok(if n == 1 { types[0].clone() } else { Type::Tuple(types) })
}
