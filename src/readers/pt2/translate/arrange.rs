//! Operations that move elements: repetitions, paddings, shuffles, grids.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::{i64_to_f64, usize_to_u32};
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Movement;
use ns_program::compose::cumulative;
use ns_program::{Binary, Comparison, ElementType, InstructionId};

/// Repetitions, permutations, paddings.
pub const OPS: &[Row] =
    &[
        (&["repeat", "tile"], Movement, repeat),
        (&["repeat_interleave"], Movement, |c| {
            if c.overload == "self_int" { repeat_interleave(c) } else { repeat_each(c) }
        }),
        (&["flip"], Movement, |c| {
            let x = c.x(0)?;
            let rank = c.b().rank(x);
            let dimensions = c.dimensions("dims", rank)?;
            one(c.b().reverse(x, &dimensions)?)
        }),
        (&["roll"], Movement, roll),
        (&["pad", "constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d"], Movement, pad),
        (&["replication_pad1d", "replication_pad2d", "replication_pad3d"], Movement, pad),
        (&["pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle"], Movement, shuffle),
        (&["tril", "triu"], Movement, triangle),
        (&["diff"], Movement, difference),
        (&["meshgrid"], Movement, meshgrid),
        (&["broadcast_tensors"], Movement, |c| {
            let types = c.results()?;
            let mut values = Vec::new();
            for (x, ty) in c.tensors(0)?.into_iter().zip(types) {
                values.push(Some(c.b().broadcast_to(x, &ty.dims)?));
            }
            Ok(OpResult::Many(values))
        }),
    ];

/// The whole tensor, repeated along each dimension.
fn repeat(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let ty = c.result()?;
    let x = c.x(0)?;
    let rank = ty.dims.len();
    let mut from = c.b().dims(x);
    while from.len() < rank {
        from.insert(0, 1);
    }
    // Each dimension with its repetitions as a separate dimension: [times, size, times, size ..].
    let mut times = Vec::with_capacity(rank);
    for (&to, &n) in ty.dims.iter().zip(&from) {
        times.push(to.checked_div(n).unwrap_or(if n == 0 { 1 } else { 0 }));
    }
    let x = c.b().reshape(x, &from)?;
    let apart: Vec<u64> = times.iter().zip(&from).flat_map(|(&t, &n)| [t, n]).collect();
    let places = (0..rank).map(|d| 2 * usize_to_u32(d) + 1).collect();
    let many = c.b().broadcast_in(x, &apart, places)?;
    one(c.b().reshape(many, &ty.dims)?)
}

/// Repeats each element.
fn repeat_interleave(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let times = c.int("repeats").and_then(|n| u64::try_from(n).ok());
    let times = times.ok_or_else(|| c.missing("repeats"))?;
    let mut x = c.x(0)?;
    let dimension = match c.int("dim") {
        Some(_) => c.dimension("dim", 0, c.t.b.rank(x))?,
        None => {
            let all = c.b().array(x)?.elements().unwrap_or(0);
            x = c.b().reshape(x, &[all])?;
            0
        }
    };
    let apart = c.b().unsqueeze(x, dimension + 1)?;
    let mut dims = c.b().dims(apart);
    dims[dimension + 1] = times;
    let many = c.b().broadcast_to(apart, &dims)?;
    let dims = c.result()?.dims;
    one(c.b().reshape(many, &dims)?)
}

/// Repeats each element as often as a tensor says; the type of the result gives their total number.
fn repeat_each(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let is_places = c.overload == "Tensor";
    let result = c.result()?.dims;
    let mut x = c.x(0)?;
    let repeats = if is_places { x } else { c.x(1)? };
    let dimension = match c.int("dim") {
        Some(_) if !is_places => c.dimension("dim", 0, c.t.b.rank(x))?,
        _ => {
            let all = c.b().array(x)?.elements().unwrap_or(0);
            x = c.b().reshape(x, &[all])?;
            0
        }
    };
    let (size, count) = (c.b().size(x, dimension)?, result.get(dimension).copied().unwrap_or(0));
    let repeats = c.b().convert(repeats, ElementType::S64)?;
    let repeats = c.b().broadcast_to(repeats, &[size])?;
    // For each position of the result, the source index is the number of elements whose repetitions end at or before it.
    let ends = cumulative(c.b(), Binary::Add, repeats, 0, false)?;
    let place = c.b().iota(ElementType::S64, &[count, size], 0)?;
    let is_over = c.b().compare(Comparison::Le, ends, place)?;
    let is_over = c.b().convert(is_over, ElementType::S64)?;
    let places = c.b().reduce(Binary::Add, is_over, &[1], false)?;
    if is_places {
        return one(places);
    }
    let how = ns_program::builder::RowGather { dimension, wraps: false };
    one(c.b().take(x, places, how)?)
}

