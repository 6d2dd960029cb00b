//! Small values that depend on constants alone: numbers of turns, starts of slices.

use ns_base::IndexVec;
use ns_program::eval::evaluate;
use ns_program::{
    ArrayType, Computation, Instruction, InstructionId, Op, Origin, Program, ProgramParameter, Role, Type, Value,
    WeightData,
};

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
    let values: Vec<Value> = operands.iter().map(|o| o.cloned()).collect::<Option<_>>()?;
    one_operation(op, values, ty)
}

fn one_operation(op: &Op, values: Vec<Value>, ty: &ArrayType) -> Option<Value> {
    let instruction = |op: Op, operands: Vec<InstructionId>, ty: ArrayType| Instruction {
        name: String::new(),
        op,
        operands,
        called: Vec::new(),
        ty: Type::Array(ty),
        origin: Origin::default(),
    };
    let mut instructions: IndexVec<InstructionId, Instruction> = IndexVec::new();
    let mut operands = Vec::new();
    let mut parameters = Vec::new();
    for (n, value) in (0u32..).zip(&values) {
        operands.push(instructions.push(instruction(Op::Parameter(n), Vec::new(), value.ty.clone())));
        let ty = value.ty.clone();
        parameters.push(ProgramParameter { name: String::new(), role: Role::Input, ty, data: WeightData::Absent });
    }
    let root = instructions.push(instruction(op.clone(), operands, ty.clone()));
    let mut computations = IndexVec::new();
    let entry = computations.push(Computation { name: String::new(), instructions, root });
    let program = Program { name: String::new(), computations, entry, parameters };
    evaluate(&program, values, u64::from(u32::MAX)).ok()?.outputs.pop()
}
