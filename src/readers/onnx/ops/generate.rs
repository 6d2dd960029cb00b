//! Operators that compute numbers from sizes and settings.

use crate::onnx::importer::Importer;
use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::{self, i64_to_f64, i64_to_u64, u64_to_i64, u64_to_usize, usize_to_i64};
use ns_base::refuse;
use ns_program::OperatorKind::Creation;
use ns_program::{ArrayType, Binary, Comparison, ElementType, InstructionId, Numbers, Value};

use super::Operator;
use super::layout::sizes;

/// Operators that generate numbers.
pub(super) const OPS: &[Operator] = &[
    ("Constant", Creation, constant),
    ("ConstantOfShape", Creation, constant_of_shape),
    ("Shape", Creation, shape),
    ("Size", Creation, size),
    ("Range", Creation, range),
    ("EyeLike", Creation, eye),
    ("Trilu", Creation, triangle),
];

fn constant(site: &mut Site<'_, '_>) -> Results {
    if let Some(tensor) = site.tensor("value")? {
        let name = site.node.outputs.first().cloned().unwrap_or_default();
        let path = site.importer.builder.origin().scope.clone();
        let made = site.importer.node_constant(&name, &tensor, &path);
        return Ok(vec![made.map_err(Failure::Refusal)?]);
    }
    let (element, dims, numbers) = if let Some(n) = site.optional_int("value_int")? {
        (ElementType::S64, vec![], Numbers::Whole(vec![n]))
    } else if let Some(all) = site.ints("value_ints")? {
        (ElementType::S64, vec![all.len() as u64], Numbers::Whole(all))
    } else if let Some(all) = site.floats("value_floats")? {
        (ElementType::F32, vec![all.len() as u64], Numbers::Real(all))
    } else if let Some(one) = site.floats("value_float")? {
        (ElementType::F32, vec![], Numbers::Real(one))
    } else {
        return Err(site.fault(refuse!("holds text, nothing, or few elements of a large array")));
    };
    Ok(vec![site.b().constant(Value { ty: ArrayType::new(element, dims), numbers })?])
}

fn constant_of_shape(site: &mut Site<'_, '_>) -> Results {
    let dims = sizes(&site.known_ints(0)?)?;
    let one = match site.tensor("value")? {
        Some(tensor) => site.scalar_of(&tensor)?,
        None => Value::real(ElementType::F32, 0.0),
    };
    let one = site.b().constant(one)?;
    Ok(vec![site.b().broadcast_to(one, &dims)?])
}

fn shape(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims: Vec<i64> = site.dims(x).iter().map(|&d| u64_to_i64(d)).collect();
    let rank = usize_to_i64(dims.len());
    let end_of = |n: i64| u64_to_usize(i64_to_u64((if n < 0 { n + rank } else { n }).clamp(0, rank)));
    let (start, end) = (end_of(site.int("start", 0)?), end_of(site.int("end", rank)?));
    let part = dims.get(start..end.max(start)).unwrap_or_default();
    Ok(vec![site.b().whole_row(ElementType::S64, part)?])
}

fn size(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let count = site.ty(x)?.elements().unwrap_or(u64::MAX);
    Ok(vec![site.b().whole(ElementType::S64, u64_to_i64(count))?])
}

fn range(site: &mut Site<'_, '_>) -> Results {
    let (start, limit, step) = (site.known_reals(0)?, site.known_reals(1)?, site.known_reals(2)?);
    let (Some(&start), Some(&limit), Some(&step)) = (start.first(), limit.first(), step.first()) else {
        return Err(site.fault(refuse!("needs three numbers")));
    };
    let first = site.x(0)?;
    let element = site.element(first);
    let count = ((limit - start) / step).ceil().max(0.0);
    if !(count.is_finite() && count < 1e9) {
        return Err(site.fault(refuse!("goes from {start} to {limit} by {step}")));
    }
    let numbers = site.b().iota(element, &[convert::f64_to_u64(count)], 0)?;
    let stretched = if step == 1.0 { numbers } else { site.b().with_number(Binary::Mul, numbers, step)? };
    Ok(vec![if start == 0.0 { stretched } else { site.b().with_number(Binary::Add, stretched, start)? }])
}

/// Row and column of each element of a matrix, with the rows shifted by `k`.
fn rows_and_columns(site: &mut Site<'_, '_>, dims: &[u64], k: i64) -> Result<[InstructionId; 2], Failure> {
    let rank = dims.len();
    if rank < 2 {
        return Err(site.fault(refuse!("needs a matrix and has {dims:?}")));
    }
    let matrix = &dims[rank - 2..];
    let rows = site.b().iota(ElementType::S32, matrix, 0)?;
    let rows = site.b().with_number(Binary::Add, rows, i64_to_f64(k))?;
    Ok([rows, site.b().iota(ElementType::S32, matrix, 1)?])
}

fn eye(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let (dims, k) = (site.dims(x), site.int("k", 0)?);
    let element = match site.optional_int("dtype")? {
        Some(code) => Importer::element(code)?,
        None => site.element(x),
    };
    let [rows, columns] = rows_and_columns(site, &dims, k)?;
    let flags = site.b().compare(Comparison::Eq, rows, columns)?;
    Ok(vec![site.b().convert(flags, element)?])
}

/// The upper or the lower triangle of matrices.
fn triangle(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let k = if site.option(1).is_some() { site.known_ints(1)?.first().copied().unwrap_or(0) } else { 0 };
    let [rows, columns] = rows_and_columns(site, &dims, k)?;
    let how = if site.int("upper", 1)? != 0 { Comparison::Le } else { Comparison::Ge };
    let flags = site.b().compare(how, rows, columns)?;
    let flags = site.b().broadcast_to(flags, &dims)?;
    let element = site.element(x);
    let zero = site.b().number(element, 0.0)?;
    Ok(vec![site.b().select(flags, x, zero)?])
}
