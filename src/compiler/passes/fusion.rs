//! Fusion: elementwise chains executed as one.

use std::collections::BTreeSet;

use crate::hlo::{FusionBody, HloInstruction, HloModule, InstrId, Opcode};
use ns_base::IndexVec;

use super::rewrite::Rewrite;
use super::{Changes, Pass};

/// Fuses an elementwise instruction with the elementwise instructions and broadcasts that only it reads, into `fused_0`,
/// `fused_1`, ... A value with another reader is never fused: it has to be written out anyway. Products, reductions,
/// transposes and custom calls are not fused, and neither are values computed from weights alone.
pub struct Fusion;

impl Pass for Fusion {
    fn name(&self) -> &'static str {
        "fusion"
    }

    fn run(&self, module: &mut HloModule) -> Changes {
        let groups = find_groups(module);
        let mut rewrite = Rewrite::new(module);
        let mut changes = Changes::default();
        for (number, members) in (next_number(module)..).zip(groups) {
            let Some(fused) = fuse(module, &members, number) else { continue };
            let Some((&root, others)) = members.split_last() else { continue };
            let names: Vec<&str> = members.iter().map(|m| module.instructions[*m].name.as_str()).collect();
            changes.add(|| format!("%{} = {{{}}}", fused.name, names.join(", ")));
            module.instructions[root] = fused;
            for &other in others {
                rewrite.remove(other);
            }
        }
        rewrite.apply(module);
        changes
    }
}

/// The first number that no fusion has.
fn next_number(module: &HloModule) -> u32 {
    let numbers = module.instructions.iter().filter_map(|i| i.name.strip_prefix("fused_")?.parse::<u32>().ok());
    numbers.max().map_or(0, |n| n + 1)
}

/// Groups of at least two, each in ascending order with its root last, in the order of their roots.
fn find_groups(module: &HloModule) -> Vec<Vec<InstrId>> {
    let mut users: IndexVec<InstrId, Vec<InstrId>> = module.instructions.iter().map(|_| Vec::new()).collect();
    for (id, instruction) in module.instructions.iter_enumerated() {
        for &operand in &instruction.operands {
            users[operand].push(id);
        }
    }
    let mut taken: IndexVec<InstrId, bool> = module.instructions.iter().map(|_| false).collect();
    let known = module.known_at_load();
    let mut groups = Vec::new();
    let ids: Vec<InstrId> = module.instructions.ids().collect();
    // From last to first, so that a chain is found at its end.
    for &root in ids.iter().rev() {
        if taken[root] || known[root] || !module.instructions[root].opcode.is_elementwise() {
            continue;
        }
        let group = grow(module, &users, &known, root);
        if group.len() > 1 {
            for &member in &group {
                taken[member] = true;
            }
            groups.push(group.into_iter().collect::<Vec<_>>());
        }
    }
    groups.reverse();
    groups
}

/// The root and everything that feeds only the root, directly or through other members.
fn grow(
    module: &HloModule,
    users: &IndexVec<InstrId, Vec<InstrId>>,
    known: &IndexVec<InstrId, bool>,
    root: InstrId,
) -> BTreeSet<InstrId> {
    let mut group = BTreeSet::from([root]);
    let dims = &module.instructions[root].shape.dims;
    // Candidates are visited from the last one: when one is visited, all its readers in the group are already
    // members.
    let mut candidates: BTreeSet<InstrId> = module.instructions[root].operands.iter().copied().collect();
    while let Some(id) = candidates.pop_last() {
        let instruction = &module.instructions[id];
        let fits = match instruction.opcode {
            Opcode::Broadcast { .. } => true,
            ref other => other.is_elementwise() && !known[id],
        };
        let only_here = id != module.root && users[id].iter().all(|u| group.contains(u));
        if !fits || !only_here || instruction.shape.dims != *dims {
            continue;
        }
        group.insert(id);
        if instruction.opcode.is_elementwise() {
            candidates.extend(&instruction.operands);
        }
    }
    group
}

/// The fusion instruction of a group. Ids of members are the module's own until the module is renumbered.
fn fuse(module: &HloModule, members: &[InstrId], number: u32) -> Option<HloInstruction> {
    let root = &module.instructions[*members.last()?];
    let mut operands = Vec::new();
    for &member in members {
        for operand in &module.instructions[member].operands {
            if !members.contains(operand) && !operands.contains(operand) {
                operands.push(*operand);
            }
        }
    }
    let body = FusionBody {
        members: members.iter().map(|m| module.instructions[*m].clone()).collect(),
        ids: members.to_vec(),
    };
    Some(HloInstruction {
        name: format!("fused_{number}"),
        opcode: Opcode::Fusion(body),
        operands,
        shape: root.shape.clone(),
        metadata: root.metadata.clone(),
    })
}
