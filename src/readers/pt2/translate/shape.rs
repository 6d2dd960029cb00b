//! Operations that change sizes, order and element type: most are views of the same memory.

use super::super::argument::Argument;
use super::call::{Call, CallOutcome, OpResult, Row, one};
use super::views::{Look, ViewId};
use ns_base::convert::i64_to_f64;
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Movement;
use ns_program::builder::RowGather;
use ns_program::{Binary, ElementType};

/// Views, copies, joins and operations that change nothing.
pub const OPS: &[Row] = &[
    (&["detach", "alias", "lift", "contiguous"], Movement, same),
    (&["requires_grad", "alias_copy", "detach_copy", "pin_memory"], Movement, same),
    (&["clone", "lift_fresh_copy", "lift_fresh"], Movement, copy),
    (
        // The names of types are methods in TorchScript.
        &["cpu", "to_dense", "to", "_to_copy", "type_as", "float", "half", "double", "long", "int", "bool", "bfloat16"],
        Movement,
        convert,
    ),
    (&["_autocast_to_full_precision", "_autocast_to_reduced_precision"], Movement, convert),
    (&["view"], Movement, view),
    (&["_unsafe_view", "reshape", "view_as", "reshape_as", "flatten", "unflatten", "squeeze"], Movement, reshape),
    (&["unsqueeze", "_reshape_alias", "ravel", "atleast_1d", "atleast_2d", "atleast_3d"], Movement, reshape),
    (&["squeeze_copy", "view_copy", "unsqueeze_copy"], Movement, reshape),
    (&["as_strided", "as_strided_copy"], Movement, as_strided),
    (&["transpose", "swapaxes", "swapdims", "t", "t_copy", "permute", "movedim", "moveaxis"], Movement, transpose),
    (&["numpy_T", "mT", "mH", "matrix_H", "adjoint", "permute_copy", "transpose_copy"], Movement, transpose),
    (&["expand", "expand_as", "broadcast_to", "expand_copy"], Movement, |c| {
        let dims = c.result()?.dims;
        look(c, Look::Expand(dims))
    }),
    (&["slice", "slice_copy", "narrow", "narrow_copy", "select", "select_copy"], Movement, part),
    (&["split", "split_with_sizes", "chunk", "unbind", "tensor_split", "unsafe_split"], Movement, parts),
    (&["unsafe_split_with_sizes", "unsafe_chunk"], Movement, parts),
    (&["split_copy", "split_with_sizes_copy", "unbind_copy"], Movement, parts),
    // Checks, and sizes whose values the file has.
    (&["_assert_async", "_assert_scalar", "_assert_tensor_metadata"], Movement, |_| Ok(OpResult::Nothing)),
    (&["sym_constrain_range", "sym_constrain_range_for_size", "sym_is_contiguous"], Movement, |_| {
        Ok(OpResult::Nothing)
    }),
    (&["sym_numel", "sym_size", "sym_storage_offset", "sym_stride"], Movement, |_| Ok(OpResult::Nothing)),
    (&["cat", "concat", "concatenate", "stack", "hstack", "vstack"], Movement, join),
];

/// The same elements with the sizes of the result, or with `dtype` the same bits as numbers of another type.
fn view(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    if c.overload != "dtype" {
        return reshape(c);
    }
    let x = c.x(0)?;
    let ty = c.result()?;
    one(c.b().push_array(ns_program::Op::BitcastConvert, vec![x], ty.element, ty.dims)?)
}

/// The same elements with the sizes of the result.
fn reshape(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let dims = c.result()?.dims;
    look(c, Look::Reshape(dims))
}

/// A value that is the operand itself. Fails when there is no operand.
pub fn same(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    Ok(OpResult::Views(vec![c.view(0)?]))
}

/// A copy with its own memory.
fn copy(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    one(c.x(0)?)
}

/// Another element type, or the same value if it already has the type.
fn convert(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let element = c.result()?.element;
    let x = c.x(0)?;
    if c.b().element(x) == element && c.op != "_to_copy" && !c.flag_or("copy", false) {
        return same(c);
    }
    one(c.b().convert(x, element)?)
}

