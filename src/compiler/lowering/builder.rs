//! Appends instructions with unique names.

use std::collections::BTreeMap;

use crate::hlo::{HloInstruction, InstrId, OpMetadata, Opcode};
use ns_base::IndexVec;
use ns_tensor::Shape;

/// Instructions so far and the names they took.
#[derive(Default)]
pub(super) struct Builder {
    pub instructions: IndexVec<InstrId, HloInstruction>,
    parameters: u32,
    /// How often each name was used.
    names: BTreeMap<&'static str, u32>,
}

/// The framework op an instruction is made for.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    /// `aten__addmm`
    pub op: &'a str,
    /// `NN[model]/Linear[layer1]`
    pub scope: &'a str,
}

impl Origin<'_> {
    /// Metadata of an instruction: op and opcode, `aten__addmm_dot`.
    pub fn metadata(self, opcode: &str) -> OpMetadata {
        let op_type = format!("{}_{opcode}", self.op);
        OpMetadata { op_name: format!("{}/{op_type}", self.scope), op_type }
    }
}

impl Builder {
    /// Appends an instruction made for `origin`.
    pub fn push(&mut self, opcode: Opcode, operands: Vec<InstrId>, shape: Shape, origin: Origin<'_>) -> InstrId {
        let metadata = origin.metadata(opcode.name());
        self.push_with(opcode, operands, shape, metadata)
    }

    /// Appends an instruction with its own metadata.
    pub fn push_with(&mut self, opcode: Opcode, operands: Vec<InstrId>, shape: Shape, metadata: OpMetadata) -> InstrId {
        let name = match &opcode {
            Opcode::Parameter { index, .. } => format!("p{index}"),
            other => {
                let count = self.names.entry(other.name()).or_insert(0);
                *count += 1;
                match *count {
                    1 => other.name().to_owned(),
                    n => format!("{}.{}", other.name(), n - 1),
                }
            }
        };
        self.instructions.push(HloInstruction { name, opcode, operands, shape, metadata })
    }

    /// The next parameter's index.
    pub fn next_parameter(&mut self) -> u32 {
        let index = self.parameters;
        self.parameters += 1;
        index
    }

    /// The shape of an instruction.
    pub fn shape(&self, id: InstrId) -> Shape {
        self.instructions[id].shape.clone()
    }
}
