//! Spills: values that leave SBUF for device memory while others need the room.
//!
//! The value that is read again last goes first. Weights are there already, so they are only dropped and stream again;
//! another value is written to device memory and read back before the operation that needs it. Its space is free once it
//! is written and everything that was emitted before is complete: who read it last is not kept track of.

use super::CodegenError;
use super::emitter::Transfer;
use super::program::Generator;
use super::room::is_view;
use super::value::{Resident, Value};
use crate::base::Idx;
use crate::compiler::hlo::{InstrId, Opcode};
use crate::machine::cost::decisions::VIEW_LOOKAHEAD;
use crate::machine::isa::{DmaDirection, DmaQueue, Wait};

/// A value in device memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spilled {
    /// SBUF it takes when it is there.
    sbuf_bytes: u64,
    /// What is moved.
    moved: Transfer,
}

impl Generator<'_> {
    /// Brings back what the operation at `id` reads, and keeps that in SBUF until the next operation begins.
    pub(super) fn begin_operation(&mut self, id: InstrId) -> Result<(), CodegenError> {
        self.in_use.clear();
        let covered = self.covered(id);
        for part in &covered {
            for operand in self.module.instructions[*part].operands.clone() {
                self.use_bases(operand);
            }
        }
        self.in_use.extend(covered);
        self.reload_used()
    }

    /// Brings a result back that is about to be written out.
    pub(super) fn begin_output(&mut self, id: InstrId) -> Result<(), CodegenError> {
        self.in_use.clear();
        self.use_bases(id);
        self.reload_used()
    }

    /// Moves the value that is read again last out of SBUF; false when everything there is in use.
    pub(super) fn make_room(&mut self) -> bool {
        let values = self.values.iter().filter(|(_, v)| matches!(v, Value::Resident(r) if r.bytes > 0));
        let known = values.map(|(id, _)| *id).chain(self.loaded.iter().filter(|(_, l)| l.bytes > 0).map(|(id, _)| *id));
        let idle = known.filter(|id| !self.in_use.contains(id));
        // Ids break ties: the order of a hash map must not reach the program.
        let Some(victim) = idle.max_by_key(|id| (self.next_use(*id, VIEW_LOOKAHEAD), id.index())) else { return false };
        if let Some(weight) = self.loaded.remove(&victim) {
            let done = self.emitter.so_far();
            self.ring.release(weight.bytes, done);
        } else {
            self.save(victim);
        }
        true
    }

    /// An operation with what is emitted together with it.
    fn covered(&self, id: InstrId) -> Vec<InstrId> {
        let mut covered = vec![id];
        let is_product = matches!(self.module.instructions[id].opcode, Opcode::Dot(_) | Opcode::Convolution { .. });
        let result = if is_product { self.epilogue_of(id).unwrap_or(id) } else { id };
        covered.push(result);
        let softmax = self.idioms.softmaxes.get(&id).or_else(|| self.idioms.softmax_of.get(&result));
        if let Some(s) = softmax {
            covered.extend(s.parts.iter().chain([&s.result]));
        }
        if let Some(n) = self.idioms.norms.get(&id) {
            covered.extend(n.parts.iter().chain([&n.result]));
        }
        covered
    }

    /// Marks the values in SBUF that a read of `id` looks at.
    fn use_bases(&mut self, id: InstrId) {
        match self.values.get(&id) {
            Some(Value::Broadcast { of, .. }) => {
                let of = *of;
                self.use_bases(of);
            }
            Some(Value::Weight { parameter, .. }) => {
                self.in_use.insert(*parameter);
            }
            Some(Value::Resident(r)) if r.bytes > 0 || self.spilled.contains_key(&id) => {
                self.in_use.insert(id);
            }
            // A view of what is in SBUF, or one that has not had its turn.
            _ if is_view(&self.module.instructions[id].opcode) => {
                for operand in self.module.instructions[id].operands.clone() {
                    self.use_bases(operand);
                }
            }
            // It only exists within an operation, or nothing reads it any more.
            _ => {}
        }
    }

    fn reload_used(&mut self) -> Result<(), CodegenError> {
        let mut needed: Vec<InstrId> = self.in_use.iter().copied().filter(|id| self.spilled.contains_key(id)).collect();
        needed.sort_unstable();
        needed.into_iter().try_for_each(|id| self.reload(id))
    }

    /// Position of the next operation that reads a value, through views of it; the end of the program when none does.
    fn next_use(&self, id: InstrId, depth: u32) -> usize {
        let uses = self.users[id].iter().filter(|u| !self.done.contains(*u)).map(|user| {
            match &self.module.instructions[*user].opcode {
                opcode if is_view(opcode) && depth > 0 => self.next_use(*user, depth - 1),
                _ if self.values.contains_key(user) => usize::MAX,
                _ => user.index(),
            }
        });
        uses.min().unwrap_or(usize::MAX)
    }

    fn save(&mut self, id: InstrId) {
        let element_bytes = self.element_bytes(id);
        let Some(Value::Resident(resident)) = self.values.get_mut(&id) else { return };
        let sbuf_bytes = std::mem::take(&mut resident.bytes);
        let bytes = resident.partition_elements.saturating_mul(resident.free_elements).saturating_mul(element_bytes);
        let partitions = u32::try_from(resident.partition_elements).unwrap_or(u32::MAX).min(self.core.partitions);
        let direction = DmaDirection::SbufToHbm;
        let moved = Transfer { queue: DmaQueue::Spill, direction, bytes, partitions, short_descriptors: 0 };
        let ready = resident.ready.clone();
        let source = self.sources.of(id);
        let saved = self.emitter.dma(moved, source, &ready);
        let mut free = self.emitter.so_far();
        free.push(saved);
        // The copy in the other layout is made again from the value.
        let turned = self.turned.remove(&id).map_or(0, |t| t.bytes);
        self.ring.release(sbuf_bytes + turned, free);
        self.emitter.executable.memory.spill_bytes += bytes;
        self.spilled.insert(id, Spilled { sbuf_bytes, moved });
    }

    fn reload(&mut self, id: InstrId) -> Result<(), CodegenError> {
        let Some(Spilled { sbuf_bytes, moved }) = self.spilled.get(&id).copied() else { return Ok(()) };
        let room = self.take(id, sbuf_bytes)?;
        self.spilled.remove(&id);
        let source = self.sources.of(id);
        let back = self.emitter.dma(Transfer { direction: DmaDirection::HbmToSbuf, ..moved }, source, &room);
        if let Some(Value::Resident(resident)) = self.values.get_mut(&id) {
            *resident = Resident { bytes: sbuf_bytes, ready: vec![back], ..resident.clone() };
        }
        self.ready_views(id, back, VIEW_LOOKAHEAD);
        Ok(())
    }

    /// What looks at a value waits for it too.
    fn ready_views(&mut self, id: InstrId, back: Wait, depth: u32) {
        for user in self.users[id].clone() {
            if depth > 0
                && is_view(&self.module.instructions[user].opcode)
                && let Some(Value::Resident(view)) = self.values.get_mut(&user)
            {
                view.ready.push(back);
                self.ready_views(user, back, depth - 1);
            }
        }
    }
}
