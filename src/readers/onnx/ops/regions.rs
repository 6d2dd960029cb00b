//! Regions of pictures, as detectors cut them out. A sample between four pixels weighs rows and columns apart, so that the mean of
//! the samples of a bin is a product with a matrix on either side, as NeuronCores need it.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::u64_to_f64;
use ns_base::refuse;
use ns_program::OperatorKind::Product;
use ns_program::builder::RowGather;
use ns_program::{Binary, Comparison, DotDims, ElementType, InstructionId, Unary};

use super::Operator;

pub(super) const OPS: &[Operator] = &[("RoiAlign", Product, roi_align)];

/// The side of the regions in one direction.
struct Side {
    /// The columns of the regions that hold its start and its end.
    ends: [u64; 2],
    /// Size of the pictures in pixels.
    pixels: u64,
    /// Bins that a region is divided into.
    bins: u64,
}

struct Sampling {
    /// Samples of a bin in each direction.
    samples: u64,
    /// Pixels of the picture for one unit of the regions.
    scale: f64,
    /// Whether the middle of a pixel is half a pixel from its corner.
    is_half_pixel: bool,
}

/// The mean of some samples in each bin of each region.
fn roi_align(site: &mut Site<'_, '_>) -> Results {
    let (x, regions, pictures) = (site.x(0)?, site.x(1)?, site.x(2)?);
    let (&[_, _, height, width], &[count, 4]) = (&*site.dims(x), &*site.dims(regions)) else {
        return Err(site.fault(refuse!("does not take {:?}", site.dims(regions))));
    };
    if height == 0 || width == 0 {
        return Err(site.fault(refuse!("makes no elements")));
    }
    if site.text("mode", "avg")? != "avg" {
        return Err(site.fault(refuse!("with the maximum of samples is not known")));
    }
    let sampling = sampling(site)?;
    let [rows, columns] = [bins(site, "output_height")?, bins(site, "output_width")?];
    let element = site.element(x);
    let rows = Side { ends: [1, 3], pixels: height, bins: rows };
    let rows = weights(site, regions, count, &rows, &sampling)?;
    let columns = Side { ends: [0, 2], pixels: width, bins: columns };
    let columns = weights(site, regions, count, &columns, &sampling)?;
    let (rows, columns) = (site.b().convert(rows, element)?, site.b().convert(columns, element)?);
    let own = site.b().take(x, pictures, RowGather { dimension: 0, wraps: false })?;
    let each = |lhs: u32, rhs: u32| DotDims {
        lhs_contracting: vec![lhs],
        rhs_contracting: vec![rhs],
        lhs_batch: vec![0],
        rhs_batch: vec![0],
    };
    // Regions, channels, columns of pixels, bins; then regions, channels, bins of rows, bins of columns.
    let down = site.b().dot(own, rows, each(2, 2))?;
    Ok(vec![site.b().dot(down, columns, each(2, 2))?])
}

/// The number of bins in a direction.
fn bins(site: &Site<'_, '_>, name: &'static str) -> Result<u64, Failure> {
    let given = site.int(name, 1)?;
    u64::try_from(given).ok().filter(|&n| n > 0).ok_or_else(|| site.fault(refuse!("has no usable attribute {name}")))
}

fn sampling(site: &Site<'_, '_>) -> Result<Sampling, Failure> {
    // Version 16 added the other rule, and made it the default.
    let default = if site.opset < 16 { "output_half_pixel" } else { "half_pixel" };
    let name = "coordinate_transformation_mode";
    let is_half_pixel = match site.text(name, default)?.as_str() {
        "half_pixel" => true,
        "output_half_pixel" => false,
        other => return Err(site.fault(refuse!("has the unknown {name} {other:?}"))),
    };
    let samples = u64::try_from(site.int("sampling_ratio", 0)?).unwrap_or(0);
    if samples == 0 {
        return Err(
            site.fault(refuse!("with as many samples as the regions are large (sampling_ratio 0) is not known"))
        );
    }
    Ok(Sampling { samples, scale: site.float("spatial_scale", 1.0)?, is_half_pixel })
}

/// The weight of each pixel of a direction in each bin of each region: regions, bins, pixels.
fn weights(
    site: &mut Site<'_, '_>,
    regions: InstructionId,
    count: u64,
    side: &Side,
    how: &Sampling,
) -> Result<InstructionId, Failure> {
    let [start, length] = extent(site, regions, side, how)?;
    let dims = [count, side.bins, how.samples, side.pixels];
    let b = site.b();
    let element = b.element(start);
    // The samples of a region are evenly spaced: the first is half a step from its start.
    let steps = side.bins.saturating_mul(how.samples);
    let sample = b.iota(element, &[steps], 0)?;
    let sample = b.with_number(Binary::Add, sample, 0.5)?;
    let sample = b.with_number(Binary::Div, sample, u64_to_f64(steps))?;
    let flat = [count, steps];
    let sample = b.broadcast_in(sample, &flat, vec![1])?;
    let (start, length) = (b.broadcast_in(start, &flat, vec![0])?, b.broadcast_in(length, &flat, vec![0])?);
    let reach = b.mul(sample, length)?;
    let places = b.add(start, reach)?;
    // A sample more than a pixel outside counts as 0; one that is closer is moved to the edge.
    let (low, high) = (
        b.compare_number(Comparison::Ge, places, -1.0)?,
        b.compare_number(Comparison::Le, places, u64_to_f64(side.pixels))?,
    );
    let is_inside = b.binary(Binary::And, low, high)?;
    let places = b.clamp_numbers(places, Some(0.0), Some(u64_to_f64(side.pixels - 1)))?;
    let (places, is_inside) = (b.reshape(places, &dims[..3])?, b.reshape(is_inside, &dims[..3])?);
    let (places, is_inside) =
        (b.broadcast_in(places, &dims, vec![0, 1, 2])?, b.broadcast_in(is_inside, &dims, vec![0, 1, 2])?);
    let pixels = b.iota(element, &dims, 3)?;
    // A pixel weighs the less the farther it is, and nothing from the distance of 1.
    let away = b.sub(places, pixels)?;
    let away = b.unary(Unary::Abs, away)?;
    let near = b.with_number(Binary::Sub, away, 1.0)?;
    let near = b.unary(Unary::Neg, near)?;
    let weight = b.clamp_numbers(near, Some(0.0), None)?;
    let none = b.full(element, &dims, 0.0)?;
    let weight = b.select(is_inside, weight, none)?;
    Ok(b.mean(weight, &[2], false)?)
}

/// Where the regions begin, and how long they are, in pixels.
fn extent(
    site: &mut Site<'_, '_>,
    regions: InstructionId,
    side: &Side,
    how: &Sampling,
) -> Result<[InstructionId; 2], Failure> {
    let b = site.b();
    let regions = if b.element(regions).is_float() { regions } else { b.convert(regions, ElementType::F32)? };
    let mut ends = Vec::with_capacity(2);
    for at in side.ends {
        let end = b.pick(regions, 1, at)?;
        let end = b.with_number(Binary::Mul, end, how.scale)?;
        ends.push(if how.is_half_pixel { b.with_number(Binary::Sub, end, 0.5)? } else { end });
    }
    let length = b.sub(ends[1], ends[0])?;
    // The older rule takes no region for smaller than a pixel.
    let length = if how.is_half_pixel { length } else { b.clamp_numbers(length, Some(1.0), None)? };
    Ok([ends[0], length])
}
