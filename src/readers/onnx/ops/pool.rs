//! Pooling.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_base::refuse;
use ns_program::OperatorKind::Window;
use ns_program::compose::{PoolSpec, average_pool, max_pool, max_pool_indices};
use ns_program::{Binary, ElementType, InstructionId, Unary};

use super::Operator;
use super::window::{positive, windows};

/// Poolings.
pub(super) const OPS: &[Operator] = &[
    ("MaxPool", Window, max),
    ("AveragePool", Window, average),
    ("LpPool", Window, lp),
    ("GlobalAveragePool", Window, |site| {
        let (x, axes) = spatial(site)?;
        Ok(vec![site.b().mean(x, &axes, true)?])
    }),
    ("GlobalMaxPool", Window, |site| {
        let (x, axes) = spatial(site)?;
        Ok(vec![site.b().reduce(Binary::Max, x, &axes, true)?])
    }),
    ("GlobalLpPool", Window, global_lp),
];

/// The windows of a node.
pub(super) fn spec(site: &Site<'_, '_>, x: InstructionId) -> Result<PoolSpec, Failure> {
    let dims = site.dims(x);
    let Some(n) = dims.len().checked_sub(2).filter(|&n| n > 0) else {
        return Err(site.fault(refuse!("has the operand {dims:?}, which has no spatial dimensions")));
    };
    if site.ints("kernel_shape")?.is_none() {
        return Err(site.fault(refuse!("needs the attribute kernel_shape")));
    }
    let how = windows(site, &dims[2..], positive(site, "kernel_shape", n)?)?;
    let pair = |&(low, high): &(i64, i64)| match (u64::try_from(low), u64::try_from(high)) {
        (Ok(low), Ok(high)) => Ok((low, high)),
        _ => Err(site.fault(refuse!("has negative pads"))),
    };
    Ok(PoolSpec {
        sizes: how.sizes,
        strides: how.strides,
        padding: how.padding.iter().map(pair).collect::<Result<_, _>>()?,
        dilation: how.dilation,
        rounds_up: site.int("ceil_mode", 0)? != 0,
        counts_padding: site.int("count_include_pad", 0)? != 0,
    })
}

fn max(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let spec = spec(site, x)?;
    let pooled = max_pool(site.b(), x, &spec)?;
    if site.node.outputs.get(1).is_none_or(|name| name.is_empty()) {
        return Ok(vec![pooled]);
    }
    if site.int("storage_order", 0)? != 0 {
        return Err(site.fault(refuse!("with places counted by columns is not known")));
    }
    // Positions count through the whole array, including batch and channels.
    let places = max_pool_indices(site.b(), x, pooled, &spec)?;
    let (dims, result) = (site.dims(x), site.dims(pooled));
    let inside = dims[2..].iter().fold(1u64, |n, &d| n.saturating_mul(d));
    let channel = site.b().iota(ElementType::S64, &result, 1)?;
    let channel = site.b().with_number(Binary::Mul, channel, u64_to_f64(inside))?;
    let batch = site.b().iota(ElementType::S64, &result, 0)?;
    let batch = site.b().with_number(Binary::Mul, batch, u64_to_f64(inside.saturating_mul(dims[1])))?;
    let places = site.b().convert(places, ElementType::S64)?;
    let places = site.b().add(places, channel)?;
    Ok(vec![pooled, site.b().add(places, batch)?])
}

fn average(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let spec = spec(site, x)?;
    Ok(vec![average_pool(site.b(), x, &spec, None)?])
}

/// `sum(|x|^p)^(1/p)` under each window.
fn lp(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let p = i64_to_f64(site.int("p", 2)?);
    let spec = PoolSpec { counts_padding: true, ..spec(site, x)? };
    let sizes = site.b().unary(Unary::Abs, x)?;
    let powers = site.b().with_number(Binary::Pow, sizes, p)?;
    let sum = average_pool(site.b(), powers, &spec, Some(1.0))?;
    Ok(vec![site.b().with_number(Binary::Pow, sum, 1.0 / p)?])
}

/// The operand, and its spatial dimensions.
fn spatial(site: &Site<'_, '_>) -> Result<(InstructionId, Vec<usize>), Failure> {
    let x = site.x(0)?;
    Ok((x, (2..site.dims(x).len()).collect()))
}

fn global_lp(site: &mut Site<'_, '_>) -> Results {
    let (x, axes) = spatial(site)?;
    let p = i64_to_f64(site.int("p", 2)?);
    let b = site.b();
    let sizes = b.unary(Unary::Abs, x)?;
    let powers = b.with_number(Binary::Pow, sizes, p)?;
    let sum = b.reduce(Binary::Add, powers, &axes, true)?;
    Ok(vec![b.with_number(Binary::Pow, sum, 1.0 / p)?])
}
