//! Indexing by arrays, with numpy's rules.

use super::super::builder::RowGather;
use super::super::{Binary, Builder, Built, ElementType, GatherDims, InstructionId, ScatterDims};
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexPut {
    /// Combines the present element with the new one; `None` replaces it.
    pub combine: Option<Binary>,
}

/// Index arrays of several dimensions, broadcast to one shape.
struct IndexArrays {
    /// Dimensions that are indexed.
    dims: Vec<usize>,
    /// Places, `[.., dims]`.
    starts: InstructionId,
    /// Sizes of the index arrays.
    shape: Vec<u64>,
    /// Where those sizes go in the result.
    at: usize,
}

/// `x[i, :, j ..]`: the dimensions with an index are replaced by the sizes of the index arrays, at the position of the first of them if
/// they are adjacent, else in front. Fails when the indices do not fit each other.
pub fn advanced_index(b: &mut Builder, x: InstructionId, indices: &[Option<InstructionId>]) -> Built {
    let ty = b.array(x)?.clone();
    if let [dimension] = indexed_dims(indices)[..]
        && let Some(index) = indices[dimension]
    {
        return b.take(x, index, RowGather { dimension, wraps: true });
    }
    let arrays = index_arrays(b, x, indices)?;
    let others: Vec<usize> = (0..ty.dims.len()).filter(|d| !arrays.dims.contains(d)).collect();
    let (k, at) = (arrays.shape.len(), arrays.at);
    let mut dims: Vec<u64> = others.iter().map(|&d| ty.dims[d]).collect();
    dims.splice(at..at, arrays.shape.iter().copied());
    let mut slice_sizes = ty.dims.clone();
    arrays.dims.iter().for_each(|&d| slice_sizes[d] = 1);
    let gather = GatherDims {
        offset_dims: (0..dims.len()).filter(|d| !(at..at + k).contains(d)).map(usize_to_u32).collect(),
        collapsed_slice_dims: numbers(&arrays.dims),
        start_index_map: numbers(&arrays.dims),
        index_vector_dim: usize_to_u32(k),
        slice_sizes,
        ..GatherDims::default()
    };
    b.gather(x, arrays.starts, gather, dims)
}

/// `x` with `values` written where [`advanced_index`] would read. Fails when the indices or values do not fit.
pub fn advanced_put(
    b: &mut Builder,
    x: InstructionId,
    indices: &[Option<InstructionId>],
    values: InstructionId,
    how: IndexPut,
) -> Built {
    let ty = b.array(x)?.clone();
    let arrays = index_arrays(b, x, indices)?;
    let others: Vec<usize> = (0..ty.dims.len()).filter(|d| !arrays.dims.contains(d)).collect();
    let (k, at) = (arrays.shape.len(), arrays.at);
    let mut dims: Vec<u64> = others.iter().map(|&d| ty.dims[d]).collect();
    dims.splice(at..at, arrays.shape.iter().copied());
    let values = b.broadcast_to(values, &dims)?;
    let scatter = ScatterDims {
        update_window_dims: (0..dims.len()).filter(|d| !(at..at + k).contains(d)).map(usize_to_u32).collect(),
        inserted_window_dims: numbers(&arrays.dims),
        scatter_dims_to_operand_dims: numbers(&arrays.dims),
        index_vector_dim: usize_to_u32(k),
        ..ScatterDims::default()
    };
    b.scatter(x, arrays.starts, values, scatter, how.combine)
}

/// `x` with each element of `values` written at the index that `indices` gives along `dimension`, and at the same position in all
/// other dimensions. Fails when sizes do not fit.
pub fn scatter_along(
    b: &mut Builder,
    x: InstructionId,
    dimension: usize,
    indices: InstructionId,
    values: InstructionId,
    how: IndexPut,
) -> Built {
    let (rank, dims) = (b.rank(x), b.dims(indices));
    if dims.len() != rank || b.rank(values) != rank {
        let (one, other) = (b.type_of(x), b.type_of(indices));
        return Err(refuse!("{one} is not indexed by {other}"));
    }
    let mut values = values;
    for (d, &n) in dims.iter().enumerate() {
        values = b.slice_dim(values, d, 0, n, 1)?;
    }
    let indices = b.wrapped(indices, b.size(x, dimension)?)?;
    let mut columns = Vec::with_capacity(rank);
    for d in 0..rank {
        let column = if d == dimension { indices } else { b.iota(b.element(indices), &dims, d)? };
        columns.push(column);
    }
    let starts = b.stack(&columns, rank)?;
    let all: Vec<usize> = (0..rank).collect();
    let scatter = ScatterDims {
        inserted_window_dims: numbers(&all),
        scatter_dims_to_operand_dims: numbers(&all),
        index_vector_dim: usize_to_u32(rank),
        ..ScatterDims::default()
    };
    b.scatter(x, starts, values, scatter, how.combine)
}

/// Index arrays broadcast to one shape and stacked in a new last dimension.
fn index_arrays(b: &mut Builder, x: InstructionId, indices: &[Option<InstructionId>]) -> Result<IndexArrays, Refusal> {
    let ty = b.array(x)?.clone();
    let dims = indexed_dims(indices);
    if dims.is_empty() || indices.len() > ty.dims.len() {
        return Err(refuse!("{} indices are given for {ty}", indices.len()));
    }
    let mut shape: Vec<u64> = Vec::new();
    for index in indices.iter().flatten() {
        if b.element(*index) == ElementType::Pred {
            return Err(refuse!("an index of booleans gives a size that depends on data"));
        }
        let own = b.dims(*index);
        shape = super::super::builder::broadcast_dims(&shape, &own)?;
    }
    let mut columns = Vec::with_capacity(dims.len());
    for &d in &dims {
        let Some(index) = indices[d] else { continue };
        let index = b.convert(index, ElementType::S64)?;
        let index = b.wrapped(index, ty.dims[d])?;
        columns.push(b.broadcast_to(index, &shape)?);
    }
    let starts = b.stack(&columns, shape.len())?;
    let is_together = dims.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let at = if is_together { dims[0] } else { 0 };
    Ok(IndexArrays { dims, starts, shape, at })
}

/// Dimensions that have an index.
fn indexed_dims(indices: &[Option<InstructionId>]) -> Vec<usize> {
    (0..indices.len()).filter(|&d| indices[d].is_some()).collect()
}

/// Dimensions in the integer type of the operations.
fn numbers(dims: &[usize]) -> Vec<u32> {
    dims.iter().map(|&d| usize_to_u32(d)).collect()
}