/// Rolls elements along dimensions: they re-enter at the other end.
fn roll(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let mut x = c.x(0)?;
    let dims = c.b().dims(x);
    let shifts = c.ints("shifts").unwrap_or_default();
    let is_flat = c.ints("dims").is_none_or(|d| d.is_empty());
    if is_flat {
        let all = c.b().array(x)?.elements().unwrap_or(0);
        x = c.b().reshape(x, &[all])?;
    }
    let along = if is_flat { vec![0] } else { c.dimensions("dims", dims.len())? };
    for (&shift, &d) in shifts.iter().zip(&along) {
        let size = c.b().size(x, d)?;
        let by = i64::try_from(size).ok().filter(|&n| n > 0).map_or(0, |n| shift.rem_euclid(n) as u64);
        if by > 0 {
            let back = c.b().slice_dim(x, d, size - by, size, 1)?;
            let front = c.b().slice_dim(x, d, 0, size - by, 1)?;
            x = c.b().concatenate(&[back, front], d)?;
        }
    }
    one(c.b().reshape(x, &dims)?)
}

/// Padding with a constant, or with mirrored or repeated elements.
fn pad(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let edges = c.ints("pad").or_else(|| c.ints("padding")).unwrap_or_default();
    let mode = match c.op {
        "pad" => c.text("mode").unwrap_or("constant"),
        op if op.starts_with("reflection") => "reflect",
        op if op.starts_with("replication") => "replicate",
        _ => "constant",
    };
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    if !edges.len().is_multiple_of(2) || edges.len() / 2 > rank {
        return Err(refuse!("pad has {} numbers for {rank} dimensions", edges.len()));
    }
    let of_dimension = |i: usize| (rank - 1 - i, edges[2 * i], edges[2 * i + 1]);
    if mode == "constant" {
        let value = c.float_or("value", 0.0);
        let mut all = vec![(0, 0); rank];
        for (d, low, high) in (0..edges.len() / 2).map(of_dimension) {
            all[d] = (low, high);
        }
        return one(c.b().pad(x, value, &all)?);
    }
    let mut x = x;
    for (d, low, high) in (0..edges.len() / 2).map(of_dimension) {
        x = around(c, x, d, (low, high), mode)?;
    }
    one(x)
}

/// Pads a dimension with its own elements. Fails when the dimension is empty, or the mode is unknown.
pub fn around(
    c: &mut Call<'_, '_, '_>,
    x: InstructionId,
    d: usize,
    (low, high): (i64, i64),
    mode: &str,
) -> Result<InstructionId, Refusal> {
    let size = i64::try_from(c.b().size(x, d)?).unwrap_or(i64::MAX);
    let total = size.checked_add(low).and_then(|n| n.checked_add(high)).filter(|&n| (0..1 << 20).contains(&n));
    let Some(total) = total.filter(|_| size > 0) else {
        return Err(refuse!("padding of {low} and {high} elements does not fit a dimension of {size}"));
    };
    let place = |i: i64| match mode {
        "reflect" if size == 1 => Some(0),
        "reflect" => {
            let turn = 2 * (size - 1);
            let at = (i - low).rem_euclid(turn);
            Some(if at < size { at } else { turn - at })
        }
        "replicate" => Some((i - low).clamp(0, size - 1)),
        "circular" => Some((i - low).rem_euclid(size)),
        _ => None,
    };
    let places: Option<Vec<i64>> = (0..total).map(place).collect();
    let Some(places) = places else {
        return Err(refuse!("the mode {mode} is not known here"));
    };
    let row = c.b().whole_row(ElementType::S64, &places)?;
    let how = ns_program::builder::RowGather { dimension: d, wraps: false };
    c.b().take(x, row, how)
}

