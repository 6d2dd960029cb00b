//! Removes layout changes without effect.

use crate::hlo::{HloModule, InstrId, Opcode};

use super::rewrite::Rewrite;
use super::{Changes, Pass};

/// Removes reshapes to the operand's own shape and transposes that move nothing. Replaces a transpose that only moves
/// dimensions of size one by a reshape. Lets a reshape of a reshape, or a transpose of a transpose, read the first
/// operand. PyTorch views three-dimensional activations as matrices and back around every linear layer; between two layers
/// the views meet and cancel.
pub struct Simplify;

impl Pass for Simplify {
    fn name(&self) -> &'static str {
        "simplify"
    }

    fn run(&self, module: &mut HloModule) -> Changes {
        let mut rewrite = Rewrite::new(module);
        let mut changes = Changes::default();
        let ids: Vec<InstrId> = module.instructions.ids().collect();
        for id in ids {
            let Some(&first) = module.instructions[id].operands.first() else { continue };
            let operand = rewrite.resolve(first);
            let Some((opcode, source)) = simpler(module, id, operand) else { continue };
            let source = rewrite.resolve(source);
            let (name, from) = (&module.instructions[id].name, &module.instructions[source].name);
            let moves = matches!(&opcode, Opcode::Transpose { permutation } if !is_identity(permutation));
            if !moves && module.instructions[id].shape == module.instructions[source].shape {
                changes.add(|| format!("%{name} is %{from}"));
                rewrite.replace(id, source);
            } else if source != operand || opcode.name() != module.instructions[id].opcode.name() {
                changes.add(|| format!("%{name} is a {} of %{from}", opcode.name()));
                module.instructions[id].operands[0] = source;
                module.instructions[id].opcode = opcode;
            }
        }
        rewrite.apply(module);
        changes
    }
}

/// The kind and the operand of the view that a reshape or transpose reduces to.
fn simpler(module: &HloModule, id: InstrId, operand: InstrId) -> Option<(Opcode, InstrId)> {
    let (instruction, read) = (&module.instructions[id], &module.instructions[operand]);
    match &instruction.opcode {
        Opcode::Reshape => {
            let source = if matches!(read.opcode, Opcode::Reshape) { *read.operands.first()? } else { operand };
            Some((Opcode::Reshape, source))
        }
        Opcode::Transpose { permutation } => {
            let (permutation, source) = match &read.opcode {
                Opcode::Transpose { permutation: inner } => {
                    let both = permutation.iter().map(|&p| inner.get(p as usize).copied());
                    (both.collect::<Option<Vec<u32>>>()?, *read.operands.first()?)
                }
                _ => (permutation.clone(), operand),
            };
            let dims = &module.instructions[source].shape.dims;
            // Elements keep their order when the dimensions larger than one do.
            let large = permutation.iter().filter(|p| dims.get(**p as usize).is_some_and(|d| *d != 1));
            if large.is_sorted() {
                return Some((Opcode::Reshape, source));
            }
            Some((Opcode::Transpose { permutation }, source))
        }
        _ => None,
    }
}

fn is_identity(permutation: &[u32]) -> bool {
    permutation.iter().zip(0..).all(|(p, i)| *p == i)
}
