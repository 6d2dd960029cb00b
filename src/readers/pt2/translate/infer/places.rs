//! Results of reductions, look-ups and windows, and tensors without operands.

use super::super::super::argument::Argument;
use super::super::call::Call;
use super::elements::{dtype_argument, float_of, sum_of};
use super::{Types, natural, operand, sizes_named};
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::refuse;
use ns_program::{ArrayType, ElementType};

/// A dimension of this many elements is refused: a limit against hostile files.
const MAX_SIZE: f64 = 1e15;

/// Types of results of reductions, look-ups and windows, and of tensors without operands. Fails when operands do not fit.
pub fn types(c: &mut Call<'_, '_, '_>) -> Types {
    match c.op {
        "sum" | "prod" | "mean" | "amax" | "amin" | "all" | "any" | "norm" | "linalg_vector_norm" | "linalg_norm"
        | "argmax" | "argmin" => reduced(c),
        "zeros" | "ones" | "empty" | "full" | "eye" | "empty_strided" | "empty_permuted" | "rand" | "randn" => {
            created(c)
        }
        "scalar_tensor" => {
            let element = dtype_argument(c)?.unwrap_or(ElementType::F32);
            Ok(Some(vec![ArrayType::new(element, [])]))
        }
        "zeros_like" | "ones_like" | "empty_like" | "full_like" | "zero" => {
            let own = operand(c, 0)?;
            let element = dtype_argument(c)?.unwrap_or(own.element);
            Ok(Some(vec![ArrayType::new(element, own.dims)]))
        }
        "new_zeros" | "new_ones" | "new_empty" | "new_full" | "new_empty_strided" => {
            let own = operand(c, 0)?.element;
            let element = dtype_argument(c)?.unwrap_or(own);
            Ok(Some(vec![ArrayType::new(element, sizes_named(c, "size")?)]))
        }
        "arange" => range(c),
        "linspace" => {
            let element = dtype_argument(c)?.unwrap_or(ElementType::F32);
            let steps = natural(c.int("steps").unwrap_or(-1))?;
            Ok(Some(vec![ArrayType::new(element, [steps])]))
        }
        "one_hot" => {
            let mut dims = operand(c, 0)?.dims;
            let classes = c.int("num_classes").filter(|&n| n >= 0);
            let classes = classes.ok_or_else(|| refuse!("the number of classes of one_hot depends on data"))?;
            dims.push(natural(classes)?);
            Ok(Some(vec![ArrayType::new(ElementType::S64, dims)]))
        }
        "bucketize" => {
            let dims = operand(c, 0)?.dims;
            let element = if c.flag_or("out_int32", false) { ElementType::S32 } else { ElementType::S64 };
            Ok(Some(vec![ArrayType::new(element, dims)]))
        }
        "embedding_bag" | "_embedding_bag" | "_embedding_bag_forward_only" => bags(c),
        "native_batch_norm" | "_native_batch_norm_legit_no_training" | "_native_batch_norm_legit" => {
            let own = operand(c, 0)?;
            let none = ArrayType::new(own.element, [0]);
            Ok(Some(vec![own, none.clone(), none]))
        }
        op if op.contains("adaptive_") => adaptive(c),
        op if op.contains("upsample") => resized(c),
        _ => Ok(None),
    }
}

fn reduced(c: &mut Call<'_, '_, '_>) -> Types {
    let own = operand(c, 0)?;
    let element = match (dtype_argument(c)?, c.op) {
        (_, "argmax" | "argmin") => ElementType::S64,
        (_, "all" | "any") => ElementType::Pred,
        (Some(element), _) => element,
        (None, "sum" | "prod") => sum_of(own.element),
        (None, "mean" | "norm" | "linalg_vector_norm" | "linalg_norm") => float_of(own.element),
        _ => own.element,
    };
    let rank = own.dims.len();
    let along = c.dimensions("dim", rank)?;
    let keeps = c.flag_or("keepdim", false);
    let kept = own.dims.iter().enumerate();
    let dims: Vec<u64> = kept
        .filter(|(d, _)| keeps || !along.contains(d))
        .map(|(d, &n)| if along.contains(&d) { 1 } else { n })
        .collect();
    Ok(Some(vec![ArrayType::new(element, dims)]))
}

