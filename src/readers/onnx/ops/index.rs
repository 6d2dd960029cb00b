//! Operators with indices: gathers, scatters, searches, running sums.

use crate::onnx::site::{FIXED, Failure, Results, Site};
use ns_base::convert::{self, u64_to_i64, usize_to_u32};
use ns_base::refuse;
use ns_program::OperatorKind::Indexing;
use ns_program::builder::RowGather;
use ns_program::compose::{IndexPut, arg_extreme, cumulative, one_hot, scatter_along, top_places};
use ns_program::{ArrayType, Binary, Comparison, ElementType, GatherDims, InstructionId, Numbers, ScatterDims, Value};

use super::Operator;

/// Operators with indices.
pub(super) const OPS: &[Operator] = &[
    ("Gather", Indexing, gather),
    ("GatherElements", Indexing, gather_elements),
    ("GatherND", Indexing, gather_nd),
    ("ScatterElements", Indexing, scatter_elements),
    ("Scatter", Indexing, scatter_elements),
    ("ScatterND", Indexing, scatter_nd),
    ("TensorScatter", Indexing, scatter_rows),
    ("OneHot", Indexing, one_hot_of),
    ("TopK", Indexing, top_k),
    ("ArgMax", Indexing, |site| arg(site, true)),
    ("ArgMin", Indexing, |site| arg(site, false)),
    ("CumSum", Indexing, |site| running(site, Binary::Add, 0.0)),
    ("CumProd", Indexing, |site| running(site, Binary::Mul, 1.0)),
    ("ReverseSequence", Indexing, reverse_sequence),
    ("NonZero", Indexing, non_zero),
    ("Compress", Indexing, |site| Err(result_size(site))),
    ("Unique", Indexing, |site| Err(result_size(site))),
    ("NonMaxSuppression", Indexing, |site| Err(result_size(site))),
];

fn gather(site: &mut Site<'_, '_>) -> Results {
    let (x, indices) = (site.x(0)?, site.x(1)?);
    let dimension = site.axis_of(x, 0)?;
    Ok(vec![site.b().take(x, indices, RowGather { dimension, wraps: true })?])
}

fn gather_elements(site: &mut Site<'_, '_>) -> Results {
    let (x, indices) = (site.x(0)?, site.x(1)?);
    let axis = site.axis_of(x, 0)?;
    Ok(vec![site.b().take_along(x, indices, axis)?])
}

/// The first elements of each sequence in reverse order, as many as the sequence is long.
fn reverse_sequence(site: &mut Site<'_, '_>) -> Results {
    let (x, lengths) = (site.x(0)?, site.x(1)?);
    let dims = site.dims(x);
    let (time, batch) = (site.int("time_axis", 0)?, site.int("batch_axis", 1)?);
    let (time, batch) = (site.axis(time, dims.len())?, site.axis(batch, dims.len())?);
    let places = site.b().iota(ElementType::S64, &dims, time)?;
    let lengths = site.b().convert(lengths, ElementType::S64)?;
    let lengths = site.b().broadcast_in(lengths, &dims, vec![usize_to_u32(batch)])?;
    let last = site.b().with_number(Binary::Sub, lengths, 1.0)?;
    let from_end = site.b().sub(last, places)?;
    let is_inside = site.b().compare(Comparison::Lt, places, lengths)?;
    let places = site.b().select(is_inside, from_end, places)?;
    Ok(vec![site.b().take_along(x, places, time)?])
}

/// Indices of several dimensions, with negative ones, which count from the end, replaced by ones that count from the front.
fn wrapped(site: &mut Site<'_, '_>, indices: InstructionId, sizes: &[u64]) -> Result<InstructionId, Failure> {
    let element = site.element(indices);
    let row: Vec<i64> = sizes.iter().map(|&d| u64_to_i64(d)).collect();
    let row = site.b().whole_row(element, &row)?;
    let negative = site.b().compare_number(Comparison::Lt, indices, 0.0)?;
    let moved = site.b().add(indices, row)?;
    Ok(site.b().select(negative, moved, indices)?)
}

/// Number of integers in an index, and the sizes of the dimensions they are for.
fn index_length(site: &Site<'_, '_>, x: &[u64], indices: &[u64], batch: usize) -> Result<usize, Failure> {
    let length = indices.last().and_then(|&n| usize::try_from(n).ok());
    let fits = |n: &usize| {
        batch < indices.len() && n.saturating_add(batch) <= x.len() && x.get(..batch) == indices.get(..batch)
    };
    let wrong = || site.fault(refuse!("cannot index {x:?} with indices {indices:?}"));
    length.filter(fits).ok_or_else(wrong)
}

