//! Elements written at indices, under masks and in windows, and positions among boundaries.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Indexing;
use ns_program::compose::{Fold, IndexPut, advanced_put, cumulative, fold_patches, scatter_along, unpool};
use ns_program::{Binary, Builder, Built, Comparison, ElementType, InstructionId, Unary};

/// Operations that write elements, and positions among boundaries.
pub const OPS: &[Row] = &[
    (&["searchsorted"], Indexing, search),
    (&["bucketize"], Indexing, |c| {
        let (x, boundaries) = (placed_operand(c, 0)?, c.x(1)?);
        let is_right = c.flag_or("right", false);
        places_among(c, boundaries, x, is_right)
    }),
    (&["histc"], Indexing, counts),
    (&["masked_scatter"], Indexing, masked),
    (&["col2im"], Indexing, folded),
    (&["max_unpool2d"], Indexing, |c| unpooled(c, 2)),
    (&["max_unpool3d"], Indexing, |c| unpooled(c, 3)),
    (&["scatter_reduce", "index_reduce"], Indexing, reduced),
    (&["put"], Indexing, put),
    (&["affine_grid_generator"], Indexing, grid),
];

/// The tensor or the number at a position.
fn placed_operand(c: &mut Call<'_, '_, '_>, place: usize) -> Built {
    let element = super::binary::common_element(c, &[0, 1])?;
    c.operand(place, element)
}

/// Positions of numbers among sorted ones: each row among its own boundaries, or all among one row.
fn search(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    if c.tensor("sorter")?.is_some() {
        return Ok(OpResult::Unknown);
    }
    let (boundaries, x) = (placed_operand(c, 0)?, placed_operand(c, 1)?);
    let is_right = c.flag_or("right", false) || c.text("side") == Some("right");
    places_among(c, boundaries, x, is_right)
}

/// How many boundaries are less than each number; with `is_right` how many are not greater.
fn places_among(c: &mut Call<'_, '_, '_>, boundaries: InstructionId, x: InstructionId, is_right: bool) -> CallOutcome {
    let how = if is_right { Comparison::Le } else { Comparison::Lt };
    let element = if c.flag_or("out_int32", false) { ElementType::S32 } else { ElementType::S64 };
    let (rank, own) = (c.b().rank(x), c.b().rank(boundaries));
    let each = c.b().unsqueeze(x, rank)?;
    let boundaries = if own > 1 { c.b().unsqueeze(boundaries, own - 1)? } else { boundaries };
    let before = c.b().compare(how, boundaries, each)?;
    let counted = c.b().convert(before, element)?;
    one(c.b().reduce(Binary::Add, counted, &[rank], false)?)
}

/// How many numbers lie in each of some intervals of one length, whose ends are the least and the largest number if none are given.
fn counts(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let (element, count) = (c.b().element(x), c.b().array(x)?.elements().unwrap_or(0));
    let bins = u64::try_from(c.int_or("bins", 100)).unwrap_or(0);
    if !element.is_float() || bins == 0 || count == 0 {
        return Ok(OpResult::Unknown);
    }
    let x = c.b().reshape(x, &[count])?;
    let (least, most) = (c.float_or("min", 0.0), c.float_or("max", 0.0));
    let (least, most) =
        if least == most { ends(c, x)? } else { (c.b().number(element, least)?, c.b().number(element, most)?) };
    let (from, length) = (c.b().sub(x, least)?, c.b().sub(most, least)?);
    let scaled = c.b().with_number(Binary::Mul, from, u64_to_f64(bins))?;
    let place = c.b().div(scaled, length)?;
    let place = c.b().unary(Unary::Floor, place)?;
    let place = c.b().clamp_numbers(place, None, Some(u64_to_f64(bins - 1)))?;
    let (above, below) = (c.b().compare(Comparison::Ge, x, least)?, c.b().compare(Comparison::Le, x, most)?);
    let is_inside = c.b().binary(Binary::And, above, below)?;
    let nowhere = c.b().number(element, -1.0)?;
    let place = c.b().select(is_inside, place, nowhere)?;
    let place = c.b().unsqueeze(place, 1)?;
    let each = c.b().iota(element, &[bins], 0)?;
    let is_there = c.b().compare(Comparison::Eq, place, each)?;
    let counted = c.b().convert(is_there, element)?;
    one(c.b().reduce(Binary::Add, counted, &[0], false)?)
}