/// A view of the operand.
fn look(c: &mut Call<'_, '_, '_>, look: Look) -> CallOutcome {
    let parent = c.view(0)?;
    Ok(OpResult::Views(vec![c.t.views.look(&mut c.t.b, parent, look)?]))
}

/// Row-major strides need no copy; other strides pick elements of an operand in row-major order.
fn as_strided(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let ty = c.result()?;
    let strides = c.ints("stride").unwrap_or_default();
    let x = c.x(0)?;
    let offset = c.int_or("storage_offset", 0);
    let all = c.b().array(x)?.elements().unwrap_or(0);
    if is_row_major(&strides, &ty.dims) && ty.elements() == Some(all) && offset == 0 {
        return look(c, Look::Reshape(ty.dims));
    }
    if !lies_row_by_row(c)? || strides.len() != ty.dims.len() || ty.dims.is_empty() {
        return Err(refuse!("the strides are not the strides of the sizes"));
    }
    let last = ty.dims.iter().zip(&strides).try_fold(offset, |at, (&n, &stride)| {
        let steps = i64::try_from(n.saturating_sub(1)).ok()?;
        at.checked_add(steps.checked_mul(stride)?).filter(|_| stride >= 0)
    });
    if last.and_then(|n| u64::try_from(n).ok()).is_none_or(|n| n >= all) || ty.elements() == Some(0) {
        return Err(refuse!("the strides reach beyond the operand"));
    }
    let mut places = c.b().full(ElementType::S64, &ty.dims, i64_to_f64(offset))?;
    for (d, &stride) in strides.iter().enumerate() {
        let along = c.b().iota(ElementType::S64, &ty.dims, d)?;
        let along = c.b().with_number(Binary::Mul, along, i64_to_f64(stride))?;
        places = c.b().add(places, along)?;
    }
    let row = c.b().reshape(x, &[all])?;
    one(c.b().take(row, places, RowGather { dimension: 0, wraps: false })?)
}

fn is_row_major(strides: &[i64], dims: &[u64]) -> bool {
    let mut step = 1u64;
    let mut fits = strides.len() == dims.len();
    for (&n, &stride) in dims.iter().zip(strides).rev() {
        fits &= n == 1 || u64::try_from(stride) == Ok(step);
        step = step.saturating_mul(n);
    }
    fits
}

/// Whether the first operand is row-major from the start of its memory, according to the file.
fn lies_row_by_row(c: &mut Call<'_, '_, '_>) -> Result<bool, Refusal> {
    let Argument::Tensor(name) = c.at(0)? else { return Ok(false) };
    let Some(meta) = c.graph.tensor_values.get(name.get()) else { return Ok(false) };
    let starts_at_first = match &meta.storage_offset {
        None => true,
        Some(offset) => c.t.symbols.number(offset).is_ok_and(|n| n == 0),
    };
    let strides: Result<Vec<i64>, _> = meta.strides.iter().map(|s| c.t.symbols.number(s)).collect();
    let x = c.x(0)?;
    let dims = c.b().dims(x);
    Ok(starts_at_first && strides.is_ok_and(|strides| is_row_major(&strides, &dims)))
}

/// A permutation of the dimensions.
fn transpose(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    if matches!(c.op, "mH" | "matrix_H" | "adjoint") && rank >= 2 && c.b().element(x).is_complex() {
        let turned = c.b().swap_dims(x, rank - 2, rank - 1)?;
        return one(super::spectral::conjugate(c, turned)?);
    }
    let mut order: Vec<usize> = (0..rank).collect();
    match c.op {
        "permute" | "permute_copy" => order = c.dimensions("dims", rank)?,
        "t" | "t_copy" if rank == 2 => order.reverse(),
        "t" | "t_copy" => {}
        "numpy_T" => order.reverse(),
        "mT" | "mH" | "matrix_H" | "adjoint" if rank >= 2 => order.swap(rank - 1, rank - 2),
        "movedim" | "moveaxis" => order = moved(c, rank)?,
        _ => {
            let at = |place: usize| -> Result<usize, Refusal> {
                let number = c.int_of(c.at(place)?).unwrap_or(i64::MAX);
                ns_program::compose::dimension(rank, number)
            };
            let (a, b) = (at(1)?, at(2)?);
            if rank > 0 {
                order.swap(a, b);
            }
        }
    }
    look(c, Look::Transpose(order))
}