fn created(c: &Call<'_, '_, '_>) -> Types {
    let dims = match c.op {
        "eye" => {
            let n = natural(c.int("n").unwrap_or(-1))?;
            vec![n, c.int("m").map_or(Ok(n), natural)?]
        }
        _ => sizes_named(c, "size")?,
    };
    let element = match (dtype_argument(c)?, c.arg("fill_value")) {
        (Some(element), _) => element,
        (None, Some(Argument::Int(_))) => ElementType::S64,
        (None, Some(Argument::Bool(_))) => ElementType::Pred,
        _ => ElementType::F32,
    };
    Ok(Some(vec![ArrayType::new(element, dims)]))
}

/// A range from a start to an end in steps.
fn range(c: &Call<'_, '_, '_>) -> Types {
    let end = c.float("end").ok_or_else(|| c.missing("end"))?;
    let (start, step) = (c.float_or("start", 0.0), c.float_or("step", 1.0));
    let count = libm::ceil((end - start) / step);
    if !(0.0..MAX_SIZE).contains(&count) {
        return Err(refuse!("a row from {start} to {end} in steps of {step} has no usable length"));
    }
    let is_fraction = ["start", "end", "step"].iter().any(|n| matches!(c.arg(n), Some(Argument::Float(_))));
    let element = dtype_argument(c)?.unwrap_or(if is_fraction { ElementType::F32 } else { ElementType::S64 });
    Ok(Some(vec![ArrayType::new(element, [f64_to_u64(count)])]))
}

/// One row for each bag, and three results that only training uses.
fn bags(c: &mut Call<'_, '_, '_>) -> Types {
    let (table, indices) = (operand(c, 0)?, operand(c, 1)?);
    let offsets = c.tensor("offsets")?.ok_or_else(|| c.missing("offsets"))?;
    let given = c.b().size(offsets, 0)?;
    let count = if c.flag_or("include_last_offset", false) { given.saturating_sub(1) } else { given };
    let width = table.dims.last().copied().unwrap_or(0);
    let bags = ArrayType::new(table.element, [count, width]);
    let other = ArrayType::new(indices.element, [0]);
    Ok(Some(vec![bags, other.clone(), other.clone(), other]))
}

/// An image with other last dimensions.
fn with_last(own: ArrayType, last: &[u64]) -> Types {
    let kept = own.dims.len().checked_sub(last.len()).filter(|&n| n > 0);
    let kept = kept.ok_or_else(|| refuse!("{} sizes are given for {own}", last.len()))?;
    let dims: Vec<u64> = own.dims[..kept].iter().chain(last).copied().collect();
    Ok(Some(vec![ArrayType::new(own.element, dims)]))
}

fn adaptive(c: &mut Call<'_, '_, '_>) -> Types {
    let own = operand(c, 0)?;
    let spatial = c.op.bytes().rev().nth(1).map_or(0, |digit| usize::from(digit.saturating_sub(b'0')));
    let mut last = sizes_named(c, "output_size")?;
    if last.len() == 1 && spatial <= 3 {
        last = vec![last[0]; spatial];
    }
    if last.len() != spatial {
        return Err(refuse!("output_size has {} numbers for {spatial} dimensions", last.len()));
    }
    with_last(own, &last)
}

/// The given sizes, or the operand's own sizes times factors.
fn resized(c: &mut Call<'_, '_, '_>) -> Types {
    let own = operand(c, 0)?;
    if let Some(sizes) = c.ints("output_size").filter(|s| !s.is_empty()) {
        let last = sizes.into_iter().map(natural).collect::<Result<Vec<u64>, _>>()?;
        return with_last(own, &last);
    }
    let factors = match c.arg("scale_factors") {
        Some(Argument::Floats(all)) => all.clone(),
        _ => return Err(c.missing("output_size or scale_factors")),
    };
    let first = own.dims.len().checked_sub(factors.len());
    let given = factors.len();
    let first = first.ok_or_else(|| refuse!("{given} factors are given for {own}"))?;
    if factors.iter().any(|f| !f.is_finite() || *f <= 0.0) {
        return Err(refuse!("argument scale_factors of {} is not a positive number", c.op));
    }
    let grown: Vec<f64> =
        own.dims[first..].iter().zip(&factors).map(|(&n, f)| libm::floor(u64_to_f64(n) * f)).collect();
    if grown.iter().any(|n| *n >= MAX_SIZE) {
        return Err(refuse!("{} is not possible with sizes {:?}", c.op, own.dims));
    }
    let last: Vec<u64> = grown.into_iter().map(f64_to_u64).collect();
    with_last(own, &last)
}
