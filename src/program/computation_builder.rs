//! Builds computations, instruction by instruction.

use super::{
    ArrayType, Binary, Comparison, Computation, ComputationId, ElementType, Instruction, InstructionId, Op, Origin,
    Type, Value,
};
use ns_base::{FxHashMap, IndexVec};

/// A computation under construction.
#[derive(Clone, Debug, Default)]
pub struct ComputationBuilder {
    instructions: IndexVec<InstructionId, Instruction>,
    /// How often a name was used, to keep names unique.
    names: FxHashMap<String, u32>,
    /// Origin of the instructions that are added.
    pub origin: Origin,
}

impl ComputationBuilder {
    /// Instructions so far.
    pub fn instructions(&self) -> &IndexVec<InstructionId, Instruction> {
        &self.instructions
    }

    pub fn ty(&self, id: InstructionId) -> &Type {
        &self.instructions[id].ty
    }

    /// Adds an instruction that does not call a computation. A name that is taken gets a number.
    pub fn push(&mut self, name: &str, op: Op, operands: Vec<InstructionId>, ty: Type) -> InstructionId {
        self.push_call(name, op, operands, Vec::new(), ty)
    }

    /// Adds an instruction.
    pub fn push_call(
        &mut self,
        name: &str,
        op: Op,
        operands: Vec<InstructionId>,
        called: Vec<ComputationId>,
        ty: Type,
    ) -> InstructionId {
        let name = self.free_name(name);
        self.instructions.push(Instruction { name, op, operands, called, ty, origin: self.origin.clone() })
    }

    fn free_name(&mut self, name: &str) -> String {
        let taken = self.names.entry(name.to_owned()).or_insert(0);
        *taken += 1;
        if *taken == 1 {
            return name.to_owned();
        }
        let count = *taken;
        let mut free = format!("{name}.clone{count}");
        while self.names.contains_key(&free) {
            free.push('_');
        }
        self.names.insert(free.clone(), 1);
        free
    }

    /// Element `k` of a tuple.
    pub fn element(&mut self, tuple: InstructionId, k: u32) -> InstructionId {
        let ty = match self.ty(tuple) {
            Type::Tuple(parts) => parts.get(k as usize).cloned().unwrap_or(Type::Token),
            _ => Type::Token,
        };
        let name = format!("{}.element{k}", self.instructions[tuple].name);
        self.push(&name, Op::GetTupleElement(k), vec![tuple], ty)
    }

    /// One number, broadcast to the sizes of a type.
    pub fn splat(&mut self, name: &str, value: Value, dims: &[u64]) -> InstructionId {
        let element = value.ty.element;
        let one = self.push(name, Op::Constant(Box::new(value)), Vec::new(), Type::Array(ArrayType::new(element, [])));
        if dims.is_empty() {
            return one;
        }
        let ty = Type::Array(ArrayType::new(element, dims));
        self.push(&format!("{name}.splat"), Op::Broadcast { dimensions: Vec::new() }, vec![one], ty)
    }

    /// A comparison of floating point numbers by their total order: -NaN, -inf .. -0, +0 .. inf, NaN.
    ///
    /// The bits, read as a signed number, have that order once the bits of negative numbers are inverted.
    pub fn compare_total_order(
        &mut self,
        name: &str,
        comparison: Comparison,
        operands: [InstructionId; 2],
        ty: Type,
    ) -> InstructionId {
        let keys = operands.map(|operand| self.order_key(name, operand));
        let keys = match keys {
            [Some(left), Some(right)] => vec![left, right],
            _ => operands.to_vec(),
        };
        self.push(name, Op::Compare(comparison), keys, ty)
    }

    fn order_key(&mut self, name: &str, operand: InstructionId) -> Option<InstructionId> {
        let array = self.ty(operand).array()?.clone();
        let element = match array.element.bits() {
            8 => ElementType::S8,
            16 => ElementType::S16,
            32 => ElementType::S32,
            64 => ElementType::S64,
            _ => return None,
        };
        if !array.element.is_float() {
            return None;
        }
        let ty = Type::Array(ArrayType::new(element, array.dims.clone()));
        let bits = self.push(&format!("{name}.bits"), Op::BitcastConvert, vec![operand], ty.clone());
        let shift = i64::try_from(array.element.bits() - 1).unwrap_or(31);
        let all = self.splat(&format!("{name}.all"), Value::whole(element, shift), &array.dims);
        let one = self.splat(&format!("{name}.one"), Value::whole(element, 1), &array.dims);
        let mut binary =
            |what: &str, f, a, b| self.push(&format!("{name}.{what}"), Op::Binary(f), vec![a, b], ty.clone());
        let sign = binary("sign", Binary::ShiftRightArithmetic, bits, all);
        let mask = binary("mask", Binary::ShiftRightLogical, sign, one);
        Some(binary("key", Binary::Xor, bits, mask))
    }

    pub fn finish(self, name: impl Into<String>, root: InstructionId) -> Computation {
        Computation { name: name.into(), instructions: self.instructions, root }
    }
}