fn gather_nd(site: &mut Site<'_, '_>) -> Results {
    let (x, indices) = (site.x(0)?, site.x(1)?);
    let batch = usize::try_from(site.int("batch_dims", 0)?).unwrap_or(usize::MAX);
    let (from, at) = (site.dims(x), site.dims(indices));
    let k = index_length(site, &from, &at, batch)?;
    let indices = wrapped(site, indices, &from[batch..batch + k])?;
    let before = at.len() - 1;
    let mut slice_sizes = from.clone();
    slice_sizes[..batch + k].fill(1);
    let dims: Vec<u64> = at[..before].iter().chain(&from[batch + k..]).copied().collect();
    let list = |range: std::ops::Range<usize>| range.map(usize_to_u32).collect::<Vec<u32>>();
    let how = GatherDims {
        offset_dims: list(before..dims.len()),
        collapsed_slice_dims: list(batch..batch + k),
        start_index_map: list(batch..batch + k),
        index_vector_dim: usize_to_u32(before),
        operand_batching_dims: list(0..batch),
        start_indices_batching_dims: list(0..batch),
        slice_sizes,
    };
    Ok(vec![site.b().gather(x, indices, how, dims)?])
}

/// How updates are combined with the present values.
fn reduction(site: &Site<'_, '_>) -> Result<Option<Binary>, Failure> {
    Ok(match site.text("reduction", "none")?.as_str() {
        "none" => None,
        "add" => Some(Binary::Add),
        "mul" => Some(Binary::Mul),
        "max" => Some(Binary::Max),
        "min" => Some(Binary::Min),
        other => return Err(site.fault(refuse!("has the unknown reduction {other:?}"))),
    })
}

fn scatter_elements(site: &mut Site<'_, '_>) -> Results {
    let (x, indices, values) = (site.x(0)?, site.x(1)?, site.x(2)?);
    let axis = site.axis_of(x, 0)?;
    let combine = reduction(site)?;
    Ok(vec![scatter_along(site.b(), x, axis, indices, values, IndexPut { combine })?])
}

fn scatter_nd(site: &mut Site<'_, '_>) -> Results {
    let (x, indices, values) = (site.x(0)?, site.x(1)?, site.x(2)?);
    let combine = reduction(site)?;
    let (into, at) = (site.dims(x), site.dims(indices));
    let k = index_length(site, &into, &at, 0)?;
    let wanted: Vec<u64> = at[..at.len() - 1].iter().chain(&into[k..]).copied().collect();
    if site.dims(values) != wanted {
        return Err(site.fault(refuse!("puts {:?} where {wanted:?} belong", site.dims(values))));
    }
    let indices = wrapped(site, indices, &into[..k])?;
    let list = |range: std::ops::Range<usize>| range.map(usize_to_u32).collect::<Vec<u32>>();
    let how = ScatterDims {
        update_window_dims: list(at.len() - 1..wanted.len()),
        inserted_window_dims: list(0..k),
        scatter_dims_to_operand_dims: list(0..k),
        index_vector_dim: usize_to_u32(at.len() - 1),
        ..ScatterDims::default()
    };
    Ok(vec![site.b().scatter(x, indices, values, how, combine)?])
}

/// Writes rows into a cache: for each sample as many as the update has, from a place of its own.
fn scatter_rows(site: &mut Site<'_, '_>) -> Results {
    let (cache, update) = (site.x(0)?, site.x(1)?);
    let (into, given) = (site.dims(cache), site.dims(update));
    let axis = site.axis_of(cache, -2)?;
    let mut wanted = into.clone();
    wanted[axis] = given.get(axis).copied().unwrap_or(0).min(into[axis]);
    if axis == 0 || given != wanted {
        return Err(site.fault(refuse!("puts {given:?} where {wanted:?} belong")));
    }
    let is_circular = match site.text("mode", "linear")?.as_str() {
        "linear" => false,
        "circular" => true,
        other => return Err(site.fault(refuse!("has the unknown mode {other:?}"))),
    };
    let rows = [given[0], given[axis]];
    let mut places = site.b().iota(ElementType::S64, &rows, 1)?;
    if let Some(starts) = site.option(2) {
        let starts = site.b().convert(starts, ElementType::S64)?;
        let starts = site.b().broadcast_in(starts, &rows, vec![0])?;
        places = site.b().add(places, starts)?;
    }
    if is_circular {
        places = site.b().with_number(Binary::Rem, places, convert::u64_to_f64(into[axis]))?;
    }
    let samples = site.b().iota(ElementType::S64, &rows, 0)?;
    let indices = site.b().stack(&[samples, places], 2)?;
    let how = ScatterDims {
        update_window_dims: (1..into.len()).filter(|&d| d != axis).map(usize_to_u32).collect(),
        inserted_window_dims: vec![0, usize_to_u32(axis)],
        scatter_dims_to_operand_dims: vec![0, usize_to_u32(axis)],
        index_vector_dim: 2,
        ..ScatterDims::default()
    };
    Ok(vec![site.b().scatter(cache, indices, update, how, None)?])
}

