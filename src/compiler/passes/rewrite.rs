//! Removing and replacing instructions: the one place that renumbers.

use std::collections::BTreeMap;

use crate::hlo::{HloInstruction, HloModule, InstrId, Opcode};
use ns_base::{Idx as _, IndexVec};

/// The instructions that stay, and the replacements of those that do not.
pub(super) struct Rewrite {
    keep: IndexVec<InstrId, bool>,
    stand_in: IndexVec<InstrId, InstrId>,
}

impl Rewrite {
    /// Keeps everything.
    pub fn new(module: &HloModule) -> Self {
        Self { keep: module.instructions.iter().map(|_| true).collect(), stand_in: module.instructions.ids().collect() }
    }

    /// Drops an instruction that no remaining instruction reads.
    pub fn remove(&mut self, id: InstrId) {
        self.keep[id] = false;
    }

    /// Drops an instruction; its readers read `other`, an earlier one, instead.
    pub fn replace(&mut self, id: InstrId, other: InstrId) {
        self.keep[id] = false;
        self.stand_in[id] = self.stand_in[other];
    }

    /// The replacement of an instruction.
    pub fn resolve(&self, id: InstrId) -> InstrId {
        self.stand_in[id]
    }

    /// Rebuilds the module. Fusion members get ids from the new number of instructions on.
    pub fn apply(self, module: &mut HloModule) {
        if self.keep.iter().all(|k| *k) {
            return;
        }
        let mut next = 0u32;
        let mut renumbered: IndexVec<InstrId, InstrId> = IndexVec::new();
        for id in module.instructions.ids() {
            renumbered.push(InstrId(next));
            next += u32::from(self.keep[id]);
        }
        let map = |id: InstrId| renumbered[self.stand_in[id]];
        let mut next_member = next;
        let old = std::mem::take(&mut module.instructions);
        for (id, instruction) in old.iter_enumerated() {
            if self.keep[id] {
                module.instructions.push(renumber(instruction.clone(), &map, &mut next_member));
            }
        }
        module.root = map(module.root);
    }
}

fn renumber(mut i: HloInstruction, map: &impl Fn(InstrId) -> InstrId, next_member: &mut u32) -> HloInstruction {
    for operand in &mut i.operands {
        *operand = map(*operand);
    }
    if let Opcode::Fusion(body) = &mut i.opcode {
        let mut members: BTreeMap<InstrId, InstrId> = BTreeMap::new();
        for (member, id) in body.members.iter_mut().zip(&mut body.ids) {
            for operand in &mut member.operands {
                *operand = members.get(operand).copied().unwrap_or_else(|| map(*operand));
            }
            let new = InstrId::from_usize(*next_member as usize);
            *next_member += 1;
            members.insert(std::mem::replace(id, new), new);
        }
        // Two operands may have become the same.
        let mut distinct: Vec<InstrId> = Vec::with_capacity(i.operands.len());
        for operand in &i.operands {
            if !distinct.contains(operand) {
                distinct.push(*operand);
            }
        }
        i.operands = distinct;
    }
    i
}