/// The permutation after dimensions have moved.
fn moved(c: &Call<'_, '_, '_>, rank: usize) -> Result<Vec<usize>, Refusal> {
    let (from, to) = (c.dimensions("source", rank)?, c.dimensions("destination", rank)?);
    if from.len() != to.len() {
        return Err(refuse!("{} dimensions are moved to {} places", from.len(), to.len()));
    }
    let mut rest = (0..rank).filter(|d| !from.contains(d));
    let order: Vec<usize> = (0..rank)
        .filter_map(|place| match to.iter().position(|&t| t == place) {
            Some(at) => Some(from[at]),
            None => rest.next(),
        })
        .collect();
    Ok(order)
}

/// A range, or one element, of a dimension.
fn part(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let dimension = c.dimension("dim", 0, rank)?;
    let size = c.b().size(x, dimension)?;
    let parent = c.view(0)?;
    if c.op.starts_with("select") {
        let index = c.int("index").ok_or_else(|| c.missing("index"))?;
        let at = from_front(index, size);
        if at >= size {
            return Err(refuse!("a dimension of {size} elements has no element {index}"));
        }
        let row = c.t.views.look(&mut c.t.b, parent, Look::Slice(dimension, at, at + 1, 1))?;
        let dims = c.result()?.dims;
        return Ok(OpResult::Views(vec![c.t.views.look(&mut c.t.b, row, Look::Reshape(dims))?]));
    }
    let (start, limit, step) = if c.op.starts_with("narrow") {
        let start = from_front(c.int_or("start", 0), size);
        (start, start.saturating_add(u64::try_from(c.int_or("length", 0)).unwrap_or(0)), 1)
    } else {
        let start = from_front(c.int_or("start", 0), size);
        let limit = from_front(c.int_or("end", i64::MAX), size);
        (start, limit.max(start), u64::try_from(c.int_or("step", 1)).unwrap_or(1))
    };
    look(c, Look::Slice(dimension, start.min(size), limit.min(size), step))
}

/// An index that counts from the end if it is negative, clamped to the dimension.
fn from_front(at: i64, size: u64) -> u64 {
    match u64::try_from(at) {
        Ok(at) => at.min(size),
        Err(_) => size.saturating_sub(at.unsigned_abs()),
    }
}

/// Splits a dimension into as many parts as there are results.
fn parts(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let dimension = c.dimension("dim", 0, rank)?;
    let parent = c.view(0)?;
    let is_unbound = c.op.starts_with("unbind");
    let mut start = 0u64;
    let mut views: Vec<ViewId> = Vec::new();
    for ty in c.results()? {
        let n = if is_unbound { 1 } else { ty.dims.get(dimension).copied().unwrap_or(1) };
        let part = c.t.views.look(&mut c.t.b, parent, Look::Slice(dimension, start, start.saturating_add(n), 1))?;
        start = start.saturating_add(n);
        views.push(if is_unbound { c.t.views.look(&mut c.t.b, part, Look::Reshape(ty.dims))? } else { part });
    }
    Ok(OpResult::Views(views))
}

/// Tensors joined along a dimension, or stacked along a new one.
fn join(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let ty = c.result()?;
    let rank = ty.dims.len();
    let mut parts = Vec::new();
    for x in c.tensors(0)? {
        // Empty tensors of one dimension can be joined with any tensor.
        if c.b().dims(x) == [0] && rank != 1 {
            continue;
        }
        let mut x = c.b().convert(x, ty.element)?;
        if matches!(c.op, "vstack") && c.b().rank(x) == 1 {
            x = c.b().unsqueeze(x, 0)?;
        }
        parts.push(x);
    }
    match c.op {
        "stack" => {
            let dimension = c.dimension("dim", 0, rank)?;
            one(c.b().stack(&parts, dimension)?)
        }
        "vstack" => one(c.b().concatenate(&parts, 0)?),
        "hstack" => one(c.b().concatenate(&parts, usize::from(rank > 1))?),
        _ => {
            let dimension = c.dimension("dim", 0, rank)?;
            one(c.b().concatenate(&parts, dimension)?)
        }
    }
}
