//! Resizing: each element of the result is a weighted sum of a few elements of the operand, one dimension after the other.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::{
    f64_to_f32, f64_to_i64, f64_to_u64, i64_to_u64, u64_to_f32, u64_to_f64, u64_to_i64, usize_to_f64, usize_to_i64,
    usize_to_u32,
};
use ns_base::refuse;
use ns_program::OperatorKind::{Movement, Window};
use ns_program::builder::RowGather;
use ns_program::compose::{Between, Beyond, GridSample, grid_sample};
use ns_program::{ArrayType, ElementType, InstructionId, Numbers, Value};

use super::Operator;
use super::layout::sizes;

/// Operators that sample between elements.
pub(super) const OPS: &[Operator] =
    &[("Resize", Movement, resize), ("Upsample", Movement, resize), ("GridSample", Window, grid)];

/// Most elements of a resized dimension.
const MOST: u64 = 1 << 16;

/// How one dimension is resized.
struct Grid<'a> {
    from: u64,
    to: u64,
    /// Number of result elements for each operand element.
    scale: f64,
    coordinates: &'a str,
    mode: &'a str,
    nearest: &'a str,
    cubic: f64,
    excludes_outside: bool,
}

fn resize(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let is_early = site.opset < 11 || site.node.op == "Upsample";
    let axes = match site.ints("axes")? {
        Some(axes) => site.axes(&axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let (wanted, scales) = sizes_and_scales(site, is_early, axes.len(), &dims, &axes)?;
    let coordinates =
        site.text("coordinate_transformation_mode", if is_early { "asymmetric" } else { "half_pixel" })?;
    let nearest = site.text("nearest_mode", if is_early { "floor" } else { "round_prefer_floor" })?;
    let mode = site.text("mode", "nearest")?;
    if site.int("antialias", 0)? != 0 && (0..axes.len()).any(|n| wanted[n] < dims[axes[n]]) {
        return Err(site.fault(refuse!("with antialias 1 is not known")));
    }
    let mut result = x;
    for (n, &axis) in axes.iter().enumerate() {
        if wanted[n] == dims[axis] && scales[n] == 1.0 {
            continue;
        }
        let grid = Grid {
            from: dims[axis],
            to: wanted[n],
            scale: scales[n],
            coordinates: &coordinates,
            mode: &mode,
            // Before operator set 11 a smaller result takes the next element, as ONNX Runtime does.
            nearest: if is_early && scales[n] < 1.0 { "ceil" } else { &nearest },
            cubic: site.float("cubic_coeff_a", -0.75)?,
            excludes_outside: site.int("exclude_outside", 0)? != 0,
        };
        result = along(site, result, axis, &grid)?;
    }
    Ok(vec![result])
}

/// Whether a sample is supported: an image, or a volume without cubic interpolation.
fn is_plane(site: &Site<'_, '_>) -> bool {
    let is_cubic = matches!(site.text("mode", "linear").as_deref(), Ok("cubic" | "bicubic"));
    site.option(0).is_none_or(|x| matches!((site.dims(x).len(), is_cubic), (4, _) | (5, false)))
}

/// An image sampled at positions between its elements.
fn grid(site: &mut Site<'_, '_>) -> Results {
    if !is_plane(site) {
        return Err(Failure::Unknown);
    }
    let (x, places) = (site.x(0)?, site.x(1)?);
    let between = match site.text("mode", "linear")?.as_str() {
        "linear" | "bilinear" => Between::Linear,
        "nearest" => Between::Nearest,
        "cubic" | "bicubic" => Between::Cubic,
        other => return Err(site.fault(refuse!("has the unknown mode {other:?}"))),
    };
    let beyond = match site.text("padding_mode", "zeros")?.as_str() {
        "zeros" => Beyond::Zero,
        "border" => Beyond::Edge,
        "reflection" => Beyond::Mirror,
        other => return Err(site.fault(refuse!("has the unknown padding {other:?}"))),
    };
    let how = GridSample { between, beyond, aligns_corners: site.int("align_corners", 0)? != 0 };
    Ok(vec![grid_sample(site.b(), x, places, how)?])
}

/// Sizes and scales of the dimensions that are resized.
fn sizes_and_scales(
    site: &Site<'_, '_>,
    is_early: bool,
    count: usize,
    dims: &[u64],
    axes: &[usize],
) -> Result<(Vec<u64>, Vec<f64>), Failure> {
    let has_sizes = !is_early && site.option(3).is_some_and(|s| site.dims(s) != [0]);
    if has_sizes {
        if site.text("keep_aspect_ratio_policy", "stretch")? != "stretch" {
            return Err(site.fault(refuse!("with a fixed ratio of sizes is not known")));
        }
        let wanted = sizes(&site.known_ints(3)?)?;
        if wanted.len() != count {
            return Err(site.fault(refuse!("has the sizes {wanted:?} for {count} dimensions")));
        }
        let scales = wanted.iter().zip(axes).map(|(&w, &a)| u64_to_f64(w) / u64_to_f64(dims[a].max(1))).collect();
        return Ok((wanted, scales));
    }
    let at = if is_early { 1 } else { 2 };
    let scales = match site.option(at) {
        Some(_) => site.known_reals(at)?,
        None => site.floats("scales")?.unwrap_or_default(),
    };
    if scales.len() != count || scales.iter().any(|s| !(s.is_finite() && *s > 0.0)) {
        return Err(site.fault(refuse!("has the scales {scales:?} for {count} dimensions")));
    }
    // In single precision, like the scales: 3 * 1.3333334 is 4.
    let size = |(&s, &a): (&f64, &usize)| f64_to_u64(f64::from(u64_to_f32(dims[a]) * f64_to_f32(s)).floor());
    Ok((scales.iter().zip(axes).map(size).collect(), scales))
}

/// Resizes one dimension of `x`.
fn along(site: &mut Site<'_, '_>, x: InstructionId, axis: usize, grid: &Grid<'_>) -> Result<InstructionId, Failure> {
    if grid.to == 0 || grid.to > MOST || grid.from == 0 {
        return Err(site.fault(refuse!("cannot change {} elements to {}", grid.from, grid.to)));
    }
    let taps = (0..grid.to).map(|at| taps(grid, at)).collect::<Result<Vec<_>, _>>()?;
    let times = grid.to / grid.from;
    let is_repeated = grid.to.is_multiple_of(grid.from)
        && taps
            .iter()
            .enumerate()
            .all(|(at, t)| matches!(t.as_slice(), [(i, _)] if i64_to_u64(*i) == at as u64 / times));
    if is_repeated {
        let mut dims = site.dims(x);
        let apart = site.b().unsqueeze(x, axis + 1)?;
        let mut many = site.dims(apart);
        many[axis + 1] = times;
        let many = site.b().broadcast_to(apart, &many)?;
        dims[axis] = grid.to;
        return Ok(site.b().reshape(many, &dims)?);
    }
    let mut sum = None;
    for tap in 0..taps.first().map_or(0, Vec::len) {
        let places: Vec<i64> = taps.iter().map(|t| t[tap].0).collect();
        let indices = site.b().whole_row(ElementType::S64, &places)?;
        let part = site.b().take(x, indices, RowGather { dimension: axis, wraps: false })?;
        if taps[0].len() == 1 {
            return Ok(part);
        }
        let ty = ArrayType::new(site.element(x), [grid.to]);
        let shares = Numbers::Real(taps.iter().map(|t| t[tap].1).collect());
        let dims = site.dims(part);
        let b = site.b();
        let shares = b.constant(Value { ty, numbers: shares })?;
        let shares = b.broadcast_in(shares, &dims, vec![usize_to_u32(axis)])?;
        let weighted = b.mul(part, shares)?;
        sum = Some(match sum {
            Some(sum) => b.add(sum, weighted)?,
            None => weighted,
        });
    }
    sum.ok_or_else(|| site.fault(refuse!("makes no elements")))
}

/// Position in the operand of element `at` of the result.
fn place(grid: &Grid<'_>, at: u64) -> Result<f64, Failure> {
    let (x, from, to) = (u64_to_f64(at), u64_to_f64(grid.from), u64_to_f64(grid.to));
    Ok(match grid.coordinates {
        "half_pixel" => (x + 0.5) / grid.scale - 0.5,
        "pytorch_half_pixel" if grid.to > 1 => (x + 0.5) / grid.scale - 0.5,
        "align_corners" if grid.to > 1 => x * (from - 1.0) / (to - 1.0),
        "pytorch_half_pixel" | "align_corners" => 0.0,
        "asymmetric" => x / grid.scale,
        "half_pixel_symmetric" => {
            let offset = from / 2.0 * (1.0 - to / (from * grid.scale));
            offset + (x + 0.5) / grid.scale - 0.5
        }
        other => {
            return Err(Failure::of(refuse!("Resize has the unknown coordinates {other:?}")));
        }
    })
}

/// Elements of the operand that element `at` of the result reads, with their weights.
fn taps(grid: &Grid<'_>, at: u64) -> Result<Vec<(i64, f64)>, Failure> {
    let place = place(grid, at)?;
    let last = u64_to_i64(grid.from) - 1;
    let inside = |i: f64| f64_to_i64(i).clamp(0, last);
    let first = place.floor();
    let t = place - first;
    match grid.mode {
        "nearest" => {
            let i = match grid.nearest {
                "floor" => first,
                "ceil" => place.ceil(),
                "round_prefer_ceil" => (place + 0.5).floor(),
                _ => (place - 0.5).ceil(),
            };
            Ok(vec![(inside(i), 1.0)])
        }
        "linear" => Ok(vec![(inside(first), 1.0 - t), (inside(first + 1.0), t)]),
        "cubic" => {
            let a = grid.cubic;
            let near = |d: f64| ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
            let far = |d: f64| ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
            let mut shares = [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)];
            if grid.excludes_outside {
                for (n, share) in shares.iter_mut().enumerate() {
                    let i = f64_to_i64(first) + usize_to_i64(n) - 1;
                    *share *= f64::from(u8::from((0..=last).contains(&i)));
                }
                let sum: f64 = shares.iter().sum();
                shares.iter_mut().for_each(|share| *share /= sum);
            }
            Ok(shares.iter().enumerate().map(|(n, &share)| (inside(first + usize_to_f64(n) - 1.0), share)).collect())
        }
        other => Err(Failure::of(refuse!("Resize has the unknown mode {other:?}"))),
    }
}
