//! A module: one entry computation in static single assignment form.

use serde::{Deserialize, Serialize};

use super::{HloInstruction, InstrId, Opcode};
use crate::base::IndexVec;
use crate::compiler::Workflow;

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
    /// The result.
    pub root: InstrId,
}

impl HloModule {
    /// Parameters by index.
    #[must_use]
    pub fn parameters(&self) -> Vec<InstrId> {
        let mut found: Vec<(u32, InstrId)> = self
            .instructions
            .iter_enumerated()
            .filter_map(|(id, i)| match &i.opcode {
                Opcode::Parameter { index, .. } => Some((*index, id)),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// The instruction with this name, fusion members not included.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<InstrId> {
        self.instructions.iter_enumerated().find(|(_, i)| i.name == name).map(|(id, _)| id)
    }

    /// How many instructions read each instruction's result (the root counts as read once more).
    #[must_use]
    pub fn use_counts(&self) -> IndexVec<InstrId, u32> {
        let mut counts: IndexVec<InstrId, u32> = self.instructions.iter().map(|_| 0).collect();
        for instruction in self.instructions.iter() {
            for &operand in &instruction.operands {
                counts[operand] += 1;
            }
        }
        counts[self.root] += 1;
        counts
    }
}
