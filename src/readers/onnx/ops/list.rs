//! Lists of arrays and optional values. A list is a tuple with known parts, so nothing of it remains in the program.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::usize_to_i64;
use ns_base::refuse;
use ns_program::OperatorKind::Control;
use ns_program::{ElementType, InstructionId, Op};

use super::Operator;

/// Operators on lists and optional values.
pub(super) const OPS: &[Operator] = &[
    ("SequenceConstruct", Control, construct),
    ("SequenceEmpty", Control, |site| tuple(site, &[])),
    ("SequenceInsert", Control, insert),
    ("SequenceErase", Control, erase),
    ("SequenceAt", Control, at),
    ("SequenceLength", Control, length),
    ("SplitToSequence", Control, split),
    ("ConcatFromSequence", Control, concat),
    ("Optional", Control, |site| Ok(vec![site.x(0)?])),
    ("OptionalGetElement", Control, |site| Ok(vec![site.x(0)?])),
    ("OptionalHasElement", Control, has_element),
];

fn parts(site: &mut Site<'_, '_>, list: usize) -> Result<Vec<InstructionId>, Failure> {
    let list = site.x(list)?;
    if let Some(made) = site.importer.builder.instruction(list)
        && made.op == Op::Tuple
    {
        return Ok(made.operands.clone());
    }
    Err(site.fault(refuse!("needs a list and has {}", site.importer.builder.type_of(list))))
}

fn tuple(site: &mut Site<'_, '_>, parts: &[InstructionId]) -> Results {
    Ok(vec![site.b().tuple(parts)?])
}

fn construct(site: &mut Site<'_, '_>) -> Results {
    let parts: Vec<InstructionId> = site.inputs.iter().flatten().copied().collect();
    tuple(site, &parts)
}

/// An index into a list of `count` parts, counted from the end if it is negative; the end if it is left out.
fn place(site: &Site<'_, '_>, operand: usize, count: usize) -> Result<usize, Failure> {
    if site.option(operand).is_none() {
        return Ok(count);
    }
    let n = site.known_ints(operand)?.first().copied().unwrap_or(0);
    let from_front = if n < 0 { n + usize_to_i64(count) } else { n };
    usize::try_from(from_front)
        .ok()
        .filter(|&n| n <= count)
        .ok_or_else(|| site.fault(refuse!("names place {n} of a list of {count}")))
}

fn insert(site: &mut Site<'_, '_>) -> Results {
    let mut parts = parts(site, 0)?;
    let at = place(site, 2, parts.len())?;
    parts.insert(at, site.x(1)?);
    tuple(site, &parts)
}

fn erase(site: &mut Site<'_, '_>) -> Results {
    let mut parts = parts(site, 0)?;
    let last = parts.len().saturating_sub(1);
    let at = if site.option(1).is_some() { place(site, 1, parts.len())? } else { last };
    if at < parts.len() {
        parts.remove(at);
    }
    tuple(site, &parts)
}

fn at(site: &mut Site<'_, '_>) -> Results {
    let parts = parts(site, 0)?;
    let at = place(site, 1, parts.len())?;
    let part = parts.get(at).copied();
    let wrong = || site.fault(refuse!("names place {at} of a list of {}", parts.len()));
    Ok(vec![part.ok_or_else(wrong)?])
}

fn length(site: &mut Site<'_, '_>) -> Results {
    let count = parts(site, 0)?.len();
    Ok(vec![site.b().whole(ElementType::S64, usize_to_i64(count))?])
}

/// Parts of a dimension: as many as it has elements, unless their sizes are given.
fn split(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let axis = site.axis_of(x, 0)?;
    let size = site.dims(x)[axis];
    let wanted = match site.option(1) {
        Some(_) => super::layout::sizes(&site.known_ints(1)?)?,
        None => vec![1],
    };
    let is_each = site.option(1).is_none_or(|s| site.dims(s).is_empty());
    let all = match (is_each, wanted.as_slice()) {
        (true, &[part]) if part > 0 && size.div_ceil(part) <= 1 << 16 => {
            (0..size.div_ceil(part)).map(|n| part.min(size - n * part)).collect()
        }
        (true, _) => return Err(site.fault(refuse!("cannot split {size} elements by {wanted:?}"))),
        _ => wanted,
    };
    let mut parts = site.b().split(x, axis, &all)?;
    if site.option(1).is_none() && site.int("keepdims", 1)? == 0 {
        for part in &mut parts {
            *part = site.b().squeeze(*part, axis)?;
        }
    }
    tuple(site, &parts)
}

fn concat(site: &mut Site<'_, '_>) -> Results {
    let parts = parts(site, 0)?;
    let is_new = site.int("new_axis", 0)? != 0;
    let rank = parts.first().map_or(0, |&p| site.dims(p).len()) + usize::from(is_new);
    let axis = site.int("axis", 0)?;
    let axis = site.axis(axis, rank)?;
    Ok(vec![if is_new { site.b().stack(&parts, axis)? } else { site.b().concatenate(&parts, axis)? }])
}

fn has_element(site: &mut Site<'_, '_>) -> Results {
    let is_there = site.option(0).is_some();
    Ok(vec![site.b().number(ElementType::Pred, f64::from(u8::from(is_there)))?])
}
