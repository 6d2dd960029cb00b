//! Removes the instructions that a program's result does not depend on.

use super::{Computation, ComputationId, InstructionId, Op, Program};
use ns_base::{Idx, IndexVec};

/// The program without the instructions that its result does not depend on, and without the computations that are then not called any more.
/// Parameters stay.
pub fn prune(program: Program) -> Program {
    let mut computations: Vec<Computation> = program.computations.iter().map(prune_computation).collect();
    let mut is_called = vec![false; computations.len()];
    let mut stack = vec![program.entry];
    while let Some(id) = stack.pop() {
        let Some(slot) = is_called.get_mut(id.index()).filter(|slot| !**slot) else { continue };
        *slot = true;
        stack.extend(computations[id.index()].instructions.iter().flat_map(|i| i.called.iter().copied()));
    }
    let mut renumbered: Vec<ComputationId> = Vec::with_capacity(computations.len());
    let mut next = 0;
    for called in &is_called {
        renumbered.push(ComputationId::from_usize(next));
        next += usize::from(*called);
    }
    for computation in &mut computations {
        for instruction in computation.instructions.iter_mut() {
            for callee in &mut instruction.called {
                *callee = renumbered.get(callee.index()).copied().unwrap_or(*callee);
            }
        }
    }
    let kept = computations.into_iter().zip(&is_called).filter(|(_, called)| **called).map(|(c, _)| c);
    let entry = renumbered.get(program.entry.index()).copied().unwrap_or(program.entry);
    Program { computations: kept.collect(), entry, ..program }
}

fn prune_computation(computation: &Computation) -> Computation {
    let mut is_live = vec![false; computation.instructions.len()];
    let mut stack = vec![computation.root];
    while let Some(id) = stack.pop() {
        let Some(slot) = is_live.get_mut(id.index()).filter(|slot| !**slot) else { continue };
        *slot = true;
        stack.extend(computation.instructions[id].operands.iter().copied());
    }
    let mut renumbered: Vec<InstructionId> = Vec::with_capacity(is_live.len());
    let mut kept = IndexVec::new();
    for (id, instruction) in computation.instructions.iter_enumerated() {
        renumbered.push(InstructionId::from_usize(kept.len()));
        if !is_live[id.index()] && !matches!(instruction.op, Op::Parameter(_)) {
            continue;
        }
        let mut instruction = instruction.clone();
        for operand in &mut instruction.operands {
            *operand = renumbered.get(operand.index()).copied().unwrap_or(*operand);
        }
        kept.push(instruction);
    }
    let root = renumbered.get(computation.root.index()).copied().unwrap_or(computation.root);
    Computation { name: computation.name.clone(), instructions: kept, root }
}
