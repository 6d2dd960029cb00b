//! Layout changes that change nothing.

use crate::compiler::hlo::{HloModule, InstrId, Opcode};

use super::rewrite::Rewrite;
use super::{Changes, Pass};

/// Removes reshapes to the operand's own shape, and lets a reshape of a reshape, or a transpose that undoes a transpose,
/// read the first operand. PyTorch views three-dimensional activations as matrices and back around every linear
/// layer; between two layers the views meet and cancel.
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
            let source = match (&module.instructions[id].opcode, &module.instructions[operand].opcode) {
                (Opcode::Reshape, Opcode::Reshape) => module.instructions[operand].operands[0],
                (Opcode::Reshape, _) => operand,
                (Opcode::Transpose { permutation: outer }, Opcode::Transpose { permutation: inner })
                    if undoes(outer, inner) =>
                {
                    module.instructions[operand].operands[0]
                }
                _ => continue,
            };
            let source = rewrite.resolve(source);
            let (name, from) = (&module.instructions[id].name, &module.instructions[source].name);
            if module.instructions[id].shape == module.instructions[source].shape {
                changes.add(|| format!("%{name} is %{from}"));
                rewrite.replace(id, source);
            } else if source != operand {
                changes.add(|| format!("%{name} reads %{from}"));
                module.instructions[id].operands[0] = source;
            }
        }
        rewrite.apply(module);
        changes
    }
}

/// Whether permuting by `inner`, then by `outer`, restores the order.
fn undoes(outer: &[u32], inner: &[u32]) -> bool {
    outer.iter().enumerate().all(|(i, &o)| inner.get(o as usize) == Some(&(i as u32)))
}
