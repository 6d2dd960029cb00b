//! Look-ups and writes by indices.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Indexing;
use ns_program::builder::RowGather;
use ns_program::compose::{IndexPut, Windows, advanced_index, advanced_put, one_hot, patches, scatter_along, windows};
use ns_program::{Binary, Comparison, ElementType, InstructionId};

/// Look-ups and writes by indices.
pub const OPS: &[Row] = &[
    (&["embedding"], Indexing, |c| {
        let (table, indices) = (c.x(0)?, c.x(1)?);
        one(c.b().take(table, indices, RowGather { dimension: 0, wraps: false })?)
    }),
    (&["embedding_bag", "_embedding_bag", "_embedding_bag_forward_only"], Indexing, embedding_bag),
    (&["index_select"], Indexing, |c| {
        let (x, indices) = (c.x(0)?, c.tensor("index")?);
        let indices = indices.ok_or_else(|| c.missing("index"))?;
        let rank = c.b().rank(x);
        let dimension = c.dimension("dim", 0, rank)?;
        one(c.b().take(x, indices, RowGather { dimension, wraps: false })?)
    }),
    (&["index", "_unsafe_index"], Indexing, |c| {
        let x = c.x(0)?;
        let indices = c.maybe_tensors(1)?;
        one(advanced_index(c.b(), x, &indices)?)
    }),
    (&["index_put", "_unsafe_index_put", "_index_put_impl"], Indexing, put),
    (&["gather", "take_along_dim"], Indexing, |c| {
        let x = c.x(0)?;
        let index = if c.op == "gather" { c.tensor("index")? } else { c.tensor("indices")? };
        let index = index.ok_or_else(|| c.missing("index"))?;
        let rank = c.b().rank(x);
        let dimension = c.dimension("dim", 0, rank)?;
        one(c.b().take_along(x, index, dimension)?)
    }),
    (&["scatter", "scatter_add"], Indexing, scatter),
    (&["index_add", "index_copy", "index_fill"], Indexing, index_write),
    (&["select_scatter", "slice_scatter"], Indexing, part_write),
    (&["one_hot"], Indexing, |c| {
        let x = c.x(0)?;
        let classes = c.result()?.dims.last().copied().unwrap_or(0);
        let hot = one_hot(c.b(), x, classes)?;
        one(c.b().convert(hot, ElementType::S64)?)
    }),
    (&["take"], Indexing, |c| {
        let (x, indices) = (c.x(0)?, c.x(1)?);
        let all = c.b().array(x)?.elements().unwrap_or(0);
        let row = c.b().reshape(x, &[all])?;
        one(c.b().take(row, indices, RowGather { dimension: 0, wraps: true })?)
    }),
    (&["unfold"], Indexing, |c| {
        let (x, how) = (c.x(0)?, windows_of(c, ("size", "step"))?);
        let rank = c.b().rank(x);
        let dimension = c.dimension("dimension", 0, rank)?;
        let apart = windows(c.b(), x, dimension, how, false)?;
        // The elements of a window come last.
        let order: Vec<usize> = (0..=rank).filter(|d| *d != dimension + 1).chain([dimension + 1]).collect();
        one(c.b().transpose(apart, &order)?)
    }),
    (&["im2col"], Indexing, image_patches),
];

/// Elements written at several indices.
fn put(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let indices = c.maybe_tensors(1)?;
    let is_mask = indices.iter().flatten().any(|&i| c.t.b.element(i) == ElementType::Pred);
    if is_mask {
        return super::scatter::by_mask(c);
    }
    let element = c.b().element(x);
    let values = c.operand(2, element)?;
    let combine = c.flag_or("accumulate", false).then_some(Binary::Add);
    one(advanced_put(c.b(), x, &indices, values, IndexPut { combine })?)
}

fn windows_of(c: &Call<'_, '_, '_>, (size, step): (&'static str, &'static str)) -> Result<Windows, Refusal> {
    Ok(Windows { size: c.positive(size)?, step: c.positive(step)?, dilation: 1 })
}

