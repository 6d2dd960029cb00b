//! Operators that move elements: shapes, slices, joins.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::{i64_to_u64, usize_to_i64};
use ns_base::refuse;
use ns_program::InstructionId;
use ns_program::OperatorKind::Movement;

use super::Operator;

/// Operators that move elements.
pub(super) const OPS: &[Operator] = &[
    ("Reshape", Movement, reshape),
    ("Flatten", Movement, flatten),
    ("Squeeze", Movement, squeeze),
    ("Unsqueeze", Movement, unsqueeze),
    ("Transpose", Movement, transpose),
    ("Expand", Movement, expand),
    ("Tile", Movement, tile),
    ("Concat", Movement, concat),
    ("Split", Movement, split),
    ("Slice", Movement, slice),
    ("DepthToSpace", Movement, depth_to_space),
    ("SpaceToDepth", Movement, space_to_depth),
];

/// Sizes of a reshape: 0 keeps a size, -1 takes the remaining elements.
fn reshape(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let wanted = site.ints_of(1, "shape")?.ok_or_else(|| site.fault(refuse!("needs a shape")))?;
    let keeps_zero = site.int("allowzero", 0)? != 0;
    let from = site.dims(x);
    let wrong = || refuse!("cannot reshape {from:?} to {wanted:?}");
    let mut dims = Vec::with_capacity(wanted.len());
    let mut open = None;
    for (at, &n) in wanted.iter().enumerate() {
        dims.push(match n {
            0 if !keeps_zero => {
                *from.get(at).ok_or_else(|| site.fault(refuse!("keeps a dimension that does not exist")))?
            }
            -1 if open.is_none() => {
                open = Some(at);
                1
            }
            n => u64::try_from(n).map_err(|_| site.fault(wrong()))?,
        });
    }
    if let Some(at) = open {
        let known = dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).filter(|&n| n > 0);
        let all = site.ty(x)?.elements().unwrap_or(0);
        let rest = known.filter(|known| all % known == 0).map(|known| all / known);
        dims[at] = rest.ok_or_else(|| site.fault(wrong()))?;
    }
    Ok(vec![site.b().reshape(x, &dims)?])
}

fn flatten(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let axis = site.int("axis", 1)?;
    // The axis may be the number of dimensions.
    let at = if axis == usize_to_i64(dims.len()) { dims.len() } else { site.axis(axis, dims.len())? };
    let product = |part: &[u64]| part.iter().fold(1u64, |n, &d| n.saturating_mul(d));
    Ok(vec![site.b().reshape(x, &[product(&dims[..at]), product(&dims[at..])])?])
}

fn squeeze(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let axes = match site.ints_of(1, "axes")? {
        Some(axes) => site.axes(&axes, dims.len())?,
        None => (0..dims.len()).filter(|&d| dims[d] == 1).collect(),
    };
    if let Some(&bad) = axes.iter().find(|&&d| dims[d] != 1) {
        return Err(site.fault(refuse!("takes away dimension {bad}, which has the size {}", dims[bad])));
    }
    let kept: Vec<u64> = (0..dims.len()).filter(|d| !axes.contains(d)).map(|d| dims[d]).collect();
    Ok(vec![site.b().reshape(x, &kept)?])
}

fn unsqueeze(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let axes = site.ints_of(1, "axes")?.ok_or_else(|| site.fault(refuse!("needs axes")))?;
    let dims = site.dims(x);
    let rank = dims.len() + axes.len();
    let axes = site.axes(&axes, rank)?;
    let mut rest = dims.iter().copied();
    let wider: Vec<u64> = (0..rank).map(|d| if axes.contains(&d) { 1 } else { rest.next().unwrap_or(1) }).collect();
    Ok(vec![site.b().reshape(x, &wider)?])
}

fn transpose(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let rank = site.dims(x).len();
    let permutation = match site.ints("perm")? {
        Some(list) => site.axes(&list, rank)?,
        None => (0..rank).rev().collect(),
    };
    Ok(vec![site.b().transpose(x, &permutation)?])
}

fn expand(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let wanted = sizes(&site.known_ints(1)?)?;
    let own = site.dims(x);
    let rank = own.len().max(wanted.len());
    let size = |dims: &[u64], at: usize| (at + dims.len()).checked_sub(rank).map_or(1, |i| dims[i]);
    let both = (0..rank).map(|at| (size(&own, at), size(&wanted, at)));
    let dims: Vec<u64> = both.map(|(a, b)| if a == 1 { b } else { a }).collect();
    let fits = (0..rank).all(|at| size(&wanted, at) == 1 || size(&wanted, at) == dims[at]);
    if !fits {
        return Err(site.fault(refuse!("cannot expand {own:?} to {wanted:?}")));
    }
    Ok(vec![site.b().broadcast_to(x, &dims)?])
}

/// Converts numbers to sizes.
pub(super) fn sizes(numbers: &[i64]) -> Result<Vec<u64>, Failure> {
    let all = numbers.iter().map(|&n| u64::try_from(n)).collect::<Result<Vec<u64>, _>>();
    all.map_err(|_| Failure::of(refuse!("{numbers:?} are not sizes")))
}

fn tile(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let times = sizes(&site.known_ints(1)?)?;
    let dims = site.dims(x);
    if times.len() != dims.len() {
        return Err(site.fault(refuse!("repeats {dims:?} {times:?} times")));
    }
    let apart: Vec<u64> = dims.iter().flat_map(|&d| [1, d]).collect();
    let many: Vec<u64> = dims.iter().zip(&times).flat_map(|(&d, &t)| [t, d]).collect();
    let joined: Vec<u64> = dims.iter().zip(&times).map(|(&d, &t)| d.saturating_mul(t)).collect();
    let x = site.b().reshape(x, &apart)?;
    let x = site.b().broadcast_to(x, &many)?;
    Ok(vec![site.b().reshape(x, &joined)?])
}

