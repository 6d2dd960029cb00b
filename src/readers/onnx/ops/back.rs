//! Inverses of windows, random numbers, and window functions for spectra.

use crate::onnx::importer::Importer;
use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::{i64_to_f64, i64_to_u64, u64_to_f64};
use ns_base::refuse;
use ns_program::OperatorKind::{Creation, Window};
use ns_program::compose::{Fold, affine_grid, fold_patches, unpool};
use ns_program::{ArrayType, Binary, ElementType, InstructionId, Numbers, Op, Value};

use super::Operator;
use super::layout::sizes;
use super::window::positive;

/// Most numbers of a window.
const MOST_NUMBERS: i64 = 1 << 20;

/// Operators that invert windows, and operators that compute numbers from their settings alone.
pub(super) const OPS: &[Operator] = &[
    ("Col2Im", Window, image_of_columns),
    ("MaxUnpool", Window, max_unpool),
    ("AffineGrid", Window, grid),
    ("RandomUniform", Creation, |site| random(site, &UNIFORM)),
    ("RandomUniformLike", Creation, |site| random_like(site, &UNIFORM)),
    ("RandomNormal", Creation, |site| random(site, &NORMAL)),
    ("RandomNormalLike", Creation, |site| random_like(site, &NORMAL)),
    ("HannWindow", Creation, |site| window(site, |turn| 0.5 - 0.5 * libm::cos(turn))),
    // The coefficients of the specification: 25/46 and 1 minus that.
    ("HammingWindow", Creation, |site| window(site, |turn| 25.0 / 46.0 - 21.0 / 46.0 * libm::cos(turn))),
    ("BlackmanWindow", Creation, |site| {
        window(site, |turn| 0.42 - 0.5 * libm::cos(turn) + 0.08 * libm::cos(2.0 * turn))
    }),
];

/// Numbers of an attribute, one for each of `n` dimensions.
fn natural(site: &Site<'_, '_>, name: &'static str, n: usize, default: u64) -> Result<Vec<u64>, Failure> {
    let given = match site.ints(name)? {
        Some(list) => sizes(&list)?,
        None => vec![default; n],
    };
    if given.len() == n {
        return Ok(given);
    }
    Err(site.fault(refuse!("has {name} {given:?} for {n} dimensions")))
}

fn image_of_columns(site: &mut Site<'_, '_>) -> Results {
    let columns = site.x(0)?;
    let (image, block) = (sizes(&site.known_ints(1)?)?, sizes(&site.known_ints(2)?)?);
    let n = image.len();
    let pads = natural(site, "pads", 2 * n, 0)?;
    let how = Fold {
        kernel: block,
        dilation: positive(site, "dilations", n)?,
        padding: (0..n).map(|d| (pads[d], pads[n + d])).collect(),
        strides: positive(site, "strides", n)?,
        sizes: image,
    };
    let made = fold_patches(site.b(), columns, &how)?;
    Ok(vec![made])
}

