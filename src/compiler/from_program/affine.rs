//! Sums and products with weights, rewritten to the form that costs least.

use super::constant_forms::ConstantForm;
use super::emit::Emit;
use crate::hlo::{InstrId, Opcode, ParameterRole};
use ns_base::Refusal;
use ns_base::convert::usize_to_u32;
use ns_tensor::Shape;

/// Limit on the operations looked through to find weights.
const MOST_DEPTH: u32 = 12;

/// JAX multiplies `[.., 768]`, views the product as `[.., 12, 64]` and adds a bias of `[12, 64]`. The bias is a vector of the product, so it
/// is added before the view, as the product is read. `None` when the current operation is something else. Fails when an operand is
/// defined later.
pub(super) fn with_vector_of_view(e: &mut Emit<'_>, opcode: &Opcode) -> Result<Option<InstrId>, Refusal> {
    for (value, vector) in [(0, 1), (1, 0)] {
        let (value_id, vector_id) = (e.operand_id(value)?, e.operand_id(vector)?);
        let ConstantForm::Repeated { of, along } = e.forms[vector_id].clone() else { continue };
        if along.len() < 2 || e.forms[value_id] != ConstantForm::No {
            continue;
        }
        let view = e.operand(value)?;
        let Some(of_view) = e.viewed(view) else { continue };
        let (whole, parts) = (e.shape(of_view), e.shape(view));
        if !runs_along_split(&whole, &parts, &along) {
            continue;
        }
        let last = usize_to_u32(whole.rank()) - 1;
        let row = e.repeated_vector(of, &[last], &whole)?;
        let operands = if value == 0 { vec![of_view, row] } else { vec![row, of_view] };
        let result = e.push(opcode.clone(), operands, whole);
        return Ok(Some(e.reshaped(result, parts.dims)));
    }
    Ok(None)
}

/// Whether `parts` is a view of `whole` that splits its last dimension, and `along` are all the dimensions that result from the
/// split, without those of size one.
fn runs_along_split(whole: &Shape, parts: &Shape, along: &[u32]) -> bool {
    let Some(columns) = whole.dims.last() else { return false };
    let behind = |d: usize| parts.dims.iter().skip(d).product::<u64>();
    let Some(first) = (0..parts.rank()).rev().find(|&d| behind(d) == *columns) else { return false };
    let large = (0u32..).zip(&parts.dims).skip(first).filter(|(_, size)| **size != 1).map(|(d, _)| d);
    large.eq(along.iter().copied())
}

/// `(x - m) * s` as `x * s - m * s` where `m` and `s` are weights. JAX writes batch norms the first way; in the second form the
/// shift is next to the one that follows. A second shift by weights is added to the first.
pub(super) fn with_shift_last(e: &mut Emit<'_>, opcode: &Opcode, a: InstrId, b: InstrId) -> Option<InstrId> {
    let shape = e.shape(a);
    let first = &e.instructions[a];
    let (shift, of) = (first.opcode.clone(), first.operands.clone());
    let [x, m] = of.as_slice() else { return None };
    let ((m, m_along), (s, s_along)) = (weights(e, *m)?, weights(e, b)?);
    let is_alike = m_along == s_along && e.shape(m) == e.shape(s) && weights(e, *x).is_none();
    let (both, outer) = match (&shift, opcode) {
        (Opcode::Subtract, Opcode::Multiply) => (Opcode::Multiply, Opcode::Subtract),
        // x - m + s
        (Opcode::Subtract, Opcode::Add) => (Opcode::Subtract, Opcode::Add),
        _ => return None,
    };
    if !is_alike {
        return None;
    }
    let vector = if matches!(both, Opcode::Subtract) { e.of_two(both, s, m) } else { e.of_two(both, m, s) };
    let vector = e.repeated(vector, &m_along, &shape.dims);
    let x = if matches!(opcode, Opcode::Multiply) { e.of_two(Opcode::Multiply, *x, b) } else { *x };
    Some(e.of_two(outer, x, vector))
}

/// A vector of weights that a broadcast repeats, and the dimension along which it lies.
fn weights(e: &Emit<'_>, id: InstrId) -> Option<(InstrId, Vec<u32>)> {
    let instruction = &e.instructions[id];
    let Opcode::Broadcast { dimensions } = &instruction.opcode else { return None };
    let of = *instruction.operands.first()?;
    (dimensions.len() == 1 && is_weights(e, of, MOST_DEPTH)).then(|| (of, dimensions.clone()))
}

/// Whether a value depends on weights alone.
fn is_weights(e: &Emit<'_>, id: InstrId, depth: u32) -> bool {
    let instruction = &e.instructions[id];
    match &instruction.opcode {
        Opcode::Parameter { role, .. } => matches!(role, ParameterRole::Weight(_)),
        Opcode::Constant(_) => true,
        _ => {
            let operands = &instruction.operands;
            depth > 0 && !operands.is_empty() && operands.iter().all(|&o| is_weights(e, o, depth - 1))
        }
    }
}
