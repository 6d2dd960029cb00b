//! Room in SBUF: how much a value takes, who makes room for it, and when it is given back.

use super::CodegenError;
use super::program::Generator;
use super::value::{Resident, Value};
use crate::base::{Idx, IndexVec};
use crate::compiler::hlo::{HloInstruction, HloModule, InstrId, Opcode, ParameterRole};
use crate::machine::arch::CoreSpec;
use crate::machine::cost::decisions::{SBUF_PARTS, SLACK_BYTES};
use crate::machine::isa::Wait;

impl Generator<'_> {
    /// Room for `bytes` in SBUF; what must be complete before it is free. Values that are not in use make room.
    pub(super) fn take(&mut self, id: InstrId, bytes: u64) -> Result<Vec<Wait>, CodegenError> {
        loop {
            match self.ring.take(bytes, &self.sources.path(id)) {
                Err(_) if self.make_room() => {}
                taken => return taken,
            }
        }
    }

    /// SBUF of a matrix: every partition of a block is taken, used or not. A value whose share of SBUF is too small for it
    /// is made and read slice by slice of the batch, so that no more than the share is held at once.
    pub(super) fn resident_bytes(&self, along_partitions: u64, along_free: u64, element_bytes: u64) -> u64 {
        self.whole_bytes(along_partitions, along_free, element_bytes).min(self.share_of_a_value())
    }

    /// Slices of the batch in which a value is made and read.
    pub(super) fn slices(&self, value: &Resident, element_bytes: u64) -> u64 {
        let whole = self.whole_bytes(value.partition_elements, value.free_elements, element_bytes);
        whole.div_ceil(self.share_of_a_value().max(1)).max(1)
    }

    fn whole_bytes(&self, along_partitions: u64, along_free: u64, element_bytes: u64) -> u64 {
        let partitions = u64::from(self.core.partitions);
        let padded = along_partitions.div_ceil(partitions).saturating_mul(partitions);
        padded.saturating_mul(along_free).saturating_mul(element_bytes)
    }

    fn share_of_a_value(&self) -> u64 {
        self.core.sbuf_bytes / SBUF_PARTS
    }

    /// Gives back the space of values that `id` was the last to read.
    pub(super) fn release_after(&mut self, id: InstrId) {
        let position = id.index();
        let done = match self.values.get(&id) {
            Some(Value::Resident(r)) => r.ready.clone(),
            _ => return,
        };
        let mut dead: Vec<InstrId> = Vec::new();
        self.collect_dead(id, position, &mut dead);
        for value in dead {
            let loaded = self.loaded.remove(&value).map_or(0, |l| l.bytes);
            let resident = match self.values.get_mut(&value) {
                Some(Value::Resident(r)) if value != id => std::mem::take(&mut r.bytes),
                _ => 0,
            };
            let turned = self.turned.remove(&value).map_or(0, |t| t.bytes);
            self.ring.release(loaded + resident + turned, done.clone());
        }
    }

    fn collect_dead(&self, id: InstrId, position: usize, dead: &mut Vec<InstrId>) {
        for operand in &self.module.instructions[id].operands {
            if self.last_use[*operand] == position && !dead.contains(operand) {
                dead.push(*operand);
                let instruction = &self.module.instructions[*operand];
                if is_view(&instruction.opcode) || is_product(&instruction.opcode) {
                    self.collect_dead(*operand, position, dead);
                }
            }
        }
    }
}

/// Whether all weights fit in SBUF beside the largest pair of activations.
pub(super) fn weights_fit(module: &HloModule, core: &CoreSpec, operand_bytes: u64) -> bool {
    let elements = |id: InstrId| module.instructions[id].shape.elements();
    let is_weight = |i: &&HloInstruction| matches!(i.opcode, Opcode::Parameter { role: ParameterRole::Weight(_), .. });
    let weights: u64 = module.instructions.iter().filter(is_weight).map(|i| i.shape.elements()).sum();
    let activations = module.instructions.iter_enumerated().filter(|(_, i)| is_product(&i.opcode));
    let pair = activations.map(|(id, i)| elements(id) + i.operands.first().map_or(0, |o| elements(*o))).max();
    let elements = weights.saturating_add(pair.unwrap_or(0));
    elements.saturating_mul(operand_bytes).saturating_add(SLACK_BYTES) <= core.sbuf_bytes
}

/// Position of the last instruction that reads each value, through values that are not materialised.
pub(super) fn last_uses(module: &HloModule) -> IndexVec<InstrId, usize> {
    let mut last: IndexVec<InstrId, usize> = module.instructions.iter().map(|_| 0).collect();
    last[module.root] = usize::MAX;
    let ids: Vec<InstrId> = module.instructions.ids().collect();
    for id in ids.into_iter().rev() {
        let instruction = &module.instructions[id];
        let as_user = if is_view(&instruction.opcode) { last[id] } else { id.index() };
        for operand in &instruction.operands {
            last[*operand] = last[*operand].max(as_user);
        }
    }
    last
}

/// Whether an instruction is a view of its operand as far as code generation goes.
pub(super) fn is_view(opcode: &Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Parameter { .. }
            | Opcode::Slice { .. }
            | Opcode::Concatenate { .. }
            | Opcode::Convert
            | Opcode::Constant(_)
            | Opcode::Transpose { .. }
            | Opcode::Broadcast { .. }
            | Opcode::Reshape
    )
}

fn is_product(opcode: &Opcode) -> bool {
    matches!(opcode, Opcode::Dot(_) | Opcode::Convolution { .. })
}
