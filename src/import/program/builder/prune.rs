//! Leaves out what the result of a program does not depend on.

use super::super::{Computation, ComputationId, InstructionId, Op, Program};
use crate::base::{Idx, IndexVec};

/// The program without instructions that its result does not depend on and without computations that nothing calls. Parameters
/// stay, since callers count them.
pub fn prune(program: Program) -> Program {
    let Program { name, computations, entry, parameters } = program;
    let pruned: Vec<Computation> = computations.iter().map(live_part).collect();
    let mut is_called = vec![false; pruned.len()];
    is_called[entry.index()] = true;
    // Callers come after those they call.
    for at in (0..pruned.len()).rev() {
        if is_called[at] {
            let called = pruned[at].instructions.iter().flat_map(|i| i.called.iter());
            called.for_each(|c| is_called[c.index()] = true);
        }
    }
    let mut new_id = vec![ComputationId(0); pruned.len()];
    let mut kept = IndexVec::new();
    for (at, mut computation) in pruned.into_iter().enumerate() {
        if is_called[at] {
            for instruction in computation.instructions.iter_mut() {
                instruction.called.iter_mut().for_each(|c| *c = new_id[c.index()]);
            }
            new_id[at] = kept.push(computation);
        }
    }
    Program { name, entry: new_id[entry.index()], computations: kept, parameters }
}

/// A computation without instructions that its root does not depend on.
fn live_part(computation: &Computation) -> Computation {
    let all = &computation.instructions;
    let mut is_live: Vec<bool> = all.iter().map(|i| matches!(i.op, Op::Parameter(_))).collect();
    is_live[computation.root.index()] = true;
    for at in (0..all.len()).rev() {
        if is_live[at] {
            all[InstructionId::from_usize(at)].operands.iter().for_each(|o| is_live[o.index()] = true);
        }
    }
    let mut new_id = vec![InstructionId(0); all.len()];
    let mut instructions = IndexVec::new();
    for (id, instruction) in all.iter_enumerated().filter(|(id, _)| is_live[id.index()]) {
        let mut instruction = instruction.clone();
        instruction.operands.iter_mut().for_each(|o| *o = new_id[o.index()]);
        new_id[id.index()] = instructions.push(instruction);
    }
    Computation { name: computation.name.clone(), instructions, root: new_id[computation.root.index()] }
}
