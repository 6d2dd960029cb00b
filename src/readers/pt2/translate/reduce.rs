//! Reductions, orders and running sums.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::refuse;
use ns_program::OperatorKind::Reduction;
use ns_program::compose::{
    arg_extreme, cumulative, distances, log_softmax, logsumexp, norm, running_extreme, softmax, sort_places,
    top_places, variance, widened,
};
use ns_program::{Binary, Comparison, ElementType, InstructionId, Unary};

pub const OPS: &[Row] = &[
    (&["softmax", "_softmax", "_safe_softmax", "special_softmax"], Reduction, shares),
    (&["log_softmax", "_log_softmax", "special_log_softmax"], Reduction, shares),
    (&["sum", "prod", "mean", "amax", "amin", "all", "any"], Reduction, plain),
    (&["max", "min"], Reduction, extreme),
    (&["argmax", "argmin"], Reduction, place),
    (&["var", "std", "var_mean", "std_mean"], Reduction, spread),
    (&["norm", "linalg_vector_norm", "linalg_norm"], Reduction, length),
    (&["logsumexp", "special_logsumexp"], Reduction, |c| {
        let x = c.x(0)?;
        let rank = c.b().rank(x);
        let (dimensions, keeps) = (c.dimensions("dim", rank)?, c.flag_or("keepdim", false));
        one(logsumexp(c.b(), x, &dimensions, keeps)?)
    }),
    (&["cumsum", "cumprod"], Reduction, |c| {
        let element = c.result()?.element;
        let with = if c.op == "cumsum" { Binary::Add } else { Binary::Mul };
        let x = c.operand(0, element)?;
        let rank = c.b().rank(x);
        let dimension = c.dimension("dim", 0, rank)?;
        one(cumulative(c.b(), with, x, dimension, false)?)
    }),
    (&["cummax", "cummin"], Reduction, running),
    (&["cdist", "_cdist_forward"], Reduction, |c| {
        let (x, y) = (c.x(0)?, c.x(1)?);
        let p = c.float_or("p", 2.0);
        one(distances(c.b(), x, y, p)?)
    }),
    (&["aminmax"], Reduction, both_extremes),
    (&["topk"], Reduction, top),
    (&["sort", "argsort", "msort"], Reduction, order),
    (&["count_nonzero"], Reduction, count),
];

/// The position of the largest or the smallest element.
fn place(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let is_largest = c.op == "argmax";
    let keeps = c.flag_or("keepdim", false);
    let mut x = c.x(0)?;
    let rank = c.b().rank(x);
    let dimension = match c.int("dim") {
        Some(_) if rank > 0 => c.dimension("dim", 0, rank)?,
        _ => {
            let all = c.b().array(x)?.elements().unwrap_or(0);
            x = c.b().reshape(x, &[all])?;
            0
        }
    };
    let place = arg_extreme(c.b(), x, dimension, is_largest, keeps)?;
    let dims = c.result()?.dims;
    one(c.b().reshape(place, &dims)?)
}

/// The largest or the smallest element so far, and its position.
fn running(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let is_largest = c.op == "cummax";
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let dimension = c.dimension("dim", 0, rank)?;
    let [values, places] = running_extreme(c.b(), x, dimension, is_largest)?;
    Ok(OpResult::Many(vec![Some(values), Some(places)]))
}

/// The smallest and the largest element.
fn both_extremes(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let (dimensions, keeps) = (c.dimensions("dim", rank)?, c.flag_or("keepdim", false));
    let least = c.b().reduce(Binary::Min, x, &dimensions, keeps)?;
    let largest = c.b().reduce(Binary::Max, x, &dimensions, keeps)?;
    Ok(OpResult::Many(vec![Some(least), Some(largest)]))
}

/// The `k` largest or smallest elements, and their positions.
fn top(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let dimension = c.dimension("dim", -1, rank)?;
    let k = c.int_or("k", 0);
    let k = u64::try_from(k).map_err(|_| refuse!("k is {k} and must not be negative"))?;
    let is_largest = c.flag_or("largest", true);
    let [values, places] = top_places(c.b(), x, k, dimension, is_largest)?;
    Ok(OpResult::Many(vec![Some(values), Some(places)]))
}

/// Sorted elements, and their original positions.
fn order(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let dimension = c.dimension("dim", if c.op == "msort" { 0 } else { -1 }, rank)?;
    let is_descending = c.flag_or("descending", false);
    let [values, places] = sort_places(c.b(), x, dimension, is_descending)?;
    match c.op {
        "argsort" => one(places),
        "msort" => one(values),
        _ => Ok(OpResult::Many(vec![Some(values), Some(places)])),
    }
}

