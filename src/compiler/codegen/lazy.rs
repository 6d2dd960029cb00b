//! Values that take no instruction: they exist before anything runs, or are only views.

use super::places::Places;
use super::plan::Plan;
use super::value::Value;
use crate::hlo::{HloInstruction, InstrId, Opcode, ParameterRole};
use ns_machine::cost::decisions::IMAGE_RANK;

/// Defines a value that takes no instruction: a weight (loaded when it is used), a constant, or a view of one. Returns
/// false for any other value.
pub(super) fn define(places: &mut Places, id: InstrId, instruction: &HloInstruction) -> bool {
    let operand = instruction.operands.first().and_then(|o| places.find(*o)).cloned();
    if places.find(id).is_some() && matches!(instruction.opcode, Opcode::Parameter { .. }) {
        return true;
    }
    let value = match (&instruction.opcode, operand) {
        (Opcode::Parameter { role: ParameterRole::Weight(_), .. }, _) => Value::Weight { parameter: id, via: id },
        (Opcode::Constant(_), _) => Value::Splat,
        (
            Opcode::Transpose { .. } | Opcode::Reshape | Opcode::Convert | Opcode::Slice { .. },
            Some(Value::Weight { parameter, .. }),
        ) => Value::Weight { parameter, via: id },
        (Opcode::Broadcast { .. } | Opcode::Reshape | Opcode::Convert, Some(Value::Splat)) => Value::Splat,
        (Opcode::Broadcast { dimensions }, Some(_)) => {
            let rank = instruction.shape.rank();
            // The features of an image [n, c, h, w] are its channels.
            let channels = rank == IMAGE_RANK && dimensions.as_slice() == [1];
            let along_columns = channels || dimensions.iter().any(|d| *d as usize + 1 == rank);
            Value::Broadcast { of: instruction.operands[0], via: id, along_columns }
        }
        // A value that depends on weights alone is computed when the model is loaded, not on each call.
        (opcode, _) if !places.trains && is_load_time(places, opcode, instruction) => {
            Value::Weight { parameter: id, via: id }
        }
        _ => return false,
    };
    places.set(id, value);
    true
}

/// Defines a value that is computed from weights alone, and its operands, before the walk over the module reaches them.
pub(super) fn define_ahead(plan: &Plan<'_>, places: &mut Places, id: InstrId) {
    if places.find(id).is_none() && plan.comes_from_load(id) {
        let instruction = &plan.module.instructions[id];
        for operand in &instruction.operands {
            define_ahead(plan, places, *operand);
        }
        define(places, id, instruction);
    }
}

/// The members of a fusion, or the instruction itself.
pub(super) fn members_of<'a>(plan: &Plan<'a>, places: &mut Places, id: InstrId) -> Vec<(InstrId, &'a HloInstruction)> {
    let instruction: &'a HloInstruction = &plan.module.instructions[id];
    let members = match &instruction.opcode {
        Opcode::Fusion(body) => body.ids.iter().copied().zip(&body.members).collect(),
        _ => vec![(id, instruction)],
    };
    // The walk has not reached the views that stand between the dot and its epilogue.
    for operand in &instruction.operands {
        define_ahead(plan, places, *operand);
    }
    members
}

/// Elementwise work whose operands are all weights and constants.
fn is_load_time(places: &Places, opcode: &Opcode, instruction: &HloInstruction) -> bool {
    let elementwise = opcode.is_elementwise() || matches!(opcode, Opcode::Fusion(_));
    let from_load = |operand: &InstrId| match places.find(*operand) {
        Some(Value::Weight { .. } | Value::Splat) => true,
        Some(Value::Broadcast { of, .. }) => matches!(places.find(*of), Some(Value::Weight { .. } | Value::Splat)),
        _ => false,
    };
    elementwise && !instruction.operands.is_empty() && instruction.operands.iter().all(from_load)
}
