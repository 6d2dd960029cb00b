//! Pooling and resizing.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, refuse};
use ns_program::ElementType;
use ns_program::OperatorKind::Window;
use ns_program::compose::{
    Between, Beyond, Falloff, GridSample, PoolSpec, Resize, ResizeMode, adaptive_average_pool, adaptive_max_places,
    adaptive_max_pool, average_pool, grid_sample, max_pool, max_pool_indices, resize, smooth_resize,
};

/// Pooling and resizing.
pub const OPS: &[Row] = &[
    (&["grid_sampler", "grid_sampler_2d", "grid_sampler_3d"], Window, sample),
    (&["max_pool1d", "max_pool1d_with_indices"], Window, |c| largest(c, 1)),
    (&["max_pool2d", "max_pool2d_with_indices"], Window, |c| largest(c, 2)),
    (&["max_pool3d", "max_pool3d_with_indices"], Window, |c| largest(c, 3)),
    (&["avg_pool1d"], Window, |c| average(c, 1)),
    (&["avg_pool2d"], Window, |c| average(c, 2)),
    (&["avg_pool3d"], Window, |c| average(c, 3)),
    (&["adaptive_avg_pool1d"], Window, |c| adaptive_average(c, 1)),
    (&["adaptive_avg_pool2d", "_adaptive_avg_pool2d"], Window, |c| adaptive_average(c, 2)),
    (&["adaptive_avg_pool3d", "_adaptive_avg_pool3d"], Window, |c| adaptive_average(c, 3)),
    (&["adaptive_max_pool1d"], Window, |c| adaptive_largest(c, 1)),
    (&["adaptive_max_pool2d"], Window, |c| adaptive_largest(c, 2)),
    (&["adaptive_max_pool3d"], Window, |c| adaptive_largest(c, 3)),
    (&["upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"], Window, |c| upsample(c, ResizeMode::Nearest)),
    (&["upsample_nearest_exact1d", "_upsample_nearest_exact1d"], Window, |c| upsample(c, ResizeMode::NearestExact)),
    (&["upsample_nearest_exact2d", "_upsample_nearest_exact2d"], Window, |c| upsample(c, ResizeMode::NearestExact)),
    (&["_upsample_nearest_exact3d"], Window, |c| upsample(c, ResizeMode::NearestExact)),
    (&["upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"], Window, |c| {
        upsample(c, ResizeMode::Linear)
    }),
    (&["upsample_bicubic2d"], Window, |c| upsample(c, ResizeMode::Cubic(-0.75))),
    (&["_upsample_bilinear2d_aa"], Window, |c| smooth(c, Falloff::Linear)),
    (&["_upsample_bicubic2d_aa"], Window, |c| smooth(c, Falloff::Cubic)),
];

fn largest(c: &mut Call<'_, '_, '_>, spatial: usize) -> CallOutcome {
    let x = c.x(0)?;
    let spec = spec(c, spatial)?;
    let value = max_pool(c.b(), x, &spec)?;
    if !c.op.ends_with("indices") {
        return one(value);
    }
    // Positions are computed only if the result's name does not mark them as unused.
    let is_used = !c.t.has_types || c.output_names().get(1).is_some_and(|n| !n.get().contains("unused"));
    let places = if is_used { Some(max_pool_indices(c.b(), x, value, &spec)?) } else { None };
    Ok(OpResult::Many(vec![Some(value), places]))
}

fn average(c: &mut Call<'_, '_, '_>, spatial: usize) -> CallOutcome {
    let x = c.x(0)?;
    let spec = spec(c, spatial)?;
    let divisor = c.float("divisor_override");
    one(average_pool(c.b(), x, &spec, divisor)?)
}

fn last_sizes(c: &mut Call<'_, '_, '_>, spatial: usize) -> Result<Vec<u64>, Refusal> {
    let result = c.result()?.dims;
    Ok(result[result.len().saturating_sub(spatial)..].to_vec())
}

fn adaptive_average(c: &mut Call<'_, '_, '_>, spatial: usize) -> CallOutcome {
    let x = c.x(0)?;
    let sizes = last_sizes(c, spatial)?;
    one(adaptive_average_pool(c.b(), x, &sizes)?)
}

fn adaptive_largest(c: &mut Call<'_, '_, '_>, spatial: usize) -> CallOutcome {
    let x = c.x(0)?;
    let sizes = last_sizes(c, spatial)?;
    // Positions are computed only if the result's name does not mark them as unused.
    if c.output_names().get(1).is_some_and(|n| !n.get().contains("unused")) {
        let found = adaptive_max_places(c.b(), x, &sizes)?;
        return Ok(OpResult::Many(found.into_iter().map(Some).collect()));
    }
    let value = adaptive_max_pool(c.b(), x, &sizes)?;
    Ok(OpResult::Many(vec![Some(value), None]))
}