/// The least and the largest number of a row; of equal numbers, one less and one more.
fn ends(c: &mut Call<'_, '_, '_>, x: InstructionId) -> Result<(InstructionId, InstructionId), Refusal> {
    let (least, most) = (c.b().reduce(Binary::Min, x, &[0], false)?, c.b().reduce(Binary::Max, x, &[0], false)?);
    let is_one = c.b().compare(Comparison::Eq, least, most)?;
    let (less, more) = (c.b().with_number(Binary::Sub, least, 1.0)?, c.b().with_number(Binary::Add, most, 1.0)?);
    Ok((c.b().select(is_one, less, least)?, c.b().select(is_one, more, most)?))
}

/// Elements of a row, written one after the other where a mask is true.
fn masked(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, mask, source) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let (dims, element) = (c.b().dims(x), c.b().element(x));
    let source = c.b().convert(source, element)?;
    let (all, given) = (c.b().array(x)?.elements().unwrap_or(0), c.b().array(source)?.elements().unwrap_or(0));
    if all == 0 || given == 0 {
        return one(x);
    }
    let mask = c.b().convert(mask, ElementType::Pred)?;
    let mask = c.b().broadcast_to(mask, &dims)?;
    let row = c.b().reshape(mask, &[all])?;
    let ones = c.b().convert(row, ElementType::S64)?;
    // The index of an element is the number of elements written before it.
    let before = cumulative(c.b(), Binary::Add, ones, 0, false)?;
    let places = c.b().with_number(Binary::Sub, before, 1.0)?;
    let places = c.b().clamp_numbers(places, Some(0.0), Some(u64_to_f64(given - 1)))?;
    let source = c.b().reshape(source, &[given])?;
    let how = ns_program::builder::RowGather { dimension: 0, wraps: false };
    let found = c.b().take(source, places, how)?;
    let found = c.b().reshape(found, &dims)?;
    one(c.b().select(mask, found, x)?)
}

/// Patches of images added up where they overlap.
fn folded(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let pair = |c: &Call<'_, '_, '_>, argument: &'static str, default: i64| -> Result<[u64; 2], Refusal> {
        let natural = |n: i64| u64::try_from(n).map_err(|_| refuse!("{argument} is {n} and must not be negative"));
        match c.ints(argument).as_deref() {
            None | Some([]) => Ok([natural(default)?; 2]),
            Some(&[both]) => Ok([natural(both)?; 2]),
            Some(&[height, width]) => Ok([natural(height)?, natural(width)?]),
            Some(other) => Err(refuse!("{argument} has {} numbers for 2 dimensions", other.len())),
        }
    };
    let padding = pair(c, "padding", 0)?;
    let how = Fold {
        sizes: pair(c, "output_size", 0)?.to_vec(),
        kernel: pair(c, "kernel_size", 1)?.to_vec(),
        dilation: pair(c, "dilation", 1)?.to_vec(),
        padding: padding.iter().map(|&p| (p, p)).collect(),
        strides: pair(c, "stride", 1)?.to_vec(),
    };
    let columns = c.x(0)?;
    if c.b().rank(columns) == 3 {
        return one(fold_patches(c.b(), columns, &how)?);
    }
    let batch = c.b().unsqueeze(columns, 0)?;
    let image = fold_patches(c.b(), batch, &how)?;
    one(c.b().squeeze(image, 0)?)
}

/// The largest elements of windows put back at their positions, zeros elsewhere.
fn unpooled(c: &mut Call<'_, '_, '_>, spatial: usize) -> CallOutcome {
    let (x, places) = (c.x(0)?, c.x(1)?);
    let sizes = c.ints("output_size").unwrap_or_default();
    let sizes: Vec<u64> = sizes.into_iter().filter_map(|n| u64::try_from(n).ok()).collect();
    if sizes.len() != spatial {
        return Err(refuse!("output_size has {} numbers for {spatial} dimensions", sizes.len()));
    }
    one(unpool(c.b(), x, places, &sizes)?)
}

/// How elements are written, and how they are combined with the present ones.
struct Reduction {
    dimension: usize,
    index: InstructionId,
    is_whole: bool,
}

