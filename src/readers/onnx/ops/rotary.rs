//! Rotary position embeddings: pairs of features rotated by an angle that grows with the position of their token.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::refuse;
use ns_program::OperatorKind::Movement;
use ns_program::builder::RowGather;
use ns_program::{Binary, ElementType, InstructionId};

use super::Operator;
use super::product::{apart, joined};

pub(super) const OPS: &[Operator] = &[("RotaryEmbedding", Movement, |site| rotary(site, STANDARD))];

/// The order of operands, which differs between ONNX and onnxruntime.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    pub cosines: usize,
    pub sines: usize,
    pub places: usize,
}

/// ONNX's own `RotaryEmbedding`.
const STANDARD: Operands = Operands { cosines: 1, sines: 2, places: 3 };
pub(super) const ONNXRUNTIME: Operands = Operands { cosines: 2, sines: 3, places: 1 };

/// Rotates `[batch, heads, length, size]`, or `[batch, length, heads x size]`, by tables `[positions, pairs]` that `places` indexes, or by
/// `[batch, length, pairs]`.
pub(super) fn rotary(site: &mut Site<'_, '_>, operands: Operands) -> Results {
    let x = site.x(0)?;
    let (cosines, sines) = (angles(site, operands, operands.cosines)?, angles(site, operands, operands.sines)?);
    let pairs = site.dims(cosines).last().copied().unwrap_or(0);
    let is_flat = site.dims(x).len() == 3;
    let x = if is_flat { by_heads(site, x, pairs)? } else { x };
    let is_interleaved = site.int("interleaved", 0)? != 0;
    let result = turned(site, x, [cosines, sines], is_interleaved)?;
    Ok(vec![if is_flat { joined(site, result)? } else { result }])
}

/// `[batch, heads, length, size]` with its first features rotated by cosines and sines of `[.., length, pairs]`.
pub(super) fn turned(
    site: &mut Site<'_, '_>,
    x: InstructionId,
    [cosines, sines]: [InstructionId; 2],
    is_interleaved: bool,
) -> Result<InstructionId, Failure> {
    let pairs = site.dims(cosines).last().copied().unwrap_or(0);
    let dims = site.dims(x);
    let &[_, _, _, size] = dims.as_slice() else {
        return Err(site.fault(refuse!("does not take {dims:?}")));
    };
    let turned = pairs.saturating_mul(2);
    if turned == 0 || turned > size {
        return Err(site.fault(refuse!("turns {pairs} pairs of {size} features")));
    }
    let front = site.b().slice_dim(x, 3, 0, turned, 1)?;
    let (a, b) = if is_interleaved {
        (site.b().slice_dim(front, 3, 0, turned, 2)?, site.b().slice_dim(front, 3, 1, turned, 2)?)
    } else {
        (site.b().slice_dim(front, 3, 0, pairs, 1)?, site.b().slice_dim(front, 3, pairs, turned, 1)?)
    };
    let (first, second) = turn(site, (a, b), (cosines, sines))?;
    let mut result = if is_interleaved {
        let both = site.b().stack(&[first, second], 4)?;
        let dims = site.dims(front);
        site.b().reshape(both, &dims)?
    } else {
        site.b().concatenate(&[first, second], 3)?
    };
    if turned < size {
        let rest = site.b().slice_dim(x, 3, turned, size, 1)?;
        result = site.b().concatenate(&[result, rest], 3)?;
    }
    Ok(result)
}

/// `(a cos - b sin, a sin + b cos)`
fn turn(
    site: &mut Site<'_, '_>,
    (a, b): (InstructionId, InstructionId),
    (cosines, sines): (InstructionId, InstructionId),
) -> Result<(InstructionId, InstructionId), Failure> {
    let builder = site.b();
    let (ac, bs) = (builder.mul(a, cosines)?, builder.mul(b, sines)?);
    let (as_, bc) = (builder.mul(a, sines)?, builder.mul(b, cosines)?);
    Ok((builder.sub(ac, bs)?, builder.add(as_, bc)?))
}

/// Converts `[batch, length, heads x size]` to `[batch, heads, length, size]`; without a number of heads, each is as long as the rotated features.
fn by_heads(site: &mut Site<'_, '_>, x: InstructionId, pairs: u64) -> Result<InstructionId, Failure> {
    let num_heads = site.int("num_heads", 0)?;
    let width = site.dims(x).last().copied().unwrap_or(0);
    let heads =
        if num_heads > 0 { num_heads } else { i64::try_from(width / pairs.saturating_mul(2).max(1)).unwrap_or(0) };
    apart(site, x, heads)
}

/// Cosines or sines of each token as `[batch, 1, length, pairs]`.
fn angles(site: &mut Site<'_, '_>, operands: Operands, table: usize) -> Result<InstructionId, Failure> {
    let table = site.x(table)?;
    let Some(places) = site.option(operands.places) else {
        return Ok(site.b().unsqueeze(table, 1)?);
    };
    let rows = RowGather { dimension: 0, wraps: false };
    if site.dims(places).len() == 2 {
        let chosen = site.b().take(table, places, rows)?;
        return Ok(site.b().unsqueeze(chosen, 1)?);
    }
    // One number: the position of the first token.
    let x = site.x(0)?;
    let dims = site.dims(x);
    let length = dims.get(dims.len().saturating_sub(2)).copied().unwrap_or(1);
    let first = site.b().convert(places, ElementType::S64)?;
    let first = site.b().reshape(first, &[1])?;
    let steps = site.b().iota(ElementType::S64, &[length], 0)?;
    let places = site.b().binary(Binary::Add, steps, first)?;
    let chosen = site.b().take(table, places, rows)?;
    let pairs = site.dims(chosen).last().copied().unwrap_or(0);
    Ok(site.b().reshape(chosen, &[1, 1, length, pairs])?)
}
