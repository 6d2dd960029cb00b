//! Batched products that read their operands without a transpose.

use crate::hlo::{HloModule, InstrId, Opcode};

use super::{Changes, Pass};

/// Lets a batched product contract another dimension instead of reading a transposed operand: attention's `q @ k^T` is a
/// product over the last dimension of both. Transposed weights stay as they are: they are laid out when the model is
/// loaded.
pub struct FoldTransposes;

impl Pass for FoldTransposes {
    fn name(&self) -> &'static str {
        "fold-transposes"
    }

    fn run(&self, module: &mut HloModule) -> Changes {
        let mut changes = Changes::default();
        let ids: Vec<InstrId> = module.instructions.ids().collect();
        for id in ids {
            for side in 0..2 {
                let Some((source, contracting)) = folded(module, id, side) else { continue };
                let (name, from) = (&module.instructions[id].name, &module.instructions[source].name);
                changes.add(|| format!("%{name} reads %{from}"));
                let instruction = &mut module.instructions[id];
                instruction.operands[side] = source;
                if let Opcode::Dot(dims) = &mut instruction.opcode {
                    *if side == 0 { &mut dims.lhs_contracting } else { &mut dims.rhs_contracting } = contracting;
                }
            }
        }
        changes
    }
}

/// The value that a batched product can read instead of its operand, and the dimension of it that it contracts.
fn folded(module: &HloModule, id: InstrId, side: usize) -> Option<(InstrId, u32)> {
    let instruction = &module.instructions[id];
    let Opcode::Dot(dims) = &instruction.opcode else { return None };
    let operand = &module.instructions[*instruction.operands.get(side)?];
    let Opcode::Transpose { permutation } = &operand.opcode else { return None };
    let batch = dims.batch as usize;
    // There are two dimensions beside the batch, so a transpose can only mean that the other one is contracted.
    let batch_stays = permutation.iter().zip(0..).take(batch).all(|(p, i)| *p == i);
    if batch == 0 || permutation.len() != batch + 2 || !batch_stays {
        return None;
    }
    let contracting = if side == 0 { dims.lhs_contracting } else { dims.rhs_contracting };
    Some((*operand.operands.first()?, *permutation.get(contracting as usize)?))
}
