//! Dead code: instructions that the result does not need.

use crate::hlo::{HloModule, InstrId, Opcode};
use ns_base::IndexVec;

use super::rewrite::Rewrite;
use super::{Changes, Pass};

/// Removes instructions that the root does not depend on. Parameters stay: they define how the module is called.
pub struct DeadCode;

impl Pass for DeadCode {
    fn name(&self) -> &'static str {
        "dce"
    }

    fn run(&self, module: &mut HloModule) -> Changes {
        let mut live: IndexVec<InstrId, bool> = module.instructions.iter().map(|_| false).collect();
        live[module.root] = true;
        let ids: Vec<InstrId> = module.instructions.ids().collect();
        for &id in ids.iter().rev() {
            if live[id] {
                for &operand in &module.instructions[id].operands {
                    live[operand] = true;
                }
            }
        }
        let mut rewrite = Rewrite::new(module);
        let mut changes = Changes::default();
        for (id, instruction) in module.instructions.iter_enumerated() {
            if !live[id] && !matches!(instruction.opcode, Opcode::Parameter { .. }) {
                rewrite.remove(id);
                changes.add(|| format!("removed %{} ({})", instruction.name, instruction.metadata.op_name));
            }
        }
        rewrite.apply(module);
        changes
    }
}