impl Reduction {
    fn put(&self, b: &mut Builder, x: InstructionId, values: InstructionId, combine: Option<Binary>) -> Built {
        let how = IndexPut { combine };
        if !self.is_whole {
            return scatter_along(b, x, self.dimension, self.index, values, how);
        }
        let mut indices: Vec<Option<InstructionId>> = vec![None; self.dimension];
        indices.push(Some(self.index));
        advanced_put(b, x, &indices, values, how)
    }
}

/// Elements combined at indices by sum, product, largest, smallest or mean, with or without the present ones.
fn reduced(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let (rank, element, dims) = (c.b().rank(x), c.b().element(x), c.b().dims(x));
    let dimension = c.dimension("dim", 0, rank)?;
    let index = c.tensor("index")?.ok_or_else(|| c.missing("index"))?;
    let is_whole = c.op == "index_reduce";
    let name = if is_whole { "source" } else { "src" };
    let source = c.tensor(name)?.ok_or_else(|| c.missing(name))?;
    let values = c.b().convert(source, element)?;
    let name = c.text("reduce").unwrap_or_default();
    let (combine, neutral) = match name {
        "sum" | "mean" => (Binary::Add, 0.0),
        "prod" => (Binary::Mul, 1.0),
        "amax" => (Binary::Max, f64::NEG_INFINITY),
        "amin" => (Binary::Min, f64::INFINITY),
        _ => return Ok(OpResult::Unknown),
    };
    let keeps = c.flag_or("include_self", true);
    if !element.is_float() && (name == "mean" || (!keeps && neutral.is_infinite())) {
        return Ok(OpResult::Unknown);
    }
    let how = Reduction { dimension, index, is_whole };
    let b = c.b();
    let mut start = x;
    if !keeps {
        let neutral = b.full(element, &b.dims(values), neutral)?;
        start = how.put(b, x, neutral, None)?;
    }
    let joined = how.put(b, start, values, Some(combine))?;
    if name != "mean" {
        return one(joined);
    }
    let ones = b.full(element, &b.dims(values), 1.0)?;
    let first = b.full(element, &dims, if keeps { 1.0 } else { 0.0 })?;
    let counts = how.put(b, first, ones, Some(Binary::Add))?;
    let counts = b.with_number(Binary::Max, counts, 1.0)?;
    one(b.div(joined, counts)?)
}

/// Elements written at flat indices into the whole tensor.
fn put(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, index, source) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let (dims, element) = (c.b().dims(x), c.b().element(x));
    let (all, count) = (c.b().array(x)?.elements().unwrap_or(0), c.b().array(index)?.elements().unwrap_or(0));
    let combine = c.flag_or("accumulate", false).then_some(Binary::Add);
    let (row, index) = (c.b().reshape(x, &[all])?, c.b().reshape(index, &[count])?);
    let source = c.b().convert(source, element)?;
    let source = c.b().reshape(source, &[count])?;
    let made = advanced_put(c.b(), row, &[Some(index)], source, IndexPut { combine })?;
    one(c.b().reshape(made, &dims)?)
}

/// One number written where a mask is true; several numbers follow [`masked`]'s rule, which needs their count. Fails when arguments
/// do not fit.
pub fn by_mask(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let indices = c.maybe_tensors(1)?;
    let &[Some(mask)] = indices.as_slice() else { return Ok(OpResult::Unknown) };
    let (element, rank) = (c.b().element(x), c.b().rank(x));
    let value = c.operand(2, element)?;
    let is_single = c.b().array(value)?.elements() == Some(1);
    if c.b().element(mask) != ElementType::Pred || !is_single {
        return Ok(OpResult::Unknown);
    }
    let mut mask = mask;
    while c.b().rank(mask) < rank {
        let at = c.b().rank(mask);
        mask = c.b().unsqueeze(mask, at)?;
    }
    let dims = c.b().dims(x);
    let mask = c.b().broadcast_to(mask, &dims)?;
    let value = c.b().reshape(value, &[])?;
    let new = if c.flag_or("accumulate", false) { c.b().add(x, value)? } else { value };
    one(c.b().select(mask, new, x)?)
}

/// Positions of an image's elements, from -1 to 1, transformed by a matrix for each image.
fn grid(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let theta = c.x(0)?;
    let sizes = c.ints("size").unwrap_or_default();
    let sizes: Vec<u64> = sizes.into_iter().filter_map(|n| u64::try_from(n).ok()).collect();
    let aligns = c.flag_or("align_corners", false);
    one(ns_program::compose::affine_grid(c.b(), theta, &sizes, aligns)?)
}
