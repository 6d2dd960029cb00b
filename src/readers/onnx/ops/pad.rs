//! Padding.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::i64_to_u64;
use ns_base::refuse;
use ns_program::InstructionId;
use ns_program::OperatorKind::Movement;

use super::Operator;

/// Padding.
pub(super) const OPS: &[Operator] = &[("Pad", Movement, pad)];

/// Elements in front of and behind each dimension.
fn pad(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let rank = site.dims(x).len();
    let early = if site.opset < 2 { "paddings" } else { "pads" };
    let pads = site.ints_of(1, early)?.ok_or_else(|| site.fault(refuse!("needs pads")))?;
    let axes = match site.option(3) {
        Some(_) => site.axes(&site.known_ints(3)?, rank)?,
        None => (0..rank).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(site.fault(refuse!("has pads {pads:?} for {} dimensions", axes.len())));
    }
    let mut edges = vec![(0, 0); rank];
    for (at, &axis) in axes.iter().enumerate() {
        edges[axis] = (pads[at], pads[axes.len() + at]);
    }
    let mode = site.text("mode", "constant")?;
    if mode == "constant" {
        let value = match site.option(2) {
            Some(value) => site.b().reshape(value, &[])?,
            None => {
                let (element, number) = (site.element(x), site.float("value", 0.0)?);
                site.b().number(element, number)?
            }
        };
        let edges: Vec<(i64, i64, u64)> = edges.iter().map(|&(low, high)| (low, high, 0)).collect();
        return Ok(vec![site.b().pad_with(x, value, &edges)?]);
    }
    let mut padded = x;
    for (axis, &(low, high)) in edges.iter().enumerate().filter(|(_, e)| **e != (0, 0)) {
        padded = extend(site, padded, axis, (low, high), &mode)?;
    }
    Ok(vec![padded])
}

/// A dimension padded with its own elements.
fn extend(
    site: &mut Site<'_, '_>,
    x: InstructionId,
    axis: usize,
    (low, high): (i64, i64),
    mode: &str,
) -> Result<InstructionId, Failure> {
    let size = site.dims(x)[axis];
    let (cut_low, cut_high) = (low.min(0).unsigned_abs(), high.min(0).unsigned_abs());
    let kept = size.checked_sub(cut_low.saturating_add(cut_high)).filter(|&n| n > 0);
    let Some(kept) = kept else {
        return Err(site.fault(refuse!("takes ({low}, {high}) away from {size} elements")));
    };
    let x = site.b().slice_dim(x, axis, cut_low, cut_low + kept, 1)?;
    let (low, high) = (i64_to_u64(low.max(0)), i64_to_u64(high.max(0)));
    let most = match mode {
        "reflect" => kept - 1,
        "wrap" => kept,
        "edge" => u64::MAX,
        other => return Err(site.fault(refuse!("has the unknown mode {other:?}"))),
    };
    if low > most || high > most {
        return Err(site.fault(refuse!("continues {kept} elements by ({low}, {high}) with the mode {mode}")));
    }
    let mut parts = Vec::new();
    if low > 0 {
        parts.push(match mode {
            "reflect" => {
                let part = site.b().slice_dim(x, axis, 1, low + 1, 1)?;
                site.b().reverse(part, &[axis])?
            }
            "wrap" => site.b().slice_dim(x, axis, kept - low, kept, 1)?,
            _ => repeated(site, x, axis, 0, low)?,
        });
    }
    parts.push(x);
    if high > 0 {
        parts.push(match mode {
            "reflect" => {
                let part = site.b().slice_dim(x, axis, kept - 1 - high, kept - 1, 1)?;
                site.b().reverse(part, &[axis])?
            }
            "wrap" => site.b().slice_dim(x, axis, 0, high, 1)?,
            _ => repeated(site, x, axis, kept - 1, high)?,
        });
    }
    Ok(site.b().concatenate(&parts, axis)?)
}

/// One position of a dimension, repeated.
fn repeated(
    site: &mut Site<'_, '_>,
    x: InstructionId,
    axis: usize,
    at: u64,
    times: u64,
) -> Result<InstructionId, Failure> {
    let one = site.b().slice_dim(x, axis, at, at + 1, 1)?;
    let mut dims = site.dims(one);
    dims[axis] = times;
    Ok(site.b().broadcast_to(one, &dims)?)
}