fn concat(site: &mut Site<'_, '_>) -> Results {
    let parts: Vec<InstructionId> = site.inputs.iter().flatten().copied().collect();
    let first = site.x(0)?;
    let axis = site.axis_of(first, 1)?;
    Ok(vec![site.b().concatenate(&parts, axis)?])
}

fn split(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let axis = site.axis_of(x, 0)?;
    let parts = match site.ints_of(1, "split")? {
        Some(parts) => sizes(&parts)?,
        None => {
            let outputs = usize_to_i64(site.node.outputs.len());
            let count = u64::try_from(site.int("num_outputs", outputs)?).ok().filter(|&n| n > 0 && n <= 1 << 16);
            let count = count.ok_or_else(|| site.fault(refuse!("makes no parts")))?;
            let part = dims[axis].div_ceil(count);
            (0..count).map(|at| part.min(dims[axis].saturating_sub(part * at))).collect()
        }
    };
    Ok(site.b().split(x, axis, &parts)?)
}

fn slice(site: &mut Site<'_, '_>) -> Results {
    let mut x = site.x(0)?;
    let missing = |site: &Site<'_, '_>| site.fault(refuse!("needs starts and ends"));
    let starts = site.ints_of(1, "starts")?.ok_or_else(|| missing(site))?;
    let ends = site.ints_of(2, "ends")?.ok_or_else(|| missing(site))?;
    let rank = site.dims(x).len();
    let axes = match site.ints_of(3, "axes")? {
        Some(axes) => site.axes(&axes, rank)?,
        None => (0..starts.len()).collect(),
    };
    let steps = site.ints_of(4, "steps")?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()].iter().any(|&n| n != starts.len()) || axes.iter().any(|&a| a >= rank) {
        let (starts, ends, axes, steps) = (starts.len(), ends.len(), axes.len(), steps.len());
        return Err(site.fault(refuse!("has {starts} starts, {ends} ends, {axes} axes and {steps} steps")));
    }
    for (at, &axis) in axes.iter().enumerate() {
        x = slice_one(site, x, axis, (starts[at], ends[at], steps[at]))?;
    }
    Ok(vec![x])
}

/// A range of one dimension; bounds beyond the dimension are clamped to it.
fn slice_one(
    site: &mut Site<'_, '_>,
    x: InstructionId,
    axis: usize,
    (start, end, step): (i64, i64, i64),
) -> Result<InstructionId, Failure> {
    let size = i64::try_from(site.dims(x)[axis]).unwrap_or(i64::MAX);
    let from_front = |n: i64| if n < 0 { n.saturating_add(size) } else { n };
    let (start, end) = (from_front(start), from_front(end));
    if step > 0 {
        let start = start.clamp(0, size);
        let end = end.clamp(start, size);
        return Ok(site.b().slice_dim(x, axis, i64_to_u64(start), i64_to_u64(end), i64_to_u64(step))?);
    }
    if step == 0 {
        return Err(site.fault(refuse!("has the step 0")));
    }
    let step = step.unsigned_abs();
    let (start, end) = (start.clamp(-1, size - 1), end.clamp(-1, size - 1));
    let count = u64::try_from(start - end).unwrap_or(0).div_ceil(step);
    if count == 0 {
        return Ok(site.b().slice_dim(x, axis, 0, 0, 1)?);
    }
    let last = i64_to_u64(start) - (count - 1) * step;
    let part = site.b().slice_dim(x, axis, last, i64_to_u64(start) + 1, step)?;
    Ok(site.b().reverse(part, &[axis])?)
}

/// Batch, channels, height and width, and the size of a block.
fn blocks(site: &Site<'_, '_>, x: InstructionId) -> Result<([u64; 4], u64), Failure> {
    let dims = site.dims(x);
    let count = site.int("blocksize", 0)?;
    let block = u64::try_from(count).ok().filter(|&n| n > 0 && n < 1 << 16);
    match (dims.as_slice(), block) {
        (&[n, c, h, w], Some(block)) => Ok(([n, c, h, w], block)),
        _ => Err(site.fault(refuse!("cannot divide {dims:?} into {count} elements a block"))),
    }
}

fn depth_to_space(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let ([n, c, h, w], s) = blocks(site, x)?;
    let deep = c / (s * s);
    let (apart, order): ([u64; 6], [usize; 6]) = match site.text("mode", "DCR")?.as_str() {
        "CRD" => ([n, deep, s, s, h, w], [0, 1, 4, 2, 5, 3]),
        _ => ([n, s, s, deep, h, w], [0, 3, 4, 1, 5, 2]),
    };
    let x = site.b().reshape(x, &apart)?;
    let x = site.b().transpose(x, &order)?;
    Ok(vec![site.b().reshape(x, &[n, deep, h.saturating_mul(s), w.saturating_mul(s)])?])
}

fn space_to_depth(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let ([n, c, h, w], s) = blocks(site, x)?;
    let x = site.b().reshape(x, &[n, c, h / s, s, w / s, s])?;
    let x = site.b().transpose(x, &[0, 3, 5, 1, 2, 4])?;
    Ok(vec![site.b().reshape(x, &[n, c.saturating_mul(s * s), h / s, w / s])?])
}
