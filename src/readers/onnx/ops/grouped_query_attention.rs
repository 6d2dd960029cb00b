//! Grouped-query attention: each head of keys and values serves several heads of queries. With keys and values of earlier calls, as decoders in
//! onnxruntime use it.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::u64_to_f64;
use ns_base::refuse;
use ns_program::compose::Attention;
use ns_program::{Binary, Comparison, ElementType, InstructionId};

use super::product::{apart, attend_heads, joined};
use super::rotary::turned;

/// Whether a node is translated exactly and not estimated: it has no soft cap and no position operand.
fn is_known(site: &Site<'_, '_>) -> bool {
    site.float("softcap", 0.0).is_ok_and(|cap| cap == 0.0) && site.option(9).is_none()
}

/// `GroupQueryAttention`. Every row of the batch has as many earlier keys as the file's arrays hold.
pub(super) fn grouped_attention(site: &mut Site<'_, '_>) -> Results {
    if !is_known(site) {
        return Err(Failure::Unknown);
    }
    let [q, k, v] = heads(site)?;
    let earlier = site.option(3);
    let past = earlier.map_or(0, |e| site.dims(e).get(2).copied().unwrap_or(0));
    let (q, k) =
        if site.int("do_rotary", 0)? != 0 { (by_place(site, q, past)?, by_place(site, k, past)?) } else { (q, k) };
    let keys = behind(site, 3, k)?;
    let values = behind(site, 4, v)?;
    let mut mask = site.option(10);
    if let Some(window) = u64::try_from(site.int("local_window_size", -1)?).ok().filter(|&w| w > 0) {
        let seen = within(site, [q, keys], past, window)?;
        mask = Some(match mask {
            Some(bias) => {
                let element = site.element(bias);
                let never = site.b().number(element, f64::NEG_INFINITY)?;
                site.b().select(seen, bias, never)?
            }
            None => seen,
        });
    }
    let scale = Some(site.float("scale", 0.0)?).filter(|&s| s != 0.0);
    let how = Attention { mask, is_causal: true, past, scale };
    let result = attend_heads(site, [q, keys, values], how)?;
    Ok(vec![joined(site, result)?, keys, values])
}

/// Queries, keys and values as `[batch, heads, length, size]`; all three may be one operand.
fn heads(site: &mut Site<'_, '_>) -> Result<[InstructionId; 3], Failure> {
    let count = site.int("num_heads", 0)?;
    let shared = site.int("kv_num_heads", count)?;
    let mut parts = [site.x(0)?; 3];
    if let (Some(k), Some(v)) = (site.option(1), site.option(2)) {
        parts = [parts[0], k, v];
    } else {
        let width = site.dims(parts[0]).last().copied().unwrap_or(0);
        let all = u64::try_from(count + 2 * shared).ok().filter(|&n| n > 0 && shared > 0);
        let size = all.map(|all| width / all).filter(|&size| size > 0);
        let Some(size) = size else {
            return Err(site.fault(refuse!("cannot divide {width} features into {count} and {shared} heads")));
        };
        let sizes = [count, shared, shared].map(|heads| heads.unsigned_abs().saturating_mul(size));
        let split = site.b().split(parts[0], 2, &sizes)?;
        let [q, k, v] = split[..] else {
            return Err(site.fault(refuse!("needs a product of three parts: queries, keys and values")));
        };
        parts = [q, k, v];
    }
    Ok([apart(site, parts[0], count)?, apart(site, parts[1], shared)?, apart(site, parts[2], shared)?])
}

/// Rotated by the cosines and sines of the positions after `past` earlier ones.
fn by_place(site: &mut Site<'_, '_>, x: InstructionId, past: u64) -> Result<InstructionId, Failure> {
    let length = site.dims(x)[2];
    let mut tables = [site.x(7)?, site.x(8)?];
    for table in &mut tables {
        let places = site.dims(*table).first().copied().unwrap_or(0);
        if places < past.saturating_add(length) {
            return Err(site.fault(refuse!("has {places} places for {length} tokens behind {past}")));
        }
        *table = site.b().slice_dim(*table, 0, past, past + length, 1)?;
    }
    let is_interleaved = site.int("rotary_interleaved", 0)? != 0;
    turned(site, x, tables, is_interleaved)
}

/// `x` appended to the keys or values of earlier calls.
pub(super) fn behind(site: &mut Site<'_, '_>, earlier: usize, x: InstructionId) -> Result<InstructionId, Failure> {
    match site.option(earlier) {
        Some(earlier) => Ok(site.b().concatenate(&[earlier, x], 2)?),
        None => Ok(x),
    }
}

/// Whether a key is among the last `window` keys that a query sees.
fn within(
    site: &mut Site<'_, '_>,
    [q, k]: [InstructionId; 2],
    past: u64,
    window: u64,
) -> Result<InstructionId, Failure> {
    let matrix = [site.dims(q)[2], site.dims(k)[2]];
    let b = site.b();
    let row = b.iota(ElementType::S32, &matrix, 0)?;
    let first = b.with_number(Binary::Add, row, u64_to_f64(past) - u64_to_f64(window))?;
    let column = b.iota(ElementType::S32, &matrix, 1)?;
    Ok(b.compare(Comparison::Gt, column, first)?)
}