/// The number of elements that are not 0.
fn count(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let dimensions = c.dimensions("dim", rank)?;
    let counts = c.b().compare_number(Comparison::Ne, x, 0.0)?;
    let counts = c.b().convert(counts, ElementType::S64)?;
    one(c.b().reduce(Binary::Add, counts, &dimensions, false)?)
}

/// Softmax and its logarithm; the call may request an element type.
fn shares(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let element = c.result()?.element;
    let x = c.x(0)?;
    let x = c.b().convert(x, element)?;
    let rank = c.b().rank(x);
    if rank == 0 {
        let value = if c.op.contains("log") { 0.0 } else { 1.0 };
        return one(c.b().number(element, value)?);
    }
    let dimension = c.dimension("dim", -1, rank)?;
    if c.op.contains("log") {
        return one(log_softmax(c.b(), x, dimension)?);
    }
    one(softmax(c.b(), x, dimension)?)
}

/// Reductions by one function.
fn plain(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let element = c.result()?.element;
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let dimensions = c.dimensions("dim", rank)?;
    let keeps = c.flag_or("keepdim", false);
    let with = match c.op {
        "sum" | "mean" => Binary::Add,
        "prod" => Binary::Mul,
        "amax" => Binary::Max,
        "amin" => Binary::Min,
        "all" => Binary::And,
        _ => Binary::Or,
    };
    let is_truth = matches!(c.op, "all" | "any");
    let x = c.b().convert(x, if is_truth { ElementType::Pred } else { element })?;
    // Long sums of narrow numbers are computed in single precision.
    let is_sum = matches!(c.op, "sum" | "mean" | "prod");
    let x = if is_sum { widened(c.b(), x)? } else { x };
    let value =
        if c.op == "mean" { c.b().mean(x, &dimensions, keeps)? } else { c.b().reduce(with, x, &dimensions, keeps)? };
    one(c.b().convert(value, element)?)
}

/// The largest or smallest element of all, or along a dimension with its position.
fn extreme(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let with = if c.op == "max" { Binary::Max } else { Binary::Min };
    if c.overload == "other" {
        return super::binary::arithmetic(c, with);
    }
    let is_largest = c.op == "max";
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    if c.arg("dim").is_none() {
        let all: Vec<usize> = (0..rank).collect();
        return one(c.b().reduce(with, x, &all, false)?);
    }
    let dimension = c.dimension("dim", 0, rank)?;
    let keeps = c.flag_or("keepdim", false);
    if rank == 0 {
        let place = c.b().number(ElementType::S64, 0.0)?;
        return Ok(OpResult::Many(vec![Some(x), Some(place)]));
    }
    let value = c.b().reduce(with, x, &[dimension], keeps)?;
    let place = arg_extreme(c.b(), x, dimension, is_largest, keeps)?;
    Ok(OpResult::Many(vec![Some(value), Some(place)]))
}

/// Variance or standard deviation, with the mean if it is requested.
fn spread(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let dimensions = c.dimensions("dim", rank)?;
    let keeps = c.flag_or("keepdim", false);
    let correction = match c.arg("unbiased") {
        Some(_) => f64::from(u8::from(c.flag_or("unbiased", true))),
        None => c.float_or("correction", 1.0),
    };
    let mut value = variance(c.b(), x, &dimensions, correction, keeps)?;
    if c.op.starts_with("std") {
        value = c.b().unary(Unary::Sqrt, value)?;
    }
    if !c.op.ends_with("mean") {
        return one(value);
    }
    let mean = c.b().mean(x, &dimensions, keeps)?;
    Ok(OpResult::Many(vec![Some(value), Some(mean)]))
}

/// Norms of vectors.
fn length(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let p = match (c.float("p"), c.float("ord"), c.arg("ord")) {
        (Some(p), _, _) | (None, Some(p), _) => p,
        (None, None, Some(super::super::argument::Argument::Text(_))) => return Ok(OpResult::Unknown),
        _ => 2.0,
    };
    let element = c.result()?.element;
    let x = c.x(0)?;
    let x = c.b().convert(x, element)?;
    let rank = c.b().rank(x);
    let dimensions = c.dimensions("dim", rank)?;
    if c.op == "linalg_norm" && c.float("ord").is_some() && dimensions.len() > 1 {
        return Ok(OpResult::Unknown);
    }
    let x: InstructionId = widened(c.b(), x)?;
    let keeps = c.flag_or("keepdim", false);
    one(norm(c.b(), x, p, &dimensions, keeps)?)
}