/// The patches of an image under a kernel, as columns.
fn image_patches(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let pair = |c: &Call<'_, '_, '_>, argument: &'static str, default: i64| -> Result<[i64; 2], Refusal> {
        match c.ints(argument).as_deref() {
            None | Some([]) => Ok([default; 2]),
            Some(&[both]) => Ok([both; 2]),
            Some(&[height, width]) => Ok([height, width]),
            Some(other) => Err(refuse!("{argument} has {} numbers for 2 dimensions", other.len())),
        }
    };
    let [sizes, dilations, padding, steps] =
        [pair(c, "kernel_size", 1)?, pair(c, "dilation", 1)?, pair(c, "padding", 0)?, pair(c, "stride", 1)?];
    let natural = |n: i64| u64::try_from(n).ok().filter(|&n| n > 0);
    let along = |at: usize| -> Result<Windows, Refusal> {
        let numbers = (natural(sizes[at]), natural(steps[at]), natural(dilations[at]));
        let (Some(size), Some(step), Some(dilation)) = numbers else {
            return Err(refuse!(
                "patches have sizes {sizes:?}, steps {steps:?} and distances {dilations:?}: all must be positive"
            ));
        };
        Ok(Windows { size, step, dilation })
    };
    let how = [along(0)?, along(1)?];
    let image = c.x(0)?;
    one(patches(c.b(), image, how, padding)?)
}

/// Rows of a table, reduced over bags that begin at offsets: their sum, their mean, or the largest elements of each.
fn embedding_bag(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (table, indices) = (c.x(0)?, c.x(1)?);
    let mode = c.int_or("mode", 0);
    let padding = c.int("padding_idx").filter(|&p| p >= 0);
    let shares = c.tensor("per_sample_weights")?;
    if mode > 2 {
        return Ok(OpResult::Unknown);
    }
    let rows = c.b().take(table, indices, RowGather { dimension: 0, wraps: false })?;
    let is_in = in_bags(c, indices, padding)?;
    let element = c.b().element(rows);
    let mut share = c.b().convert(is_in, element)?;
    let bag = if mode == 2 {
        let apart = c.b().unsqueeze(is_in, 2)?;
        let least = c.b().number(element, f64::NEG_INFINITY)?;
        let dims = [c.b().dims(is_in), c.b().dims(rows)[1..].to_vec()].concat();
        let (apart, rows) = (c.b().broadcast_to(apart, &dims)?, c.b().broadcast_to(rows, &dims)?);
        let counted = c.b().select(apart, rows, least)?;
        let largest = c.b().reduce(Binary::Max, counted, &[1], false)?;
        // An empty bag gives zeros.
        let is_none = c.b().compare_number(Comparison::Eq, largest, f64::NEG_INFINITY)?;
        let none = c.b().number(element, 0.0)?;
        c.b().select(is_none, none, largest)?
    } else {
        if let Some(weights) = shares {
            share = c.b().mul(share, weights)?;
        }
        c.b().matmul(share, rows)?
    };
    let bag = if mode == 1 {
        let size = c.b().reduce(Binary::Add, share, &[1], true)?;
        let size = c.b().with_number(Binary::Max, size, 1.0)?;
        c.b().div(bag, size)?
    } else {
        bag
    };
    let others = c.results()?.len().saturating_sub(1);
    let mut values = vec![Some(bag)];
    values.extend(vec![None; others]);
    Ok(OpResult::Many(values))
}

/// Whether each row belongs to each bag: it is at or after the bag's offset and before the next offset, and is not the padding index.
fn in_bags(c: &mut Call<'_, '_, '_>, indices: InstructionId, padding: Option<i64>) -> Result<InstructionId, Refusal> {
    let offsets = c.tensor("offsets")?.ok_or_else(|| c.missing("offsets"))?;
    let bags = c.result()?.dims.first().copied().unwrap_or(0);
    let count = c.b().array(indices)?.elements().unwrap_or(0);
    let element = c.b().element(offsets);
    let given = c.b().size(offsets, 0)?;
    let offsets = c.b().slice_dim(offsets, 0, 0, bags.min(given), 1)?;
    let dims = [bags, count];
    let place = c.b().iota(element, &dims, 1)?;
    let start = c.b().broadcast_in(offsets, &dims, vec![0])?;
    let is_behind = c.b().compare(Comparison::Ge, place, start)?;
    let later = c.b().slice_dim(offsets, 0, 1.min(bags), bags, 1)?;
    let end = c.b().full(element, &[1.min(bags)], u64_to_f64(count))?;
    let ends = c.b().concatenate(&[later, end], 0)?;
    let ends = c.b().broadcast_in(ends, &dims, vec![0])?;
    let is_before = c.b().compare(Comparison::Lt, place, ends)?;
    let is_in = c.b().binary(Binary::And, is_behind, is_before)?;
    let Some(padding) = padding else { return Ok(is_in) };
    let row = c.b().reshape(indices, &[1, count])?;
    let counts = c.b().compare_number(Comparison::Ne, row, i64_to_f64(padding))?;
    c.b().binary(Binary::And, is_in, counts)
}

