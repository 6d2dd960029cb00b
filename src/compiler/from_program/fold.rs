//! Small values that depend on constants alone: numbers of turns, starts of slices.

use ns_program::eval::value_of;
use ns_program::{ArrayType, Op, Value};

/// Most elements of a value that is folded.
const MOST_ELEMENTS: u64 = 64;

/// The value of an operation, when all its operands are known and it is small.
pub(super) fn fold(op: &Op, operands: &[Option<&Value>], ty: &ArrayType) -> Option<Value> {
    if ty.elements().is_none_or(|n| n > MOST_ELEMENTS) {
        return None;
    }
    match op {
        Op::Constant(value) => return Some(value.as_ref().clone()),
        Op::Iota { .. } => {}
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select
        | Op::Clamp
        | Op::Convert
        | Op::Broadcast { .. }
        | Op::Reshape
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Concatenate { .. }
        | Op::DynamicSlice { .. } => {
            if operands.is_empty() {
                return None;
            }
        }
        _ => return None,
    }
    let values: Vec<&Value> = operands.iter().copied().collect::<Option<_>>()?;
    value_of(op, &values, ty).ok()
}