/// An image, or a volume, sampled at positions between its elements.
fn sample(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, grid) = (c.x(0)?, c.x(1)?);
    let (mode, beyond) = (c.int_or("interpolation_mode", 0), c.int_or("padding_mode", 0));
    let beyond = match beyond {
        0 => Beyond::Zero,
        1 => Beyond::Edge,
        _ => Beyond::Mirror,
    };
    let between = match (mode, c.b().rank(x)) {
        (0, _) => Between::Linear,
        (1, _) => Between::Nearest,
        (2, 4) => Between::Cubic,
        _ => return Ok(OpResult::Unknown),
    };
    let how = GridSample { between, beyond, aligns_corners: c.flag_or("align_corners", false) };
    one(grid_sample(c.b(), x, grid, how)?)
}

/// Windows of a pooling.
fn spec(c: &Call<'_, '_, '_>, spatial: usize) -> Result<PoolSpec, Refusal> {
    let numbers = |argument: &'static str, default: &[u64]| -> Result<Vec<u64>, Refusal> {
        let given = c.ints(argument).unwrap_or_default();
        let each = |n: i64| u64::try_from(n).map_err(|_| refuse!("{argument} is {n} and must not be negative"));
        let given: Vec<u64> = given.into_iter().map(each).collect::<Result<_, _>>()?;
        match given.as_slice() {
            [] => Ok(default.to_vec()),
            [single] => Ok(vec![*single; spatial]),
            all if all.len() == spatial => Ok(all.to_vec()),
            all => Err(refuse!("{argument} has {} numbers for {spatial} dimensions", all.len())),
        }
    };
    let sizes = numbers("kernel_size", &[])?;
    let strides = numbers("stride", &sizes)?;
    let padding = numbers("padding", &vec![0; spatial])?;
    Ok(PoolSpec {
        strides,
        padding: padding.into_iter().map(|p| (p, p)).collect(),
        dilation: numbers("dilation", &vec![1; spatial])?,
        rounds_up: c.flag_or("ceil_mode", false),
        counts_padding: c.flag_or("count_include_pad", true),
        sizes,
    })
}

/// Resizing to the sizes of the result.
fn upsample(c: &mut Call<'_, '_, '_>, mode: ResizeMode) -> CallOutcome {
    let aligns_corners = c.flag_or("align_corners", false);
    let result = c.result()?;
    let mut x = c.x(0)?;
    let element = result.element;
    if element.bits() < 32 && element.is_float() {
        x = c.b().convert(x, ElementType::F32)?;
    }
    let given = scales(c);
    for d in 2..result.dims.len() {
        let scale = given.get(d - 2).copied().filter(|&s| s > 0.0 && !aligns_corners);
        let how = Resize { mode, aligns_corners, step: scale.map(|s| 1.0 / s) };
        x = resize(c.b(), x, d, result.dims[d], how)?;
    }
    one(x)
}

/// Resizing by means over all elements that an element of the result covers.
fn smooth(c: &mut Call<'_, '_, '_>, falloff: Falloff) -> CallOutcome {
    let aligns_corners = c.flag_or("align_corners", false);
    let (result, given) = (c.result()?, scales(c));
    let mut x = c.x(0)?;
    for d in 2..result.dims.len() {
        let (from, to) = (c.b().size(x, d)?, result.dims[d]);
        let step = match given.get(d - 2).copied().filter(|&s| s > 0.0) {
            _ if aligns_corners && to > 1 => u64_to_f64(from.saturating_sub(1)) / u64_to_f64(to - 1),
            Some(scale) if !aligns_corners => 1.0 / scale,
            _ => u64_to_f64(from) / u64_to_f64(to.max(1)),
        };
        x = smooth_resize(c.b(), x, d, to, (falloff, step))?;
    }
    one(x)
}

/// Factors from the caller, which torch uses instead of the quotient of the sizes.
fn scales(c: &Call<'_, '_, '_>) -> Vec<f64> {
    use super::super::argument::Argument;
    if let Some(Argument::Floats(all)) = c.arg("scale_factors") {
        return all.clone();
    }
    ["scales", "scales_d", "scales_h", "scales_w"].iter().filter_map(|name| c.float(name)).collect()
}
