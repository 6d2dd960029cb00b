//! Instructions, and a module of them: one entry computation in static single assignment form.

use serde::{Deserialize, Serialize};

use super::{Opcode, ParameterRole};
use crate::Workflow;
use ns_base::IndexVec;
use ns_base::Order;
use ns_base::define_idx;
use ns_tensor::Shape;

define_idx! {
    /// The id of an instruction of one [`super::HloModule`].
    pub struct InstrId;
}

/// The origin of an instruction: it connects the framework view, the HLO view and the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpMetadata {
    /// The framework op with the HLO opcode, as profiles show it: `aten__addmm_dot`.
    pub op_type: String,
    /// The full path: `NN[model]/Linear[layer1]/aten__addmm_dot`.
    pub op_name: String,
}

/// One instruction of a computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HloInstruction {
    /// Unique name without the percent sign: `dot`, `transpose.1`, `p4`, `fused_3`.
    pub name: String,
    pub opcode: Opcode,
    /// Its operands, in order.
    pub operands: Vec<InstrId>,
    /// The shape of its result.
    pub shape: Shape,
    pub metadata: OpMetadata,
}

/// The entry computation of a traced model. Instructions are stored in an order in which every operand comes before
/// its users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HloModule {
    /// Name: `SyncTensorsGraph.53`, or the model's name.
    pub name: String,
    /// How the model is called: whether its inputs are transferred as part of the call.
    pub workflow: Workflow,
    /// All instructions, operands first.
    pub instructions: IndexVec<InstrId, HloInstruction>,
    pub root: InstrId,
}

impl HloModule {
    /// Parameters by index.
    pub fn parameters(&self) -> Vec<InstrId> {
        let mut found: Vec<(u32, InstrId)> = self
            .instructions
            .iter_enumerated()
            .filter_map(|(id, i)| match &i.opcode {
                Opcode::Parameter { index, .. } => Some((*index, id)),
                _ => None,
            })
            .collect();
        found.order();
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// The instruction with this name, fusion members not included.
    pub fn find(&self, name: &str) -> Option<InstrId> {
        self.instructions.iter_enumerated().find(|(_, i)| i.name == name).map(|(id, _)| id)
    }

    /// Paths of the weights that an execution gives new values: those of a training step.
    pub fn assigned(&self) -> impl Iterator<Item = &str> {
        self.instructions.iter().filter_map(|i| match &i.opcode {
            Opcode::Copy { assigns } => Some(assigns.as_str()),
            _ => None,
        })
    }

    /// Which instructions compute from weights and constants alone, weights included. Their values are the same in every
    /// call, so the compiler computes them once, before the weights are laid out. Examples are a batch normalisation's scale
    /// and shift, and the rows that a position table gives. In a training step weights change, so only views of them are known.
    pub fn known_at_load(&self) -> IndexVec<InstrId, bool> {
        let changes = self.assigned().next().is_some();
        let mut known: IndexVec<InstrId, bool> = IndexVec::new();
        for instruction in self.instructions.iter() {
            let is_known = match &instruction.opcode {
                Opcode::Parameter { role: ParameterRole::Weight(_), .. } => true,
                Opcode::Parameter { .. } | Opcode::Constant(_) => false,
                opcode if changes && !opcode.is_view() => false,
                _ => {
                    let constant = |o: InstrId| self.is_constant(o);
                    let operands = &instruction.operands;
                    operands.iter().any(|&o| known[o]) && operands.iter().all(|&o| known[o] || constant(o))
                }
            };
            known.push(is_known);
        }
        known
    }

    /// A number, or one repeated.
    fn is_constant(&self, id: InstrId) -> bool {
        let instruction = &self.instructions[id];
        match (&instruction.opcode, instruction.operands.first()) {
            (Opcode::Constant(_), _) => true,
            (Opcode::Broadcast { .. }, Some(&of)) => matches!(self.instructions[of].opcode, Opcode::Constant(_)),
            _ => false,
        }
    }
}
