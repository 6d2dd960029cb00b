//! Values that take no instruction: they are there before anything runs, or are only looked at in another way.

use super::program::Generator;
use super::room::is_view;
use super::value::Value;
use crate::compiler::hlo::{HloInstruction, InstrId, Opcode, ParameterRole};
use crate::machine::cost::decisions::IMAGE_RANK;

impl Generator<'_> {
    /// Values that take no instruction: weights until they are used, constants, and views of them.
    pub(super) fn define_lazy(&mut self, id: InstrId, instruction: &HloInstruction) -> bool {
        let operand = instruction.operands.first().and_then(|o| self.values.get(o)).cloned();
        if self.values.contains_key(&id) && matches!(instruction.opcode, Opcode::Parameter { .. }) {
            return true;
        }
        let value = match (&instruction.opcode, operand) {
            (Opcode::Parameter { role: ParameterRole::Weight(_), .. }, _) => {
                self.emitter.executable.memory.weight_bytes +=
                    instruction.shape.elements() * self.precision.operand_bytes;
                Value::Weight { parameter: id, via: id }
            }
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
            // What weights alone give is computed when the model is loaded, not on each call.
            (opcode, _) if self.is_load_time(opcode, instruction) => Value::Weight { parameter: id, via: id },
            _ => return false,
        };
        self.values.insert(id, value);
        true
    }

    /// Elementwise work whose operands are all weights and constants.
    fn is_load_time(&self, opcode: &Opcode, instruction: &HloInstruction) -> bool {
        let elementwise = opcode.is_elementwise() || matches!(opcode, Opcode::Fusion(_));
        let from_load = |operand: &InstrId| match self.values.get(operand) {
            Some(Value::Weight { .. } | Value::Splat) => true,
            Some(Value::Broadcast { of, .. }) => {
                matches!(self.values.get(of), Some(Value::Weight { .. } | Value::Splat))
            }
            _ => false,
        };
        elementwise && !instruction.operands.is_empty() && instruction.operands.iter().all(from_load)
    }

    pub(super) fn is_available(&self, operand: InstrId, dot: InstrId) -> bool {
        operand < dot || self.comes_from_load(operand)
    }

    /// Whether a value depends on weights and constants alone, so that it is there before anything runs.
    fn comes_from_load(&self, id: InstrId) -> bool {
        let Ok(instruction) = self.instruction(id) else { return false };
        match &instruction.opcode {
            Opcode::Parameter { role: ParameterRole::Input(_), .. } => false,
            Opcode::Parameter { .. } | Opcode::Constant(_) => true,
            opcode => {
                let simple = is_view(opcode) || opcode.is_elementwise() || matches!(opcode, Opcode::Fusion(_));
                simple && instruction.operands.iter().all(|o| self.comes_from_load(*o))
            }
        }
    }

    /// Defines a value that depends on weights alone ahead of its turn, with what it depends on.
    pub(super) fn define_ahead(&mut self, id: InstrId) {
        if !self.values.contains_key(&id) && self.comes_from_load(id) {
            let instruction = &self.module.instructions[id];
            for operand in &instruction.operands {
                self.define_ahead(*operand);
            }
            self.define_lazy(id, instruction);
        }
    }
}
