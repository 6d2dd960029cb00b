//! Operations that move elements: look-ups, slices whose start is computed, padding.

use super::emit::Emit;
use super::ops::worked;
use crate::hlo::{InstrId, Opcode, WorkKind};
use ns_base::Refusal;
use ns_base::convert::usize_to_u32;
use ns_program::{GatherDims, Numbers};
use ns_tensor::kernels::SliceDim;
use ns_tensor::{DType, Shape};

type Result<T> = std::result::Result<T, Refusal>;

/// A round trip through device memory.
pub(super) fn moved(e: &mut Emit<'_>, name: &str, shape: Shape) -> Result<InstrId> {
    worked(e, name, WorkKind::Move, 1, shape)
}

/// Rows of a table, when the look-up is of whole rows.
pub(super) fn gather(e: &mut Emit<'_>, dims: &GatherDims, shape: Shape) -> Result<InstrId> {
    let (table, indices) = (e.operand(0)?, e.operand(1)?);
    let (of, at) = (e.shape(table), e.shape(indices));
    let batch = shape.rank() + 1 - of.rank().min(shape.rank() + 1);
    let is_trailing = dims.offset_dims.iter().map(|&d| d as usize).eq(batch..shape.rank());
    let whole_rows = dims.slice_sizes.first() == Some(&1) && dims.slice_sizes.get(1..) == of.dims.get(1..);
    let is_rows = dims.collapsed_slice_dims == [0]
        && dims.start_index_map == [0]
        && dims.operand_batching_dims.is_empty()
        && is_trailing
        && whole_rows;
    if !is_rows {
        return moved(e, "gather", shape);
    }
    let vector = dims.index_vector_dim as usize;
    let kept: Vec<u64> = (0..at.rank()).filter(|&d| d != vector).map(|d| at.dims[d]).collect();
    let indices = e.reshaped(indices, kept);
    let indices = if e.shape(indices).dtype == DType::S32 {
        indices
    } else {
        let dims = e.shape(indices).dims;
        e.push(Opcode::Convert, vec![indices], Shape::new(DType::S32, dims))
    };
    Ok(e.push(Opcode::Gather, vec![table, indices], shape))
}

/// The start indices, one for each dimension of `x`, if they are known.
fn known_starts(e: &Emit<'_>, first: usize, rank: usize) -> Option<Vec<i64>> {
    let starts: Vec<i64> = (first..first + rank)
        .map(|n| match &e.flat.nodes[e.operand_id(n).ok()?].value.as_ref()?.numbers {
            Numbers::Whole(v) => v.first().copied(),
            _ => None,
        })
        .collect::<Option<_>>()?;
    Some(starts)
}

pub(super) fn dynamic_slice(e: &mut Emit<'_>, sizes: &[u64], shape: Shape) -> Result<InstrId> {
    let x = e.operand(0)?;
    let dims = e.shape(x).dims;
    let Some(starts) = known_starts(e, 1, dims.len()) else { return moved(e, "dynamic-slice", shape) };
    let range = |((&start, &size), &dim): ((&i64, &u64), &u64)| {
        let start = u64::try_from(start).unwrap_or(0).min(dim.saturating_sub(size));
        SliceDim { start, limit: start + size, stride: 1 }
    };
    let ranges = starts.iter().zip(sizes).zip(&dims).map(range).collect();
    Ok(e.sliced(x, ranges))
}

pub(super) fn dynamic_update_slice(e: &mut Emit<'_>, shape: Shape) -> Result<InstrId> {
    // A buffer given from the start is written out with the part in it; readers continue with the whole.
    if e.forms[e.operand_id(0)?] != super::constant_forms::ConstantForm::No {
        return moved(e, "dynamic-update-slice", shape);
    }
    let mut operands = vec![e.operand(0)?, e.operand(1)?];
    for n in 0..shape.rank() {
        let start = e.operand(n + 2)?;
        let start = if e.shape(start).dtype == DType::S32 {
            start
        } else {
            e.push(Opcode::Convert, vec![start], Shape::new(DType::S32, []))
        };
        operands.push(start);
    }
    Ok(e.push(Opcode::DynamicUpdateSlice, operands, shape))
}

/// Padding with a constant joins constants before and after, which costs nothing; other padding moves elements.
pub(super) fn pad(e: &mut Emit<'_>, low: &[i64], high: &[i64], interior: &[u64], shape: Shape) -> Result<InstrId> {
    if interior.iter().any(|&i| i != 0) {
        return moved(e, "pad", shape);
    }
    let mut x = e.operand(0)?;
    // The elements that negative padding cuts off.
    let dims = e.shape(x).dims;
    let cut = |n: i64| n.min(0).unsigned_abs();
    let range = |d: usize| SliceDim { start: cut(low[d]), limit: dims[d].saturating_sub(cut(high[d])), stride: 1 };
    x = e.sliced(x, (0..dims.len()).map(range).collect());
    let fill = match e.forms[e.operand_id(1)?] {
        super::constant_forms::ConstantForm::Splat(value) => value,
        _ => return moved(e, "pad", shape),
    };
    for d in 0..dims.len() {
        let mut parts = Vec::new();
        for (at, n) in [(0, low[d]), (1, high[d])] {
            if at == 1 {
                parts.push(x);
            }
            if n > 0 {
                let mut part = e.shape(x);
                part.dims[d] = n.unsigned_abs();
                parts.push(e.splat(fill, part));
            }
        }
        if parts.len() > 1 {
            let mut joined = e.shape(x);
            joined.dims[d] = parts.iter().map(|&p| e.shape(p).dims[d]).sum();
            x = e.push(Opcode::Concatenate { dimension: usize_to_u32(d) }, parts, joined);
        }
    }
    Ok(x)
}