/// Moves channels to pixels or pixels to channels, or shuffles groups of channels.
fn shuffle(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let (dims, result) = (c.b().dims(x), c.result()?.dims);
    let rank = dims.len();
    if rank < 3 {
        return Err(refuse!("{} needs an operand of rank 3 or more, not {rank}", c.op));
    }
    let (lead, k) = (rank - 3, dims[..rank - 3].to_vec());
    let (channels, h, w) = (dims[rank - 3], dims[rank - 2], dims[rank - 1]);
    let (apart, order): (Vec<u64>, Vec<usize>) = match c.op {
        "pixel_shuffle" => {
            let r = c.positive("upscale_factor")?;
            let squared = r.checked_mul(r).ok_or_else(|| c.missing("upscale_factor"))?;
            (vec![channels / squared, r, r, h, w], vec![0, 3, 1, 4, 2])
        }
        "pixel_unshuffle" => {
            let r = c.positive("downscale_factor")?;
            (vec![channels, h / r, r, w / r, r], vec![0, 2, 4, 1, 3])
        }
        _ => {
            let groups = c.positive("groups")?;
            (vec![groups, channels / groups, h, w], vec![1, 0, 2, 3])
        }
    };
    let all: Vec<u64> = k.iter().copied().chain(apart).collect();
    let order: Vec<usize> = (0..lead).chain(order.into_iter().map(|d| d + lead)).collect();
    let apart = c.b().reshape(x, &all)?;
    let turned = c.b().transpose(apart, &order)?;
    one(c.b().reshape(turned, &result)?)
}

/// A triangle of each matrix; the other elements are 0.
fn triangle(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let offset = c.int_or("diagonal", 0);
    let is_lower = c.op == "tril";
    let x = c.x(0)?;
    let (dims, element) = (c.b().dims(x), c.b().element(x));
    let Some(first) = dims.len().checked_sub(2) else {
        let found = dims.len();
        return Err(refuse!("{} needs an operand of rank 2 or more, not {found}", c.op));
    };
    let row = c.b().iota(ElementType::S64, &dims[first..], 0)?;
    let column = c.b().iota(ElementType::S64, &dims[first..], 1)?;
    let edge = c.b().with_number(Binary::Add, row, i64_to_f64(offset))?;
    let how = if is_lower { Comparison::Le } else { Comparison::Ge };
    let kept = c.b().compare(how, column, edge)?;
    let zero = c.b().number(element, 0.0)?;
    one(c.b().select(kept, x, zero)?)
}

/// Differences of neighbours, `n` times, with tensors joined in front and behind.
fn difference(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let times = c.int_or("n", 1).clamp(0, 64);
    let mut x = c.x(0)?;
    let rank = c.b().rank(x);
    let d = c.dimension("dim", -1, rank)?;
    let mut parts = vec![x];
    if let Some(front) = c.tensor("prepend")? {
        parts.insert(0, front);
    }
    if let Some(back) = c.tensor("append")? {
        parts.push(back);
    }
    x = c.b().concatenate(&parts, d)?;
    for _ in 0..times {
        let size = c.b().size(x, d)?;
        let later = c.b().slice_dim(x, d, 1.min(size), size, 1)?;
        let earlier = c.b().slice_dim(x, d, 0, size.saturating_sub(1), 1)?;
        x = if c.b().element(x) == ElementType::Pred {
            c.b().compare(Comparison::Ne, later, earlier)?
        } else {
            c.b().sub(later, earlier)?
        };
    }
    one(x)
}

/// Coordinates of a grid.
fn meshgrid(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let is_xy = c.text("indexing") == Some("xy");
    let types = c.results()?;
    let mut values = Vec::new();
    for (i, (x, ty)) in c.tensors(0)?.into_iter().zip(types).enumerate() {
        let at = if is_xy && i < 2 { 1 - i } else { i };
        let n = c.b().array(x)?.elements().unwrap_or(0);
        let row = c.b().reshape(x, &[n])?;
        values.push(Some(c.b().broadcast_in(row, &ty.dims, vec![usize_to_u32(at)])?));
    }
    Ok(OpResult::Many(values))
}
