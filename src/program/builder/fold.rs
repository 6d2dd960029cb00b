//! Results of operations on constants: sizes and indexes that a model computes from its own shapes.
//!
//! Only operations that move small arrays of numbers or compute with them, as a graph does with the sizes of its arrays. The evaluator says
//! what they give.

use crate::eval::{reduce_with, value_of};
use crate::{ArrayType, Binary, ElementType, Op, Value};

/// Most elements of an integer array that is computed here; attention masks are larger and stay operations.
const MOST_WHOLE: u64 = 1024;

/// Most elements of an array of other numbers that is computed here: factors and scales. Tables of sines stay operations.
const MOST_REAL: u64 = 64;

/// Most elements of one repeated number that become a constant: a shape, not an array of the model.
const MOST_REPEATED: u64 = 64;

/// The result of an operation on known operands; `None` if the operation is not computed here.
pub(super) fn fold(op: &Op, operands: &[&Value], ty: &ArrayType) -> Option<Value> {
    let is_repeated = matches!((op, operands), (Op::Broadcast { .. }, [x]) if x.numbers.len() == 1);
    let most = match (is_repeated, is_real(ty)) {
        (true, true) => 1,
        (true, false) => MOST_REPEATED,
        (false, true) => MOST_REAL,
        (false, false) => MOST_WHOLE,
    };
    let is_small =
        ty.elements()? <= most && operands.iter().all(|v| v.ty.elements().is_some_and(|n| n <= 4 * MOST_WHOLE));
    if !is_small || !computes_or_moves(op) {
        return None;
    }
    value_of(op, operands, ty).ok().filter(|value| has_type(value, ty))
}

fn computes_or_moves(op: &Op) -> bool {
    matches!(
        op,
        Op::Iota { .. }
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::Select
            | Op::Convert
            | Op::Reshape
            | Op::Concatenate { .. }
            | Op::Broadcast { .. }
            | Op::Transpose { .. }
            | Op::Reverse { .. }
            | Op::Slice { .. }
            | Op::Gather(_)
    )
}

fn has_type(value: &Value, ty: &ArrayType) -> bool {
    value.ty == *ty && ty.elements() == Some(value.numbers.len() as u64)
}

fn is_real(ty: &ArrayType) -> bool {
    !ty.element.is_integer() && ty.element != ElementType::Pred
}

/// The result of a reduction of known numbers, with the initial value `first`.
pub(super) fn fold_reduction(with: Binary, x: &Value, first: &Value, dims: &[u32], ty: &ArrayType) -> Option<Value> {
    let most = if is_real(&x.ty) { MOST_REAL } else { MOST_WHOLE };
    if x.ty.elements()? > most {
        return None;
    }
    reduce_with(with, x, first, dims).ok().filter(|value| has_type(value, ty))
}

#[cfg(test)]
mod tests {
    use super::super::Builder;
    use super::*;
    use crate::{Comparison, Numbers};

    fn known(b: &Builder, id: super::super::super::InstructionId) -> Option<Numbers> {
        match &b.instruction(id)?.op {
            Op::Constant(value) => Some(value.numbers.clone()),
            _ => None,
        }
    }

    #[test]
    fn what_a_graph_does_to_its_sizes() {
        let mut b = Builder::new();
        b.fold_constants(true);
        let sizes = b.whole_row(ElementType::S64, &[2, 3, 4]).unwrap();
        let tail = b.slice_dim(sizes, 0, 1, 3, 1).unwrap();
        let head = b.whole_row(ElementType::S64, &[-1]).unwrap();
        let all = b.concatenate(&[head, tail], 0).unwrap();
        let negative = b.compare_number(Comparison::Lt, all, 0.0).unwrap();
        let ones = b.full(ElementType::S64, &[3], 1.0).unwrap();
        let chosen = b.select(negative, ones, all).unwrap();
        assert_eq!(known(&b, chosen), Some(Numbers::Whole(vec![1, 3, 4])));
        let product = b.reduce(Binary::Mul, chosen, &[0], false).unwrap();
        assert_eq!(known(&b, product), Some(Numbers::Whole(vec![12])));
        let at = b.whole(ElementType::S64, -1).unwrap();
        let last = b.take(sizes, at, super::super::RowGather { dimension: 0, wraps: true }).unwrap();
        assert_eq!(known(&b, last), Some(Numbers::Whole(vec![4])));
    }

    #[test]
    fn constants_have_the_meaning_of_the_evaluator() {
        let mut b = Builder::new();
        b.fold_constants(true);
        let largest = b.whole(ElementType::U64, -1).unwrap();
        let is_negative = b.compare_number(Comparison::Lt, largest, 1.0).unwrap();
        assert_eq!(known(&b, is_negative), Some(Numbers::Whole(vec![0])));
        let (nan, one) = (b.number(ElementType::F32, f64::NAN).unwrap(), b.number(ElementType::F32, 1.0).unwrap());
        let largest = b.binary(Binary::Max, nan, one).unwrap();
        assert!(matches!(known(&b, largest), Some(Numbers::Real(v)) if v[0].is_nan()));
    }

    #[test]
    fn arrays_of_the_model_stay_operations() {
        let mut b = Builder::new();
        b.fold_constants(true);
        let ones = b.full(ElementType::F32, &[2, 16], 1.0).unwrap();
        assert_eq!(known(&b, ones), None);
        let large = b.iota(ElementType::S32, &[100, 100], 0).unwrap();
        assert_eq!(known(&b, large), None);
    }
}