fn one_hot_of(site: &mut Site<'_, '_>) -> Results {
    let (indices, values) = (site.x(0)?, site.x(2)?);
    let depth = site.known_reals(1)?.first().copied().unwrap_or(0.0);
    if !(1.0..1e9).contains(&depth) {
        return Err(site.fault(refuse!("has the depth {depth}")));
    }
    let rank = site.dims(indices).len() + 1;
    let axis = site.int("axis", -1)?;
    let axis = site.axis(axis, rank)?;
    let indices =
        if site.element(indices).is_integer() { indices } else { site.b().convert(indices, ElementType::S64)? };
    let indices = site.b().wrapped(indices, convert::f64_to_u64(depth))?;
    let flags = one_hot(site.b(), indices, convert::f64_to_u64(depth))?;
    let order: Vec<usize> = (0..axis).chain([rank - 1]).chain(axis..rank - 1).collect();
    let flags = site.b().transpose(flags, &order)?;
    let (off, on) = (site.b().pick(values, 0, 0)?, site.b().pick(values, 0, 1)?);
    Ok(vec![site.b().select(flags, on, off)?])
}

fn top_k(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let k = match site.ints_of(1, "k")?.as_deref() {
        Some(&[k]) => u64::try_from(k).ok(),
        _ => None,
    };
    let k = k.ok_or_else(|| site.fault(refuse!("needs one number k")))?;
    let axis = site.axis_of(x, -1)?;
    let largest = site.int("largest", 1)? != 0;
    Ok(top_places(site.b(), x, k, axis, largest)?.to_vec())
}

fn arg(site: &mut Site<'_, '_>, is_largest: bool) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let axis = site.axis_of(x, 0)?;
    let keeps = site.int("keepdims", 1)? != 0;
    if site.int("select_last_index", 0)? == 0 {
        return Ok(vec![arg_extreme(site.b(), x, axis, is_largest, keeps)?]);
    }
    let turned = site.b().reverse(x, &[axis])?;
    let place = arg_extreme(site.b(), turned, axis, is_largest, keeps)?;
    let last = site.b().whole(ElementType::S64, u64_to_i64(dims[axis]) - 1)?;
    Ok(vec![site.b().sub(last, place)?])
}

/// The sum, or the product, of each element and of all elements in front of it along a dimension; of no elements it is `first`.
fn running(site: &mut Site<'_, '_>, with: Binary, first: f64) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let axis = site.known_ints(1)?.first().copied().unwrap_or(0);
    let axis = site.axis(axis, dims.len())?;
    let is_reversed = site.int("reverse", 0)? != 0;
    let results = cumulative(site.b(), with, x, axis, is_reversed)?;
    if site.int("exclusive", 0)? == 0 || dims[axis] == 0 {
        return Ok(vec![results]);
    }
    // Exclusive: the results moved by one.
    let mut edges = vec![(0, 0); dims.len()];
    edges[axis] = if is_reversed { (-1, 1) } else { (1, -1) };
    Ok(vec![site.b().pad(results, first, &edges)?])
}

/// The failure of an operator whose result is as long as the data decide.
fn result_size(site: &Site<'_, '_>) -> Failure {
    Failure::of(refuse!(instead = FIXED, "the size of {}'s result depends on the input", site.node.op))
}

/// Positions of elements that are not 0, if they follow from the file alone.
fn non_zero(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let Some(value) = site.known(x) else {
        return Err(result_size(site));
    };
    let flags: Vec<bool> = match &value.numbers {
        Numbers::Whole(v) => v.iter().map(|&n| n != 0).collect(),
        Numbers::Real(v) => v.iter().map(|&n| n != 0.0).collect(),
        Numbers::Complex(v) => v.iter().map(|&n| n != [0.0, 0.0]).collect(),
    };
    let places: Vec<usize> = flags.iter().enumerate().filter(|(_, f)| **f).map(|(n, _)| n).collect();
    let mut numbers = Vec::with_capacity(places.len() * dims.len());
    let mut step = flags.len() as u64;
    for &d in &dims {
        step /= d.max(1);
        numbers.extend(places.iter().map(|&n| u64_to_i64(n as u64 / step.max(1) % d)));
    }
    let ty = ArrayType::new(ElementType::S64, [dims.len() as u64, places.len() as u64]);
    Ok(vec![site.b().constant(Value { ty, numbers: Numbers::Whole(numbers) })?])
}