/// The largest elements of windows put back at their positions, which count through the whole array.
fn max_unpool(site: &mut Site<'_, '_>) -> Results {
    let (x, places) = (site.x(0)?, site.x(1)?);
    let dims = site.dims(x);
    let Some(n) = dims.len().checked_sub(2).filter(|&n| n > 0) else {
        return Err(site.fault(refuse!("does not take {dims:?}")));
    };
    let (kernel, strides) = (positive(site, "kernel_shape", n)?, positive(site, "strides", n)?);
    let pads = natural(site, "pads", 2 * n, 0)?;
    let inferred = |d: usize| {
        let reach = dims[2 + d].saturating_sub(1).saturating_mul(strides[d]).saturating_add(kernel[d]);
        reach.saturating_sub(pads[d]).saturating_sub(pads[n + d])
    };
    let own: Vec<u64> = (0..n).map(inferred).collect();
    let wanted = match site.option(2) {
        Some(_) => sizes(&site.known_ints(2)?)?,
        None => [&dims[..2], &own[..]].concat(),
    };
    if wanted.len() != dims.len() || wanted[..2] != dims[..2] {
        return Err(site.fault(refuse!("cannot put {dims:?} back into {wanted:?}")));
    }
    // Positions refer to the inferred sizes and include batch and channels.
    let inside = own.iter().fold(1u64, |all, &k| all.saturating_mul(k));
    let b = site.b();
    let channel = b.iota(ElementType::S64, &dims, 1)?;
    let channel = b.with_number(Binary::Mul, channel, u64_to_f64(inside))?;
    let batch = b.iota(ElementType::S64, &dims, 0)?;
    let batch = b.with_number(Binary::Mul, batch, u64_to_f64(inside.saturating_mul(dims[1])))?;
    let places = b.convert(places, ElementType::S64)?;
    let places = b.sub(places, channel)?;
    let places = b.sub(places, batch)?;
    let mut result = unpool(b, x, places, &own)?;
    if wanted[2..] != own[..] {
        let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let behind = |d: usize| signed(wanted[2 + d]).saturating_sub(signed(own[d]));
        let edges: Vec<(i64, i64)> = [(0, 0), (0, 0)].into_iter().chain((0..n).map(|d| (0, behind(d)))).collect();
        result = b.pad(result, 0.0, &edges)?;
    }
    Ok(vec![result])
}

fn grid(site: &mut Site<'_, '_>) -> Results {
    let theta = site.x(0)?;
    let wanted = sizes(&site.known_ints(1)?)?;
    let aligns = site.int("align_corners", 0)? != 0;
    Ok(vec![affine_grid(site.b(), theta, &wanted, aligns)?])
}

/// A distribution of random numbers: its name, and the two attributes that describe it with their defaults.
type Distribution = (&'static str, [(&'static str, f64); 2]);

const UNIFORM: Distribution = ("rng_uniform", [("low", 0.0), ("high", 1.0)]);
const NORMAL: Distribution = ("rng_normal", [("mean", 0.0), ("scale", 1.0)]);

fn random(site: &mut Site<'_, '_>, of: &Distribution) -> Results {
    let element = site.optional_int("dtype")?.map_or(Ok(ElementType::F32), Importer::element)?;
    let dims = sizes(&site.ints("shape")?.unwrap_or_default())?;
    random_numbers(site, of, element, dims)
}

fn random_like(site: &mut Site<'_, '_>, of: &Distribution) -> Results {
    let x = site.x(0)?;
    let own = site.element(x);
    let element = site.optional_int("dtype")?.map_or(Ok(own), Importer::element)?;
    random_numbers(site, of, element, site.dims(x))
}

/// Random numbers: their work is known, but their values differ from call to call.
fn random_numbers(site: &mut Site<'_, '_>, of: &Distribution, element: ElementType, dims: Vec<u64>) -> Results {
    let (name, settings) = of;
    let mut operands = Vec::with_capacity(settings.len());
    for &(setting, default) in settings {
        let number = site.float(setting, default)?;
        operands.push(site.b().number(element, number)?);
    }
    let op = Op::Rng { distribution: (*name).to_owned() };
    Ok(vec![site.b().push_array(op, operands, element, dims)?])
}

/// A window function: numbers that rise from the ends to the middle.
fn window(site: &mut Site<'_, '_>, at_turn: fn(f64) -> f64) -> Results {
    let count = site.known_ints(0)?.first().copied().unwrap_or(-1);
    if !(1..=MOST_NUMBERS).contains(&count) {
        return Err(site.fault(refuse!("makes a window of {count} numbers")));
    }
    let span = i64_to_f64(if site.int("periodic", 1)? != 0 { count } else { count - 1 }.max(1));
    let number = |i: i64| at_turn(2.0 * std::f64::consts::PI * i64_to_f64(i) / span);
    let ty = ArrayType::new(ElementType::F64, [i64_to_u64(count)]);
    let row = site.b().constant(Value { ty, numbers: Numbers::Real((0..count).map(number).collect()) })?;
    let element = Importer::element(site.int("output_datatype", 1)?)?;
    let row: InstructionId = site.b().convert(row, element)?;
    Ok(vec![row])
}