/// Elements written at indices along a dimension.
fn scatter(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let (rank, element) = (c.b().rank(x), c.b().element(x));
    let dimension = c.dimension("dim", 0, rank)?;
    let index = c.tensor("index")?.ok_or_else(|| c.missing("index"))?;
    let combine = match (c.op, c.text("reduce")) {
        ("scatter_add", _) | (_, Some("add")) => Some(Binary::Add),
        (_, Some("multiply")) => Some(Binary::Mul),
        (_, Some(_)) => return Ok(OpResult::Unknown),
        _ => None,
    };
    let values = match c.tensor("src")? {
        Some(src) => c.b().convert(src, element)?,
        None => {
            let value = c.float_or("value", 0.0);
            let dims = c.b().dims(index);
            c.b().full(element, &dims, value)?
        }
    };
    one(scatter_along(c.b(), x, dimension, index, values, IndexPut { combine })?)
}

/// Whole slices written at indices along a dimension.
fn index_write(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let (rank, element) = (c.b().rank(x), c.b().element(x));
    let dimension = c.dimension("dim", 0, rank)?;
    let index = c.tensor("index")?.ok_or_else(|| c.missing("index"))?;
    let combine = (c.op == "index_add").then_some(Binary::Add);
    let values = match c.tensor("source")? {
        Some(source) => c.b().convert(source, element)?,
        None => {
            let value = match c.tensor("value")? {
                Some(value) => c.b().convert(value, element)?,
                None => {
                    let value = c.float_or("value", 0.0);
                    c.b().number(element, value)?
                }
            };
            let mut dims = c.b().dims(x);
            dims[dimension] = c.b().array(index)?.elements().unwrap_or(0);
            c.b().broadcast_to(value, &dims)?
        }
    };
    let alpha = c.float_or("alpha", 1.0);
    let values = if alpha == 1.0 { values } else { c.b().with_number(Binary::Mul, values, alpha)? };
    let mut indices: Vec<Option<InstructionId>> = vec![None; dimension];
    indices.push(Some(index));
    one(advanced_put(c.b(), x, &indices, values, IndexPut { combine })?)
}

/// A copy with a slice or a range replaced.
fn part_write(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    use super::views::{Look, Views};
    let (x, part) = (c.x(0)?, c.x(1)?);
    let rank = c.b().rank(x);
    let dimension = c.dimension("dim", 0, rank)?;
    let size = c.b().size(x, dimension)?;
    let signed = i64::try_from(size).unwrap_or(i64::MAX);
    let at = |n: i64| u64::try_from(if n < 0 { n.saturating_add(signed) } else { n }.clamp(0, signed)).unwrap_or(0);
    let mut views = Views::default();
    let whole = views.fresh(x);
    let (start, limit, step) = if c.op == "select_scatter" {
        let start = at(c.int_or("index", 0));
        (start, start.saturating_add(1), 1)
    } else {
        (at(c.int_or("start", 0)), at(c.int_or("end", i64::MAX)), u64::try_from(c.int_or("step", 1)).unwrap_or(1))
    };
    let range = views.look(c.b(), whole, Look::Slice(dimension, start, limit, step))?;
    let array = views.get(c.b(), range)?;
    let dims = c.b().dims(array);
    let part = c.b().reshape(part, &dims)?;
    views.set(c.b(), range, part)?;
    one(views.get(c.b(), whole)?)
}
