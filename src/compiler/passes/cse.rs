//! Common subexpressions: computing a value once.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::FxHasher;

use crate::hlo::{HloInstruction, HloModule, InstrId, Opcode};
use ns_base::FxHashMap;

use super::rewrite::Rewrite;
use super::{Changes, Pass};

/// Lets equal instructions share the first one's result. Constants and broadcasts are left as they are: they cost next to
/// nothing to repeat, and a shared one could not be fused into its users.
pub struct CommonSubexpressions;

impl Pass for CommonSubexpressions {
    fn name(&self) -> &'static str {
        "cse"
    }

    fn run(&self, module: &mut HloModule) -> Changes {
        let mut rewrite = Rewrite::new(module);
        let mut changes = Changes::default();
        let mut known: FxHashMap<u64, Vec<InstrId>> = FxHashMap::default();
        for (id, instruction) in module.instructions.iter_enumerated() {
            if !may_share(&instruction.opcode) {
                continue;
            }
            let operands: Vec<InstrId> = instruction.operands.iter().map(|o| rewrite.resolve(*o)).collect();
            let same = |other: &&InstrId| {
                let other = &module.instructions[**other];
                other.opcode == instruction.opcode
                    && other.shape == instruction.shape
                    && other.operands.iter().map(|o| rewrite.resolve(*o)).eq(operands.iter().copied())
            };
            let candidates = known.entry(key(instruction, &operands)).or_default();
            let Some(&first) = candidates.iter().find(same) else {
                candidates.push(id);
                continue;
            };
            let (name, other) = (&instruction.name, &module.instructions[first].name);
            changes.add(|| format!("%{name} is %{other}"));
            rewrite.replace(id, first);
        }
        rewrite.apply(module);
        changes
    }
}

fn may_share(opcode: &Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::Parameter { .. } | Opcode::Constant(_) | Opcode::Broadcast { .. } | Opcode::Fusion(_) | Opcode::Tuple
    )
}

/// Equal instructions have equal keys; the order of keys never matters.
fn key(instruction: &HloInstruction, operands: &[InstrId]) -> u64 {
    let mut hasher = FxHasher::default();
    instruction.opcode.name().hash(&mut hasher);
    operands.hash(&mut hasher);
    instruction.shape.hash(&mut hasher);
    hasher.finish()
}
